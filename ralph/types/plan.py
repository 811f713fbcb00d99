"""The task plan: a Markdown checklist that the agent ticks as it works, or the user stories of a PRD.

The agent may edit the file, so it is evidence with care. It is read bounded and never through a link that leads out of
the workspace, and it is compared with its state before the run: boxes that were ticked then prove nothing, and an item
that vanishes or is reworded stays open.
"""

import json
import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, cast

from pydantic import BaseModel, PositiveInt

from ralph.system.files import read_regular
from ralph.system.text import pattern, storable
from ralph.types import evolve

PLAN_NAMES = (".ralph/@fix_plan.md", "@fix_plan.md", "fix_plan.md")
"""The paths to look for a plan, in this order; the first that exists is the plan."""

_MOST_BYTES = 1_000_000
_MOST_ITEMS = 5_000
_MOST_CHARACTERS = 500
_TOO_LONG = f"it is longer than {_MOST_BYTES:,} bytes"

_BULLET = r"(?:[-*+]|\d{1,9}[.)])[ \t]+"
_ITEM = pattern(rf"[ \t]*{_BULLET}\[([ xX])\](?=\s|$)(.*)")
_FENCE = pattern(rf"[ \t]*(?:{_BULLET})?(`{{3,}}|~{{3,}})(.*)")
_HEADING = pattern(r" {0,3}(#{1,6})(?=\s|$)(.*)")
_OPTIONAL = pattern(r"(?:^|[:(\[]|\s[-–—])\W*(?:(?:optional|future)(?![\w-])|nice[ -]to[ -]haves?\b)", re.IGNORECASE)
_OPTIONAL_ITEM = pattern(
    r"[(\[][ ]?(?:optional|nice[ -]to[ -]have)[ ]?[)\]]|^\W*(?:optional|nice[ -]to[ -]have)[*_]{0,3}:", re.IGNORECASE
)
_DECORATION = pattern(r"[*_`~\s]+")


class PlanItem(BaseModel, frozen=True):
    """One box of the plan.

    Attributes:
        text: the words after the box, at most 500 characters of them.
        optional: it stands in a section called Optional, Future or Nice to have, or is marked "(optional)" itself.
        line: counted from 1; of a story, its place in the list.
        section: the heading above it; empty without one.
    """

    text: str
    ticked: bool = False
    optional: bool = False
    line: PositiveInt = 1
    section: str = ""


class TaskPlan(BaseModel, frozen=True):
    """A plan at one moment. Optional items do not count.

    Attributes:
        path: of its file, relative to the workspace; empty for a text.
        problem: why it could not be read, or not to its end; such a plan is never finished.
    """

    items: tuple[PlanItem, ...] = ()
    path: str = ""
    problem: str = ""

    @property
    def open(self) -> tuple[PlanItem, ...]:
        """The required items that are not done."""
        return tuple(item for item in self.items if not item.ticked and not item.optional)

    @property
    def done(self) -> int:
        return sum(item.ticked and not item.optional for item in self.items)

    @property
    def total(self) -> int:
        return sum(not item.optional for item in self.items)

    @property
    def score(self) -> int:
        """The share of ticked boxes in whole percent, rounded down: 100 only when all are, 0 without any box."""
        return self.done * 100 // self.total if self.total else 0


class PlanState(BaseModel, frozen=True):
    """The plan compared with the start of the run.

    Attributes:
        now: the plan as it is; without items if it is gone.
        ticked_during_run: items that were open at the start, or came later, and are ticked now.
        missing: items that were open and no longer exist in the same words; they may or may not be done.
    """

    now: TaskPlan = TaskPlan()
    ticked_during_run: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def still_open(self) -> tuple[str, ...]:
        """The reasons against a finished plan: open boxes, then missing items."""
        return (*(item.text for item in self.now.open), *self.missing)

    @property
    def all_ticked_during_run(self) -> bool:
        """True if the plan is finished, and by this run's work."""
        return bool(self.ticked_during_run) and not self.still_open and not self.now.problem


def parse_plan(text: str, path: str = "") -> TaskPlan:
    """Parse a Markdown checklist: `[ ]`, `[x]` and `[X]` after any bullet, at any depth, outside fenced code.

    At most 1 MB and 5,000 items are read; the plan's `problem` says if there was more.
    """
    problem = "" if len(text) <= _MOST_BYTES else _TOO_LONG
    items: list[PlanItem] = []
    sections = [_Section()]  # the headings above the line
    for number, line in _prose_lines(storable(text[:_MOST_BYTES])):
        if heading := _HEADING.match(line):
            level, title = len(heading[1]), heading[2].strip(" \t#")[:_MOST_CHARACTERS]
            sections = [section for section in sections if section.level < level]
            sections.append(_Section(level, title, sections[-1].optional or bool(_OPTIONAL.search(title))))
        elif box := _ITEM.match(line):
            if len(items) == _MOST_ITEMS:
                problem = f"it has more than {_MOST_ITEMS:,} items"
                break
            words = box[2].strip()[:_MOST_CHARACTERS]
            items.append(
                PlanItem(
                    text=words,
                    ticked=box[1] != " ",
                    optional=sections[-1].optional or bool(_OPTIONAL_ITEM.search(words)),
                    line=number,
                    section=sections[-1].title,
                )
            )
    return TaskPlan(items=tuple(items), path=path, problem=problem)


