"""The views of a run: header, message, timeline, breaker and plots."""

from collections.abc import Callable, Sequence
from datetime import datetime

from textual.content import Content

from ralph.analysis.result import Evidence
from ralph.records import events
from ralph.records.projection import RunView, changes_text, denials_text, describe, findings, outcome_text
from ralph.records.record import IterationRecord
from ralph.system.text import duration, one_line
from ralph.types.tools import tool_text
from ralph.watch.report_stats import outcome_of
from ralph.watch.terminal import BREAKER_SIGNS
from ralph.watch.tui.reading import Facts, Reading, breaker_changes
from ralph.watch.tui.rows import Cell, time_text, tokens_text
from ralph.watch.tui.runs import sign_of
from ralph.watch.tui.texts import MUTED, bars, evidence_lines, gauge, labelled, markdown

Part = str | Content | tuple[str, str]

_TONES = {"good": "$text-success", "bad": "$text-error", "warn": "$text-warning", "accent": "$text-primary"}
_LIMITS: dict[str, tuple[str, Callable[[float], str]]] = {
    "max_iterations": ("it.", "{:,.0f}".format),
    "max_duration": ("time", time_text),
    "max_tokens": ("tokens", tokens_text),
    "max_cost": ("cost", "${:,.2f}".format),
    "max_requests": ("requests", "{:,g}".format),
}
_BREAKER_TONES = {"closed": "$text-success", "half_open": "$text-warning", "open": "$text-error"}


def header(reading: Reading, state: str, width: int, option: str, now: datetime) -> Content:
    """Return the lines over a run: task and state, who works where, what is used of the limits, what it does now."""
    run, view = reading.run, reading.view
    sign, tone = sign_of(state, verified=run.verified)
    word = outcome_of(run, state)
    task = one_line(run.task, max(10, width - len(word) - 5))
    lines = [Content.assemble((f"{sign} {word}  ", f"bold {_TONES.get(tone, MUTED)}"), (task, "bold"))]
    warns = bool(view.breaker_warning) and view.breaker == "closed"
    position = "warning" if warns else view.breaker
    style = "$text-warning" if warns else _BREAKER_TONES.get(view.breaker, MUTED)
    breaker = f"{BREAKER_SIGNS.get(position, '○')} breaker {position.replace('_', ' ')}"
    facts = (view.executor, view.model or "", run.workspace or "", f"run {run.id}")
    shown = filter(None, (one_line(each, 80) for each in facts))
    denied = f" · {denials_text(view.denials)}" if view.denials else ""
    rest = one_line(" · ".join(shown), max(10, width - len(breaker) - len(denied) - 3))
    lines.append(Content.assemble((breaker, style), (denied, "$text-warning"), (f" · {rest}", MUTED)))
    lines.append(_figures(view, now, width))
    lines.append(_activity(reading, state, width, option))
    return Content("\n").join(lines)


def _figures(view: RunView, now: datetime, width: int) -> Content:
    """Return what is used of each limit, the plan and the breaker, with bars as long as the line has room for."""
    shown = Content()
    for length in (12, 8, 5, 3, 0):
        shown = _figures_with(view, now, length)
        if shown.cell_length <= width:
            break
    return shown.truncate(width, ellipsis=True)


def _figures_with(view: RunView, now: datetime, length: int) -> Content:
    gap = "   " if length > 5 else "  "
    found = {"max_iterations": view.iteration, "max_duration": view.elapsed(now)}
    found |= {"max_tokens": view.usage.tokens, "max_cost": view.usage.cost} | {
        use.name: use.used for use in view.used(now)
    }
    parts: list[Part] = []
    for name, used in found.items():
        label, text = _LIMITS[name]
        if used is None:
            continue
        most = view.limits.get(name)
        bar: Part = Content.assemble(gauge(used, most, length), " ") if most and length else ""
        parts += [(f"{label} ", MUTED), bar, text(used), f"/{text(most)}{gap}" if most else gap]
    if view.plan and view.plan.total:
        bar = Content.assemble(gauge(view.plan.done, view.plan.total, length, wanted=True), " ") if length else ""
        parts += [("plan ", MUTED), bar, f"{view.plan.done}/{view.plan.total}{gap}"]
    return Content.assemble(*parts)


def _activity(reading: Reading, state: str, width: int, option: str) -> Content:
    """Return what the run does now, or how it continues."""
    run, view = reading.run, reading.view
    resume = f"`ralph resume{option} {run.id}`"
    if state == "running":
        return Content.assemble(
            ("now  ", MUTED), one_line(view.activity or "between two iterations", max(10, width - 6))
        )
    if state == "paused":
        until = f" until {view.paused_until.astimezone():%H:%M:%S}" if view.paused_until else ""
        why = one_line(view.activity, max(10, width - 40))
        return Content.assemble((f"paused{until}: {why}", "$text-warning"), (" · r resumes", MUTED))
    if state == "crashed":
        return Content.assemble(("Its process is gone. ", "$text-warning"), f"{resume} continues it.")
    rest = "" if state == "completed" else f" · {resume}"
    why = one_line(run.detail or state.replace("_", " "), max(10, width - len(rest) - 8))
    backed = f" · {one_line(run.verified_by)}" if state == "completed" and run.verified_by else ""
    rest = backed if backed and len(why) + len(backed) + 8 <= width else rest
    return Content.assemble(("ended  ", MUTED), why, (rest, MUTED))


