"""The state of a reply, as one word, from its strongest sign.

The first that applies:

| state | sign |
|---|---|
| limited | the reply is a service's message that refuses access, also if the turn failed |
| limited, error | the executor's failure; a turn that was cut short before any text is an error, too |
| blocked | the status block says BLOCKED |
| done | the status block says EXIT_SIGNAL: true |
| blocked | the agent cannot continue, or opens with what stops it and ends with the help that it needs |
| blocked | it reports no work, and needs a person's permission or help |
| question | it ends by asking the user; after finished work an offer does not ask, but a choice does |
| done | its words report the whole as done, unless EXIT_SIGNAL is false or boxes of the plan or its own are open |
| error | it is an error and nothing else |
| progress | it reports work: done, going on or to come; or it is long; or the workspace moved, or tools were used |
| blocked, question | instead of the two before: its words sound so, and the workspace is not known to have moved |
| unknown | none of these |

A commit that waits for an approval therefore leaves finished work "done" and other work "progress", while the same
words alone are "blocked"; a request for a missing permission is "blocked", not a mere question. Further detectors take
part through the `state` of their signals.

How a reply sounds is a sum of weights that were learned from cases (`Classifier`). Every word counts once, with a
weight for its occurrence anywhere and another for one among the first words. tests/unit/analysis/fit_classifier.py
learned the weights in `classifier.json` from the labelled replies of the project's own test cases. A sum of 0 says
nothing; each step of 1 multiplies the odds by 2.7. Weights have two decimals and are summed as whole hundredths, so
that the sum does not depend on the order of the words.

A reply can also say that its iteration moved nothing (`find_standstill`). The first that applies:

| standstill | the reply |
|---|---|
| done | reports the whole as done, and says that it was before, or that nothing was or is to be done |
| unchanged | reports no work, and says that it changed nothing or found nothing to do |
| watching | reports no work, and says that something still runs |
| tests | reports passing tests in each of its few clauses |
| no-op | calls itself a no-op, or says that nothing is left that it could do |
| waiting | ends by waiting for the user's word, and reports no work of its own |

One of them alone is harmless; one after another they are a loop that stands still. A status block that counts changes
outweighs them all.
"""

import json
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from importlib.resources import files
from operator import add
from typing import NamedTuple

from ralph.analysis.lexicon import Keyword, Role
from ralph.analysis.result import AGAINST, HIGH, VERY_HIGH, CompletionSignal, Reply, Signal, Signals, Standstill, State
from ralph.analysis.text import Span
from ralph.analysis.vocabulary import Hit, Scope, Vocabulary
from ralph.status import StatusReport
from ralph.system.text import pattern
from ralph.types.output import Answered, Failed, Outcome

_BESIDE = ("test_run", "verified", "exit_signal")
"""Signals that support completion together with a word of it."""
_OF_STATUS = ("exit_signal", "status_blocked")
"""Signals of the status block, which are not words of the reply."""


def completion_signal(signals: Signals) -> CompletionSignal:
    """Return whether the signals say that the task is done.

    It takes one very high signal or two: distinct keywords, or one keyword with passing tests or the status block's
    word (Nity Loop), with another passing check, or in the form of a final report. Wording that sounds finished is such
    a signal. Any signal that contradicts is enough against them; wording that sounds unfinished is against a single
    one.
    """
    counted: dict[str, float] = {}
    contradicted = False
    for kind, name, _, _, weight, _, state, _ in signals.all():
        if weight >= HIGH:
            if state == "done" and kind != "exit_signal":
                counted[name] = max(weight, counted.get(name, 0))
        elif weight <= AGAINST and kind not in _OF_STATUS:
            contradicted = True
    test_only = signals.first("test_only") is not None
    if not counted:
        return CompletionSignal(test_only=test_only)
    strong = len(counted) >= 2 or max(counted.values()) >= VERY_HIGH
    wording = signals.first("wording")
    backed = not (wording and wording.weight < 0)
    sure = strong or (backed and signals.first("completion_report") is not None)
    enough = sure or (backed and any(signal.weight > 0 for signal in signals.of(*_BESIDE)))
    return CompletionSignal(
        detected=enough and not contradicted,
        keywords=tuple([name for name in counted if not (wording and name == wording.name)]),
        test_only=test_only,
        confidence=100.0 if sure else 60.0 * len(counted),
    )


