"""What a reply amounts to, as one word; decided on the strongest sign there is. The first that applies:

| state | sign |
|---|---|
| limited | the reply is a service's message that nobody is let in, also where the turn failed |
| limited, error | the executor's failure; a turn that was cut short before a word was said is an error, too |
| blocked | the status block says BLOCKED |
| done | the status block says EXIT_SIGNAL: true |
| blocked | the agent says that it cannot go on, or opens with what stops it and ends with the hand that it needs; or \
it tells of no work, and a person's permission or hand is needed |
| question | it ends by asking a person; after finished work an offer does not ask, but a choice does |
| done | its words report the whole as done; not against EXIT_SIGNAL: false, nor open boxes of the plan or its own |
| error | it is an error and nothing else |
| progress | it tells of work: done, going on or to come; or of much; or the workspace moved, or tools were used |
| blocked, question | instead of the two around it: it sounds so by its words, and the workspace is not known to move |
| unknown | none of all that |

So a commit that waits for an approval leaves finished work "done" and other work "progress", while the same words alone
are "blocked"; and whoever asks for a missing permission is blocked and asks no mere question. Detectors of one's own
take part through the `state` of their signals.
"""

from collections.abc import Mapping
from typing import NamedTuple

from ralph.analysis.lexicon import Role
from ralph.analysis.result import CompletionSignal, State
from ralph.analysis.signals import Reply, Signal, Signals
from ralph.analysis.vocabulary import Hit
from ralph.status import StatusReport
from ralph.types.output import Answered, Failed, Outcome

__all__ = ["Standing", "standing"]

_LONG, _ON_A_TASK = 300, 80
"""Characters of a reply that is about the work, without a task and with one."""
_LEFT = frozenset({"unfinished", "open_end"})
_BARRING: frozenset[Role] = frozenset({"unable", "barred"})
_AROUND = 400
"""Characters of a sentence that are shown on either side of the word that decided."""


class Standing(NamedTuple):
    """The state with what belongs to it: the question asked of a person, and which limit was met and when it ends."""

    state: State
    question: str = ""
    retry_after: float | None = None
    limited_until: str = ""
    limit: str = ""


def standing(reply: Reply, completion: CompletionSignal, *, told: bool = False) -> Standing:
    """The state of a reply.

    Args:
        told: the reply sums up work, or the workspace is known to have moved.
    """
    outcome, status, signals = reply.output.outcome, reply.status, reply.signals
    speaking = _speaking(signals)
    if "limited" in speaking and isinstance(outcome, Answered | Failed):
        return _limited(reply)
    if not isinstance(outcome, Answered) and (failed := _failed(outcome, reply)):
        return Standing(failed)
    asked = _said(reply, speaking.get("question"))
    hindrance = _hindrance(reply, speaking.get("blocked"), told=told or completion.detected)
    if signals.first("status_blocked"):
        reason = status.reason if isinstance(status, StatusReport) else ""
        return Standing("blocked", asked or hindrance or reason or "")
    explicit = status.exit_signal if isinstance(status, StatusReport) else None
    if explicit:
        return Standing("done")
    if hindrance or asked:
        return Standing("blocked" if hindrance else "question", asked or hindrance)
    if completion.detected and explicit is None and not _open_items(reply):
        return Standing("done")
    worked = told or bool(reply.output.tool_calls) or explicit is False
    return _by_tone(reply) or Standing(_plain(reply, speaking, worked=worked))


def _by_tone(reply: Reply) -> Standing | None:
    """Blocked or asking, by how it sounds; None where it does not, or is more than that."""
    tone = reply.signals.first("tone")
    if tone is None or reply.context.progressed or not reply.reading.prose.strip():
        return None
    if tone.name == "blocked":
        if reply.signals.first("next_piece") and reply.signals.of("completion_claim", "completion_keyword"):
            return None  # one piece is done, and nothing is said to bar the next
        return Standing("blocked", _last_words(reply))
    work = reply.signals.first("work")
    if work and max(map(reply.reading.prose.rfind, "?？")) < work.start:
        return None  # what it asked before it told of work it has answered itself
    return Standing("question", _last_words(reply))


def _last_words(reply: Reply) -> str:
    """The end of a reply that stops without one sentence that says so."""
    return reply.reading.prose.rstrip()[-_AROUND:].rpartition("\n")[2].strip()


def _speaking(signals: Signals) -> dict[State, Signal]:
    """The first signal that speaks for each state by itself; an obstacle does not, and the status block goes first."""
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


def _limited(reply: Reply) -> Standing:
    met, wait, until = (reply.signals.first(kind) for kind in ("limited", "retry_after", "limited_until"))
    return Standing(
        "limited",
        retry_after=float(wait.amount) if wait else None,
        limited_until=until.name if until else "",
        limit=met.name if met else "",
    )


def _hindrance(reply: Reply, stopped: Signal | None, *, told: bool) -> str:
    """The sentence that says what keeps the agent from going on; empty where nothing does."""
    if stopped:
        return _sentence(reply, stopped)
    obstacle = reply.signals.first("obstacle")
    if obstacle is None or told or _reports_work(reply, obstacle):
        return ""
    return _sentence(reply, obstacle)


def _reports_work(reply: Reply, obstacle: Signal) -> bool:
    """Whether anything is told of that is done, or that is left while nothing bars it. What the sentence of the
    obstacle says after it is what it hinders, and so is what it says to be barred.
    """
    ticked = reply.signals.first("reply_boxes")
    if ticked and ticked.amount > 0:
        return True
    if reply.signals.has(_LEFT) and not reply.scope.has(_BARRING):
        return True
    begin, end = reply.reading.sentence(obstacle.start)
    for told in reply.signals.of("work", "completion_keyword"):
        hindered = obstacle.start <= told.start < end or (begin <= told.start < end and _is_barred(reply, told))
        if not hindered:
            return True
    return False


def _is_barred(reply: Reply, told: Signal) -> bool:
    """Whether what seems to be told as done is what was refused: "the edit was refused"."""
    return reply.scope.after("barred", Hit(told.name, told.start, told.end), 3) is not None


def _said(reply: Reply, signal: Signal | None) -> str:
    return reply.reading.text[signal.start : signal.end].strip() if signal else ""


def _sentence(reply: Reply, signal: Signal) -> str:
    """The sentence around a signal."""
    begin, end = reply.reading.sentence(signal.start)
    return reply.reading.text[max(begin, signal.start - _AROUND) : min(end, signal.end + _AROUND)].strip()


def _open_items(reply: Reply) -> bool:
    """Boxes that are not ticked in the plan, or else in the reply's own checklist."""
    plan = reply.context.plan
    return bool(plan.open) if plan is not None else reply.signals.first("open_boxes") is not None


def _plain(reply: Reply, speaking: Mapping[State, Signal], *, worked: bool) -> State:
    if not reply.reading.prose.strip():
        return "progress" if worked else "unknown"
    if "error" in speaking:
        return "error"
    told = "progress" in speaking or "done" in speaking or reply.signals.of("discounted_keyword", "reply_boxes")
    return "progress" if worked or told or _is_long(reply) else "unknown"


def _is_long(reply: Reply) -> bool:
    """Whether it says so much that it is about the work, in whatever words; about a task, that is soon the case."""
    return len(reply.reading.prose.strip()) >= (_ON_A_TASK if reply.context.task.strip() else _LONG)
