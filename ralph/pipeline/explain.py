"""The explanation of a decision: the chain from the signals of a reply to what followed, as lines to read.

Pure. It needs nothing but the records of run and iteration, so a stored decision is explained like a new one.
"""

from collections.abc import Iterable, Sequence
from typing import Literal

from pydantic import BaseModel

from ralph.analysis.result import CONFIDENCE_WEIGHTS, Analysis, Evidence
from ralph.decision.breaker import BreakerState
from ralph.decision.claims import STRENGTH, Case, Claim, too_little
from ralph.decision.outcomes import Complete, Considered, Decision, Halt, Streaks, following
from ralph.decision.rules import Situation, consider
from ralph.pipeline.evaluate import Rules, differs, situation_of
from ralph.pipeline.replay import recorded_pass
from ralph.records.record import IterationRecord, RunRecord
from ralph.status import StatusMalformed, StatusReport
from ralph.system.text import counted
from ralph.types.plan import PlanState
from ralph.types.verification import Verification

Mark = Literal["for", "against", "told"]

_PARTS = {
    "keywords": "completion words",
    "tests": "passing tests",
    "quality": "quality of the output",
    "no_errors": "freedom from errors",
}

_SIGNALS = 30
"""Signals that are told: the weightiest."""

_QUOTED = 80
"""Characters of the text that a signal marks."""


class Line(BaseModel, frozen=True):
    """One sentence of an explanation.

    Attributes:
        mark: whether it speaks for the stage's conclusion or against it, or is an additional fact.
        text: hostile where it quotes; not yet safe for a terminal.
    """

    text: str
    mark: Mark = "told"


class Stage(BaseModel, frozen=True):
    """One step of the chain: its subject, such as "completion", its conclusion in a few words, and the grounds."""

    name: str
    conclusion: str
    lines: tuple[Line, ...] = ()


def explain(
    rules: Rules, run: RunRecord, before: Streaks, record: IterationRecord, plan: PlanState | None = None
) -> tuple[Stage, ...]:
    """Return the chain of an iteration, from the signals of its reply to the decision.

    Args:
        rules: by which it was judged.
        before: the streaks after the iteration before.
        plan: as it was then; a record keeps only how many of its boxes were ticked.
    """
    situation = _situation(rules, run, before, record, plan)
    case, claim, analysis, strategy = situation.case, situation.claim, record.analysis, rules.strategy.name
    return (
        _signals(analysis.evidence),
        _status(analysis),
        _completion(analysis),
        _confidence(analysis),
        _state(analysis),
        _stuck(analysis),
        *_further(analysis),
        _claim(case, strategy, claim),
        _verification(claim, record.verification),
        _breaker(record.breaker),
        _decision(consider(situation), record.decision),
    )


def _situation(
    rules: Rules, run: RunRecord, before: Streaks, record: IterationRecord, plan: PlanState | None
) -> Situation:
    """Return what the decision of a record rested on, as far as a record keeps it."""
    case = Case(
        iteration=record.number,
        output=recorded_pass(record).output,
        analysis=record.analysis,
        plan=plan,
        changed=differs(record.changes, run.fingerprint),
        progressed=record.progressed,
        task=run.task,
    )
    claim = record.claim or _claim_of_old_record(record)
    return situation_of(
        rules,
        case,
        before,
        checks=record.checks,
        breaker=record.breaker,
        spent=record.spent,
        at=record.finished_at,
        claim=claim,
        verification=record.verification,
    )


def _claim_of_old_record(record: IterationRecord) -> Claim | None:
    """Return the claim of a record from a version that did not store claims; the decision says that there was one."""
    if isinstance(record.decision, Complete):
        return Claim(reason=record.decision.reason.partition("; passed: ")[0], doubts=record.decision.still_open)
    return Claim(reason="it was verified") if record.verification is not None else None


def _signals(evidence: Sequence[Evidence]) -> Stage:
    heavy = sorted(evidence, key=lambda piece: -abs(piece.weight))[:_SIGNALS]
    lines = [Line(text=_piece(piece), mark=_mark(piece.weight)) for piece in heavy]
    if len(evidence) > _SIGNALS:
        lines.append(Line(text=f"and {len(evidence) - _SIGNALS} lighter ones"))
    return Stage(name="signals", conclusion=f"{len(evidence)} found" if evidence else "none", lines=tuple(lines))