def indicator_points(signals: Signals, words: Vocabulary) -> tuple[int, tuple[str, ...]]:
    """Return the go-ralph points: of each group of keywords with a hit, and the first hit of each."""
    found = signals.of("completion_keyword")
    if not found:
        return 0, ()
    groups: dict[str, Keyword] = {}
    for signal in found:
        keyword = words.keywords.get(signal.name.lower())
        if keyword and keyword.points:
            groups.setdefault(keyword.indicator, keyword)
    return sum(keyword.points for keyword in groups.values()), tuple([keyword.text for keyword in groups.values()])


_SHORT_REPORT = 400
"""Characters up to which a reply can report tests and nothing else."""
_CLAUSE = pattern(r"[^.;,:!?()\n—–、，。；：（）]*[^\W\d_][^.;,:!?()\n—–、，。；：（）]*")
_DIGIT = pattern(r"\d")
_NEEDLESS = frozenset({"nothing left", "needless"})
_EARLIER = frozenset({"already", "in an earlier run"})
"""Words that count for the whole only: in every productive loop some parts are done already."""
_NO_OP = frozenset({"no-op", "asks to be stopped"})
"""Words of a session without work, even if its bookkeeping changed files. One alone can be about the product."""


def find_standstill(reply: Reply, state: State, *, reported: bool | None) -> Standstill:
    """Return the way in which a reply stands still; empty if it does not say so or its block `reported` changes."""
    if reported or state in {"blocked", "question", "limited", "error"}:
        return ""
    if {idle.name for idle in reply.signals.of("idle")} >= _NO_OP:
        return "no-op"
    if state == "done" and _was_done(reply, reported=reported):
        return "done"
    if _stands_by(reply):
        return "waiting"
    return "" if reply.signals.first("work") else _inactive(reply)


_LAST = 200
"""Characters at the end of a reply by which it may wait for the user's word."""
_STANDS = pattern(r"(?:\b(?:is|are) |已|你)\Z")


def _stands_by(reply: Reply) -> bool:
    """Return whether a reply ends by waiting for the user's word, and reports no work but what is there already."""
    scope, end = reply.scope, len(reply.reading.prose.rstrip())
    if not scope.within("standby", (max(0, end - _LAST), end)):
        return False
    prose = reply.reading.prose
    return all(_STANDS.search(prose[max(0, work.start - 5) : work.start]) for work in reply.signals.of("work"))


def _was_done(reply: Reply, *, reported: bool | None) -> bool:
    signals = reply.signals
    explicit = isinstance(reply.status, StatusReport) and reply.status.exit_signal is True
    if explicit or reported is False or signals.first("idle") or signals.first("unchanged"):
        return True
    return any(claim.name in _NEEDLESS for claim in signals.of("completion_claim")) and not signals.first("work")


def _inactive(reply: Reply) -> Standstill:
    signals = reply.signals
    if signals.first("unchanged") or any(idle.name not in _EARLIER for idle in signals.of("idle")):
        return "unchanged"
    if signals.first("watching"):
        return "watching"
    return "tests" if signals.first("tests_passed") and _only_of_tests(reply) else ""


def _only_of_tests(reply: Reply) -> bool:
    """Return whether every clause of a short reply has a word of tests."""
    prose, scope = reply.reading.prose, reply.scope
    if len(prose) > _SHORT_REPORT:
        return False
    return all(_is_of_tests(scope, clause.span()) for clause in _CLAUSE.finditer(prose))


def _is_of_tests(scope: Scope, clause: Span) -> bool:
    """Return whether a clause names a check, or has a verdict with a number; "the export works" has neither."""
    if scope.within("check", clause):
        return True
    judged = any(scope.within(role, clause) for role in ("passes", "failing", "verified"))
    return judged and _DIGIT.search(scope.reading.prose, *clause) is not None


_LONG, _ON_A_TASK = 300, 80
"""Characters from which a reply is about the work, without a task and with one."""
_LEFT = frozenset({"unfinished", "open_end"})
_BARRING: frozenset[Role] = frozenset({"unable", "barred"})
_AROUND = 400
"""Characters of a sentence that are shown on either side of the deciding word."""


class StateResult(NamedTuple):
    """A state with its details: the question to the user, or the limit that was met and its end."""

    state: State
    question: str = ""
    retry_after: float | None = None
    limited_until: str = ""
    limit: str = ""


