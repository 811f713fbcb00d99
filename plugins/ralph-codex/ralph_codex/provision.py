"""The Codex CLI: the native program out of npm's package, pinned and fetched once into the user's cache."""

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from platformdirs import user_cache_path

from ralph.errors import ProvisionError, UsageError
from ralph.executors import NpmPackage, NpmProgram, find_program
from ralph.system.process import run

if TYPE_CHECKING:
    from ralph.executors import Progress

__all__ = ["PINNED", "cache_folder", "present_codex", "provide_codex", "require_version"]

PINNED = "0.169.0"
"""The version that is fetched, and the one that the tests run."""

_REMEDY = "Install Codex yourself and name its native program in the setting plugins.codex.program."
_OLDEST, _BEYOND = (0, 169), (1, 0)
_VERSION = re.compile(r"codex-cli (\d{1,6})\.(\d{1,6})")
_INSIDE = re.compile(r"package/vendor/[^/]+/(?!codex-resources/voice/)(.+)")
"""Everything of the program, except what it speaks and listens with."""

_INTEGRITY = {
    "linux-x64": "sha512-o05NyAOCDygSPRo1yinzxvkRSdmsZyBD9E7mbpmjRanSfM8lypqWtQgEo4XfNkwhuCR2aFu8mlGOsQGFXVbVww==",
    "linux-arm64": "sha512-NZ/DaQUpcQmxmqee7Z9uC1rzw3GhSbooawcaTe1LN5Yk+WlinUKGdTXJgClRT/9ogQEEM9TWxYzvxPfj5G/xFg==",
    "darwin-x64": "sha512-K1FKSsSLl9v3z5TeagBQXyQRDBIGB5Jncy5dxsRxwT3aaTqN3AI8VrCfoxBxKMOOU9O2QX1vg7WkBwNVth/s9A==",
    "darwin-arm64": "sha512-5WsWFBbVP78D+6FvNo1MMVxLPZdmcoQlqVJFrF4qx/TmvneLnMQKtLyXkUo54XOTDfoYKpNouTJ/F7gTVA8FnQ==",
}


def _place(name: str) -> str | None:
    found = _INSIDE.fullmatch(name)
    return found[1] if found else None


_CODEX = NpmProgram(
    label="Codex",
    version=PINNED,
    packages={
        platform: NpmPackage(f"@openai/codex@{PINNED}-{platform}", integrity)
        for platform, integrity in _INTEGRITY.items()
    },
    program="bin/codex",
    place=_place,
    remedy=_REMEDY,
)


def cache_folder() -> Path:
    """Return the folder for everything of Codex's that can be fetched or made again."""
    return user_cache_path("ralph") / "codex-cli"


async def require_version(program: Path) -> None:
    """Raise `UsageError` if a program that the user named is not a Codex that the plug-in works with."""
    named = f"The setting plugins.codex.program names {str(program)!r}"
    remedy = f"Name another, or remove it: version {PINNED} is then fetched from npm."
    try:
        done = await run([str(program), "--version"], cwd=Path.home(), timeout=60, end_leftovers=True)
    except UsageError as error:
        raise UsageError(f"{named}: {error.problem}", remedy) from error
    found = _VERSION.search(done.stdout + done.stderr)
    if not found:
        raise UsageError(f"{named}, which does not say that it is Codex.", remedy)
    if not _OLDEST <= (int(found[1]), int(found[2])) < _BEYOND:
        raise UsageError(f"{named}, which is {found[0]}; the plug-in works with 0.169 to below 1.0.", remedy)


def present_codex(cache: Path | None = None) -> Path | None:
    """Return the pinned Codex from the cache; None if it is not there yet.

    Raises:
        ProvisionError: there is no npm to fetch it with, or no Codex for this machine.
    """
    if program := _CODEX.present(cache or cache_folder()):
        return program
    if not find_program("npm"):
        raise ProvisionError("Codex is not installed, and there is no npm to fetch it with.", _REMEDY)
    return None


async def provide_codex(*, progress: "Progress | None" = None, cache: Path | None = None, limit: float = 900.0) -> Path:
    """Return the pinned Codex from the cache, and fetch it first if it is not there.

    Args:
        progress: called as the download proceeds.
        cache: a folder of Ralph's own; by default the user's.
        limit: seconds for everything, waiting for another process included.

    Raises:
        ProvisionError: it is not there and cannot be fetched.
    """
    cache = cache or cache_folder()
    if program := _CODEX.present(cache):
        return program
    return await _CODEX.fetch(cache, env=os.environ, progress=progress, limit=limit) / _CODEX.program
