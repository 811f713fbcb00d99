"""The time that a provider asks to wait after a rate limit: the Copilot runtime tells it in its log alone.

No event carries the Retry-After of a 429 (seen with 1.0.102); the runtime's log has it, from the level "warning" on,
in a line like

    … [WARNING] [rust:model_events::producer] Model provider request failed {"http_status":429,…,"retry_after_ms":2000}

So the runtime is given a log folder of its own; where it outlives a turn, what the log held before is left out.
"""

import json
from pathlib import Path
from typing import Any, cast

import anyio

from ralph.system.files import read_regular

__all__ = ["logged_retry_after"]

_MARK = b"Model provider request failed {"
_TAIL = 65_536


async def logged_retry_after(folder: Path, patience: float = 0.25, after: int = 0) -> float | None:
    """How long the provider asked to wait, in seconds, at the latest rate limit that the log in the folder tells of.

    The line may come a moment after the event: it is waited for up to `patience` seconds. What a log's first `after`
    bytes tell is not looked at.
    """
    pause = 0.005
    with anyio.move_on_after(patience):
        while (line := _latest(folder, after)) is None:
            await anyio.sleep(pause)
            pause *= 2
        wait = line.get("retry_after_ms")
        return wait / 1000 if isinstance(wait, int | float) and 0 <= wait < 1e12 else None
    return None


def _latest(folder: Path, after: int) -> dict[str, Any] | None:
    """The newest line about a rate limit."""
    try:
        logs = sorted(folder.glob("*.log"), key=lambda path: path.name)
    except OSError:
        return None
    for log in reversed(logs):
        for piece in reversed(_tail(log, after).split(_MARK)[1:]):
            try:
                line: Any = json.loads(b"{" + piece.split(b"\n", 1)[0])
            except ValueError:
                continue
            found = cast("dict[str, Any]", line) if isinstance(line, dict) else {}
            if found.get("http_status") == 429:
                return found
    return None


def _tail(path: Path, after: int) -> bytes:
    try:
        return read_regular(path, _TAIL, offset=max(after, path.lstat().st_size - _TAIL))
    except OSError:
        return b""
