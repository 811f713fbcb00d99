"""What the Copilot CLI reports to have used.

At a turn's end it is all in the file of `--usage-output-file`. That one counts by session, from the session's first
turn on; what a turn has used is what came on top. While the turn goes on, the calls to the model stand in the session's
log alone (seen with 1.0.102), a moment late.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar, cast

from ralph.system.files import read_regular
from ralph.types import evolve
from ralph.types.output import Usage

__all__ = ["SessionLog", "UsageMeter"]

_N = TypeVar("_N", int, float)

_BOUND = 1_000_000
_RECORD = b'{"type":"session.usage_record"'
_LONGEST_RECORD = 65_536


class SessionLog:
    """The tokens of a turn that goes on, so that a limit on them can end it.

    Args:
        path: the log. What it holds already belongs to earlier turns.

    Attributes:
        counted: what was given so far.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._rest = b""
        try:
            self._at = path.lstat().st_size
        except OSError:
            self._at = 0
        self.counted = Usage()

    def more(self) -> Usage:
        """What came on top since the last look."""
        added = sum((_recorded(line) for line in self._lines() if line.startswith(_RECORD)), Usage())
        self.counted += added
        return added

    def _lines(self) -> Iterator[bytes]:
        """The lines that are whole by now. Of a long one only the head is held: it is no record."""
        content = _content(self._path, self._at)
        self._at += len(content)
        *lines, rest = (self._rest + content).split(b"\n")
        self._rest = rest[:_LONGEST_RECORD]
        yield from lines


class UsageMeter:
    """Tells turns apart within the totals of sessions. Of a turn that left no file, what was not counted while it went
    on counts with the session's next.
    """

    def __init__(self) -> None:
        self._totals: dict[str, Usage] = {}

    def read(self, path: Path, session_id: str, *, calls: int, begun_here: bool, counted: Usage | None = None) -> Usage:
        """What the turn that has just ended used.

        Args:
            path: the file; it may be missing or hold anything.
            calls: how many requests to the model were seen in the turn; the file leaves failed ones out.
            begun_here: the session cannot have been in use before this meter was. Otherwise the first turn of an
                unknown session is not measured, for the total may hold what was counted long ago.
            counted: what was counted while the turn went on; it is left out.
        """
        counted = counted or Usage()
        seen = Usage(model_calls=calls) if calls else Usage()
        total = _total(path)
        before = self._totals.get(session_id, Usage() if begun_here else None)
        if total is not None:
            self._totals[session_id] = total
        elif before is not None:
            self._totals[session_id] = before + counted
        if total is None or before is None:
            return _beyond(seen, counted)
        used = _beyond(total, before)
        return _beyond(evolve(used, model_calls=max(calls, used.model_calls or 0)), counted)


def _beyond(total: Usage, before: Usage) -> Usage:
    """What came on top."""
    return Usage(
        input_tokens=_rest(total.input_tokens, before.input_tokens),
        output_tokens=_rest(total.output_tokens, before.output_tokens),
        cache_read_tokens=_rest(total.cache_read_tokens, before.cache_read_tokens),
        premium_requests=_rest(total.premium_requests, before.premium_requests),
        model_calls=_rest(total.model_calls, before.model_calls),
    )


def _recorded(line: bytes) -> Usage:
    """The tokens of one call. What it is billed as is known at the turn's end only."""
    usage = _mapping(_mapping(_parsed(line).get("data")).get("usage"))
    return Usage(
        input_tokens=_whole(usage.get("inputTokens")),
        output_tokens=_whole(usage.get("outputTokens")),
        cache_read_tokens=_whole(usage.get("cacheReadTokens")),
    )


def _total(path: Path) -> Usage | None:
    """The session's usage so far; None where the file is missing or cannot be understood."""
    told = _parsed(_content(path))
    metrics = [_mapping(model) for model in _mapping(told.get("modelMetrics")).values()]
    if not metrics:
        return None
    counts = [_mapping(model.get("usage")) for model in metrics]
    return Usage(
        input_tokens=_sum(counts, "inputTokens"),
        output_tokens=_sum(counts, "outputTokens"),
        cache_read_tokens=_sum(counts, "cacheReadTokens"),
        premium_requests=_number(told.get("totalPremiumRequestCost")),
        model_calls=_sum([_mapping(model.get("requests")) for model in metrics], "count"),
    )


def _rest(total: _N | None, before: _N | None) -> _N | None:
    return None if total is None else max(total - (before or 0), type(total)(0))


def _content(path: Path, start: int = 0) -> bytes:
    """What stands in a file from there on, bounded. The agent could have put anything in its place: a link, a pipe."""
    try:
        return read_regular(path, _BOUND, offset=start)
    except OSError:
        return b""


def _parsed(text: bytes) -> Mapping[str, Any]:
    try:
        return _mapping(json.loads(text))
    except (ValueError, RecursionError):
        return {}


def _sum(parts: list[Mapping[str, Any]], name: str) -> int:
    return int(sum(_number(part.get(name)) or 0 for part in parts))


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and 0 <= value < 1e15 else None


def _whole(value: object) -> int | None:
    number = _number(value)
    return None if number is None else int(number)


def _mapping(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