def message_view(view: RunView, record: IterationRecord | None, width: int) -> Content:
    """Return an iteration's decision with its evidence, the reply with the evidence highlighted, and the checks."""
    if record is None:
        said = markdown(view.message) if view.message.strip() else Content.styled("It has said nothing yet.", MUTED)
        return Content("\n").join([_title("Its last message so far"), said])
    analysis = record.analysis
    evidence = tuple(dict.fromkeys((*analysis.evidence, *_placed(record))))
    parts = [_decision(record, width), Content("")]
    if record.decision.evidence:
        parts += [evidence_lines(record.decision.evidence, width), Content("")]
    for title, text, marks in (
        ("Reply", record.text, evidence),
        ("Last text before the turn was cut short", record.partial if record.partial != record.text else "", ()),
    ):
        if text.strip():
            parts += [_title(title), markdown(text.strip("\n") if not marks else text, marks), Content("")]
    for verdict in record.verification.verdicts if record.verification else ():
        tone = "$text-success" if verdict.passed else "$text-warning" if verdict.undecided else "$text-error"
        parts.append(Content.assemble((f"{one_line(verdict.verifier)}: {verdict.word}", f"bold {tone}")))
        if verdict.output.strip():
            parts += [markdown(f"```\n{verdict.output.strip()}"), Content("")]
    if record.diagnostics.strip():
        parts += [_title("Error output of the agent's program"), markdown(f"```\n{record.diagnostics.strip()}")]
    if analysis.evidence:
        parts += [_title("All evidence"), evidence_lines((*analysis.evidence, *analysis.stuck.evidence), width, 40)]
    return Content("\n").join(parts).rstrip()


def _placed(record: IterationRecord) -> Sequence[Evidence]:
    text = record.text
    return [
        each for each in record.decision.evidence if each.text and text[each.start : each.end].startswith(each.text)
    ]


def _title(text: str) -> Content:
    return Content.styled(text, "bold $text-primary")


def _decision(record: IterationRecord, width: int) -> Content:
    tone = {"complete": "$text-success", "halt": "$text-error", "pause": "$text-warning"}.get(record.decision.kind, "")
    who = " · ".join(filter(None, (one_line(record.executor), one_line(record.model or ""))))
    did = f"{who or 'no executor'} · {duration(record.duration)} · {changes_text(record)}"
    rows = [("decision", one_line(describe(record.decision), 400), f"bold {tone}".strip()), ("turn", did, "")]
    if record.outcome.kind != "completed":
        rows.append(("ended", outcome_text(record.outcome), "$text-error"))
    analysis = record.analysis
    score = analysis.metrics.completion_score
    rows.append(("state", f"{analysis.state}, confidence {analysis.confidence:g}, completion score {score}", ""))
    rows += [(label, one_line(text, 400), "") for label, text in findings(analysis)]
    rows += [("warning", one_line(each, 300), "$text-warning") for each in analysis.warnings[:3]]
    styled = [(Content.styled(label, MUTED), Content.styled(text, style)) for label, text, style in rows]
    return labelled(styled, 10, width)


def shown_events(found: Sequence[events.Event]) -> list[events.Event]:
    """Return the events of a timeline: of a tool that has ended, only the end."""
    ended = {event.tool.id for event in found if isinstance(event, events.ToolFinished)}
    return [event for event in found if not (isinstance(event, events.ToolStarted) and event.tool.id in ended)]


def event_cells(event: events.Event, workspace: str | None) -> tuple[Cell, Cell, Cell]:
    """Return an event in the timeline: its sign, its text, its duration or count."""
    none: Cell = ("", "dim")
    match event:
        case events.MessageReceived():
            return ("“", "accent"), (one_line(event.text, 400), "plain"), none
        case events.ToolStarted(tool=tool):
            return ("·", "dim"), (tool_text(tool, workspace, 300), "dim"), none
        case events.ToolFinished(tool=tool):
            sign: Cell = ("⊘", "warn") if tool.denied else ("✓", "good") if tool.success else ("✗", "bad")
            took = f"{tool.duration:.1f}s" if tool.duration >= 0.05 else ""
            return sign, (tool_text(tool, workspace, 300), "plain"), (took, "dim")
        case events.IterationStarted():
            return ("▶", "dim"), (f"prompt: {one_line(event.prompt, 300)}", "dim"), none
        case events.IterationFinished():
            tone = {"complete": "good", "halt": "bad", "pause": "warn"}.get(event.decision.kind, "plain")
            return ("■", tone), (one_line(describe(event.decision), 400), tone), none
        case events.VerificationFinished():
            word = "verification passed" if event.passed else "verification failed"
            return ("✓", "good") if event.passed else ("✗", "bad"), (word, "plain"), none
        case events.Told():
            return ("»", "accent"), (f"you: {one_line(event.text, 300)}", "accent"), none
        case _:
            return ("·", "dim"), (_other(event), "dim"), none