def classify_state(reply: Reply, completion: CompletionSignal, *, told: bool = False) -> StateResult:
    """Return the state of a reply.

    Args:
        reply: with all signals.
        completion: of the reply.
        told: the reply sums up work, or the workspace is known to have moved.
    """
    outcome, status, signals = reply.output.outcome, reply.status, reply.signals
    speaking = _speaking(signals)
    if "limited" in speaking and isinstance(outcome, Answered | Failed):
        return _limited(reply)
    if not isinstance(outcome, Answered) and (failed := _failed(outcome, reply)):
        return StateResult(failed)
    asked = _said(reply, speaking.get("question"))
    hindrance = _hindrance(reply, speaking.get("blocked"), told=told or completion.detected)
    if signals.first("status_blocked"):
        reason = status.reason if isinstance(status, StatusReport) else ""
        return StateResult("blocked", asked or hindrance or reason or "")
    explicit = status.exit_signal if isinstance(status, StatusReport) else None
    if explicit:
        return StateResult("done")
    if hindrance or asked:
        return StateResult("blocked" if hindrance else "question", asked or hindrance)
    if completion.detected and explicit is None and not _open_items(reply):
        return StateResult("done")
    worked = told or bool(reply.output.tool_calls) or explicit is False
    return _by_tone(reply) or StateResult(_plain(reply, speaking, worked=worked))


def _by_tone(reply: Reply) -> StateResult | None:
    """Return blocked or question if the words sound so; None if they do not, or if there is more than that."""
    tone = reply.signals.first("tone")
    if tone is None or reply.context.progressed or not reply.reading.prose.strip():
        return None
    if tone.name == "blocked":
        if reply.signals.first("next_piece") and reply.signals.of("completion_claim", "completion_keyword"):
            return None  # one piece is done, and nothing bars the next
        return StateResult("blocked", _last_words(reply))
    work = reply.signals.first("work")
    if work and max(map(reply.reading.prose.rfind, "?？")) < work.start:
        return None  # it has answered its question itself, by the work that it reports next
    return StateResult("question", _last_words(reply))


def _last_words(reply: Reply) -> str:
    """Return the end of a reply that stops without one sentence that says so."""
    return reply.reading.prose.rstrip()[-_AROUND:].rpartition("\n")[2].strip()


def _speaking(signals: Signals) -> dict[State, Signal]:
    """Return the first signal that supports each state by itself.

    An obstacle does not count, and the status block has precedence.
    """
    first: dict[State, Signal] = {}
    for signal in signals.all():
        state = signal.state
        if state and state not in first and signal.kind not in {"obstacle", "status_blocked"}:
            first[state] = signal
    return first


def _failed(outcome: Outcome, reply: Reply) -> State | None:
    if outcome.kind == "failed":
        return "limited" if outcome.failure == "rate_limited" else "error"
    return None if reply.reading.text.strip() else "error"


def _limited(reply: Reply) -> StateResult:
    met, wait, until = (reply.signals.first(kind) for kind in ("limited", "retry_after", "limited_until"))
    return StateResult(
        "limited",
        retry_after=float(wait.amount) if wait else None,
        limited_until=until.name if until else "",
        limit=met.name if met else "",
    )


def _hindrance(reply: Reply, stopped: Signal | None, *, told: bool) -> str:
    """Return the sentence that says what keeps the agent from continuing; empty if none does."""
    if stopped:
        return _sentence(reply, stopped)
    obstacle = reply.signals.first("obstacle")
    if obstacle is None or told or _reports_work(reply, obstacle):
        return ""
    return _sentence(reply, obstacle)


def _reports_work(reply: Reply, obstacle: Signal) -> bool:
    """Return whether the reply reports anything as done, or as left while nothing bars it.

    In the sentence of the obstacle, what follows the obstacle is what it hinders, and so is what is said to be barred.
    """
    ticked = reply.signals.first("reply_boxes")
    if ticked and ticked.amount > 0:
        return True
    if reply.signals.has(_LEFT) and not reply.scope.has(_BARRING):
        return True
    begin, end = reply.reading.sentence(obstacle.start)
    for told in reply.signals.of("work", "completion_keyword"):
        refused = reply.scope.after("barred", Hit(told.name, told.start, told.end), 3)  # as in "the edit was refused"
        if not (obstacle.start <= told.start < end or (begin <= told.start < end and refused)):
            return True
    return False


def _said(reply: Reply, signal: Signal | None) -> str:
    return reply.reading.text[signal.start : signal.end].strip() if signal else ""


def _sentence(reply: Reply, signal: Signal) -> str:
    """Return the sentence around a signal."""
    begin, end = reply.reading.sentence(signal.start)
    return reply.reading.text[max(begin, signal.start - _AROUND) : min(end, signal.end + _AROUND)].strip()


def _open_items(reply: Reply) -> bool:
    """Return whether boxes are open in the plan, or without a plan in the reply's own checklist."""
    plan = reply.context.plan
    return bool(plan.open) if plan is not None else reply.signals.first("open_boxes") is not None


