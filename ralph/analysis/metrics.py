"""The numbers of a reply, the Ralph Runtime guide's and Nity Loop's weighted sum, and its errors made comparable.

The completion score comes from the first of these sources that exists: the plan, the reply's own checklist, a
percentage, a completion keyword, and else a neutral 50.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from pydantic import JsonValue

from ralph.analysis.result import CONFIDENCE_WEIGHTS, CompletionSignal, Level, Metrics, Reply, Signal, Signals, Source
from ralph.analysis.text import PrefilteredPattern, Reading
from ralph.status import Status, StatusReport
from ralph.system.text import pattern, storable
from ralph.types.output import Failed

_COUNTERS = (
    *("FILES_MODIFIED", "FILES_CHANGED", "FILES_CREATED", "FILES_EDITED", "COMMITS", "COMMITS_MADE"),
    *("TASKS_COMPLETED_THIS_LOOP", "TASKS_COMPLETED_THIS_ITERATION", "TASKS_DONE_THIS_LOOP"),
)
"""Counters of one iteration; "TASKS_COMPLETED" by itself counts the whole run."""
_COUNT = pattern(r"\s{0,9}(\d{1,9})")


def reports_change(status: Status) -> bool | None:
    """Return whether the status block counts anything changed or completed; None if it has no such counter.

    This is weak evidence, for unknown workspaces: the agent may count what it likes.
    """
    if not isinstance(status, StatusReport):
        return None
    counts = [_count(status.fields[name]) for name in _COUNTERS if name in status.fields]
    known = [count for count in counts if count is not None]
    return any(known) if known else None


def _count(value: JsonValue) -> int | None:
    if isinstance(value, list | dict):
        return len(value)
    if isinstance(value, int | float):
        return int(value > 0)
    match = _COUNT.match(value) if isinstance(value, str) else None
    if match:
        return int(match[1])
    return 0 if isinstance(value, str) and value.strip().lower() in {"none", "nothing", "无", "無"} else None


NEUTRAL = 50
DISAGREE = 20
"""Points by which two sources may differ without a warning."""


class CompletionScore(NamedTuple):
    """The completion score and its source."""

    score: int
    source: Source
    warnings: tuple[str, ...] = ()


_COUNTED: tuple[tuple[Source, str], ...] = (
    ("plan", "plan_boxes"),
    ("checklist", "reply_boxes"),
    ("percentage", "percentage"),
)
"""The sources of a percentage in order, each with the kind of signal that has it as its amount."""
_FINISHED = frozenset({"completion_keyword", "completion_claim", "success_word"})
"""Kinds of signals that say that all of it is done."""
_TOLD = _FINISHED | {"lost"} | {kind for _, kind in _COUNTED}
"""Kinds that say how much is done."""
_UNKNOWN = CompletionScore(NEUTRAL, "default")


def completion_score(signals: Signals) -> CompletionScore:
    """Return the completion score of a reply, with warnings if its sources disagree."""
    if not signals.has(_TOLD):
        return _UNKNOWN
    found: dict[Source, int] = {}
    for source, kind in _COUNTED:
        if signal := signals.first(kind):
            found[source] = signal.amount
    if signals.has(_FINISHED):
        found["keyword"] = 100
    elif signals.first("lost"):
        found["keyword"] = 0
    source, score = next(iter(found.items()))
    return CompletionScore(score, source, _disagreements(source, score, found) if len(found) > 1 else ())


def _disagreements(source: Source, score: int, found: dict[Source, int]) -> tuple[str, ...]:
    return tuple(
        f"The {source} says {score} %, the {other} {said} %."
        for other, said in found.items()
        if abs(said - score) > DISAGREE
    )


STAGNATION = 3
"""Percent of progress below which a loop stagnates."""
CATASTROPHIC_ERRORS = 5

_LADDER: dict[Level, tuple[int, int, int]] = {
    "minimum": (0, -1, CATASTROPHIC_ERRORS),
    "good": (STAGNATION, 50, 3),
    "excellent": (10, 80, 1),
}
"""The guide's ladder: progress and certainty are above the first two numbers of a step, errors below the last."""

