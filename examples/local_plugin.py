"""A plug-in in one file: copied to `.ralph/plugin.py`, it is active in that folder once you have agreed to it.

`uv run python examples/local_plugin.py` does so in a new folder, and runs `ralph` there.
"""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from ralph import Answered, Executor, Keyword, Output, Prompt, Turn
from ralph.plugins import PromptContext, PromptPart, Provider, hookimpl


class Poet(Executor):
    """Stands for an agent: writes three lines, one an iteration, and says then that it is over, also if asked again."""

    name = "poet"

    async def execute(self, prompt: Prompt, turn: Turn) -> Output:
        if turn.iteration <= 3:
            with (turn.workspace / "poem.txt").open("a") as poem:
                poem.write(f"Line {turn.iteration} of a poem.\n")
        said = "The poem is fit to be sung." if turn.iteration >= 3 else "One more line."
        return turn.transcript.finish(Answered(), text=said)


def metre(context: PromptContext) -> str:
    return "Write in iambic pentameter." if context.iteration == 1 else ""


@hookimpl
def ralph_executors() -> Iterator[Provider]:
    yield Provider("poet", "writes a poem", lambda context: Poet())


@hookimpl
def ralph_keywords() -> Iterator[Keyword]:
    yield Keyword(text="fit to be sung", weight="very_high")


@hookimpl
def ralph_prompt_parts() -> Iterator[PromptPart]:
    yield PromptPart("metre", "how the poem is written", metre)


def main(folder: Path) -> str:
    """What `ralph run` says in a folder that has this file as its plug-in."""
    (folder / ".ralph").mkdir()
    shutil.copy(__file__, folder / ".ralph" / "plugin.py")
    words = ["run", "Write a poem.", "--executor", "poet", "--verify", "none", "--store", "memory:", "--trust"]
    done = subprocess.run(
        [sys.executable, "-m", "ralph", *words], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        print(main(Path(name)))
