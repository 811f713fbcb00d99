"""The tutorial on plug-ins, followed step by step: each file is written, each command typed, each answer compared."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "tutorial" / "first-plugin.md"
_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_WRITTEN = re.compile(r"Write `([^`]+)`")


class Reader:
    """Somebody who does what the tutorial says, in a folder."""

    def __init__(self, folder: Path, packages: Path) -> None:
        self.folder, self._packages = folder, packages
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        home = {f"XDG_{name}_HOME": str(packages.parent / name.lower()) for name in ("STATE", "CONFIG")}
        self._environment = {**os.environ, **home, "PATH": path, "PYTHONPATH": str(packages), "COLUMNS": "200"}

    def write(self, path: str, content: str) -> None:
        (self.folder / path).write_text(content, encoding="utf-8")

    def type(self, command: str) -> tuple[int, str]:
        """What a command ends with, and what it says. What is installed goes into a folder of the test's own."""
        line = command.replace("pip install", f"uv pip install --quiet --no-deps --target '{self._packages}'")
        done = subprocess.run(
            line, shell=True, cwd=self.folder, env=self._environment, capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout + done.stderr


def steps() -> Iterator[tuple[str, str]]:
    """The blocks of the page: for each the file that it is written to, or nothing for what is typed; and its text."""
    text, behind = PAGE.read_text(encoding="utf-8"), 0
    for fence in _FENCE.finditer(text):
        written = _WRITTEN.findall(text[behind : fence.start()])
        behind = fence.end()
        assert (fence[1] == "console") is (not written), f"what becomes of this?\n{fence[2]}"
        yield (written[-1] if written else ""), fence[2]


def dialogue(text: str) -> Iterator[tuple[str, list[str]]]:
    """The commands of a block, each with the lines that it is answered with."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, *answer = part.splitlines()
        yield command, answer


def is_said(answer: list[str], output: str) -> bool:
    """Whether lines are said in this order; what a line leaves out, it marks by an ellipsis."""
    lines = (".*".join(re.escape(piece.strip()) for piece in line.split("…")) for line in answer)
    return re.search(".*".join(lines), " ".join(output.split("\n")), re.DOTALL) is not None


@pytest.mark.long
@pytest.mark.timeout(180)
def test_the_tutorial_can_be_followed(tmp_path: Path) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    reader = Reader(folder, tmp_path / "packages")
    typed = 0
    for path, text in steps():
        if path:
            reader.write(path, text)
            continue
        for command, answer in dialogue(text):
            code, output = reader.type(command)
            assert is_said(answer, output), f"$ {command}\n{output}"
            assert answer or code == 0, f"$ {command}\n{output}"
            typed += 1
    assert typed == PAGE.read_text(encoding="utf-8").count("\n$ ")
