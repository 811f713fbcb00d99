"""What the documents show of a command's output is what it prints."""

import json
import re
import subprocess
import sys
from pathlib import Path

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


def logs(folder: Path) -> None:
    """Three passes that worked and six that changed nothing, as another loop leaves them."""
    for number, cost in enumerate((0.6, 0.8, 0.7, 0.5, 0.5, 0.5, 0.4, 0.4, 0.4), start=1):
        status = f"---RALPH_STATUS---\nFILES_MODIFIED: {int(number < 4)}\nEXIT_SIGNAL: false\n---END_RALPH_STATUS---"
        result = {"type": "result", "result": f"Looked at part {number}.\n\n{status}", "total_cost_usd": cost}
        (folder / f"claude_output_{number}.log").write_text(json.dumps(result), encoding="utf-8")


def test_the_chain_of_a_decision() -> None:
    page = (ROOT / "docs/explanation/how-it-decides.md").read_text(encoding="utf-8")
    reply, shown = re.findall(r"```reply\n(.*?)```.*?```text\n(.*?)```", page, re.DOTALL)[0]
    assert plain(shown) == ralph("analyze", "--explain-decision", given=reply)


def test_what_the_readme_shows(tmp_path: Path) -> None:
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    command, shown = re.findall(r"```text\n\$ uv run ralph ([^\n]+)\n(.*?)```", page, re.DOTALL)[0]
    folder = tmp_path / command.split()[-1]
    folder.mkdir()
    logs(folder)
    printed = ralph(*command.split()[:-1], str(folder), given="")
    assert all(plain(piece) in printed for piece in shown.split(_LEFT_OUT))


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").split()) <= 500
