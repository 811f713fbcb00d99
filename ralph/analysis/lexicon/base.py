"""What a language has to give: its words, each with the part it plays."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, Field

__all__ = ["Keyword", "Lexicon", "Phrase", "Role", "Words", "alone", "merged"]

Role = Literal[
    "keyword",
    "finished",
    "success",
    "negation",
    "absence",
    "contrast",
    "qualifier",
    "future",
    "more",
    "certain",
    "likely",
    "unsure",
    "hedge",
    "certainty",
    "fault",
    "fatal",
    "mended",
    "nothing",
    "progress",
    "unrelated",
    "lost",
    "blocked",
    "halted",
    "obstacle",
    "leave",
    "lack",
    "unable",
    "demand",
    "barred",
    "hand",
    "bidding",
    "onward",
    "parting",
    "condition",
    "person",
    "plea",
    "pleading",
    "offer",
    "resume",
    "limit",
    "limiting",
    "work",
    "ongoing",
    "idle",
    "change",
    "watching",
    "plain",
    "all",
    "everything",
    "goal",
    "closed",
    "nothing left",
    "needless",
    "achieve",
    "agent",
    "passive",
    "outright",
    "yours",
    "part",
    "preparation",
    "stage",
    "proviso",
    "reported",
    "act",
    "closer",
    "recap",
    "verified",
    "passes",
    "committed",
    "following",
    "ready",
    "later",
    "left",
    "open",
    "begin",
    "underway",
    "optional",
    "check",
    "failing",
    "beyond",
    "whole",
    "piece",
    "stands",
    "member",
    "trouble",
    "last",
    "unfinished",
    "persisting",
    "described",
    "wanted",
    "changed",
    "news",
    "cause",
    "pieced",
    "proof",
    "yet",
    "regarded",
    "groundwork",
    "handover",
    "fraction",
]
"""The part that a word plays.

keyword: says that work is complete. finished: a keyword that says of something that it is done. success: a weaker word
of that kind, for the completion score alone. negation: turns what follows round. absence: there is none of what
follows. contrast, qualifier: take back what the sentence says, the first also what the sentence before says. future:
what follows has not happened. more: there is work to come. certain, likely, unsure, hedge, certainty: how sure the
agent is. fault: an error word. fatal: no way on. mended: the error is gone. nothing: an empty section says this.
progress, unrelated: whether a percentage beside it is a share of the work. lost: does not know what to do. blocked: the
agent cannot go on. halted: the same, where it is a sentence of its own. obstacle: it needs a hand of a person. leave:
what a person gives, such as a permission; an obstacle where it is negated or a word of lack stands beside it. unable,
demand: what the agent cannot do and what a person shall do, together an obstacle. barred: what keeps the agent out.
hand: asks a person for one; bidding: does where it opens a sentence. onward: how the agent goes on then. parting: it
stops. condition: what follows may not be so at all. person: a question beside it asks someone. plea: asks for the
answer to the question before it. pleading: asks for one by itself. offer: a question that asks for nothing. resume: one
that asks whether to go on. limit: the service's own words for a limit, a busy server or a missing login, which are its
names. limiting: such words that others use as well. work: something was done. ongoing: something is at work. idle:
there was nothing to do, or it was done before. change: what was not done where it is negated. watching: something that
was begun before still runs. plain: looks like one of these and is none.

Words of claims. all: quantifies what stands beside it. everything: is its own subject. goal: what a task is, or is made
of. closed: a predicate of what is finished, besides keywords. nothing left, needless: say so by themselves. achieve: a
verb of work in the past. agent, passive: before one of these, it is told. outright: calls it a success. yours: the
person's own. part: of the whole only. preparation: comes before the work. stage: a part, where a number follows.
proviso: what it depends on. reported: others say so. act: the agent's next one. closer: that one ends the turn. recap:
opens a report. verified: a check that passes. passes: the same behind the name of a check. committed: so is the work.
following: the next piece of work. ready: waits for it. later: a label of further steps. left: a label of what is left.
open: a piece beside it is. begin: a numbered stage behind it does. underway: a mark of work in progress. optional: need
not be done. check: the name of one. failing: the verdict. beyond: excuses it. whole: what a task is, by itself. piece:
the same where nothing speaks of others. trouble: what a fix does away with. stands: a predicate of these. member: what
a task is made of, behind "every". last: no piece follows. unfinished: says so by itself. yet: the same where it is
negated. persisting: the same of a number of things. described: what follows tells what the work does. wanted: a label
of what is to be reached. changed: a verb of change in the past. news: it is so now. cause: of what was mended. proof:
holds it. pieced: work comes in pieces. regarded: a verb in the past of looking or trying, which changes nothing.
groundwork: the work itself comes after it. handover: what is done with finished work.
fraction: a share, if the rest says of what.
"""

Words = Mapping[Role, Mapping[str, tuple[str, ...]]]
"""The forms of every name of every role, in lower case. `#` stands for a number that may be missing."""


def _phrase(text: str) -> str:
    if not (phrase := text.strip()):
        raise ValueError("a phrase needs at least one character that is no space")
    return phrase


Phrase = Annotated[str, AfterValidator(_phrase)]
"""What can be looked for: something is left of it without the spaces around it."""


class Keyword(BaseModel, frozen=True):
    """A phrase that says that the work is complete.

    Attributes:
        text: how it is called in results, and how it is written.
        language: of the phrase, as in `ResponseAnalyzer(languages=…)`.
        weight: a "very_high" one is enough by itself, a "high" one needs a second signal (Nity Loop).
        forms: other ways to write it.
        group: keywords of one group are one indicator of the go-ralph rule; empty makes it a group of its own.
        points: of its group in the go-ralph rule.
    """

    text: Phrase
    language: str = "en"
    weight: Literal["high", "very_high"] = "high"
    forms: tuple[Phrase, ...] = ()
    group: str = ""
    points: int = Field(default=10, ge=0)

    @property
    def indicator(self) -> str:
        """The group that it counts in."""
        return self.group or self.text


@dataclass(frozen=True)
class Lexicon:
    """A language.

    Attributes:
        keywords: of completion.
        words: its other words.
        claims: the words that claims are made of, which are looked for apart from the others: neither hide the others.
    """

    language: str
    keywords: tuple[Keyword, ...]
    words: Words
    claims: Words = field(default_factory=dict[Role, Mapping[str, tuple[str, ...]]])


def alone(*forms: str) -> dict[str, tuple[str, ...]]:
    """Words that each have only the one form."""
    return {form: (form,) for form in forms}


def merged(*parts: Words) -> Words:
    """All words of several tables; a role may stand in more than one of them."""
    words: dict[Role, dict[str, tuple[str, ...]]] = {}
    for part in parts:
        for role, names in part.items():
            words.setdefault(role, {}).update(names)
    return words