def _plain(reply: Reply, speaking: Mapping[State, Signal], *, worked: bool) -> State:
    if not reply.reading.prose.strip():
        return "progress" if worked else "unknown"
    if "error" in speaking:
        return "error"
    told = "progress" in speaking or "done" in speaking or reply.signals.of("discounted_keyword", "reply_boxes")
    long = len(reply.reading.prose.strip()) >= (_ON_A_TASK if reply.context.task.strip() else _LONG)
    return "progress" if worked or told or long else "unknown"


CLASSES = ("done", "blocked", "question")
"""The states that it tells apart."""

FIRST = 25
"""The number of words that count as the first."""

_HEAD, _TAIL = 4_000, 8_000
"""Characters that are read at the beginning and at the end of a longer reply."""

_SIGNS = "?!:"
_MARKS = "…✅✓✔❌⚠"
"""Marks that are words of their own; other punctuation is ignored."""

_KEPT = f"{_SIGNS}'/"
"""Characters that stay, besides letters."""

_COMMON = 0xA000
"""Replacements of characters before this one are cached; a text may have a million others."""

_FEW = 16
"""Up to so many distinct characters are replaced one by one; for more, the whole text is translated."""

_REPORTED = 3
"""The number of words that are reported."""

_Row = tuple[float, ...]
"""A weight for each of `CLASSES`."""
_Hundredths = tuple[int, ...]
"""The same in hundredths."""
_NONE = (0,) * len(CLASSES)


class Weights(NamedTuple):
    """The learned weights for each of `CLASSES`, with two decimals: the base, for a known task, and for the words."""

    base: _Row
    task: _Row
    anywhere: dict[str, _Row]
    first: dict[str, _Row]


def load_weights() -> Weights:
    """Load the built-in weights."""
    return Weights(**json.loads(files("ralph.analysis").joinpath("classifier.json").read_text("utf-8")))


class Classification(NamedTuple):
    """The sums of a reply and the words behind them.

    Attributes:
        odds: the sum of the weights in hundredths, for each of `CLASSES`.
        words: all its words in order.
        known: those with a weight, each once.
        rows: the weights of these.
    """

    odds: _Hundredths
    words: Sequence[str]
    known: Sequence[str]
    rows: Sequence[_Hundredths]

    def strongest_words(self, state: str, *, against: bool = False) -> list[str]:
        """Return the words that count most for a state, or against it; three at most."""
        column, sign = CLASSES.index(state), 1 if against else -1
        weights = [sign * row[column] for row in self.rows]
        limit = sorted([*weights, *[0] * _REPORTED])[_REPORTED - 1]  # numbers are sorted sooner than pairs
        weighed = zip(weights, self.known, strict=True)
        told = sorted([(weight, word) for weight, word in weighed if weight <= limit and weight < 0])
        return [word for _, word in told[:_REPORTED]]


class Classifier:
    """Sums learned weights over the words of a reply."""

    def __init__(self, learned: Weights) -> None:
        self._base, self._task = _hundredths(learned.base), _hundredths(learned.task)
        self._others = {word: _hundredths(row) for word, row in learned.anywhere.items()}
        self._first = dict(self._others)
        for word, row in learned.first.items():
            self._first[word] = tuple(map(add, self._others.get(word, _NONE), _hundredths(row)))

    def classify(self, prose: str, *, task: bool) -> Classification:
        """Return how a reply sounds.

        Args:
            prose: without code, in lower case.
            task: whether the task is known.
        """
        found = tokenize(prose)
        first = self._first.keys() & found[:FIRST]
        others = self._others.keys() & found[FIRST:]
        others -= first
        rows = [*map(self._first.__getitem__, first), *map(self._others.__getitem__, others)]
        given = (self._base, self._task) if task else (self._base,)
        return Classification(tuple(map(sum, zip(*given, *rows, strict=True))), found, [*first, *others], rows)


@cache
def classifier() -> Classifier:
    """Return the classifier with the built-in weights."""
    return Classifier(load_weights())


def _hundredths(row: _Row) -> _Hundredths:
    return tuple([round(100 * weight) for weight in row])


class _Beyond(dict[int, str]):
    """Replacements for characters beyond ASCII: letters stay, Chinese ones and signs stand apart, a digit is a #."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        kept = character if character.isascii() else self._kept(character)
        if code < _COMMON:
            self[code] = kept
        return kept

    def _kept(self, character: str) -> str:
        if "\u4e00" <= character <= "\u9fff" or character in _MARKS:
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