def parse_prd(text: str, path: str = "") -> TaskPlan:
    """Parse the user stories of a PRD in JSON, `{"userStories": [{"id", "title", "priority", "passes"}, …]}`.

    The most urgent come first (1 is more urgent than 2). A story is ticked if `passes` is true, and only then. At most
    1 MB and 5,000 stories are read; the plan's `problem` says if there was more, or what else is wrong.
    """
    try:
        found: Any = json.loads(text)
    except (ValueError, RecursionError):
        return TaskPlan(path=path, problem="it is not readable JSON")
    stories: Any = cast("dict[str, Any]", found).get("userStories") if isinstance(found, dict) else None
    if not isinstance(stories, list):
        return TaskPlan(path=path, problem='it has no list "userStories"')
    items = [_story(story, line) for line, story in enumerate(cast("list[object]", stories)[:_MOST_ITEMS], start=1)]
    problem = f"it has more than {_MOST_ITEMS:,} items" if len(cast("list[object]", stories)) > _MOST_ITEMS else ""
    kept = sorted((item for item in items if item is not None), key=lambda item: item[0])
    if len(kept) < len(items):
        problem = "it has a story without a title"
    return TaskPlan(items=tuple(item for _, item in kept), path=path, problem=problem)


def _story(story: object, number: int) -> tuple[float, PlanItem] | None:
    """Return the urgency and the item of a story; None if it is not valid."""
    fields = cast("dict[str, object]", story) if isinstance(story, dict) else {}
    name, title, priority = fields.get("id"), fields.get("title"), fields.get("priority")
    if not isinstance(title, str) or not title.strip():
        return None
    words = f"{name}: {title}" if isinstance(name, str) and name.strip() else title
    text = " ".join(storable(words[: 4 * _MOST_CHARACTERS]).split())[:_MOST_CHARACTERS]
    urgency = priority if isinstance(priority, int | float) and abs(priority) <= _MOST_BYTES else _MOST_BYTES
    return urgency, PlanItem(text=text, ticked=fields.get("passes") is True, line=number)


def read_plan(workspace: Path, name: str | None = None) -> TaskPlan | None:
    """Return the workspace's plan, or None if none exists; never raise on the file's content.

    Its name is its path within the workspace; None looks for `PLAN_NAMES`.
    """
    for candidate in PLAN_NAMES if name is None else (name,):
        try:
            content = _read(workspace, candidate)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except (OSError, ValueError, RuntimeError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            return TaskPlan(path=candidate, problem=reason)
        parse = parse_prd if candidate.casefold().endswith(".json") else parse_plan
        plan = parse(content[:_MOST_BYTES].decode("utf-8-sig", errors="replace"), candidate)
        return evolve(plan, problem=_TOO_LONG) if len(content) > _MOST_BYTES else plan
    return None


def compare(before_run: TaskPlan | None, now: TaskPlan | None) -> PlanState:
    """Compare a plan with its state before the run."""
    now = now or TaskPlan()
    earlier = [item for item in (before_run.items if before_run else ()) if not item.optional]
    required = [item for item in now.items if not item.optional]
    ticked = Counter(_key(item) for item in required if item.ticked)
    ticked -= Counter(_key(item) for item in earlier if item.ticked)
    names = {_key(item): item.text for item in required if item.ticked}
    there, owed = Counter(map(_key, required)), Counter(map(_key, earlier))
    opened = {_key(item): item.text for item in earlier if not item.ticked}
    return PlanState(
        now=now,
        ticked_during_run=tuple(names[key] for key in ticked.elements()),
        missing=tuple(text for key, text in opened.items() if owed[key] > there[key]),
    )


class _Section(NamedTuple):
    """A heading; its section is optional if it or a heading above it says so."""

    level: int = 0
    title: str = ""
    optional: bool = False


def _prose_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the numbered lines outside fenced code."""
    fence = ""
    for number, line in enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), start=1):
        if fence:
            closer = line.strip()
            if closer.startswith(fence) and not closer.strip(fence[0]):
                fence = ""
        elif (mark := _FENCE.match(line)) and "`" not in mark[2]:
            fence = mark[1]
        else:
            yield number, line


def _key(item: PlanItem) -> str:
    """Return the identity of an item: its words without emphasis and spacing."""
    return _DECORATION.sub(" ", item.text).strip().casefold()


def _read(workspace: Path, name: str) -> bytes:
    """Return the content of the file, at most one byte more than is parsed."""
    os.lstat(os.path.join(workspace, name))  # noqa: PTH118 - most often it is not there: the cheapest way to know
    root = workspace.resolve()
    path = (root / name).resolve(strict=True)
    if not path.is_relative_to(root):
        raise ValueError("it leads out of the workspace")
    return read_regular(path, _MOST_BYTES + 1)
