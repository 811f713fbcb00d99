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
| unknown | none of these |

A commit that waits for an approval therefore leaves finished work "done" and other work "progress", while the same
words alone are "blocked"; a request for a missing permission is "blocked", not a mere question. Further detectors take
part through the `state` of their signals.

Those are the rules. Where no structured fact decides (a failure, a service's refusal, the status block's word, a
further detector's signal) and the rules found nothing that blocks the agent, they are one voice of two: their vote is
added to the learned chance of the state that they say (`detectors.wording`), and the state with the most votes wins. It
is done only from `SURE` of all votes on, and never with open boxes or for a report of tests alone. In a brief reply
only the rules say done; in one of a few words any other state needs that share, too. Where the workspace moved, only
they say blocked, question, limited or unknown. Words complete a run only if the result is done.

A reply can also say that its iteration moved nothing (`find_standstill`). The first that applies:

| standstill | the reply |
|---|---|
| error | is a failure, or an error message and nothing else |
| done | reports the whole as done, and says that it was before, or that nothing was or is to be done |
| unchanged | reports no work, and says that it changed nothing or found nothing to do |
| watching | reports no work, and says that something still runs |
| tests | reports passing tests in each of its few clauses |
| no-op | calls itself a no-op, or says that nothing is left that it could do |
| waiting | ends by waiting for the user's word, and reports no work of its own |

One of them alone is harmless; one after another they are a loop that stands still. A status block that counts changes
outweighs them all.
"""

from collections.abc import Mapping
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
    word (Nity Loop), or with another passing check. Any signal that contradicts is enough against them.
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
    strong = len(counted) >= 2 or max(counted.values()) >= VERY_HIGH or signals.first("completion_report") is not None
    return CompletionSignal(
        detected=(strong or any(signal.weight > 0 for signal in signals.of(*_BESIDE))) and not contradicted,
        keywords=tuple(counted),
        test_only=test_only,
        confidence=100.0 if strong else 60.0 * len(counted),
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
    if state == "error" and (not isinstance(reply.output.outcome, Answered) or reply.signals.first("only_error")):
        return "error"
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


class Chances(dict[State, float]):
    """The learned chance of each state, 0–1.

    Attributes:
        words: the number of distinct words that they rest on.
    """

    words: int = 0


RULES_VOTE = 0.2
"""The weight of the rules' state beside the learned chances, whose sum is 1."""

BRIEF, FEW = 25, 12
"""Distinct words below which only the rules say done, and any other state takes `SURE`: the chances rest on too few."""
_FALLING = 10  # distinct words at which the rules' vote is 1; it falls with their number, down to `RULES_VOTE`
SURE = 0.6
"""The share of all votes from which a reply counts as done, and one of few words as what the rules do not say."""


def judge(reply: Reply, *, told: bool = False) -> tuple[StateResult, CompletionSignal]:
    """Return the state of a reply, and whether its words say that the task is done.

    Args:
        reply: with all signals.
        told: the reply sums up work, or the workspace is known to have moved.
    """
    done = completion_signal(reply.signals)
    rules, chances = classify_state(reply, done, told=told), reply.kept.get(Chances)
    decided = rules.state in {"limited", "blocked"} or reply.signals.first("status_blocked") is not None
    if decided or chances is None or not isinstance(reply.output.outcome, Answered):
        return rules, done
    state = _elected(reply, rules.state, chances, test_only=done.test_only)
    if done.detected != (state == "done"):
        done = done.model_copy(update={"detected": state == "done"})
    if state == rules.state:
        return rules, done
    return StateResult(state, _last_words(reply) if state in {"blocked", "question"} else ""), done


def _elected(reply: Reply, rules: State, chances: Chances, *, test_only: bool) -> State:
    """Return the state with the most votes, of those that can stand."""
    brief = chances.words < BRIEF
    if brief and rules == "done":
        return rules
    vote = RULES_VOTE if rules == "unknown" else max(RULES_VOTE, _FALLING / max(1, chances.words))
    votes: dict[State, float] = {**chances, rules: chances[rules] + vote}
    standing: set[State] = {"progress", rules}
    standing |= {state for state in votes if chances.words >= FEW or votes[state] >= SURE * (1 + vote)}
    if brief or test_only or _open_items(reply) or votes["done"] < SURE * (1 + vote):
        standing.discard("done")
    if reply.context.progressed:
        standing -= _STOPPED - {rules}
    return max((state for state in votes if state in standing), key=votes.__getitem__)


_STOPPED = frozenset({"blocked", "question", "limited", "unknown"})
"""States that the learned chances alone do not give to a reply whose iteration changed files."""


def classify_state(reply: Reply, completion: CompletionSignal, *, told: bool = False) -> StateResult:
    """Return the state of a reply by the rules.

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
    return StateResult(_plain(reply, speaking, worked=worked))


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
