"""The learned fold: how likely each state is, by the signals, the facts and the words of a reply together.

It is a multinomial logistic regression: a sum of learned weights for each state, and their softmax. What is summed:

| feature | such as |
|---|---|
| facts | each kind of signal, where it stands (opening, end), the strength of the claims, the kind of task |
| words | each once, with further weights among the first and the last |
| words of the task | "each", "until", "one" |

Words are sums over their number's square root, so that a long reply is no surer than a short one. Unknown facts, such
as the changes of the workspace, take no part: `ralph.analysis.state` decides by them, and by the vote of the rules.
Weights have two decimals and are summed as whole hundredths, so that the sum does not depend on the order.
tests/unit/analysis/fit_fold.py learned those in `fold.json` from the project's own labelled replies.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache, lru_cache
from importlib.resources import files
from math import exp, sqrt
from operator import sub
from typing import NamedTuple, get_args

from ralph.analysis.detectors.objections import Objections, task_of
from ralph.analysis.result import AGAINST, HIGH, Reply, Signal, State
from ralph.analysis.state import Chances, completion_signal
from ralph.status import StatusReport
from ralph.system.text import storable

STATES: tuple[State, ...] = get_args(State)
"""The states in the order of the weights."""

Row = Sequence[int]
"""A weight for each of `STATES`, in hundredths."""

EDGE = 25
"""The number of words that count as the first, and as the last."""
_ZONE = 250  # characters of the opening and of the end
_FENCED = 12  # fewest words outside of code; a reply with fewer is read with its code
_TASK_READ = 2_000
_NAMED = ("limited", "idle", "completion_claim", "test_run", "watching", "announcement")
"""Kinds of signals of which each name is a fact of its own."""
_PLACELESS = ("exit_signal", "status_blocked")
_ROLES = ("part", "stage", "following", "all", "everything", "piece", "whole", "goal")
WORDS_SCALE, TASK_SCALE = (10.0, 16), (2.0, 4)
"""The factor of a sum over words before the division by their number's root, and their least number."""
KINDS = frozenset({"wording", "word"})
"""The kinds of its signals."""
_TOLD = 3  # reasons that are told
_LEGIBLE = 4  # letters of a word that is shown in its place; a shorter one is also part of others
_TOLD_FROM = 20  # hundredths from which a feature is told


class Weights(NamedTuple):
    """The learned weights: the base, facts, words by their place, and words of the task."""

    base: Row
    facts: Mapping[str, Row]
    words: Mapping[str, Mapping[str, Row]]
    task: Mapping[str, Row]


class Verdict(NamedTuple):
    """The chances of a reply's states, 0–1, and the features that speak for the likeliest: each with its place."""

    chances: Chances
    reasons: Sequence[tuple[str, str]]


def detect_wording(reply: Reply) -> Iterable[Signal]:
    """Find how likely each state is, which is kept for the vote, and the words and signals that say so.

    There is no verdict on a reply without words, and none if the status block decides.
    """
    decided = isinstance(reply.status, StatusReport) and reply.status.exit_signal is not None
    if decided or not reply.reading.prose.strip():
        return
    chances, reasons = fold().judge(reply)
    reply.kept[Chances] = chances
    state = max(STATES, key=chances.__getitem__)
    told = ", ".join([f"“{name}”" if place else name.replace("_", " ") for place, name in reasons])
    why = f"Sounds {_SOUNDS[state]} ({chances[state]:.0%}){told and ': '}{told}."
    yield Signal("wording", f"sounds {_SOUNDS[state]}", why=why)
    for place, word in reasons:
        lower = reply.reading.lower
        start = lower.rfind(word) if place == "last" else lower.find(word)
        if place and start >= 0 and (len(word) >= _LEGIBLE or not word.isascii()):
            yield Signal("word", word, start, start + len(word), why=f"Weighs much: sounds {_SOUNDS[state]}.")


_SOUNDS: Mapping[State, str] = {
    "done": "finished",
    "progress": "unfinished",
    "blocked": "blocked",
    "question": "like a question",
    "limited": "like a limit",
    "error": "like an error",
    "unknown": "like nothing of the task",
}


