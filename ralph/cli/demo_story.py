"""The story of `ralph demo`: the repository, the model's script, and the evidence that the end of the demo shows."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import psutil

from ralph.hooks import Hooks
from ralph.records.events import IterationFinished
from ralph.records.projection import describe
from ralph.records.record import RunRecord
from ralph.testing.steps import Cut, EditFile, Fail, Say, Step
from ralph.testing.wire import ModelRequest
from ralph.types.output import Failed
from ralph.workspace.gate import environment, git_program

TASK = "Make the tests pass: fix `mean` and `median` in stats.py, one at a time, and keep @fix_plan.md up to date."

_FILES = {
    "stats.py": '''"""Two averages."""


def mean(values: list[float]) -> float:
    return sum(values) / (len(values) + 1)


def median(values: list[float]) -> float:
    return sorted(values)[0]
''',
    "test_stats.py": """import unittest

from stats import mean, median


class Averages(unittest.TestCase):
    def test_mean(self) -> None:
        self.assertEqual(mean([1, 2, 3, 6]), 3)

    def test_median(self) -> None:
        self.assertEqual(median([9, 1, 5]), 5)


if __name__ == "__main__":
    unittest.main()
""",
    "@fix_plan.md": "# Plan\n\n- [ ] fix mean\n- [ ] fix median\n",
    ".gitignore": "__pycache__/\n",
}

_ITERATION = re.compile(r"this is iteration (\d{1,4})\b")


def make_repository(folder: Path) -> None:
    """Make a git repository with two bugs, a test for each and a plan."""
    for name, text in _FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    identity = ("-c", "user.name=Ralph demo", "-c", "user.email=demo@localhost", "-c", "commit.gpgsign=false")
    for words in (("init", "--quiet"), ("add", "--all"), ("commit", "--quiet", "--message", "Two bugs")):
        argv = (git_program() or "git", *identity, *words)
        subprocess.run(argv, cwd=folder, env=environment(), check=True, capture_output=True)


def _status_report(text: str, *, done: bool, reason: str) -> Say:
    status = f"EXIT_SIGNAL: {str(done).lower()}\nSTATUS: {'COMPLETE' if done else 'IN_PROGRESS'}\nREASON: {reason}"
    return Say(f"{text}\n\n---RALPH_STATUS---\n{status}\n---END_RALPH_STATUS---")


def _chapters() -> dict[int, list[Step]]:
    return {
        1: [
            EditFile("stats.py", "    return sum(values) / (len(values) + 1)", "    return sum(values) / len(values)"),
            EditFile("@fix_plan.md", "- [ ] fix mean", "- [x] fix mean"),
            _status_report("I fixed `mean`: it divided by one too many.", done=False, reason="median is left"),
        ],
        2: [Fail(403, "This model is not available to you at the moment.")],
        3: [
            EditFile("@fix_plan.md", "- [ ] fix median", "- [x] fix median"),
            _status_report("Everything is done, all tests pass.", done=True, reason="both functions are fixed"),
        ],
        4: [
            EditFile("stats.py", "    return sorted(values)[0]", "    return sorted(values)[len(values) // 2]"),
            _status_report("I fixed `median`: it took the smallest value.", done=True, reason="both tests pass now"),
        ],
    }


class Story:
    """The model's script, called with each request.

    In the fourth iteration it kills the SDK's runtime at each of its requests, so that the CLI has to take over.

    Args:
        on_kill: called with the id of every killed process.
    """

    def __init__(self, on_kill: Callable[[int], None] = lambda _pid: None) -> None:
        self._chapters = _chapters()
        self._on_kill = on_kill

    def __call__(self, request: ModelRequest) -> Step:
        asked = _ITERATION.search(request.prompt)
        iteration = int(asked[1]) if asked else 0
        if iteration == 4 and (pid := _kill_runtime()) is not None:
            self._on_kill(pid)
            return Cut("")
        steps = self._chapters.get(iteration) or [
            _status_report("The story is over.", done=True, reason="nothing is left")
        ]
        return steps.pop(0)


class Evidence(Hooks):
    """Observer that collects the report at the end of the demo: one entry per iteration, with its evidence."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._killed: list[int] = []

    def killed(self, pid: int) -> None:
        """Note that a runtime was killed."""
        self._killed.append(pid)

    async def on_iteration_finished(self, event: IterationFinished) -> None:
        happened = [self._outcome(event)]
        if self._killed:
            happened.append(f"after processes {' and '.join(map(str, self._killed))} were killed")
            self._killed = []
        line = f"  {event.iteration}  {event.executor:<11}  {', '.join(happened)}"
        decision = describe(event.decision)
        if isinstance(event.outcome, Failed):  # the line above shows the reason
            decision = decision.partition(":")[0]
        self._lines.append(f"{line}\n                  -> {decision}")

    def report(self, run: RunRecord) -> str:
        """Return the collected evidence as text."""
        answered = ", ".join(f"{name} {count}" for name, count in run.executors.items()) or "no executor worked"
        happened = "".join(f"{line}\n" for line in self._lines)
        return f"\nWhat happened, with the evidence:\n{happened}Iterations answered by each: {answered}."

    def _outcome(self, event: IterationFinished) -> str:
        if isinstance(event.outcome, Failed):
            return f"{event.outcome.failure} (HTTP {event.outcome.status})"
        files = ", ".join(event.changes.files) or "nothing"
        plan = f", plan {event.plan.done} of {event.plan.total}" if event.plan else ""
        return f"changed {files}{plan}"


def _kill_runtime() -> int | None:
    """Kill the runtime that the SDK talks to, as a crash would; return its process id, None if none exists."""
    for process in psutil.Process().children(recursive=True):
        try:
            if "--stdio" in process.cmdline():
                process.kill()
                return process.pid
        except psutil.Error:
            continue
    return None
