"""What no linter checks: the glossary holds the public words, and the suite runs with pytest alone."""

import inspect
import re
import runpy
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def words(text: str) -> set[str]:
    """Return the words of a text or a name, in lower case: `TimedOut` is timed and out."""
    return {word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", text)}


def terms() -> set[str]:
    """Return the words that the glossary explains: those in the first columns of its tables."""
    lines = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8").replace("-", "").splitlines()
    return set().union(*(words(line.split("|")[1]) for line in lines if line.startswith("| ")))


def unexplained(name: str, known: set[str]) -> set[str]:
    """Return the words of a name that are not among the known ones, nor a plural or a participle of one."""
    return {word for word in words(name) if not {word, f"{word}s", *_stems(word)} & known}


def _stems(word: str) -> set[str]:
    return {word.removesuffix("s"), *(re.sub("(ed|ing)$", end, word) for end in ("", "e"))}


def public_classes() -> Iterator[tuple[str, str]]:
    """Yield the name of each class that a documented package exports, with the package."""
    generate = runpy.run_path(str(ROOT / "docs" / "generate.py"))
    for package in generate["PACKAGES"]:
        module = import_module(package)
        names = generate["_API"]["exported"](module)
        yield from ((package, name) for name in names if inspect.isclass(getattr(module, name)))


def test_the_names_of_public_classes_are_made_of_words_of_the_glossary() -> None:
    known, found = terms(), list(public_classes())
    assert len(found) > 100
    assert [f"{package}.{name}" for package, name in found if unexplained(name, known)] == []


@pytest.mark.parametrize("name", ["RunManager", "Tenure", "StoreHelper", "LoopEngine", "Hearing"])
def test_other_words_are_noticed(name: str) -> None:
    assert unexplained(name, terms())


def test_the_suite_can_be_run_without_xdist() -> None:
    asked = [sys.executable, "-m", "pytest", "-p", "no:xdist", "--markers"]
    shown = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False)
    assert shown.returncode == 0, shown.stderr
    assert "alone: measures a time" in shown.stdout