def _other(event: events.Event) -> str:
    """Return the rest of the events in a line."""
    match event:
        case events.BreakerChanged():
            reason = f": {event.breaker.reason}" if event.breaker.reason else ""
            return one_line(f"breaker {event.before} → {event.breaker.state}{reason}", 300)
        case events.ExecutorFellBack():
            return one_line(f"{event.before} → {event.after}: {outcome_text(event.attempt.outcome)}", 300)
        case events.VerificationStarted():
            return one_line(f"verifying: {event.verifier}", 300)
        case events.Paused() | events.Diagnosed() | events.RunFinished():
            text = (
                event.detail
                if isinstance(event, events.RunFinished)
                else getattr(event, "reason", "") or getattr(event, "text", "")
            )
            return one_line(f"{event.type.replace('_', ' ')}: {text}", 300)
        case _:
            return event.type.replace("_", " ")


def event_content(event: events.Event, workspace: str | None) -> Content:
    """Return all of an event, for reading."""
    match event:
        case events.MessageReceived():
            return markdown(event.text)
        case events.IterationStarted():
            return markdown(event.prompt)
        case events.ToolStarted(tool=tool) | events.ToolFinished(tool=tool):
            parts = [_title(tool_text(tool, workspace, 300)), Content("")]
            for title, text in (("arguments", tool.arguments), ("result", tool.result)):
                if text.strip():
                    parts += [Content.styled(title, MUTED), markdown(f"```\n{text}"), Content("")]
            return Content("\n").join(parts).rstrip()
        case events.VerificationFinished():
            shown = [f"{each.verifier}: {each.word}\n\n```\n{each.output}\n```\n" for each in event.verdicts]
            return markdown("\n".join(shown))
        case _:
            return markdown("\n".join(f"{name}: {value}" for name, value in event.model_dump(mode="json").items()))


def breaker_view(facts: Sequence[Facts], width: int) -> Content:
    """Return the breaker's states as a band over the iterations, and each change with its reason."""
    if not facts:
        return Content.styled("No iteration has ended yet.", MUTED)
    worst = {"closed": 0, "half_open": 2, "open": 3}
    levels = [1 if each.warning and each.breaker == "closed" else worst.get(each.breaker, 0) for each in facts]
    columns = min(width, len(levels))
    styles = ("$text-success", "$text-warning", "$text-primary", "$text-error")
    band = [max(levels[len(levels) * n // columns : len(levels) * (n + 1) // columns]) for n in range(columns)]
    legend = zip(("closed", "warning", "half open", "open"), styles, strict=True)
    parts = [
        _title("Breaker, by iteration"),
        Content.assemble(*(("▇", styles[level]) for level in band)),
        Content.assemble(*((f"▇ {word}   ", style) for word, style in legend)),
        Content(""),
    ]
    for each, before in reversed(breaker_changes(list(facts))[-200:]):
        at = f"{each.at.astimezone():%H:%M:%S}" if each.at else ""
        now = "warning" if each.warning and each.breaker == "closed" else each.breaker
        style = styles[1] if now == "warning" else _BREAKER_TONES.get(now, MUTED)
        reason = f"  {one_line(each.reason, 300)}" if each.reason else ""
        row = Content.assemble(f"{before.replace('_', ' ')} → ", (now.replace("_", " "), style), reason)
        parts.append(labelled([(Content.styled(f"{at}  it. {each.number}", MUTED), row)], 19, width))
    if len(parts) == 4:
        parts.append(Content.styled("It was closed all the time.", MUTED))
    return Content("\n").join(parts)


def plots_view(facts: Sequence[Facts], width: int, height: int) -> Content:
    """Return tokens, cost, duration and completion score of each iteration as bars, with figures."""
    if not facts:
        return Content.styled("No iteration has ended yet.", MUTED)
    parts: list[Content] = []
    tokens = [each.tokens for each in facts]
    costs = [each.cost for each in facts]
    for title, values, text, total, style in (
        ("Tokens", tokens, tokens_text, True, "$text-primary"),
        ("Cost", costs, "${:,.2f}".format, True, "$text-warning"),
        ("Duration", [each.duration for each in facts], time_text, True, "$text-secondary"),
        ("Completion score", [each.score for each in facts], "{:g}".format, False, "$text-success"),
    ):
        known = [value for value in values if value is not None]
        figures = "not measured"
        if known:
            figures = f"last {text(known[-1])} · max {text(max(known))}{f' · sum {text(sum(known))}' if total else ''}"
        parts.append(Content.assemble((f"{title}  ", "bold"), (figures, MUTED)))
        if known:
            parts.append(bars(values, width, max(2, min(6, height // 4 - 2)), style))
        parts.append(Content(""))
    first, last = facts[0].number, facts[-1].number
    parts.append(Content.styled(f"iterations {first} to {last}, the oldest on the left", MUTED))
    return Content("\n").join(parts)
