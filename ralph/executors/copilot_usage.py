"""What the Copilot CLI reports to have used, in the file of `--usage-output-file`."""

import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from ralph.output import Usage

__all__ = ["read_usage"]

_BOUND = 1_000_000


def read_usage(path: Path, calls: int) -> Usage:
    """The usage that the file tells of; nothing is measured where it is missing or cannot be understood.

    Args:
        calls: how many requests to the model were seen; the file leaves out failed ones.
    """
    seen = Usage(model_calls=calls) if calls else Usage()
    metrics = [_mapping(model) for model in _mapping(_read(path).get("modelMetrics")).values()]
    if not metrics:
        return seen
    counts = [_mapping(model.get("usage")) for model in metrics]
    return Usage(
        input_tokens=_sum(counts, "inputTokens"),
        output_tokens=_sum(counts, "outputTokens"),
        cache_read_tokens=_sum(counts, "cacheReadTokens"),
        premium_requests=_number(_read(path).get("totalPremiumRequestCost")),
        model_calls=max(calls, _sum([_mapping(model.get("requests")) for model in metrics], "count")),
    )


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
