"""The words of each language: the parts that they play, and the notation of their tables.

Each language is a module beside this one; docs/how-to/add-a-language.md shows how to add one. Further keywords are
registered in the same way as the built-in ones.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from itertools import chain, product
from typing import Annotated, Literal, cast

from pydantic import AfterValidator, BaseModel, Field

from ralph.errors import UnknownNameError

LEXICONS: Mapping[str, str] = {"en": "english", "zh": "chinese", "es": "spanish", "de": "german"}
"""The module of each language's lexicon, by the language's code."""

_POINTS = {"done": 10, "ready": 10, "no_more_work": 15}
"""The points of each group of keywords."""

Role = Literal[  # noqa: RUF041 - one line for each group of parts
    # Completion, and what takes it back.
    Literal["keyword", "finished", "success", "negation", "absence", "contrast", "qualifier", "future", "more"],
    # Certainty and errors.
    Literal["certain", "likely", "unsure", "hedge", "certainty", "fault", "fatal", "mended", "nothing"],
    Literal["progress", "unrelated", "lost"],
    # What keeps the agent from continuing, and talk with the user.
    Literal["blocked", "halted", "obstacle", "leave", "lack", "unable", "demand", "barred", "hand", "bidding"],
    Literal["onward", "parting", "condition", "person", "plea", "pleading", "offer", "resume", "limit", "limiting"],
    # Work, and that there was none.
    Literal["work", "ongoing", "idle", "change", "watching", "plain", "standby"],
    # Claims.
    Literal["all", "everything", "goal", "closed", "nothing left", "needless", "achieve", "agent", "passive"],
    Literal["outright", "yours", "part", "preparation", "stage", "proviso", "reported", "act", "closer", "recap"],
    Literal["verified", "passes", "committed", "following", "ready", "later", "left", "open", "begin", "underway"],
    Literal["optional", "check", "failing", "beyond"],
    # Statements about the whole, and what is not finished.
    Literal["whole", "piece", "stands", "member", "trouble", "last", "unfinished", "persisting", "described", "wanted"],
    Literal["changed", "news", "cause", "pieced", "proof", "yet", "regarded", "groundwork", "handover", "fraction"],
]
"""The part that a word plays.

- Completion. keyword: says that work is complete. finished: a keyword that says that something is done. success: a
  weaker word of that kind, for the completion score alone. negation: negates what follows. absence: says that there is
  none of what follows. contrast, qualifier: take back what the sentence says; contrast also what the sentence before
  says. future: what follows has not happened. more: more work is to come.
- Certainty and errors. certain, likely, unsure, hedge, certainty: how sure the agent is. fault: an error word. fatal:
  an error that ends the work. mended: the error is fixed. nothing: the content of an empty section. progress,
  unrelated: whether a percentage beside it is a share of the work. lost: does not know what to do.
- Blockers. blocked: the agent cannot continue. halted: the same, as a sentence of its own. obstacle: needs a person's
  hand. leave: what a person gives, such as a permission; an obstacle if it is negated or beside a word of lack. unable,
  demand: what the agent cannot do and what a person is to do, together an obstacle. barred: what keeps the agent out.
  hand: asks a person for help; bidding: does so at the beginning of a sentence. onward: how the agent continues then.
  parting: it stops. condition: what follows may not be true.
- Talk. person: a question beside it addresses someone. plea: asks for the answer to the question before it. pleading:
  asks for one by itself. offer: a question that asks for nothing. resume: asks whether to continue. limit: the
  service's own words for a limit, a busy server or a missing login, by the names of these. limiting: such words that
  others use as well.
- Work. work: something was done. ongoing: something is in progress. idle: there was nothing to do, or it was done
  before. change: what was not done if it is negated. watching: something that began before still runs. plain: only
  looks like a word of another part. standby: waits for the user's word.
- Claims. all: quantifies what stands beside it. everything: is its own subject. goal: what a task is, or is made of.
  closed: a predicate of what is finished, besides keywords. nothing left, needless: say so by themselves. achieve: a
  verb of work in the past. agent, passive: stand before such a verb in a report. outright: calls it a success. yours:
  the user's own. part: of the whole only. preparation: comes before the work. stage: a part, if a number follows.
  proviso: what the claim depends on. reported: others say so. act: the agent's next act. closer: such an act that ends
  the turn. recap: opens a report. verified: a check that passes. passes: the same behind the name of a check.
  committed: so is the work. following: the next piece of work. ready: waits for it. later: a label of further steps.
  left: a label of what is left. open: a piece beside it is open. begin: a numbered stage behind it begins. underway: a
  mark of work in progress. optional: need not be done. check: the name of a check. failing: its verdict. beyond:
  excuses it.
- Statements. whole: what a task is, by itself. piece: the same if nothing mentions others. trouble: what a fix removes.
  stands: a predicate of these. member: what a task is made of, behind "every". last: no piece follows. unfinished: says
  so by itself. yet: the same if it is negated. persisting: the same of a number of things. described: what follows says
  what the work does. wanted: a label of what is to be reached. changed: a verb of change in the past. news: it is so
  now. cause: of what was fixed. proof: shows it. pieced: work comes in pieces. regarded: a verb in the past of looking
  or trying, which changes nothing. groundwork: the work itself comes after it. handover: what is done with finished
  work. fraction: a share, if the rest says of what.
