"""The `ralph` program as a person runs it: in a process of its own, with nothing of the user's."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

__all__ = ["own_environment", "run_ralph"]

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
