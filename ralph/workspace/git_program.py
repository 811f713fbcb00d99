"""The user's git as a program: asked so that nothing which a repository brings along is run.

No hook, no file system monitor, nothing fetched, no password asked for; of the environment's variables for git only
those count that say where its programs and the user's own settings are.
"""

import os
import re
import subprocess
from pathlib import Path

from ralph.errors import UsageError
from ralph.system.process import run

__all__ = ["UnreadableError", "ask", "ask_now", "complaint", "environment", "shown", "unquoted"]

PATIENCE = 120.0
MAX_OUTPUT = 32 * 1024 * 1024
"""Of more than that, the first half is read: some 100,000 paths."""

_SAFE = (
    "git",
    *("-c", "core.fsmonitor=false"),
    *("-c", f"core.hooksPath={os.devnull}"),
    *("-c", "core.quotePath=true"),
    *("-c", "protocol.allow=never"),
)
_KEPT = ("GIT_EXEC_PATH", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_CEILING_DIRECTORIES")


class UnreadableError(Exception):
    """Git cannot do what was asked, with what it says of it in a line."""


async def ask(
    *arguments: str,
    cwd: Path,
    env: dict[str, str],
    stdin: bytes = b"",
    none: int = 0,
    patience: float = PATIENCE,
    max_output: int = MAX_OUTPUT,
) -> list[str]:
    """The lines that git prints; of more than `max_output` bytes those in the first half.

    Args:
        env: the whole environment.
        none: an exit status that means that there is nothing to print.
        patience: in seconds.

    Raises:
        UnreadableError: git fails, cannot be run, or takes too long.
    """
    command = next((word for word in arguments if not word.startswith("-")), "")
    try:
        done = await run(
            [*_SAFE, *arguments], cwd=cwd, env=env, stdin=stdin or None, timeout=patience, max_output=max_output
        )
    except UsageError as error:
        raise UnreadableError(str(error)) from error
    if done.timed_out:
        raise UnreadableError(f"git {command} took more than {patience:.0f} s")
    if done.code not in {0, none}:
        raise UnreadableError(complaint(done.stderr) or f"git {command} ended with status {done.code}")
    if done.stdout_truncated:
        return done.stdout[: max_output // 2].split("\n")[:-1]
    return done.stdout.removesuffix("\n").split("\n") if done.stdout else []


def ask_now(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """A short question on a folder; it blocks. Raises `OSError` where there is no git."""
    return subprocess.run(
        [*_SAFE, "--no-optional-locks", *arguments],
        cwd=folder,
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="surrogateescape",
        check=False,
    )


def environment() -> dict[str, str]:
    """Git's environment, without what would lead it to another repository or change what it prints."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name in _KEPT}
    return kept | {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C", "LANGUAGE": ""}


def complaint(stderr: str) -> str:
    """What git says went wrong, in one line that ends without a full stop; the hints that it adds are left out."""
    lines = [line.strip() for line in stderr[:4000].splitlines() if line.strip() and not line.startswith("hint:")]
    return " ".join(lines[:3])[:500].removeprefix("error: ").removeprefix("fatal: ").rstrip(".")


_ESCAPED = re.compile(rb'\\([abtnvfr"\\]|[0-7]{3})')
_ESCAPES = dict(zip(b'abtnvfr"\\', b'\a\b\t\n\v\f\r"\\', strict=True))


def shown(path: bytes) -> str:
    """A path as text that can be stored and printed; bytes that are not UTF-8 are written as `\\xff`."""
    return path.decode("utf-8", "backslashreplace")


def unquoted(path: str) -> bytes:
    """A path as git prints it: in quotes and with escapes where it has other than plain characters."""
    if not path.startswith('"'):
        return os.fsencode(path)

    def character(escape: re.Match[bytes]) -> bytes:
        code = escape[1]
        return bytes([_ESCAPES[code[0]] if len(code) == 1 else int(code, 8) & 0xFF])

    return _ESCAPED.sub(character, path[1:-1].encode("ascii", "replace"))
