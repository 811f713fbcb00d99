"""A recorded pass as a JSON line: what it may hold, and the pass that it tells of. What is missing is unknown."""

import json
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, Field

from ralph.analysis import analyze_text
from ralph.pipeline.replay import Moves, Pass, failure_of
from ralph.types import evolve
from ralph.types.output import Answered, Failed, Outcome, Usage
from ralph.types.plan import parse_plan

__all__ = ["Line"]

_MOST = 10**12
_SHORT = 500
"""Characters up to which a reply can be an error and nothing else."""
_YEARS = range(1970, 9000)


def _placed(moment: datetime) -> datetime:
    """A time without a zone is taken for UTC."""
    if moment.year not in _YEARS:
        raise ValueError(f"a year from {_YEARS.start} to {_YEARS.stop - 1} is needed")
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


Count = Annotated[int, Field(ge=0, le=_MOST)]
Amount = Annotated[float, Field(ge=0, le=_MOST, allow_inf_nan=False)]
Moment = Annotated[datetime, AfterValidator(_placed)]


class _Changes(BaseModel, frozen=True):
    """Files may be given by their names as well."""

    files: Count | list[str] | None = None
    commits: Count | list[str] | None = None
    fingerprint: str | None = None

    def moves(self) -> Moves:
        return Moves(files=_number(self.files), commits=_number(self.commits), fingerprint=self.fingerprint or None)


class _Usage(BaseModel, frozen=True):
    input_tokens: Count | None = None
    output_tokens: Count | None = None
    cache_read_tokens: Count | None = None
    premium_requests: Amount | None = None
    cost: Amount | None = None
    model_calls: Count | None = None


class Line(BaseModel, frozen=True):
    """One line of what `ralph replay` reads.

    Attributes:
        run: which run it is a pass of; lines without one are one run.
        error: what the turn failed with; true where that is not known.
        plan: the checklist as Markdown.
        cost: in US dollars; it goes before that of `usage`.
        duration: in seconds.
        task: what the run was to do.
    """

    run: str | int | None = None
    text: str | None
    error: str | bool | dict[str, Any] | None = None
    denials: Count | list[Any] | None = None
    tools: Count | None = None
    changes: _Changes | None = None
    plan: str | None = None
    usage: _Usage | None = None
    cost: Amount | None = None
    duration: Amount | None = None
    at: Moment | None = None
    task: str | None = None

    @property
    def name(self) -> str | None:
        """The run's name; None for the run that has none."""
        return None if self.run is None else str(self.run)

    def as_pass(self) -> Pass:
        """The pass that it tells of."""
        usage = Usage(**self.usage.model_dump()) if self.usage else Usage()
        return Pass(
            text=self.text or "",
            task=self.task or "",
            outcome=self._outcome(),
            tools=self.tools,
            denials=_number(self.denials),
            changes=self.changes.moves() if self.changes else None,
            plan=None if self.plan is None else parse_plan(self.plan),
            usage=usage if self.cost is None else evolve(usage, cost=self.cost),
            duration=self.duration,
            at=self.at,
        )

    def _outcome(self) -> Outcome:
        """How the turn ended. Where an error is only said to be one, a reply that is nothing else tells which; one that
        was cut short at work may speak of anything.
        """
        match self.error:
            case None:
                return self._unasked()
            case False | "":
                return Answered()
            case True:
                return self._untold()
            case str(text) if text == self.text:
                return self._untold()
            case str(text):
                return failure_of(text)
            case dict(held):
                return failure_of(json.dumps(held))

    def _unasked(self) -> Outcome:
        """Where nobody says whether it failed: a short reply that is nothing but the word of a service that is down."""
        text = self.text or ""
        failure = failure_of(text) if text and len(text) <= _SHORT else None
        down = failure and failure.failure == "unavailable" and analyze_text(text).state == "error"
        return failure if failure and down else Answered()

    def _untold(self) -> Failed:
        """A failure that is only in the reply, if anywhere."""
        text = self.text or ""
        if analyze_text(text).state in {"limited", "error"}:
            return failure_of(text)
        return Failed(failure="crashed", message="it is not told why")


def _number(told: int | list[Any] | None) -> int | None:
    return len(told) if isinstance(told, list) else told
