"""The how-to on scoring answers: its files are written, and each of its `ralph score` commands is typed as printed."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from ralph.testing import ModelServer, Say

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "score-answers.md"
TEXT = PAGE.read_text(encoding="utf-8")
FACTS = (
    "# Pricing\n\nAcme Cloud costs 9 euros a month for each seat.\nThe free plan has three seats.\n"
    "Refunds are given within 30 days.\n"
)
ABSENT = Say(json.dumps({"verdict": "absent", "quote": ""}))


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)


def commands() -> Iterator[tuple[str, str]]:
    """Yield each `ralph score` command with the output that is printed below it."""
    for block in blocks("text"):
        yield from re.findall(r"^\$ (.+)\n((?:(?!\$ ).*\n?)*)", block, re.MULTILINE)
    for block in blocks("sh"):
        yield from ((line, "") for line in block.replace("\\\n", " ").splitlines() if line.startswith("ralph score"))


class Reader:
    """A reader of the page in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        programs = folder / "bin"
        programs.mkdir()
        (programs / "ralph").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ralph "$@"\n')
        (programs / "ralph").chmod(0o755)
        state = {f"XDG_{name}_HOME": str(folder / name.lower()) for name in ("STATE", "CONFIG")}
        path = f"{programs}{os.pathsep}{os.environ['PATH']}"
        self._environment = {**os.environ, **state, "PATH": path, "NO_COLOR": "1", "COLUMNS": "120"}

    def write(self, name: str, text: str) -> None:
        (self._folder / name).parent.mkdir(parents=True, exist_ok=True)
        (self._folder / name).write_text(text, encoding="utf-8")

    def type(self, line: str) -> str:
        words = ("bash", "-c", line)
        done = subprocess.run(  # noqa: PLW1510 - its code is asserted below
            words,
            cwd=self._folder,
            env=self._environment,
            input="p\n" * 100,
            capture_output=True,
            text=True,
            timeout=200,
        )
        assert done.returncode == 0, f"$ {line}\n{done.stdout}{done.stderr}"
        return done.stdout

    def answer(self) -> None:
        """Write answers of two providers to the queries."""
        queries = yaml.safe_load((self._folder / "queries.yaml").read_text(encoding="utf-8"))
        answers: list[dict[str, Any]] = [
            {
                "query_id": query["id"],
                "response": f"The free plan {verb} three seats.",
                "provider": provider,
                "model": "m",
            }
            for query in queries
            for provider, verb in (("openai", "has"), ("other", "might have"))
        ]
        self.write("answers.jsonl", "\n".join(map(json.dumps, answers)))

    def with_ids(self, line: str) -> str:
        """Return a command with ids of this reader's results for those that are printed."""
        runs = re.findall(r"\b\d{8}-\d{6}-[0-9a-f]{6}\b", line)
        if runs:
            made = [run["id"] for run in json.loads(self.type("ralph score history --json"))]
            for printed, real in zip(runs, made, strict=False):
                line = line.replace(printed, real)
        if " 3f9c" in line:
            newest = json.loads(self.type("ralph score history --run last --json"))[0]["id"]
            line = line.replace(" 3f9c", f" {newest}")
        return line


@pytest.mark.long
@pytest.mark.timeout(600)
def test_every_command_of_the_page_works(tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    reader.write("answer.md", blocks("text")[0])
    reader.write("claims.yaml", next(block for block in blocks("yaml") if block.startswith("# claims.yaml")))
    reader.write("docs/pricing.md", FACTS)
    reader.write("config/ralph/ralph.toml", next(block for block in blocks("toml") if "input_price" in block))
    with ModelServer([ABSENT], then="repeat_last") as judge:
        assert follow_the_page(reader, judge) == len(re.findall(r"^(?:\$ )?ralph score", TEXT, re.MULTILINE))
        assert judge.requests, "the judge of the page was asked"


def follow_the_page(reader: Reader, judge: ModelServer) -> int:
    """Type each command of the page, with this judge's address; return their number."""
    typed = 0
    for command, shown in commands():
        if command.startswith("ralph score batch --queries"):
            reader.answer()
            reader.type(command)  # a second run, to compare
        line = reader.with_ids(command).replace("https://api.example.com/v1", judge.base_url)
        said = " ".join(reader.type(line).split())
        assert all(" ".join(part.split()) in said for part in shown.split("[…]")), f"$ {line}\n{said}"
        typed += 1
    return typed
