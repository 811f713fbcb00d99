"""A scripted run in the live display, for a terminal: `python live_run.py FOLDER [SECONDS [held]]`.

Each tool takes SECONDS. With `held`, the third turn goes on until the file `done` is in FOLDER.
"""

import sys
from functools import partial
from pathlib import Path

import anyio

from ralph import Runner
from ralph.executors.base import Executor, Turn
from ralph.prompt import Prompt
from ralph.store import open_store
from ralph.types.output import Answered, Output, Usage
from ralph.watch.live import LiveDisplay
from ralph.workspace import PlainWorkspace

_TOOLS = (
    ("view", '{"path": "%s/README.md"}', True),
    ("grep", '{"pattern": "def mean", "path": "%s/src"}', True),
    ("edit", '{"path": "%s/src/averages.py", "new_str": "x"}', True),
    ("bash", '{"command": "cd %s && pytest -q tests/test_averages.py"}', False),
    ("bash", '{"command": "python -m compileall -q a_rather_long_name_of_a_folder/with/another/one/inside"}', True),
)
_SAID = """I fixed **mean**: it divided by one too many.

- `src/averages.py` is changed
- the tests of `median` still fail

---RALPH_STATUS---
EXIT_SIGNAL: false
STATUS: IN_PROGRESS
REASON: median is left
---END_RALPH_STATUS---
"""


class Slow(Executor):
    """An agent that uses a few tools, each for a while."""

    name = "slow-agent"
    measures = frozenset({"tokens", "cost"})

    def __init__(self, pause: float, until: Path | None) -> None:
        self.pause, self.until = pause, until

    async def execute(self, prompt: Prompt, turn: Turn) -> Output:
        turn.transcript.executor, turn.transcript.model = self.name, "scripted-1"
        for number, (name, given, success) in enumerate(_TOOLS):
            arguments = given.replace("%s", str(turn.workspace))
            turn.transcript.tool_started(str(number), name, arguments)
            await anyio.sleep(self.pause)
            turn.transcript.tool_finished(str(number), success=success, result="done")
        while turn.iteration == 3 and self.until and not await anyio.Path(self.until).exists():  # noqa: ASYNC110
            await anyio.sleep(0.1)
        for piece in _SAID.split(" "):
            turn.transcript.delta(f"{piece} ")
        (turn.workspace / f"file-{turn.iteration}.txt").write_text("x")
        turn.transcript.used(Usage(input_tokens=12_000, output_tokens=800, cost=0.21))
        return turn.transcript.finish(Answered(), text=_SAID)


async def main(folder: Path, pause: float, *, held: bool = False) -> None:
    """Run three iterations."""
    workspace = folder / "workspace"
    workspace.mkdir()
    (workspace / "fix_plan.md").write_text("- [x] one\n- [ ] two\n- [ ] three\n")
    from ralph.decision.limits import Limits

    with LiveDisplay() as display:
        async with Runner(
            executor=Slow(pause, folder / "done" if held else None),
            store=open_store(f"sqlite:///{folder / 'ralph.db'}"),
            workspace=PlainWorkspace(workspace),
            limits=Limits(max_iterations=3, max_cost=5, max_duration=3600),
            hooks=[display],
        ) as runner:
            await runner.run("Make the tests of the averages pass: fix mean and median, one at a time, and say why.")


if __name__ == "__main__":
    given = sys.argv[2:]
    anyio.run(partial(main, Path(sys.argv[1]), float(given[0]) if given else 1.0, held="held" in given))