"""

Words = Mapping[Role, Mapping[str, tuple[str, ...]]]
"""The forms of every name of every role, in lower case. `#` stands for a number that may be missing."""


_INNER_MARGIN = re.compile(r"(\()\s*\n\s*|\s*\n\s*(\))")
_LINE_BREAK = re.compile(r"\s*\|?\s*\n\s*\|?\s*")
_PIECES = re.compile(r'"[^"]*"|[|()]|[^|()"]+')
_ENTRY = re.compile(r"^([a-z][a-z_ ]*)(?:/([^:\n]+))?:", re.MULTILINE)


def _phrase(text: str) -> str:
    if not (phrase := text.strip()):
        raise ValueError("a phrase needs at least one character that is not a space")
    return phrase


Phrase = Annotated[str, AfterValidator(_phrase)]
"""A text with at least one character that is not a space."""


class Keyword(BaseModel, frozen=True, extra="forbid", defer_build=True):
    """A phrase that says that the work is complete."""

    text: Phrase = Field(max_length=200, description="The phrase, as the agent writes it; also its name in results.")
    language: str = Field(default="en", description="The language of the phrase: en, zh, es, de, or another.")
    weight: Literal["high", "very_high"] = Field(
        default="high", description="very_high is enough by itself, high needs a second signal."
    )
    forms: tuple[Phrase, ...] = Field(default=(), description="Other ways to write it.")
    group: str = Field(
        default="", description="Keywords of one group count as one indicator of completion; empty: a group of its own."
    )
    points: int = Field(default=10, ge=0, description="The points of the group's indicator.")

    @property
    def indicator(self) -> str:
        """The group in which it counts."""
        return self.group or self.text


@dataclass(frozen=True)
class Lexicon:
    """The words of a language.

    Attributes:
        keywords: of completion.
        words: its other words.
        claims: the words of claims. The search for these is separate: they do not hide other words, nor do others hide
            them.
    """

    keywords: tuple[Keyword, ...]
    words: Words
    claims: Words = field(default_factory=dict[Role, Mapping[str, tuple[str, ...]]])


def lexicon(language: str) -> Lexicon:
    """Return the lexicon of a language, such as "en"; its words are expanded when they are first used.

    Raises:
        UnknownNameError: the language has no lexicon.
    """
    if language not in LEXICONS:
        raise UnknownNameError("language", language, LEXICONS)
    found: Lexicon = import_module(f"ralph.analysis.lexicon.{LEXICONS[language]}").LEXICON
    return found


Spelling = Mapping[int, int]
"""Characters with those of another spelling, as `str.translate` takes them."""


def keywords(language: str, table: str, spelling: Spelling | None = None) -> tuple[Keyword, ...]:
    """Return the keywords of a table with an entry `group/text: other forms` for each, in another spelling as well.

    Those of the group "enough" have a weight that is enough by itself, and no points.
    """
    found: list[Keyword] = []
    for group, text, others in _entries(table):
        written = _spelled((text, *forms(others)), spelling)[1:]
        if group == "enough":
            weighed = Keyword(text=text, language=language, forms=written, weight="very_high", points=0)
        else:
            weighed = Keyword(text=text, language=language, forms=written, group=group, points=_POINTS[group])
        found.append(weighed)
    return tuple(found)


def words(*tables: str, spelling: Spelling | None = None) -> Words:
    """Return the words of some tables, in another spelling as well.

    An entry begins at the margin with a role: behind `role:` stand phrases that are found under their own names, behind
    `role/name:` the forms of one name, in the notation of `forms`. A role may have several entries.
    """
    found: dict[Role, dict[str, tuple[str, ...]]] = {}
    for role, name, text in chain.from_iterable(map(_entries, tables)):
        written = _spelled(forms(text), spelling)
        named = {name: written} if name else {phrase: (phrase,) for phrase in written}
        found.setdefault(cast("Role", role), {}).update(named)
    return found


def _spelled(written: tuple[str, ...], spelling: Spelling | None) -> tuple[str, ...]:
    """Return phrases, and behind them those that are written otherwise in another spelling."""
    if spelling is None:
        return written
    return tuple(dict.fromkeys((*written, *(phrase.translate(spelling) for phrase in written))))


def _entries(table: str) -> Iterator[tuple[str, str, str]]:
    """Return the head of each entry, its name and its text."""
    _, *pieces = _ENTRY.split(table)
    return zip(pieces[::3], pieces[1::3], pieces[2::3], strict=True)


def forms(table: str) -> tuple[str, ...]:
    """Return the phrases of a table, in order.

    Phrases stand on lines of their own or behind a `|`. `(a|b)` is either, `(|a)` is `a` or nothing, and within double
    quotes these marks stand for themselves.
    """
    pieces = iter(_PIECES.findall(_LINE_BREAK.sub("|", _INNER_MARGIN.sub(r"\1\2", table))))
    return tuple(" ".join(phrase.split()) for phrase in _alternatives(pieces) if phrase)


def _alternatives(pieces: Iterator[str]) -> list[str]:
    """Expand the alternatives before the closing parenthesis or the end."""
    found: list[str] = []
    parts: list[list[str]] = []
    for piece in pieces:
        if piece == ")":
            break
        if piece == "|":
            found += [part.strip() for part in map("".join, product(*parts))]
            parts = []
        else:
            parts.append(_alternatives(pieces) if piece == "(" else [piece.replace('"', "")])
    return [*found, *(part.strip() for part in map("".join, product(*parts)))]
