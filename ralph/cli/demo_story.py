"""What happens in `ralph demo`: a small repository with two bugs, and a model that mends them with mishaps.

Everything but the model is real: the Copilot runtime, its tools, git, the tests, and the killing of a process.
"""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import psutil

from ralph.hooks import Hooks
from ralph.records.events import IterationFinished
from ralph.records.projection import describe
from ralph.records.record import RunRecord
from ralph.testing.request import ModelRequest
from ralph.testing.steps import Cut, EditFile, Fail, Say, Step
from ralph.types.output import Failed

__all__ = ["TASK", "Evidence", "Story", "make_repository"]

TASK = "Make the tests pass: mend `mean` and `median` in stats.py, one at a time, and keep @fix_plan.md up to date."

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
    "@fix_plan.md": "# Plan\n\n- [ ] mend mean\n- [ ] mend median\n",
    ".gitignore": "__pycache__/\n",
}

_ITERATION = re.compile(r"this is iteration (\d{1,4})\b")


def make_repository(folder: Path) -> None:
    """A git repository with two bugs, a test for each and a plan."""
    for name, text in _FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    identity = ("-c", "user.name=Ralph demo", "-c", "user.email=demo@localhost", "-c", "commit.gpgsign=false")
    for words in (("init", "--quiet"), ("add", "--all"), ("commit", "--quiet", "--message", "Two bugs")):
        subprocess.run(("git", *identity, *words), cwd=folder, check=True, capture_output=True)


def _report(text: str, *, done: bool, reason: str) -> Say:
    lines = [
        text,
        "",
        "---RALPH_STATUS---",
        f"EXIT_SIGNAL: {str(done).lower()}",
        f"STATUS: {'COMPLETE' if done else 'IN_PROGRESS'}",
        f"REASON: {reason}",
        "---END_RALPH_STATUS---",
    ]
    return Say("\n".join(lines))


def _chapters() -> dict[int, list[Step]]:
    """The model's answers by iteration."""
    return {
        1: [
            EditFile("stats.py", "    return sum(values) / (len(values) + 1)", "    return sum(values) / len(values)"),
            EditFile("@fix_plan.md", "- [ ] mend mean", "- [x] mend mean"),
            _report("I mended `mean`: it divided by one too many.", done=False, reason="median is left"),
        ],
        2: [Fail(403, "This model is not available to you at the moment.")],
        3: [
            EditFile("@fix_plan.md", "- [ ] mend median", "- [x] mend median"),
            _report("Everything is done, all tests pass.", done=True, reason="both functions are mended"),
        ],
        4: [
            EditFile("stats.py", "    return sorted(values)[0]", "    return sorted(values)[len(values) // 2]"),
            _report("I mended `median`: it took the smallest value.", done=True, reason="both tests pass now"),
        ],
    }


class Story:
    """The model's script: a function of the request.

    In the fourth iteration the SDK's runtime is killed whenever it asks, so that the CLI has to step in.

    Args:
        on_kill: told the number of every process that is killed.
    """

    def __init__(self, on_kill: Callable[[int], None] = lambda _pid: None) -> None:
        self._chapters = _chapters()
        self._on_kill = on_kill

    def __call__(self, request: ModelRequest) -> Step:
        asked = _ITERATION.search(request.prompt)
        iteration = int(asked[1]) if asked else 0
        if iteration == 4 and (pid := kill_runtime()) is not None:
            self._on_kill(pid)
            return Cut("")
        steps = self._chapters.get(iteration) or [_report("The story is over.", done=True, reason="nothing is left")]
        return steps.pop(0)


class Evidence(Hooks):
    """Collects what the demo shows at its end: one line an iteration, with what stands behind it."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._killed: list[int] = []

    def killed(self, pid: int) -> None:
        """A runtime was killed."""
        self._killed.append(pid)

    async def on_iteration_finished(self, event: IterationFinished) -> None:
        happened = [self._outcome(event)]
        if self._killed:
            happened.append(f"after processes {' and '.join(map(str, self._killed))} were killed")
            self._killed = []
        line = f"  {event.iteration}  {event.executor:<11}  {', '.join(happened)}"
        decision = describe(event.decision)
        if isinstance(event.outcome, Failed):  # which is told in the line above
            decision = decision.partition(":")[0]
        self._lines.append(f"{line}\n                  -> {decision}")

    def told(self, run: RunRecord) -> str:
        """What was seen, for a person."""
        answered = ", ".join(f"{name} {count}" for name, count in run.executors.items())
        return "\n".join((
            "\nWhat happened, with the evidence:",
            *self._lines,
            f"Iterations answered by each: {answered}.",
        ))

    def _outcome(self, event: IterationFinished) -> str:
        if isinstance(event.outcome, Failed):
            return f"{event.outcome.failure} (HTTP {event.outcome.status})"
        files = ", ".join(event.changes.files) or "nothing"
        plan = f", plan {event.plan.done} of {event.plan.total}" if event.plan else ""
        return f"changed {files}{plan}"


def kill_runtime() -> int | None:
    """Kills the runtime that the SDK talks to, as a crash would; returns its number, None where there is none."""
    for process in psutil.Process().children(recursive=True):
        try:
            if "--stdio" in process.cmdline():
                process.kill()
                return process.pid
        except psutil.Error:
            continue
    return None
