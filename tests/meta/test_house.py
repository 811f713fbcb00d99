"""What no linter checks: the glossary holds the public words, and the suite runs with pytest alone."""

import re
import subprocess
import sys
from pathlib import Path

import ralph

ROOT = Path(__file__).parents[2]


def words(text: str) -> set[str]:
    """Return the words of a text or a name, in lower case: `TimedOut` is timed and out."""
    return {word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", text)}


def test_the_glossary_explains_every_word_of_the_public_names() -> None:
    known = words((ROOT / "docs" / "glossary.md").read_text(encoding="utf-8"))
    assert [name for name in ralph.__all__ if words(name) - known] == []


def test_the_suite_can_be_run_without_xdist() -> None:
    asked = [sys.executable, "-m", "pytest", "-p", "no:xdist", "--markers"]
    shown = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False)
    assert shown.returncode == 0, shown.stderr
    assert "alone: measures a time" in shown.stdout
