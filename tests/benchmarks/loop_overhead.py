"""What the loop itself costs an iteration, with an agent that answers at once and a durable store; prints JSON.

`uv run python tests/benchmarks/loop_overhead.py [ITERATIONS]`. Every iteration is followed by its reference, in the
same process: one bare commit of the same bytes to a file beside the store, under the same pragmas (`commit_ratio`),
or one bare `git status` of the same workspace (`git_ratio`; `git_cpu_ratio` is the same in seconds of the processor,
those of git's processes included). In a workspace, an iteration writes a file, is compared with the one before and
gets a checkpoint, and its two commits are durable; so three runs share its figure, since a disk has more than one pace.

A figure is the best of several rounds, each the median of many iterations and of the references between them: what
else the machine does can spoil a round, but improves none. A slower loop is slower in every round. `slowness` says how
much longer than on the machine of the promises a fixed piece of Python takes here, between the same iterations.
"""

import gc
import json
import random
import resource
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter
from typing import NamedTuple

import anyio
import psutil

from ralph.decision.breaker import BreakerSettings, CircuitBreaker
from ralph.decision.limits import Limits
from ralph.executors.base import Executor, Turn
from ralph.loop.runner import Runner
from ralph.prompt import Prompt
from ralph.records.record import RunRecord
from ralph.store import open_store
from ralph.types.output import Answered, Output, Usage
from ralph.workspace import open_workspace
from ralph.workspace.base import Workspace
from ralph.workspace.nested import Nested
from ralph.workspace.scan import SETTLED

REPLY = """{prose}

- Modified `{path}`
- 12 tests passing

---RALPH_STATUS---
EXIT_SIGNAL: false
STATUS: IN_PROGRESS
REASON: {reason}
---END_RALPH_STATUS---
"""
PROSE = """
parser grammar rule table token stream reader writer index cache lookup entry point module function
branch reads keeps adds moves renames splits joins checks covers returns the a its new
old small next first every
"""


FOLDERS = 2_000
"""Folders of the repository for `git_ratio_folders` and `walk_us`: a look at a folder for nested repositories."""
YARDSTICK_MS = 0.2
"""What `yardstick` takes on the machine on which the promises were made."""


def yardstick() -> float:
    """Return the seconds that a fixed piece of Python takes, which is none of Ralph's."""
    began = perf_counter()
    words = [f"{word}{number}" for number in range(20) for word in PROSE.split()]
    counted = {word: words.index(word) for word in words[:60]}
    json.loads(json.dumps({"words": words, "counted": counted}))
    return perf_counter() - began


def reply(number: int) -> str:
    """A kilobyte of prose, another one each time, with a status block."""
    words = random.Random(number)
    sentences = [" ".join(words.choices(PROSE.split(), k=11)).capitalize() + "." for _ in range(12)]
    path = f"parser/{words.choice(PROSE.split())}.py"
    return REPLY.format(prose=" ".join(sentences), path=path, reason=sentences[0].lower())


class Times(NamedTuple):
    """What an iteration and the reference after it took, in seconds."""

    iteration: float
    reference: float