_SPECIFIC = pattern(
    r"[.`0-9(](?:(?<=[\w-]\.)[a-z]{1,5}\b(?:\.[\w-]+)?|(?<=`)[^`\n]{1,80}`|(?<=\b[0-9])\d{0,8}\b|(?<=\w\()\))"
)
"""The end of a file's name, code, a number, a call. It begins with one of a set of characters, to which `re` skips."""


def expectation_level(
    confidence: int, errors: int, *, length: int, progress: int | None = None, fatal: bool = False
) -> Level:
    """Return the step of the guide's ladder that a reply reaches.

    Args:
        confidence: the agent's own, 0–100.
        errors: distinct patterns.
        length: characters, after trimming.
        progress: in percent; ignored if unknown, as in a first iteration.
        fatal: an error was found that ends the work.
    """
    reached: Level = "below_minimum"
    for level in _LADDER if length and not fatal else ():
        if _lacking(level, confidence, errors, progress):
            break
        reached = level
    return reached


def _lacking(level: Level, confidence: int, errors: int, progress: int | None) -> list[str]:
    """Return in words what a step of the ladder needs and a reply lacks, with what it has."""
    least, sure, below = _LADDER[level]
    return [
        *([f"progress above {least} % ({progress} %)"] if progress is not None and progress <= least else []),
        *([f"certainty above {sure} ({confidence})"] if confidence <= sure else []),
        *([f"at most {below - 1} kinds of error ({errors})"] if errors >= below else []),
    ]


def ladder_text(metrics: Metrics) -> str:
    """Return the step of the guide's ladder that a reply reached, and in words what the next step needs."""
    steps: list[Level] = ["below_minimum", *_LADDER]
    reached = metrics.level.replace("_", " ")
    if metrics.level == steps[-1]:
        return reached
    wanted = steps[steps.index(metrics.level) + 1]
    needs = _lacking(wanted, metrics.confidence, metrics.error_count, metrics.progress)
    other = "no error that ends the work" if metrics.response_length else "a reply"
    return f"{reached}; {wanted} needs {' and '.join(needs) or other}"


def output_quality(text: str) -> float:
    """Return the quality of an output, 0–100: its length and its specificity.

    500 characters are worth half of it, and five names of files, numbers or pieces of code the other half.
    """
    length = min(1.0, len(text.strip()) / 500)
    specific = len(list(islice(_SPECIFIC.finditer(text[:20_000]), 5)))
    return 50 * length + 10 * specific


def quality_score(completion: int, confidence: int, errors: int, output: float) -> int:
    """Return the quality of all metrics together: high from 70, low below 40.

    It is 40 % completion, 30 % the agent's certainty, 20 % freedom from errors (each distinct pattern costs a fifth of
    that), and 10 % the quality of the output.
    """
    clean = max(0, 100 - 20 * errors)
    whole = 0.4 * completion + 0.3 * confidence + 0.2 * clean + 0.1 * output
    return min(100, max(0, round(whole)))


def expectation_messages(metrics: Metrics, *, threshold: float = STAGNATION) -> tuple[str, ...]:
    """Return the guide's messages for a reply, one by one."""
    messages: list[str] = []
    if metrics.progress is not None and metrics.progress <= 0:
        messages.append("⚠️  Warning: No progress detected")
    elif metrics.progress is not None and metrics.progress < threshold:
        messages.append("⚠️  Warning: Progress below stagnation threshold")
    if metrics.completion_score == 100:
        messages.append("✅ Completion detected")
    return tuple(messages)


