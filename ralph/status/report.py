"""The agent's report in its status block as a value, and `parse_status`, which finds it."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Annotated, Literal, cast

from pydantic import BaseModel, Field, JsonValue, NonNegativeInt

from ralph.status.blocks import Block, Source, StatusForm, blocks, stray_signals
from ralph.status.fields import RESERVED, StatusField, T_co, as_signal, as_text, shown
from ralph.system.text import storable
from ralph.types import evolve

__all__ = ["Status", "StatusForm", "StatusMalformed", "StatusMissing", "StatusReport", "parse_status"]


class StatusReport(BaseModel, frozen=True):
    """A well-formed block that counts.

    Attributes:
        exit_signal: None if the block does not say.
        status: such as IN_PROGRESS, COMPLETE or BLOCKED, in the agent's word.
        fields: everything else in the block, under its name in capitals; registered fields have their type, others are
            text.
        start, end: the block's span in the text, in characters.
        raw: the block itself.
        problems: what is wrong with it nonetheless, such as a registered field of another type.
    """

    kind: Literal["report"] = "report"
    exit_signal: bool | None = None
    reason: str = ""
    status: str = ""
    fields: dict[str, JsonValue] = {}
    form: StatusForm = "block"
    start: NonNegativeInt = 0
    end: NonNegativeInt = 0
    raw: str = ""
    problems: tuple[str, ...] = ()

    def value(self, field: StatusField[T_co]) -> T_co | None:
        """Return a further field with its type; None if the block has none of that name, or not of that type."""
        return field.read(self.fields)


class StatusMissing(BaseModel, frozen=True):
    """No block counts, not even a broken one."""

    kind: Literal["missing"] = "missing"


class StatusMalformed(BaseModel, frozen=True):
    """A block that cannot be read.

    Attributes:
        problem: a sentence without its full stop, for the agent and the user.
        start, end: the block's span in the text, in characters.
    """

    kind: Literal["malformed"] = "malformed"
    problem: str
    start: NonNegativeInt = 0
    end: NonNegativeInt = 0


_MISSING = StatusMissing()

Status = Annotated[StatusReport | StatusMissing | StatusMalformed, Field(discriminator="kind")]


def parse_status(
    text: str, fields: Sequence[StatusField] = (), *, promise: str | None = None, example: str | None = None
) -> StatusReport | StatusMissing | StatusMalformed:
    """Return the agent's report on its own work; no text makes it raise.

    Args:
        text: the agent's last message.
        fields: the registered fields, parsed into their types.
        promise: the text of a `<promise>…</promise>` that, as the last non-empty line, means that everything is done,
            unless a block says otherwise. Without it such a line means nothing.
        example: the block that the prompt showed; a copy of it does not count.
    """
    if "_S" not in text and not promise:
        return _MISSING  # each mark of a block has these letters, and most replies do not
    source = Source(text)
    copied = _folded(example)
    echoes: list[Block] = []
    malformed: StatusMalformed | None = None
    for block in blocks(source):
        if block.pairs and copied is not None and block.folded == copied:
            echoes.append(block)
            continue
        status = _judged(block, source, fields)
        if isinstance(status, StatusReport):
            if status.exit_signal is None and _promised(source, promise):
                status = evolve(status, exit_signal=True)
            if malformed:
                problems = (*status.problems, f"the block after it: {malformed.problem}")
                status = evolve(status, problems=problems)
            return status
        malformed = malformed or status
    return _promised(source, promise) or malformed or _stray(source, echoes) or _MISSING


@lru_cache(maxsize=8)
def _folded(example: str | None) -> frozenset[tuple[str, str]] | None:
    block = next(blocks(Source(example)), None) if example else None
    return block.folded if block else None


def _judged(block: Block, source: Source, fields: Sequence[StatusField]) -> StatusReport | StatusMalformed:
    """Return the report of a block, or the problem with it."""
    said = dict(block.pairs)
    words = [value for key, value in block.pairs if key == "EXIT_SIGNAL"]
    signals = {as_signal(word) for word in words}
    problem = block.problem
    if not problem and not said:
        problem = "it has no `KEY: value` line"
    elif None in signals:
        word = next(as_text(word) for word in words if as_signal(word) is None)
        problem = f"EXIT_SIGNAL is {shown(word)}, not true or false" if word else "EXIT_SIGNAL has no value"
    elif len(signals) > 1:
        problem = "EXIT_SIGNAL is both true and false"
    if problem:
        return StatusMalformed(problem=problem, start=block.start, end=block.end)
    values, problems = _typed(said, fields)
    return StatusReport(
        exit_signal=next(iter(signals), None),
        reason=as_text(said.get("REASON")),
        status=as_text(said.get("STATUS")),
        fields=values,
        form=block.form,
        start=block.start,
        end=block.end,
        raw=storable(source.text[block.start : block.end]),
        problems=problems,
    )


def _typed(said: dict[str, JsonValue], fields: Sequence[StatusField]) -> tuple[dict[str, JsonValue], tuple[str, ...]]:
    """Return the further fields in their types, and the problems with those that cannot be read."""
    registered = {field.name: field for field in fields}
    values: dict[str, JsonValue] = {}
    problems: list[str] = []
    for name, value in said.items():
        if name in RESERVED:
            continue
        try:
            values[name] = cast("JsonValue", registered[name].parse(value)) if name in registered else as_text(value)
        except ValueError as error:
            problems.append(f"{name}: {error}")
    return values, tuple(problems)


def _promised(source: Source, promise: str | None) -> StatusReport | None:
    """Return the report of the promise, if that is the last non-empty line."""
    if not promise:
        return None
    end = len(source.lines.rstrip())
    start = source.lines.rfind("\n", 0, end) + 1
    line = source.lines[start:end].strip()
    if line != f"<promise>{promise}</promise>":
        return None
    start = end - len(line)
    return StatusReport(exit_signal=True, form="promise", start=start, end=end, raw=storable(source.text[start:end]))


def _stray(source: Source, echoes: Sequence[Block]) -> StatusMalformed | None:
    """Return an EXIT_SIGNAL line outside of any block and any copy of the example, as a malformed block."""
    for line in stray_signals(source):
        if not any(echo.start <= line.start < echo.end for echo in echoes):
            return StatusMalformed(problem=line.problem, start=line.start, end=line.end)
    return None