def cpu_seconds() -> float:
    """Return the seconds that the processor has spent on this process and on those that it has started and ended."""
    used = (resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


class Instant(Executor):
    """Answers at once; between two turns it does the reference and notes what lay between."""

    name = "instant"
    measures = frozenset({"tokens"})

    def __init__(self, reference: Callable[[int], float], events: int = 0) -> None:
        self.reference = reference
        self.events = events
        self.iterations: list[float] = []
        self.references: list[float] = []
        self.yardsticks: list[float] = []
        self.cpu: list[Times] = []
        self.resident: list[int] = []
        self._left = self._left_cpu = 0.0
        self._process = psutil.Process()

    async def execute(self, prompt: Prompt, turn: Turn) -> Output:
        if self._left:
            self.iterations.append(perf_counter() - self._left)
        cpu = cpu_seconds()
        self.references.append(self.reference(turn.iteration))
        if self._left:
            self.cpu.append(Times(cpu - self._left_cpu, cpu_seconds() - cpu))
        self.yardsticks.append(yardstick())
        if turn.iteration % 100 == 0:
            gc.collect()
            self.resident.append(self._process.memory_info().rss)
        answer = reply(turn.iteration)
        self._left_cpu, self._left = cpu_seconds(), perf_counter()
        for number in range(self.events):
            turn.transcript.message(f"Reading file {number} of the package.", tool_calls=1)
        turn.transcript.used(Usage(input_tokens=900, output_tokens=100, model_calls=1))
        return turn.transcript.finish(Answered(), text=answer)


class BareCommits:
    """Commits as many bytes as the store has taken for the iteration before, under the same pragmas."""

    def __init__(self, path: Path, store: Path) -> None:
        self._copy = sqlite3.connect(path, isolation_level=None)
        for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
            self._copy.execute(f"PRAGMA {pragma}")
        self._copy.execute("CREATE TABLE bytes (number INTEGER PRIMARY KEY, body TEXT NOT NULL)")
        self._store = sqlite3.connect(store, isolation_level=None)
        self._run, self._seq = "", 0

    def __call__(self, number: int) -> float:
        """Seconds that the commit took."""
        if not self._run:
            (self._run,) = self._store.execute("SELECT id FROM runs").fetchone()
        seq, events = self._store.execute(
            "SELECT max(seq), sum(length(body)) FROM events WHERE run_id = ? AND seq > ?", (self._run, self._seq)
        ).fetchone()
        rows = [
            self._store.execute(
                f"SELECT length({column}) FROM {table} WHERE run_id = ? AND number = ?", (self._run, number - 1)
            ).fetchone()
            for table, column in (("iterations", "record"), ("traces", "body"))
        ]
        size = (events or 0) + sum(row[0] for row in rows if row)
        self._seq = seq or self._seq
        began = perf_counter()
        self._copy.execute("BEGIN IMMEDIATE")
        self._copy.execute("INSERT INTO bytes VALUES (?, ?)", (number, "x" * max(size, 1)))
        self._copy.execute("COMMIT")
        return perf_counter() - began


async def run(
    folder: Path, iterations: int, *, events: int = 0, reference: str = "commit", workspace: Workspace | None = None
) -> tuple[Instant, RunRecord]:
    """One run of that many iterations, with the reference in between."""
    store = open_store(str(folder / "store.db"))
    async with store:
        pass  # the file is there now, for the reference to read
    bare: Callable[[int], float]
    if reference == "commit":
        bare = BareCommits(folder / "bare.db", folder / "store.db")
    else:
        assert workspace is not None
        bare = git_status(workspace.path)
    executor = Instant(bare, events)
    runner = Runner(
        executor=executor,
        store=store,
        workspace=workspace,
        breaker=CircuitBreaker(BreakerSettings(no_progress=1000, same_error=1000)),
        limits=Limits(max_iterations=iterations),
    )
    async with runner:
        record = await runner.run("Read the whole grammar.")
    assert record.iterations == iterations, record.detail
    return executor, record


def git_status(workspace: Path) -> Callable[[int], float]:
    def once(number: int) -> float:
        (workspace / f"part_{number}.py").write_text(f"PART = {number}\n")
        began = perf_counter()
        subprocess.run(["git", "status", "--porcelain=v2", "-z"], cwd=workspace, check=True, capture_output=True)
        return perf_counter() - began

    return once


def repository(folder: Path, *, folders: int = 0, ignored: str = "") -> Workspace:
    """A small repository with fifty files, and so many folders that are searched for nested repositories."""
    folder.mkdir()
    (folder / ".gitignore").write_text(ignored)
    for number in range(50):
        (folder / f"module_{number}.py").write_text(f"VALUE = {number}\n" * 20)
    for number in range(folders):
        place = folder / "packages" / f"{number // 100}" / f"{number}"
        place.mkdir(parents=True)
        (place / "index.js").write_text("1\n")
    for argv in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "start"]):
        identity = ["-c", "user.name=bench", "-c", "user.email=bench@localhost"]
        subprocess.run(["git", *identity, *argv], cwd=folder, check=True, capture_output=True)
    return open_workspace(folder, state_dir=folder.parent / "state")


class Round(NamedTuple):
    """The medians of a part of a run, in seconds; the ratio is that of an iteration to the reference after it."""

    iteration: float
    reference: float
    ratio: float


def rounds(executor: Instant, size: int) -> list[Round]:
    """Return the run in parts of as many iterations; what is left over at its beginning warms up."""
    pairs = list(zip(executor.iterations, executor.references[1:], strict=False))
    parts = [pairs[end - size : end] for end in range(len(pairs), size - 1, -size)][::-1]
    return [
        Round(median(a for a, _ in part), median(b for _, b in part), median(a / b for a, b in part)) for part in parts
    ]


async def measure(iterations: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part in ("plain", "events", "git"):
            (folder / part).mkdir()
        plain, _ = await run(folder / "plain", iterations)
        busy, _ = await run(folder / "events", 200, events=100)
        in_git: list[Instant] = []
        for number in range(3):
            place = folder / "git" / str(number)
            place.mkdir()
            in_git.append((await run(place, 60, reference="git", workspace=repository(place / "repository")))[0])
        wide: list[Instant] = []
        for part, ignored in (("wide", ""), ("ignored", "packages/\n")):
            (folder / part).mkdir()
            workspace = repository(folder / part / "repository", folders=FOLDERS, ignored=ignored)
            await anyio.sleep(SETTLED / 1e9)  # a folder that has just changed is read each time
            wide.append((await run(folder / part, 60, reference="git", workspace=workspace))[0])
        nested, walks = Nested(workspace.path), list[float]()
        for _ in range(60):
            began = perf_counter()
            nested.find(())
            walks.append(perf_counter() - began)
    parts = rounds(plain, iterations // 12)
    best = min(parts, key=lambda part: part.ratio)
    first, last = (min(part.iteration for part in third) for third in (parts[:4], parts[-4:]))
    return {
        "iteration_ms": best.iteration * 1e3,
        "iteration_ms_p99": quantiles(plain.iterations, n=100)[98] * 1e3,
        "bare_commit_ms": best.reference * 1e3,
        "commit_ratio": best.ratio,
        "slowness": min(plain.yardsticks) * 1e3 / YARDSTICK_MS,
        "iteration_ms_100_events": min(part.iteration for part in rounds(busy, 50)) * 1e3,
        "git_ratio": min(part.ratio for git in in_git for part in rounds(git, 20)),
        "git_cpu_ratio": min(sum(t.iteration for t in git.cpu) / sum(t.reference for t in git.cpu) for git in in_git),
        "git_ratio_folders": min(part.ratio for part in rounds(wide[0], 20)),
        "git_ratio_ignored": min(part.ratio for part in rounds(wide[1], 20)),
        "walk_us": min(walks) / FOLDERS * 1e6,
        "memory_growth_mb": (plain.resident[-1] - plain.resident[0]) / 1e6,
        "time_growth_ratio": last / first,
    }


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    print(json.dumps({key: round(value, 3) for key, value in anyio.run(measure, count).items()}))
