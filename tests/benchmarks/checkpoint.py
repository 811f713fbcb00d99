"""What a checkpoint costs; prints JSON.

`uv run python tests/benchmarks/checkpoint.py [small]`. Each checkpoint is followed by its reference, side by side in
one run: in a repository of 10,000 files of which ten have changed, `git add -A && git write-tree` with an index of its
own (`ratio`); and, unless it is to be `small`, in one of 100,000 files of which ten have changed, one `git status`
(`ratio_100k_files`).
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter

import anyio

from ralph.workspace import Workspace, open_workspace

CHANGED = 10
ROUNDS = 9


def git(folder: Path, *words: str, **more: str) -> float:
    """Seconds that git took."""
    began = perf_counter()
    subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, env={**os.environ, **more})
    return perf_counter() - began


def repository(folder: Path, files: int) -> Path:
    """A repository with so many small files in one commit, a hundred a folder."""
    for number in range(files):
        path = folder / f"package_{number // 1000}" / f"part_{number // 100}" / f"module_{number}.py"
        if number % 100 == 0:
            path.parent.mkdir(parents=True)
        path.write_text(f"VALUE = {number}\n" * 8)
    identity = ("-c", "user.name=bench", "-c", "user.email=bench@localhost", "-c", "gc.auto=0")
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "start")):
        git(folder, *identity, *words)
    return folder


def change(folder: Path, number: int) -> None:
    paths = sorted(folder.glob("package_*/part_*7/module_*7.py"))[:CHANGED]
    assert len(paths) == CHANGED
    for path in paths:
        path.write_text(f"CHANGED = {number}\n" * 8)


def add_and_write_tree(folder: Path) -> Callable[[], float]:
    own = {"GIT_INDEX_FILE": str(folder / ".git" / "reference")}

    def once() -> float:
        return git(folder, "add", "-A", **own) + git(folder, "write-tree", **own)

    return once


async def paired(workspace: Workspace, reference: Callable[[], float]) -> tuple[float, float]:
    """The medians of checkpoint over reference, pair by pair, and of the checkpoint in milliseconds."""
    checkpoints: list[float] = []
    references: list[float] = []
    for number in range(ROUNDS + 1):
        change(workspace.path, number)
        before = len(references) % 2
        for turn in (before, 1 - before):
            if turn:
                references.append(await anyio.to_thread.run_sync(reference))
                continue
            began = perf_counter()
            made = await workspace.checkpoint("bench", number, "after")
            checkpoints.append(perf_counter() - began)
            assert made.commit, made.problem
    ratios = [ours / theirs for ours, theirs in zip(checkpoints[1:], references[1:], strict=True)]
    return median(ratios), median(checkpoints[1:]) * 1e3


async def measure(files: int, reference: Callable[[Path], Callable[[], float]]) -> tuple[float, float]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "repository"
        folder.mkdir()
        repository(folder, files)
        return await paired(open_workspace(folder, state_dir=Path(name) / "state"), reference(folder))


async def main(*, small: bool) -> dict[str, float]:
    ratio, took = await measure(10_000, add_and_write_tree)
    found = {"ratio": ratio, "ms": took}
    if not small:
        ratio, took = await measure(100_000, lambda folder: lambda: git(folder, "status", "--porcelain"))
        found |= {"ratio_100k_files": ratio, "ms_100k_files": took}
    return found


if __name__ == "__main__":
    measured = anyio.run(lambda: main(small="small" in sys.argv[1:]))
    print(json.dumps({key: round(value, 3) for key, value in measured.items()}))