def _piece(piece: Evidence) -> str:
    place = f" at {piece.start}–{piece.end}" if piece.end else ""
    said = piece.text if len(piece.text) <= _QUOTED else f"{piece.text[: _QUOTED - 1]}…"
    quoted = f" “{said}”" if said and piece.signal != "exit_signal" else ""
    weight = f"{piece.weight:+g} " if piece.weight else ""
    return f"{weight}{piece.signal}{place}{quoted}: {piece.why}"


def _mark(weight: float) -> Mark:
    return "for" if weight > 0 else "against" if weight < 0 else "told"


def _status(analysis: Analysis) -> Stage:
    status = analysis.status
    if isinstance(status, StatusReport):
        said = "no EXIT_SIGNAL" if status.exit_signal is None else f"EXIT_SIGNAL: {str(status.exit_signal).lower()}"
        lines = [Line(text=f"STATUS: {status.status}")] if status.status else []
        lines += [Line(text=f"REASON: {status.reason}")] if status.reason else []
        return Stage(name="status block", conclusion=said, lines=tuple(lines))
    if isinstance(status, StatusMalformed):
        return Stage(name="status block", conclusion=f"cannot be read: {status.problem}")
    return Stage(name="status block", conclusion="none")


def _completion(analysis: Analysis) -> Stage:
    done = analysis.completion
    strength = f"strength {done.confidence:g} of 100"
    lines = [Line(text=f"claims that count: {', '.join(done.keywords)}", mark="for")] if done.keywords else []
    contradicting = [piece for piece in analysis.evidence if piece.weight <= -50 and piece.signal != "exit_signal"]
    lines += [Line(text=f"{piece.signal} contradicts: {piece.why}", mark="against") for piece in contradicting[:5]]
    word = "the words say that it is done" if done.detected else "the words do not say that it is done"
    return Stage(name="completion", conclusion=f"{word} ({strength})", lines=tuple(lines))


def _confidence(analysis: Analysis) -> Stage:
    metrics = analysis.metrics
    parts = [
        Line(text=f"{_PARTS[name]} {value:g} × {weight:g} = {value * weight:g}")
        for name, weight in CONFIDENCE_WEIGHTS.items()
        if (value := analysis.confidence_parts.get(name)) is not None
    ]
    numbers = (
        f"completion {metrics.completion_score} % (by {metrics.completion_source}), certainty {metrics.confidence}, "
        f"{counted(metrics.error_count, 'error pattern')} in {counted(metrics.error_occurrences, 'place')}, "
        f"quality {metrics.quality_score}"
    )
    return Stage(name="confidence", conclusion=f"{analysis.confidence:g} of 100", lines=(*parts, Line(text=numbers)))


def _state(analysis: Analysis) -> Stage:
    lines = [Line(text=f"asks: {analysis.question}")] if analysis.question else []
    if analysis.work_summary:
        lines.append(Line(text=f"did: {analysis.work_summary}"))
    return Stage(name="state", conclusion=analysis.state, lines=tuple(lines))


def _stuck(analysis: Analysis) -> Stage:
    stuck = analysis.stuck
    mark: Mark = "for" if stuck.detected else "told"
    told = (f"{piece.why}: “{piece.text}”" if piece.text else piece.why for piece in stuck.evidence[:10])
    lines = tuple(Line(text=text, mark=mark) for text in told)
    word = f"yes ({stuck.confidence:g} % of the window repeats)" if stuck.detected else "no"
    return Stage(name="stuck", conclusion=word, lines=lines)


def _further(analysis: Analysis) -> Iterable[Stage]:
    """Yield the opinions of the further analyzers on a completion, if there are any."""
    if not analysis.further:
        return
    holding, supporting = analysis.opinions("holds_back"), analysis.opinions("supports")
    lines = [Line(text=f"{name} blocks it: {why}".rstrip(": "), mark="against") for name, why in holding.items()]
    lines += [Line(text=f"{name} supports it: {why}".rstrip(": "), mark="for") for name, why in supporting.items()]
    word = "block a completion" if holding else "support a completion" if supporting else "no opinion"
    yield Stage(name="further analyzers", conclusion=f"{word} ({', '.join(analysis.further)})", lines=tuple(lines))


