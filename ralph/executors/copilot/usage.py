"""The usage that the Copilot CLI reports.

At a turn's end all of it is in the file of `--usage-output-file`. That file counts by session, from the session's first
turn on; what a turn has used is the difference. While the turn runs, the calls to the model are only in the session's
log (seen with 1.0.102), a moment late.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

from ralph.executors.copilot.events import tokens_of
from ralph.executors.program_output import Event, mapping, number
from ralph.system.files import parsed, read_if_regular
from ralph.types import evolve
from ralph.types.output import Usage

_N = TypeVar("_N", int, float)

_BOUND = 1_000_000
_RECORD = b'{"type":"session.usage_record"'
_LONGEST_RECORD = 65_536


class SessionLog:
    """The tokens of a running turn, so that a limit on them can end it; `counted` is what `more` has returned so far.

    The present content of the log belongs to earlier turns.
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
        """Return what was used since the last call."""
        calls = (mapping(mapping(parsed(line)).get("data")) for line in self._lines() if line.startswith(_RECORD))
        # How a call is billed is known only at the turn's end.
        added = sum((tokens_of(mapping(call.get("usage"))) for call in calls), Usage())
        self.counted += added
        return added

    def _lines(self) -> Iterator[bytes]:
        """Yield the complete new lines. Only the head of a long one is held: it is not a record."""
        content = read_if_regular(self._path, _BOUND, offset=self._at)
        self._at += len(content)
        *lines, rest = (self._rest + content).split(b"\n")
        self._rest = rest[:_LONGEST_RECORD]
        yield from lines


class UsageMeter:
    """The usage of each turn, out of the totals of sessions.

    If a turn left no file, what was not counted while it ran counts with the session's next turn.
    """

    def __init__(self) -> None:
        self._totals: dict[str, Usage] = {}

    def read(self, path: Path, session_id: str, *, calls: int, begun_here: bool, counted: Usage | None = None) -> Usage:
        """Return what the turn that has just ended used.

        Args:
            path: the file; it may be missing or hold anything.
            calls: how many requests to the model were seen in the turn; the file leaves failed ones out.
            begun_here: the session cannot be older than this meter. Otherwise the first turn of an unknown session is
                not measured, because the total may include earlier turns.
            counted: what was counted while the turn ran; it is left out.
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
    return Usage(**{name: _rest(getattr(total, name), getattr(before, name)) for name in Usage.model_fields})


def _total(path: Path) -> Usage | None:
    """Return the session's usage so far; None if the file is missing or not understood."""
    report = mapping(parsed(read_if_regular(path, _BOUND)))  # the agent may have put a link or a pipe there
    metrics = [mapping(model) for model in mapping(report.get("modelMetrics")).values()]
    if not metrics:
        return None
    counts = [mapping(model.get("usage")) for model in metrics]
    return Usage(
        input_tokens=_sum(counts, "inputTokens"),
        output_tokens=_sum(counts, "outputTokens"),
        cache_read_tokens=_sum(counts, "cacheReadTokens"),
        premium_requests=number(report.get("totalPremiumRequestCost")),
        model_calls=_sum([mapping(model.get("requests")) for model in metrics], "count"),
    )


def _rest(total: _N | None, before: _N | None) -> _N | None:
    return None if total is None else max(total - (before or 0), type(total)(0))


def _sum(parts: list[Event], name: str) -> int:
    return int(sum(number(part.get(name)) or 0 for part in parts))