class Fold:
    """Sums learned weights over the features of a reply."""

    def __init__(self, learned: Weights) -> None:
        self._learned = learned
        self._of_task = lru_cache(maxsize=8)(self._sum_of_task)

    def judge(self, reply: Reply) -> Verdict:
        """Return the verdict on a reply with the signals of the other detectors."""
        table = self._learned.facts
        facts = list(table.keys() & facts_of(reply))
        words: list[str] = []
        ends: dict[str, int] = {}
        rows: list[Row] = []
        distinct = 0
        for place, found in places_of(words_of(reply)):
            distinct = distinct or len(found)
            weights = self._learned.words[place]
            known = weights.keys() & found
            words += known
            rows += map(weights.__getitem__, known)
            ends[place] = len(words)
        scale = WORDS_SCALE[0] / sqrt(max(WORDS_SCALE[1], len(words)))
        of_facts, of_words = _columns([*map(table.__getitem__, facts), self._learned.base]), _columns(rows)
        parts = map(sum, of_facts), (scale * sum(column) for column in of_words), self._of_task(reply.context.task)
        sums = list(map(sum, zip(*parts, strict=True)))
        second, first = sorted(range(len(STATES)), key=sums.__getitem__)[-2:]
        told = [(gain, "", facts[at]) for gain, at in _gains(of_facts, first, second, 1.0) if at < len(facts)]
        for gain, at in _gains(of_words, first, second, scale):
            told.append((gain, next(place for place, end in ends.items() if at < end), words[at]))
        chances = _chances(sums)
        chances.words = distinct
        return Verdict(chances, [(place, name) for _, place, name in sorted(told)[: -_TOLD - 1 : -1]])

    def _sum_of_task(self, task: str) -> Sequence[float]:
        rows = [row for word in sorted(task_words(task)) if (row := self._learned.task.get(word))]
        scale = TASK_SCALE[0] / sqrt(max(TASK_SCALE[1], len(rows)))
        return [scale * sum(column) for column in _columns(rows)]


def _columns(rows: Sequence[Row]) -> Sequence[Sequence[int]]:
    """Return the weights for each state."""
    return list(zip(*rows, strict=True)) or [()] * len(STATES)


def _gains(columns: Sequence[Sequence[int]], first: int, second: int, scale: float) -> list[tuple[float, int]]:
    """Return the features that speak most for the first state and against the second: hundredths and number."""
    gains = list(map(sub, columns[first], columns[second]))
    least = max([_TOLD_FROM / scale, *sorted(gains)[-_TOLD:][:1]])
    return [(scale * gain, at) for at, gain in enumerate(gains) if gain >= least]


def _chances(sums: Sequence[float]) -> Chances:
    """Return the softmax of sums in hundredths."""
    most = max(sums)
    raised = [exp((each - most) / 100) for each in sums]
    total = sum(raised)
    return Chances({state: each / total for state, each in zip(STATES, raised, strict=True)})


@cache
def fold() -> Fold:
    """Return the fold with the built-in weights."""
    return Fold(load_weights())


def load_weights() -> Weights:
    """Load the built-in weights."""
    return Weights(**json.loads(files("ralph.analysis").joinpath("fold.json").read_text("utf-8")))


def words_of(reply: Reply) -> Sequence[str]:
    """Return the words of a reply in order; with those of its code if it has few others."""
    words = tokenize(reply.reading.prose)
    return words if len(words) >= _FENCED else tokenize(reply.reading.lower)


def places_of(words: Sequence[str]) -> Iterator[tuple[str, AbstractSet[str]]]:
    """Yield the words of each place."""
    yield "any", {*words}
    yield "first", {*words[:EDGE]}
    yield "last", {*words[-EDGE:]}


def task_words(task: str) -> set[str]:
    """Return the words of a task."""
    return {*tokenize(storable(task.lower()[:_TASK_READ]))}


def facts_of(reply: Reply) -> set[str]:
    """Return the facts of a reply: its signals, their places, and what kind of task it answers."""
    facts = _facts_of_signals(reply)
    task = task_of(reply.context.task)
    kind = "none"
    if task.given:
        facts.add("task")
        kind = "many" if task.has_many_items else "one" if task.is_single_item else "plain"
        if task.item_count and kind == "plain":
            kind = "count"
    facts.add(f"task {kind}")
    shares = Objections.of(reply).shares
    facts.update(["part of the whole" if share.is_partial else "all of the whole" for share in shares])
    facts.update([name for name in _ROLES if name in reply.scope.hits])
    return facts