def compute_metrics(reply: Reply, work: CompletionScore, quality: float, *, reported: bool) -> Metrics:
    """Compute the guide's four numbers, the progress, the quality and the step of the ladder.

    Args:
        reply: with all signals.
        work: the completion score.
        quality: of the output, 0–100.
        reported: the reply reports completion.
    """
    signals = reply.signals
    errors, fatal = signals.of("error"), signals.of("fatal_error")
    sure, distinct = agent_confidence(signals, reported=reported), _distinct(errors, fatal)
    length = len(reply.output.text.strip())
    before = reply.context.past[-1].completion_score if reply.context.past else None
    progress = None if before is None else work.score - before
    return Metrics(
        completion_score=work.score,
        completion_source=work.source,
        confidence=sure,
        error_count=distinct,
        error_occurrences=len(errors) + len(fatal),
        response_length=length,
        progress=progress,
        quality_score=quality_score(work.score, sure, distinct, quality),
        level=expectation_level(sure, distinct, length=length, progress=progress, fatal=bool(fatal)),
    )


SURE, LIKELY, UNSURE = 90, 60, 20
"""Levels of the agent's certainty."""
CERTAINTY_STEP = 10
"""The change by each further word."""


def agent_confidence(signals: Signals, *, reported: bool = False) -> int:
    """Return the agent's own certainty, 0–100.

    It starts at the level of the cue, or 50, and changes by 10 for each certain or hedging word. Hedges do not lower a
    level that is low already. A report of completion without a hedge is a cue of its own.
    """
    cue, hedges = signals.first("certainty_cue"), signals.of("hedge")
    start = cue.amount if cue else SURE if reported and not hedges else NEUTRAL
    score = start + CERTAINTY_STEP * len(signals.of("certainty"))
    if not cue or start != UNSURE:
        score -= CERTAINTY_STEP * len(hedges)
    return min(100, max(0, score))


def confidence_parts(reply: Reply, completion: CompletionSignal, quality: float) -> dict[str, float]:
    """Return the parts of the overall confidence, each 0–100, by the names in `CONFIDENCE_WEIGHTS`.

    Args:
        reply: with all signals.
        completion: of the reply.
        quality: of the output, 0–100.
    """
    return {
        "keywords": completion.confidence,
        "tests": 100.0 if _tests_pass(reply.signals) else 0.0,
        "quality": quality,
        "no_errors": _freedom_from_errors(reply),
    }


def overall_confidence(parts: Mapping[str, float]) -> float:
    """Return the weighted sum of the parts, 0–100."""
    whole = 0.0
    for name, value in parts.items():  # `sum` is more exact from Python 3.12 on: the number would depend on the version
        whole += CONFIDENCE_WEIGHTS[name] * value
    return round(whole, 1)


def _freedom_from_errors(reply: Reply) -> float:
    text, signals = reply.reading.text, reply.signals
    if not text or text.isspace():
        return 0.0
    return max(0.0, 100.0 - 25 * _distinct(signals.of("error"), signals.of("fatal_error")))


def _distinct(errors: Sequence[Signal], fatal: Sequence[Signal]) -> int:
    """Return the number of distinct error patterns, of seven; a fatal error alone is one."""
    return len({signal.name for signal in errors}) if errors else min(len(fatal), 1)


def _tests_pass(signals: Signals) -> bool:
    """Return whether tests pass, by a run that is shown or in the agent's words."""
    if run := signals.first("test_run"):
        return run.weight > 0
    return any("test" in signal.name or "測試" in signal.name for signal in signals.of("completion_keyword"))


SIGNATURES = 20
_LENGTH = 120
_STRONG_LINES = 60
_LINE = 300