def _claim(case: Case, strategy: str, claim: Claim | None) -> Stage:
    if claim is None:
        return Stage(name="claim", conclusion=f"the strategy {strategy} sees none", lines=tuple(_unclaimed(case)))
    doubts = tuple(Line(text=f"doubted: {doubt}", mark="against") for doubt in claim.doubts)
    return Stage(name="claim", conclusion=f"{claim.reason} (by the strategy {strategy})", lines=doubts)


def _unclaimed(case: Case) -> Iterable[Line]:
    """Yield what stands against a claim, whichever strategy looks for one."""
    analysis = case.analysis
    if case.output.outcome.kind != "completed":
        yield Line(text="the turn did not end by itself, so it claims nothing", mark="against")
    if case.exit_signal is False:
        yield Line(text="EXIT_SIGNAL: false vetoes every claim made by words", mark="against")
    if analysis.state in {"blocked", "question", "limited", "error"}:
        yield Line(text=f"the reply's state is {analysis.state}", mark="against")
    if case.plan is not None and case.plan.still_open:
        boxes = len(case.plan.still_open)
        are = "box of the plan is" if boxes == 1 else "boxes of the plan are"
        yield Line(text=f"{boxes} {are} open", mark="against")
    elif case.plan is None and analysis.metrics.completion_source == "plan" and analysis.metrics.completion_score < 100:
        yield Line(text=f"the plan is done by {analysis.metrics.completion_score:g} %", mark="against")
    if not analysis.completion.detected:
        yield Line(text=too_little(case) or "no words say that it is done", mark="against")
    elif (strength := analysis.completion.confidence) < STRENGTH:
        yield Line(text=f"the words' strength is {strength:g}; auto asks for {STRENGTH:g}", mark="against")


def _verification(claim: Claim | None, verification: Verification | None) -> Stage:
    if verification is None:
        return Stage(name="verification", conclusion="none asked for" if claim else "nothing to verify")
    lines = tuple(
        Line(
            text=f"`{verdict.verifier}` {verdict.word}",
            mark="for" if verdict.passed else "told" if verdict.undecided else "against",
        )
        for verdict in verification.verdicts
    )
    word = "passed" if verification.passed else "refuted" if verification.refuted else "undecided"
    cut = f", cut short: {verification.cut_short}" if verification.cut_short else ""
    return Stage(name="verification", conclusion=f"{word}{cut}", lines=lines)


def _breaker(breaker: BreakerState) -> Stage:
    counted = {
        "without progress": breaker.no_progress,
        "stagnant": breaker.stagnant,
        "permission-denied": breaker.denials,
        "with the same error": max(breaker.errors.values(), default=0),
    }
    lines = [Line(text=f"iterations in a row {what}: {count}") for what, count in counted.items() if count]
    if breaker.reason:
        lines.append(Line(text=breaker.reason, mark="against"))
    state = breaker.state.replace("_", " ") + (" with a warning" if breaker.warning else "")
    return Stage(name="breaker", conclusion=state, lines=tuple(lines))


def _decision(considered: Sequence[Considered], made: Decision) -> Stage:
    """Return the rules in order: those that did not apply, and the one that did.

    Args:
        made: the decision as it was made: by what may have been other settings, and with more known of the plan than
            a record keeps.
    """
    lines: list[Line] = []
    for rule in considered:
        if rule.decision is not None and _outcome(rule.decision) == _outcome(made):
            lines.append(Line(text=f"{rule.rule}: {made.reason}", mark="for"))
            break
        would = f"would {rule.decision.kind} by the settings in force: " if rule.decision else ""
        lines.append(Line(text=f"{rule.rule}: {would}{rule.why}"))
    return Stage(name="decision", conclusion=f"{made.kind}: {made.reason}", lines=tuple(lines))


def _outcome(decision: Decision) -> tuple[object, ...]:
    """Return what tells the decisions of different rules apart."""
    stop = decision.stop_reason if isinstance(decision, Halt) else None
    return decision.kind, stop, following(decision) is None
