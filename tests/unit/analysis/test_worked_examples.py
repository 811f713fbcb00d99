"""The source documents' worked examples, as they were decided."""

import pytest

from ralph.analysis import Analysis, analyze_text, extract_work_summary


def _row(analysis: Analysis) -> tuple[int, int, int]:
    metrics = analysis.metrics
    return metrics.completion_score, metrics.confidence, metrics.error_count


# covers: S0-104, S0-105, S0-106, S0-107
def test_a_good_reply(high: Analysis) -> None:
    assert _row(high) == (100, 90, 0)
    assert high.metrics.response_length == 300
    assert high.metrics.completion_source == "checklist"
    assert high.state == "done"
    assert high.warnings == ()


# covers: S0-108, S0-109, S0-110, S0-111
def test_a_middling_reply(medium: Analysis) -> None:
    assert _row(medium) == (50, 50, 2)
    assert medium.metrics.response_length == 321
    assert medium.state == "progress"
    assert not medium.completion.detected


# covers: S0-112, S0-113, S0-114, S0-115
def test_a_poor_reply(low: Analysis) -> None:
    assert _row(low) == (0, 20, 1)
    assert low.metrics.response_length == 122
    assert low.state == "unknown"


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("Progress is 75% complete on the feature...", 75),  # covers: S0-31, S0-35
        ("The implementation is complete and ready for testing...", 100),  # covers: S0-36, S0-37, S0-38
        ("- [x] one\n- [x] two\n- [ ] three\n- [ ] four\n", 50),  # covers: S0-28
        ("- [x] one\n* [X] two\n  1. [ ] three\n", 66),
        ("Nothing here says anything of that.", 50),
    ],
)
def test_completion_score(text: str, score: int) -> None:
    assert analyze_text(text).metrics.completion_score == score


# covers: S0-24
@pytest.mark.parametrize("text", ["", "I looked at the parser.", "The error is in the lexer."])
def test_without_a_plan_and_a_word_of_completion_the_score_is_fifty(text: str) -> None:
    metrics = analyze_text(text, plan=None).metrics
    assert (metrics.completion_score, metrics.completion_source) == (50, "default")
    with_plan = analyze_text(text, plan="- [ ] a\n").metrics
    assert (with_plan.completion_score, with_plan.completion_source) == (0, "plan")


# covers: S0-27, S0-30, S0-62, S0-116
@pytest.mark.parametrize(
    ("plan", "score"), [("- [x] a\n- [x] b\n- [ ] c\n- [ ] d\n", 50), ("No boxes here.", 0), (None, 100)]
)
def test_a_plan_goes_before_words(plan: str | None, score: int) -> None:
    assert analyze_text("It is done.", plan=plan).metrics.completion_score == score


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("I am confident this will work", 90),  # covers: S0-39, S0-44
        ("This will probably work", 60),  # covers: S0-40, S0-45
        ("I'm not sure about this", 20),  # covers: S0-41, S0-42, S0-46
        ("This might work", 40),  # covers: S0-47, S0-49
        ("I think this is right", 40),  # covers: S0-50
        ("Approximately 100", 40),  # covers: S0-43, S0-51
        ("This will definitely work", 60),  # covers: S0-52, S0-54
        ("Certainly the right approach", 90),  # covers: S0-55
    ],
)
def test_certainty(text: str, score: int) -> None:
    assert analyze_text(text).metrics.confidence == score


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("There was an error in the code", 1),  # covers: S0-56, S0-59
        ("Failed to connect, exception occurred", 2),  # covers: S0-60
        ("Problem with the bug fix", 2),  # covers: S0-61
    ],
)
def test_errors(text: str, count: int) -> None:
    assert analyze_text(text).metrics.error_count == count


# covers: S1-56, S1-57
def test_an_aside_does_not_complete() -> None:
    analysis = analyze_text("Great, that's done! Now the parser is next, and I have finished reading it.")
    assert not analysis.completion.detected


# covers: S1-58, S1-59
def test_partial_completion_is_none() -> None:
    analysis = analyze_text("Tests done but build failing")
    assert not analysis.completion.detected
    assert analysis.completion.keywords == ()
    assert analysis.state != "done"


# covers: S1-63, S1-64, S1-65
@pytest.mark.parametrize(
    "text",
    [
        "I modified 3 files. 12 tests passing. Fixed 2 errors on the way.",
        "Changed `a.py`, updated `b/c.py` and created `d.ts`.\nTests: 12 passed, 12 total\n2 errors were fixed.",
    ],
)
def test_work_summary(text: str) -> None:
    assert extract_work_summary(text) == "Modified 3 files, 12 tests passing, 2 errors fixed"


@pytest.mark.parametrize(
    ("text", "points", "indicators"),
    [
        # covers: S4-18, S4-19, S4-20, S4-21
        ("工作完成。沒有更多工作。準備就緒。", 35, ("完成", "沒有更多工作", "準備就緒")),
        ("工作完成。沒有更多工作。", 25, ("完成", "沒有更多工作")),  # covers: S4-22
        ("工作完成。準備就緒。", 20, ("完成", "準備就緒")),  # covers: S4-23
        ("完成。全部完成。已完成。", 10, ("完成",)),  # covers: S4-57
        ("尚未完成。", 0, ()),
        ("完成度很高，還沒完成。", 0, ()),
        ("全部完成，准备就绪，没有更多工作。", 35, ("完成", "準備就緒", "沒有更多工作")),
        ("The work is not done; branch is up to date.", 0, ()),
    ],
)
def test_points(text: str, points: int, indicators: tuple[str, ...]) -> None:
    analysis = analyze_text(text)
    assert (analysis.points, analysis.indicators) == (points, indicators)


# covers: S4-10, S4-28
def test_the_status_block_stands_above_the_words() -> None:
    block = "---RALPH_STATUS---\nEXIT_SIGNAL: true\nREASON: 已完成所有工作，無待辦項目\n---END_RALPH_STATUS---\n"
    analysis = analyze_text(f"I am not done.\n\n{block}")
    assert analysis.state == "done"
    assert analysis.points == 0, "the block's own text is no prose"
    weightiest = max(analysis.evidence, key=lambda piece: piece.weight)
    assert weightiest.signal == "exit_signal"
    assert "EXIT_SIGNAL" in weightiest.text