_NAMES = ("error", "exception", "panic", "fatal")
_SAID = (
    *("traceback (most recent call last)", "command not found", "segmentation fault", "permission denied"),
    "no such file or directory",
)
_STRONG = PrefilteredPattern(
    (*(f"{name}{end}" for name in _NAMES for end in (": ", "[")), *_SAID, "exit code ", "exit status "),
    rf"""(?:{"|".join(_NAMES)})(?:\[\w{{1,12}}\])?:[ ]
        |exit[ ](?:code|status)[ ][1-9]
        |{"|".join(map(re.escape, _SAID))}""",
    needed=("error", "exception", "panic", "fatal", "exit ", "traceback", "not found", "fault", "denied", "no such"),
)
# Words before an error that are no part of it: "The build still fails: ", "I get the same again: ". All of them are
# listed: any other word, such as a test's name or a target's, tells one error from another.
_CLOSING = (
    r"(?:again|still|now|more|time|same|before|with|get|got|see|saw|fails?|failed|failing|breaks|stops|ends|says|said"
    r"|complains|reports|prints|shows|throws|raises|returns|answers|vez|nuevo|falla|fallando|con|wieder|erneut|immer|fehl"
    r"|mit|an|meldet)"
)
_LEAD_IN = pattern(
    rf"\A(?:(?:{_CLOSING}|once|yet|another|as|here|and|but|from|for|i|it|we|you|this|that|the|a|is|was|am|running|ran"
    r"|tried|keeps?|build|deploy|deployment|compiler|command|write|run|tests?|otra|de|sigue|el|la|mismo|compilación"
    rf"|noch|der|die|das|schlägt|scheitert)[ ,]{{1,2}}){{0,12}}{_CLOSING}:[ ](?!exit\b)[`(]?(?=\S)"
    r"|\A(?:又|再次|仍然|还是|還是|依然|同样的|同樣的|报错|報錯|失败|失敗|出错|出錯|构建|構建|编译|編譯){1,6}[:：] ?"
)
_DROPPED = (
    (pattern(r"0x[0-9a-f]+|\b[0-9a-f]{7,64}\b"), " "),
    (
        pattern(r"(?<![\w.~@+-])(?:[a-z]:)?(?:[\w.~@+-]{0,80}[/\\]){1,40}[\w.~@+-]{0,80}(?![\w.~@+/\\-]{0,200}::)"),
        "path",
    ),
    (pattern(r"\d+(?:[.:,]\d+)*"), " "),
    (pattern(r"[\"'`“”‘’]"), ""),
    (pattern(r"\s+"), " "),
)


def error_signatures(reading: Reading, errors: Iterable[str] = (), failure: Failed | None = None) -> tuple[str, ...]:
    """Return the distinct signatures of all errors, at most twenty.

    These are error lines of the reply (those in fences too), errors from outside it, and the executor's failure.
    """
    found = [error_signature(error) for error in errors]
    if failure is not None:
        found.append(failure_signature(failure))
    found += [error_signature(line) for line in islice(_strong_lines(reading), _STRONG_LINES)]
    return tuple(dict.fromkeys(signature for signature in found if signature))[:SIGNATURES]


def failure_signature(failure: Failed) -> str:
    """Return the signature of an executor's failure, such as "failed:unavailable:503"."""
    return f"failed:{failure.failure}" + (f":{failure.status}" if failure.status is not None else "")


def error_signature(error: str, *, spoken: bool = True) -> str:
    """Return an error without what differs from one time to the next.

    That is paths, numbers, hexadecimal, quotes and case, and its lead-in if an agent may have spoken it.
    """
    text = storable(error[: 4 * _LENGTH]).lower()
    text = _LEAD_IN.sub("", text.lstrip(), count=1) if spoken else text
    for dropped, instead in _DROPPED:
        text = dropped.sub(instead, text)
    return text.strip(" .:,;-")[:_LENGTH]


def _strong_lines(reading: Reading) -> Iterator[str]:
    after = 0
    for match in _STRONG.finditer(reading.lower):
        if match.start() < after:
            continue
        begin = max(reading.lower.rfind("\n", max(0, match.start() - _LINE), match.start()) + 1, match.start() - _LINE)
        end = reading.lower.find("\n", match.end(), match.end() + _LINE)
        after = end if end >= 0 else match.end() + _LINE
        yield reading.text[begin:after]