def _facts_of_signals(reply: Reply) -> set[str]:
    """Return the facts about signals, and the strength of the claims: the highest, "-" contradicted, "+" several."""
    prose = reply.reading.prose
    end = len(prose.rstrip())
    first = len(prose) - len(prose.lstrip()) + _ZONE
    last = reply.reading.sentence(max(0, end - 1))[0]
    facts: set[str] = set()
    seen: set[str] = set()
    claims: set[str] = set()
    most, against = 0, False
    for kind, name, start, stop, weight, _, state, _ in reply.signals.all():
        if kind in seen:
            facts.add(f"{kind} again")
        seen.add(kind)
        if name and kind in _NAMED:
            facts.add(f"{kind} {name}")
        if weight <= AGAINST:
            against = True
            facts.add(f"{kind} against")
        elif state == "done" and weight >= HIGH:
            claims.add(name)
            most = max(most, int(weight))
            facts.add(f"{kind} {weight:g}")
        if stop and kind not in _PLACELESS:
            if start < first:
                facts.add(f"{kind} in the opening")
            if start >= end - _ZONE:
                facts.add(f"{kind} at the end")
            if start >= last:
                facts.add(f"{kind} in the last sentence")
    facts |= seen
    facts.add(f"completion {completion_signal(reply.signals).detected}")
    facts.add(f"claim {most}{'-' if against else ''}{'+' if len(claims) > 1 else ''}")
    return facts


_HEAD, _TAIL = 4_000, 8_000
"""Characters that are read at the beginning and at the end of a longer reply."""

_SIGNS = "?!:%"
_MARKS = "…✅✓✔🎉❌⚠"
"""Marks that are words of their own; other punctuation is ignored."""

_KEPT = f"{_SIGNS}'/"
"""Characters that stay, besides letters."""

_SYLLABLES = (("\u3040", "\u30ff"), ("\u3400", "\u9fff"), ("\uac00", "\ud7af"))
"""First and last characters of scripts without spaces between words, or with endings: each character is a word."""

_COMMON = 0xA000
"""Replacements of characters before this one are cached; a text may have a million others."""

_FEW = 16
"""Up to so many distinct characters are replaced one by one; for more, the whole text is translated."""


class _Beyond(dict[int, str]):
    """Replacements for characters beyond ASCII: letters stay, syllables and signs stand apart, a digit is a #."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        kept = character if character.isascii() else self._kept(character)
        if code < _COMMON:
            self[code] = kept
        return kept

    def _kept(self, character: str) -> str:
        if character in _MARKS or any(first <= character <= last for first, last in _SYLLABLES):
            return f" {character} "
        if character.isdigit():
            return "#"
        return character if character.isalpha() else " "


def _in_ascii(code: int) -> int:
    """Return the replacement for a character of ASCII: letters and signs stay, a digit is a #."""
    character = chr(code)
    if character.isdigit():
        return ord("#")
    return code if character.isalpha() or character in _KEPT else ord(" ")


_BEYOND = _Beyond()
_ALL_ASCII = bytes(range(128))
_ASCII = bytes(map(_in_ascii, _ALL_ASCII)) + bytes(range(128, 256))
"""Replacements for the bytes of a text. Translating a thousand bytes takes a microsecond; translating characters takes
fifty as soon as one of them is not ASCII."""


def tokenize(prose: str) -> list[str]:
    """Return the words of a reply in order. A number is as many # as it has digits.

    Args:
        prose: in lower case, without lone surrogates, as `read` gives it.
    """
    if len(prose) > _HEAD + _TAIL:
        prose = f"{prose[:_HEAD]} {prose[-_TAIL:]}"
    encoded = prose.encode()
    text = encoded.translate(_ASCII).decode()
    for sign in _SIGNS:
        if sign in text:
            text = text.replace(sign, f" {sign} ")
    if not text.isascii():
        text = _translated(text, set(encoded.translate(None, _ALL_ASCII).decode()))
    return text.split()


def _translated(text: str, beyond: AbstractSet[str]) -> str:
    """Replace the characters of a text that are beyond ASCII."""
    if len(beyond) > _FEW:
        return text.translate(_BEYOND)
    for character in beyond:
        text = text.replace(character, _BEYOND[ord(character)])
    return text
