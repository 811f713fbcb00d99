"""What the Copilot CLI reports to have used, in the file of `--usage-output-file`.

It counts by session, from the session's first turn on; what a turn has used is what came on top.
"""

import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar, cast

from ralph.output import Usage

__all__ = ["UsageMeter"]

_N = TypeVar("_N", int, float)

_BOUND = 1_000_000


class UsageMeter:
    """Tells turns apart within the totals of sessions. A turn that left no file counts with the session's next."""

    def __init__(self) -> None:
        self._totals: dict[str, Usage] = {}

    def read(self, path: Path, session_id: str, *, calls: int, begun_here: bool) -> Usage:
        """What the turn that has just ended used.

        Args:
            path: the file; it may be missing or hold anything.
            calls: how many requests to the model were seen in the turn; the file leaves failed ones out.
            begun_here: the session cannot have been in use before this meter was. Otherwise the first turn of an
                unknown session is not measured, for the total may hold what was counted long ago.
        """
        seen = Usage(model_calls=calls) if calls else Usage()
        total = _total(path)
        if total is None:
            return seen
        before = self._totals.get(session_id, Usage() if begun_here else None)
        self._totals[session_id] = total
        if before is None:
            return seen
        return Usage(
            input_tokens=_rest(total.input_tokens, before.input_tokens),
            output_tokens=_rest(total.output_tokens, before.output_tokens),
            cache_read_tokens=_rest(total.cache_read_tokens, before.cache_read_tokens),
            premium_requests=_rest(total.premium_requests, before.premium_requests),
            model_calls=max(calls, _rest(total.model_calls, before.model_calls) or 0),
        )


def _total(path: Path) -> Usage | None:
    """The session's usage so far; None where the file is missing or cannot be understood."""
    told = _read(path)
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


def _read(path: Path) -> Mapping[str, Any]:
    """The agent could have put anything in its place: a link, a pipe, a gigabyte."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0))
    except OSError:
        return {}
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            return {}
        try:
            return _mapping(json.loads(file.read(_BOUND)))
        except (ValueError, RecursionError):
            return {}


def _sum(parts: list[Mapping[str, Any]], name: str) -> int:
    return int(sum(_number(part.get(name)) or 0 for part in parts))


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and 0 <= value < 1e15 else None


def _mapping(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
