"""Codex's home folder: one that belongs to the executor, or the user's."""

import fcntl
import shutil
import tempfile
import tomllib
from pathlib import Path

from ralph_codex.provision import cache_folder

__all__ = ["OwnHome", "has_provider"]

_MOST = 1 << 20


class OwnHome:
    """A home folder that is removed when it is closed, or by the next one where Ralph was killed before that.

    It lies in the user's cache: Codex does not work from the folder for temporary files.

    Args:
        rules: for commands.

    Attributes:
        path: absolute.
    """

    def __init__(self, rules: str) -> None:
        folder = cache_folder()
        folder.mkdir(parents=True, exist_ok=True)
        for left in folder.glob("home-*"):
            _remove_left(left)
        self.path = Path(tempfile.mkdtemp(prefix="home-", dir=folder))
        self._lock = (self.path / "ralph.lock").open("w")
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        (self.path / "rules").mkdir()
        (self.path / "rules" / "ralph.rules").write_text(rules, encoding="utf-8")

    def close(self) -> None:
        """Remove the folder; closing twice is harmless."""
        shutil.rmtree(self.path, ignore_errors=True)
        self._lock.close()


def has_provider(home: Path) -> bool:
    """Return True if the user's configuration names a provider of its own, which needs no login with OpenAI."""
    try:
        with (home / "config.toml").open("rb") as file:
            return "model_provider" in tomllib.loads(file.read(_MOST).decode())
    except (OSError, ValueError):
        return False


def _remove_left(home: Path) -> None:
    """Remove a home folder without an owner.

    One without a lock is being made just now, or is not Ralph's: it is left alone.
    """
    try:
        with (home / "ralph.lock").open("r+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(home, ignore_errors=True)
    except OSError:
        return
