"""The agent's report in its status block: `parse_status` finds it in a text and returns it as a value.

The search is linear in the text: one pass for markers, one for fences, and each stretch between two markers is read
once.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Annotated, Literal, cast

from pydantic import BaseModel, Field, JsonValue, NonNegativeInt

from ralph.status.fields import RESERVED, StatusField, T_co, as_signal, as_text, shown
from ralph.system.text import pattern, storable
from ralph.types import evolve

StatusForm = Literal["block", "json", "yaml", "promise"]
"""The spelling of a report."""

_LONGEST = 20_000
_MOST_BLOCKS = 1_000
_MOST_LINES = 4_000
_MOST_FENCES = 20_000
"""Lines that name a block, and fence marks, that are looked at."""
_BLANK = r"[^\S\n]"
_MARKS = r"[*_`]{0,4}"
_MARKED = pattern(r"_S(?:TATUS|IGNAL)")
"""Each mark of a block has one of these, and most replies have none. `re` skips to the first character."""
_NAME = r"(?:RALPH|COPILOT)\\?_STATUS"
_MARKER = pattern(
    rf"""
    (?P<indent>{_BLANK}{{0,200}}){_MARKS}(?:
        -{{3,9}}{_BLANK}?(?:(?P<opener>{_NAME})|(?P<closer>END\\?_(?:{_NAME}|STATUS))){_BLANK}?-{{3,9}}
        {_MARKS}{_BLANK}{{0,200}}$
    |
        (?P<outer>\{{\s{{0,200}}(?="))?["']?{_NAME}["']?{_MARKS}{_BLANK}?[:：]{_MARKS}
        (?:\s{{0,200}}(?P<object>(?=\{{)) | (?P<yaml>{_BLANK}{{0,200}}$))
    )
    """,
    re.MULTILINE | re.VERBOSE,
)
_FENCE = pattern(rf"\n{_BLANK}{{0,200}}((?:[-*+]|\d{{1,9}}[.)]){_BLANK}{{1,9}})?(`{{3,}}|~{{3,}})([^\n]*)")
_LINE = pattern(
    rf"(?P<bullet>[-*+]{_BLANK}{{1,9}})?(?P<bold>{_MARKS})(?P<key>[A-Za-z](?:\\?[A-Za-z0-9_-]){{0,63}}?)(?P<closed>{_MARKS})"
    rf"(?:{_BLANK}?[:：](?P<value>.*))?",
)
_STRAY = pattern(rf"{_BLANK}{{0,200}}{_MARKS}EXIT\\?_SIGNAL{_MARKS}{_BLANK}?(?:[:：][^\n]{{0,20}})?$", re.MULTILINE)
_BLOCK_SCALARS = {"", "|", "|-", ">", ">-"}
_INK = pattern(r"\S")


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


class _Source:
    """A text prepared for the search, with its fences. Every character keeps its place.

    Attributes:
        text: as given; what is taken from it may have to be made `storable`.
        lines: the same with a line feed for every carriage return, so that all line endings read alike.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = text.replace("\r", "\n")
        self._fences: tuple[list[int], list[int]] | None = None

    def fence_around(self, position: int) -> tuple[int, int] | None:
        """Return the span of the fenced content around a position; a fence without an end ends with the text."""
        if self._fences is None:
            self._fences = _fences(self.lines)
        starts, ends = self._fences
        index = bisect_right(starts, position) - 1
        return (starts[index], ends[index]) if index >= 0 and position < ends[index] else None

    def inked(self, start: int, end: int) -> bool:
        """Return whether the span has anything but white space."""
        return _INK.search(self.lines, start, end) is not None


@dataclass(frozen=True, slots=True)
class _Block:
    """A block as found: its span, and its fields in capitals or the problem with it."""

    start: int
    end: int
    form: StatusForm
    pairs: tuple[tuple[str, JsonValue], ...] = ()
    problem: str = ""

    @property
    def folded(self) -> frozenset[tuple[str, str]]:
        """The fields without regard to spelling: two blocks with the same words are equal."""
        return frozenset((key, " ".join(as_text(value).split()).casefold()) for key, value in self.pairs)


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
    if not (promise or _MARKED.search(text)):
        return _MISSING
    source = _Source(text)
    copied = _folded(example)
    echoes: list[_Block] = []
    malformed: StatusMalformed | None = None
    for block in _blocks(source):
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
    block = next(_blocks(_Source(example)), None) if example else None
    return block.folded if block else None


def _judged(block: _Block, source: _Source, fields: Sequence[StatusField]) -> StatusReport | StatusMalformed:
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


def _promised(source: _Source, promise: str | None) -> StatusReport | None:
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


def _stray(source: _Source, echoes: Sequence[_Block]) -> StatusMalformed | None:
    """Return the last EXIT_SIGNAL line outside of any fence and any copy of the example, as a malformed block."""
    for start in islice(_lines_with("_SIGNAL", source.lines), _MOST_BLOCKS):
        line = _STRAY.match(source.lines, start)
        if line is None or source.fence_around(start) is not None:
            continue
        if not any(echo.start <= start < echo.end for echo in echoes):
            problem = "EXIT_SIGNAL stands outside of a ---RALPH_STATUS--- block"
            return StatusMalformed(problem=problem, start=start, end=line.end())
    return None


def _blocks(source: _Source) -> Iterator[_Block]:
    """Yield the blocks that may count, last first; broken ones included.

    Only the last 1,000 markers count, and the text between two of them is read only once.
    """
    following: re.Match[str] | None = None
    for marker in islice(_markers(source.lines), _MOST_BLOCKS):
        block = _block(source, marker, following)
        following = marker
        if block is None:
            continue
        fence = source.fence_around(marker.start())
        if fence is None or not (source.inked(block.end, fence[1]) or source.inked(fence[0], block.start)):
            yield block


def _markers(lines: str) -> Iterator[re.Match[str]]:
    """Yield what opens or closes a block, last first."""
    for start in _lines_with("_STATUS", lines):
        if marker := _outer_marker(lines, start) or _MARKER.match(lines, start):
            yield marker


def _outer_marker(lines: str, start: int) -> re.Match[str] | None:
    """Return the marker that ends in the line at `start`, if a brace before that line opens it."""
    floor = max(0, start - 200)
    brace = floor + len(lines[floor:start].rstrip()) - 1
    if lines[brace : brace + 1] != "{":
        return None
    marker = _MARKER.match(lines, lines.rfind("\n", 0, brace) + 1)
    return marker if marker and marker["outer"] and marker.end() > start else None


def _lines_with(word: str, lines: str) -> Iterator[int]:
    """Yield the beginnings of the lines with a word, last first.

    Searching for the word first takes a tenth of the time of trying the beginning of every line.
    """
    start = len(lines)
    for _ in range(_MOST_LINES):
        found = lines.rfind(word, 0, start)
        if found < 0:
            return
        start = lines.rfind("\n", 0, found) + 1
        yield start


def _block(source: _Source, marker: re.Match[str], following: re.Match[str] | None) -> _Block | None:
    """Return the block that a marker opens; None for a marker that closes one."""
    if marker["closer"]:
        return None
    fence = source.fence_around(marker.start())
    limit = min(following.start() if following else len(source.lines), fence[1] if fence else len(source.lines))
    start = marker.end("indent")
    if marker["object"] is not None:
        return _object_block(source, start, marker.start("outer") if marker["outer"] else marker.end(), limit)
    if marker["yaml"] is not None:
        return _yaml_block(source, marker, limit)
    if following and following["closer"] and source.fence_around(following.start()) == fence:
        return _delimited_block(source, start, marker.end(), following)
    end = start + len(source.lines[start:limit].rstrip())
    return _Block(start, end, "block", problem="it has no closing line ---END_RALPH_STATUS---")


def _delimited_block(source: _Source, start: int, content: int, closer: re.Match[str]) -> _Block:
    end = closer.start() + len(closer[0].rstrip())
    if end - start > _LONGEST:
        return _Block(start, end, "block", problem=f"it is longer than {_LONGEST:,} characters")
    pairs: list[tuple[str, JsonValue]] = []
    for line in storable(source.lines[content : closer.start()]).split("\n"):
        _read_line(line.strip(), pairs, names_a_field=lambda key: key.isupper() or _name(key) in RESERVED)
    return _Block(start, end, "block", tuple(pairs))


def _yaml_block(source: _Source, marker: re.Match[str], limit: int) -> _Block:
    """Read `key: value` lines with a deeper indentation than the marker; deeper ones continue the line above."""
    start, end = marker.end("indent"), marker.end()
    pairs: list[tuple[str, JsonValue]] = []
    depth, position = 0, end + 1
    for line in storable(source.lines[position : min(limit, position + _LONGEST)]).split("\n"):
        indent = len(line) - len(line.lstrip())
        if line.strip():
            if indent <= len(marker["indent"]):
                break
            depth = depth or indent
            _read_line(line.strip(), pairs, names_a_field=lambda _, deep=indent > depth: not deep)
            end = position + len(line.rstrip())
        position += len(line) + 1
    problem = "" if pairs else "under RALPH_STATUS: no indented `key: value` line follows"
    return _Block(start, end, "yaml", tuple(pairs), problem)


def _object_block(source: _Source, start: int, brace: int, limit: int) -> _Block:
    """Read `RALPH_STATUS: {json}`, or an object with such a member."""
    piece = storable(source.lines[brace : min(limit, brace + _LONGEST)])
    try:
        found, length = json.JSONDecoder().raw_decode(piece)
    except (ValueError, RecursionError) as error:
        reason = (
            error.msg if isinstance(error, json.JSONDecodeError) else "it is nested too deeply or a number too long"
        )
        return _Block(start, brace + len(piece.rstrip()), "json", problem=f"its JSON cannot be read ({reason})")
    inner = next((found[name] for name in ("RALPH_STATUS", "COPILOT_STATUS") if name in found), found)
    if not isinstance(inner, dict):
        return _Block(start, brace + length, "json", problem="its JSON is not an object")
    pairs = tuple((_name(key), value) for key, value in cast("dict[str, JsonValue]", inner).items())
    return _Block(start, brace + length, "json", pairs)


def _read_line(line: str, pairs: list[tuple[str, JsonValue]], names_a_field: Callable[[str], bool]) -> None:
    """Add a line of a block to its fields: as a field of its own, or as more text of the one before."""
    written, colon, rest = line.partition(": ")
    if colon and _is_plain(written) and names_a_field(written):
        pairs.append((written, _unmarked(rest, "")))
        return
    match = _LINE.fullmatch(line)
    key = _name(match["key"]) if match else ""
    if match and (match["value"] is not None or key == "EXIT_SIGNAL") and names_a_field(match["key"]):
        pairs.append((key, _unmarked(match["value"] or "", "" if match["closed"] else match["bold"])))
    elif line and pairs and not line.startswith(("```", "~~~")):
        name, value = pairs[-1]
        pairs[-1] = name, line if value in _BLOCK_SCALARS else f"{value}\n{line}"


def _is_plain(key: str) -> bool:
    """Return whether a key is in capitals with underscores between them, as most are.

    `_LINE` finds the same in such a key, in four times the time.
    """
    letters = key.isascii() and key.isupper() and key.replace("_", "A").isalpha()
    return letters and len(key) <= 64 and "_" not in (key[0], key[-1])


def _unmarked(value: str, bold: str) -> str:
    """Return a line's value without the bold marks around it or its key: `**KEY:** value`, `**KEY: value**`."""
    value = value.strip()
    if bold:
        value = value.removeprefix(bold).removesuffix(bold).strip()
    quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
    return value[1:-1] if quoted else value


def _name(key: str) -> str:
    r"""Return a field's name in one spelling: `exit-signal` and `EXIT\_SIGNAL` are EXIT_SIGNAL."""
    return storable(key).replace("\\", "").replace("-", "_").replace(" ", "_").upper()[:64]


def _fences(lines: str) -> tuple[list[int], list[int]]:
    """Return the beginnings and the ends of fenced content, each in order."""
    starts: list[int] = []
    ends: list[int] = []
    mark = ""
    found = _FENCE.finditer(f"\n{lines}") if "```" in lines or "~~~" in lines else ()
    for line in islice(found, _MOST_FENCES):
        bullet, fence, info = line.groups()
        if mark:
            if not bullet and fence.startswith(mark) and not info.strip():
                ends.append(line.start())
                mark = ""
        elif "`" not in info:
            starts.append(line.end() - 1)
            mark = fence
    if mark:
        ends.append(len(lines))
    return starts, ends
