"""What the documents show of a command's output is what it prints."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ralph.testing import ScriptedExecutor, writes

ROOT = Path(__file__).parents[2]
_LEFT_OUT = "[…]"
_DONE = "---RALPH_STATUS---\nEXIT_SIGNAL: true\n---END_RALPH_STATUS---"
_STATUS = "---RALPH_STATUS---\nEXIT_SIGNAL: false\n---END_RALPH_STATUS---"


def ralph(*arguments: str, given: str) -> str:
    """What a command prints, each run of white space as one space."""
    done = subprocess.run(
        [sys.executable, "-m", "ralph", *arguments], input=given, capture_output=True, encoding="utf-8", check=True
    )
    return plain(done.stdout)


def plain(text: str) -> str:
    return " ".join(text.split())


def sessions(home: Path) -> None:
    """Three passes that changed a file and six that changed nothing, as Claude Code keeps their sessions."""
    folder = home / ".claude/projects/-home-me-parser"
    folder.mkdir(parents=True)
    for number, cost in enumerate((0.6, 0.8, 0.7, 0.5, 0.5, 0.5, 0.4, 0.4, 0.4), start=1):
        call = {"type": "tool_use", "id": "c", "name": "Write", "input": {"file_path": f"{number}.py"}}
        said = {"type": "text", "text": f"Looked at part {number}."}
        messages = [{"content": [call]}] * (number < 4) + [{"content": [said]}]
        lines = [
            {"type": "user", "cwd": "/home/me/parser", "message": {"content": "Work on the plan."}},
            *({"type": "assistant", "message": message} for message in messages),
            {"type": "cost-state", "totalCostUSD": cost},
        ]
        stamped = [{**line, "timestamp": f"2026-01-02T03:0{number}:00Z"} for line in lines]
        (folder / f"{number}.jsonl").write_text("\n".join(map(json.dumps, stamped)), encoding="utf-8")


def test_the_chain_of_a_decision() -> None:
    page = (ROOT / "docs/explanation/how-it-decides.md").read_text(encoding="utf-8")
    reply, shown = re.findall(r"```reply\n(.*?)```.*?```text\n(.*?)```", page, re.DOTALL)[0]
    assert plain(shown) == ralph("analyze", "--explain-decision", given=reply)


def test_what_the_readme_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    command, shown = re.findall(r"```text\n\$ uv run ralph ([^\n]+)\n(.*?)```", page, re.DOTALL)[0]
    sessions(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME"):
        monkeypatch.delenv(name, raising=False)
    printed = ralph(*command.split(), given="")
    assert all(plain(piece) in printed for piece in shown.split(_LEFT_OUT))


TEST = "from pathlib import Path\n\n\ndef test_it():\n    assert Path('answer').exists()\n"


def test_the_python_of_the_readme(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert 'executor="copilot"' in code
    (tmp_path / "test_answer.py").write_text(TEST, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    agent = ScriptedExecutor([writes("answer", "42", _DONE)])
    exec(code.replace('executor="copilot"', "executor=agent"), {"agent": agent})
    assert capsys.readouterr().out.startswith("completed True ")


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").split()) <= 500
