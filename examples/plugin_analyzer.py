"""A plug-in with its own analyzer, which blocks a completion until the reply names a file.

`uv run python examples/plugin_analyzer.py`; in an installed plug-in, `ralph run --analyzer named-files` would use it.
"""

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import anyio

from ralph import Analysis, Output, Prompt, Runner, RunRecord, Turn
from ralph.analysis import AnalysisContext, Further, Opinion
from ralph.plugins import Provider, hookimpl
from ralph.status import Status
from ralph.store import MemoryStore
from ralph.testing import ScriptedExecutor
from ralph.workspace import open_workspace

FILE = re.compile(r"\b\w{1,50}\.(?:py|txt|md)\b")


class FileAnalysis(Analysis, frozen=True):
    files: tuple[str, ...] = ()


class NamedFiles:
    """An analyzer that can block or support a completion, in addition to the built-in one."""

    def analyze(self, output: Output, status: Status, context: AnalysisContext) -> FileAnalysis:
        files = tuple(FILE.findall(output.text))
        if files:
            return FileAnalysis(files=files)
        return FileAnalysis(opinion=Opinion(on_completion="holds_back", reason="Name the files that you changed."))


class Plugin:
    name = "named-files"

    @hookimpl
    def ralph_analyzers(self) -> Iterator[Provider]:
        yield Provider("named-files", "asks for the names of files", lambda context: NamedFiles())


def says(text: str):
    def turn_of_the_agent(_prompt: Prompt, turn: Turn) -> str:
        (turn.workspace / "shop.py").write_text(text)
        return text

    return turn_of_the_agent


async def main(folder: Path) -> tuple[RunRecord, list[Further]]:
    """The run's record, and what the analyzer found in each iteration."""
    store = MemoryStore()
    runner = Runner(
        executor=ScriptedExecutor([says("All tasks are complete."), says("All tasks are complete; see shop.py.")]),
        workspace=open_workspace(folder),
        store=store,
        plugins=[Plugin()],
        analyzers=["named-files"],
    )
    async with runner:
        record = await runner.run("Fix the shop.")
        found = [each.analysis.further["named-files"] async for each in store.iterations(record.id)]
    return record, found


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        record, found = anyio.run(main, Path(name))
    print("\n".join(each.model_dump_json(exclude_defaults=True) for each in found))
    print(f"{record.stop_reason} after {record.iterations} iterations")
