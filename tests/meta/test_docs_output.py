"""What the documents show of a command's output is what it prints."""

import json
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
_LEFT_OUT = "[…]"
_STATUS = "---RALPH_STATUS---\nEXIT_SIGNAL: false\n---END_RALPH_STATUS---"


def ralph(*arguments: str, given: str) -> str:
    """What a command prints, each run of white space as one space."""
    done = subprocess.run(
        [sys.executable, "-m", "ralph", *arguments], input=given, capture_output=True, encoding="utf-8", check=True
    )
    return plain(done.stdout)


def plain(text: str) -> str:
    return " ".join(text.split())


def night() -> list[Mapping[str, Any]]:
    """Three passes that worked, the last on a new state, and six that moved nothing."""
    costs, states = (0.6, 0.8, 0.7, 0.5, 0.5, 0.5, 0.4, 0.4, 0.4), "abccccccc"
    return [
        {
            "run": "night-1",
            "text": f"{'Worked on' if number < 3 else 'Looked at'} part {number}.\n\n{_STATUS}",
            "tools": 3,
            "changes": {"files": int(number in {1, 2}), "fingerprint": state},
            "cost": cost,
        }
        for number, (cost, state) in enumerate(zip(costs, states, strict=True))
    ]


def test_the_chain_of_a_decision() -> None:
    page = (ROOT / "docs/explanation/how-it-decides.md").read_text(encoding="utf-8")
    reply, shown = re.findall(r"```reply\n(.*?)```.*?```text\n(.*?)```", page, re.DOTALL)[0]
    assert plain(shown) == ralph("analyze", "--explain-decision", given=reply)


def test_what_the_readme_shows() -> None:
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    session = re.findall(r"```text\n(\$ cat .*?)```", page, re.DOTALL)[0]
    said = dict(re.findall(r"^\$ ([^\n]+)\n(.*?)(?=^\$ |\Z)", session, re.DOTALL | re.MULTILINE))
    printed = {
        "ralph analyze reply.md --explain-decision": ralph(
            "analyze", "--explain-decision", given=said.pop("cat reply.md")
        ),
        "ralph replay passes.jsonl": ralph("replay", "-", given="\n".join(map(json.dumps, night()))),
    }
    assert set(said) == set(printed)
    for command, shown in said.items():
        assert all(plain(piece) in printed[command] for piece in shown.split(_LEFT_OUT))
