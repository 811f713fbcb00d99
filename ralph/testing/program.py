"""The `ralph` program and git repositories for tests, without the user's files."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

_PATIENCE = 50.0
"""Seconds."""


def own_environment(folder: Path, *without: str) -> dict[str, str]:
    """Return an environment with Ralph's folders in one of the test's own, and nothing of the user's.

    Args:
        folder: the test's.
        without: prefixes of further variables to remove, as all of Ralph's are.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("RALPH_", *without))}
    folders = {f"XDG_{kind}_HOME": str(folder / kind.lower()) for kind in ("STATE", "CONFIG", "CACHE")}
    return {**kept, **folders, "NO_COLOR": "1"}


def run_ralph(words: Sequence[str], environment: Mapping[str, str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run `ralph` with arguments in a folder, with an empty input, to its end.

    Raises:
        subprocess.TimeoutExpired: it takes more than 50 seconds.
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
    """A git repository with a shell. The author is fixed, unless GIT_AUTHOR_NAME and the like are set."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def begin(cls, path: Path) -> Self:
        """Create a repository without a commit, on `main`, in a folder that is created if missing."""
        path.mkdir(parents=True, exist_ok=True)
        repository = cls(path)
        repository.git("init", "--quiet", "--initial-branch", "main")
        return repository

    def git(self, *arguments: str) -> str:
        """Return git's output. Raises `subprocess.CalledProcessError` if it fails."""
        argv = ["git", *_SOMEBODY, *arguments]
        return subprocess.run(argv, cwd=self.path, capture_output=True, text=True, check=True).stdout.strip()

    def write(self, name: str | bytes, text: str) -> Path:
        """Write a file below the repository; return its path."""
        path = self.path / os.fsdecode(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def commit(self, message: str = "work") -> str:
        """Commit everything; return the commit's id."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)
        return self.git("rev-parse", "HEAD")
