"""The `ralph` program as a person runs it: in a process of its own, with nothing of the user's."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

__all__ = ["Repository", "own_environment", "run_ralph"]

_PATIENCE = 50.0
"""Seconds."""


def own_environment(folder: Path, *without: str) -> dict[str, str]:
    """An environment in which nothing of the user's is read or written: Ralph's folders are in one of the test's own.

    Args:
        without: what the names of further variables begin with that are left out, as all of Ralph's are.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("RALPH_", *without))}
    folders = {f"XDG_{kind}_HOME": str(folder / kind.lower()) for kind in ("STATE", "CONFIG", "CACHE")}
    return {**kept, **folders, "NO_COLOR": "1"}


def run_ralph(words: Sequence[str], environment: Mapping[str, str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs `ralph` with arguments in a folder, without anything to read, to its end.

    Raises:
        subprocess.TimeoutExpired: it has not ended after so long that it never would.
    """
    return subprocess.run(
        (sys.executable, "-m", "ralph", *words),
        env=environment,
        cwd=folder,
        text=True,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=_PATIENCE,
        check=False,
    )


_SOMEBODY = ("-c", "user.name=t", "-c", "user.email=t@localhost")


class Repository:
    """A repository and a shell in it. Commits are somebody's, unless GIT_AUTHOR_NAME and its like say whose."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def begin(cls, path: Path) -> Self:
        """A new one in a folder, which is made where missing; its branch is `main`, without a commit."""
        path.mkdir(parents=True, exist_ok=True)
        repository = cls(path)
        repository.git("init", "--quiet", "--initial-branch", "main")
        return repository

    def git(self, *arguments: str) -> str:
        """What git prints. Raises `subprocess.CalledProcessError` where it fails."""
        argv = ["git", *_SOMEBODY, *arguments]
        return subprocess.run(argv, cwd=self.path, capture_output=True, text=True, check=True).stdout.strip()

    def write(self, name: str | bytes, text: str) -> Path:
        """A file of that name below the repository."""
        path = self.path / os.fsdecode(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def commit(self, message: str = "work") -> str:
        """Commits all that is there, if anything is; the commit's id."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)
        return self.git("rev-parse", "HEAD")
