"""The numbers of a reply, and the counters of its status block."""

from typing import Any

import pytest

from ralph.analysis import AnalysisContext, Metrics, Past, ResponseAnalyzer, analyze_text, expectation_messages
from ralph.analysis.metrics import expectation_level, quality_score, reports_change
from ralph.status import StatusMalformed, StatusMissing, StatusReport, parse_status
from ralph.types.output import Output
from ralph.types.plan import parse_plan

SOURCES = [
    ("Progress: 5%.", 5, "percentage"),
    ("Progress: 08%.", 8, "percentage"),
    ("Progress: 100%.", 100, "percentage"),
    ("Progress: 99.9% of the work.", 99, "percentage"),
    ("Progress: 150%.", 50, "default"),
    ("Progress was 20% at first. Now 60% of the work is through.", 60, "percentage"),
    ("Coverage is at 100%.", 50, "default"),
    ("The progress bar is 50% faster.", 50, "default"),
    ("CPU at 90% while done loading.", 50, "default"),
    ("No number.", 50, "default"),
    ("完成度 80%。", 80, "percentage"),
    ("The run was a success.", 100, "keyword"),
    ("It was not a success.", 50, "default"),
    ("I don't know what to do.", 0, "keyword"),
    ("- [link](x)\n- [2026-01-01] entry\n", 50, "default"),
    ("```\n- [x] in a fence\n```\n", 50, "default"),
    ("- [x] a\n\n## Optional\n- [ ] b\n", 100, "checklist"),
]


# covers: S0-32, S0-33, S0-34
def test_sources(subtests: pytest.Subtests) -> None:
    for text, score, source in SOURCES:
        with subtests.test(text=text):
            metrics = analyze_text(text).metrics
            assert (metrics.completion_score, metrics.completion_source) == (score, source)


# covers: S0-26, S0-62
def test_sources_that_disagree_are_told() -> None:
    analysis = analyze_text("Progress is 90% of the work.", plan="- [x] a\n- [ ] b\n- [ ] c\n")
    assert analysis.metrics.completion_score == 33
    assert analysis.warnings == ("The plan says 33 %, the percentage 90 %.",)


# covers: S0-8, S0-15
def test_progress_is_the_difference_to_the_iteration_before() -> None:
    analyzer = ResponseAnalyzer()
    context = AnalysisContext(plan=parse_plan("- [x] a\n- [ ] b\n"), past=(Past(completion_score=20),))
    assert analyzer.analyze(Output(text="Hm."), StatusMissing(), context).metrics.progress == 30
    assert analyze_text("Hm.").metrics.progress is None


# covers: S0-75, S0-76, S0-78, S0-79, S0-80, S0-81, S0-82, S0-83
@pytest.mark.parametrize(
    ("progress", "confidence", "errors", "length", "step"),
    [
        (11, 81, 0, 9, "excellent"),
        (None, 81, 0, 9, "excellent"),
        (10, 81, 0, 9, "good"),
        (11, 80, 0, 9, "good"),
        (11, 81, 1, 9, "good"),
        (4, 51, 2, 9, "good"),
        (3, 51, 2, 9, "minimum"),
        (4, 50, 2, 9, "minimum"),
        (4, 51, 3, 9, "minimum"),
        (0, 90, 0, 9, "below_minimum"),
        (20, 90, 5, 9, "below_minimum"),
        (20, 90, 0, 0, "below_minimum"),
    ],
)
def test_ladder(progress: int | None, confidence: int, errors: int, length: int, step: str) -> None:
    assert expectation_level(confidence, errors, length=length, progress=progress) == step


# covers: S0-84, S0-88, S0-89, S0-90, S0-91
@pytest.mark.parametrize(
    ("progress", "score", "messages"),
    [
        (-5, 50, ["⚠️  Warning: No progress detected"]),
        (0, 100, ["⚠️  Warning: No progress detected", "✅ Completion detected"]),
        (2, 50, ["⚠️  Warning: Progress below stagnation threshold"]),
        (3, 50, []),
        (None, 100, ["✅ Completion detected"]),
    ],
)
def test_messages(progress: int | None, score: int, messages: list[str]) -> None:
    assert list(expectation_messages(Metrics(progress=progress, completion_score=score))) == messages


# covers: S0-72, S0-73, S0-74, S0-120
def test_quality() -> None:
    assert quality_score(completion=85, confidence=90, errors=0, output=100) >= 70
    assert quality_score(completion=20, confidence=30, errors=5, output=20) < 40


# covers: S0-23, S0-76
def test_length_is_in_characters() -> None:
    assert analyze_text("完成").metrics.response_length == 2
    assert analyze_text(" \n").metrics.response_length == 0


COUNTERS: list[tuple[dict[str, Any], bool | None]] = [
    ({"FILES_MODIFIED": "3"}, True),
    ({"FILES_MODIFIED": "0", "TASKS_COMPLETED_THIS_LOOP": "1"}, True),
    ({"FILES_MODIFIED": "2 (lexer.py, parser.py)"}, True),
    ({"FILES_MODIFIED": 2}, True),
    ({"FILES_MODIFIED": ["lexer.py"]}, True),
    ({"FILES_MODIFIED": "0", "TASKS_COMPLETED_THIS_LOOP": "0"}, False),
    ({"FILES_MODIFIED": "none"}, False),
    ({"FILES_MODIFIED": []}, False),
    ({"FILES_MODIFIED": 0}, False),
    ({"FILES_MODIFIED": "0 files"}, False),
    ({"FILES_MODIFIED": "several"}, None),
    ({"FILES_MODIFIED": ""}, None),
    ({"TASKS_COMPLETED": "7"}, None),
    ({"WORK_TYPE": "TESTING"}, None),
    ({}, None),
]


def test_what_the_counters_of_a_status_block_say(subtests: pytest.Subtests) -> None:
    for fields, expected in COUNTERS:
        with subtests.test(fields=fields):
            assert reports_change(StatusReport(fields=fields)) is expected


@pytest.mark.parametrize("status", [StatusMissing(), StatusMalformed(problem="it never ends")])
def test_without_a_block_nothing_is_counted(status: StatusMissing | StatusMalformed) -> None:
    assert reports_change(status) is None


def test_the_counters_of_a_block_reach_the_analysis() -> None:
    text = "---RALPH_STATUS---\nSTATUS: IN_PROGRESS\nFILES_MODIFIED: 0\nEXIT_SIGNAL: false\n---END_RALPH_STATUS---"
    assert reports_change(parse_status(text)) is False
    assert analyze_text(text).reports_change is False
    assert analyze_text("Edited 3 files.").reports_change is None
