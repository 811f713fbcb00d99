"""go-ralph's rules, one by one: what completes a loop, its status block and its breaker; with what was decided."""

from datetime import UTC, datetime

import pytest

from ralph.analysis import Keyword, ResponseAnalyzer, analyze_text
from ralph.cli.reply import Question, judge
from ralph.decision.breaker import BreakerState, CircuitBreaker, Observation
from ralph.decision.claims import STRATEGIES, Case, claimed, strategy_named
from ralph.pipeline.evaluate import Rules
from ralph.status import StatusMalformed, StatusMissing, StatusReport, parse_status
from ralph.types.output import Output

AT = datetime(2026, 1, 1, tzinfo=UTC)
BLOCK = "---RALPH_STATUS---\nEXIT_SIGNAL: {}\nREASON: 已完成所有工作，無待辦項目\n---END_RALPH_STATUS---"
TIERS = {"done": "工作已完成。", "no more": "沒有更多工作。", "ready": "準備就緒。"}
FAILURE, SUCCESS = Observation(progressed=False), Observation(progressed=True)


def completed(text: str, strategy: str) -> bool:
    return judge(Question(text=text), Rules(strategy=strategy_named(strategy))).as_json()["exit_reason"] == "completion"


# covers: S4-8..S4-13, S4-15..S4-17, S4-36, S4-39, S4-42, K4-3, K4-10
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (BLOCK.format("true"), True),
        (f"Nothing is done.\n\n{BLOCK.format('true')}", True),
        ("".join(TIERS.values()), True),
        (f"{''.join(TIERS.values())}\n\n{BLOCK.format('false')}", False),
        ("I looked at the parser.", False),
        ("", False),
    ],
)
def test_the_signal_alone_or_the_words_as_a_stand_in(text: str, expected: bool) -> None:
    assert completed(text, "natural_language") is expected


# covers: S4-14, S4-18..S4-23, S4-37, S4-57, K4-3, K4-4
@pytest.mark.parametrize(
    ("tiers", "points", "complete"),
    [
        (["done"], 10, False),
        (["no more"], 15, False),
        (["ready"], 10, False),
        (["done", "no more"], 25, False),
        (["done", "ready"], 20, False),
        (["no more", "ready"], 25, False),
        (["done", "no more", "ready"], 35, True),
        (["done", "done", "done", "no more", "no more"], 25, False),
    ],
)
def test_points_of_every_combination_of_tiers(tiers: list[str], points: int, complete: bool) -> None:
    text = "".join(TIERS[tier] for tier in tiers)
    analysis = analyze_text(text)
    assert (analysis.points, len(analysis.indicators)) == (points, len(set(tiers)))
    assert completed(text, "natural_language") is complete
    assert not completed(text, "exit_signal")


# covers: K4-3
def test_a_short_reply_earns_nothing_for_being_short() -> None:
    assert analyze_text("Ready for review.").points == 10
    assert not completed("The work is not done; the branch is up to date.", "natural_language")


# covers: K4-10, K4-5, S4-37
def test_the_blocks_own_text_scores_nothing_and_nothing_adds_up_over_calls() -> None:
    text = "---RALPH_STATUS---\nSTATUS: X\nREASON: 完成。沒有更多工作。準備就緒。\n---END_RALPH_STATUS---"
    assert analyze_text(text).points == 0
    analyzer = ResponseAnalyzer()
    assert {analyze_text(TIERS["done"], analyzer=analyzer).points for _ in range(3)} == {10}


NEGATED = [
    *(
        "未完成。",
        "尚未完成。",
        "沒有完成。",
        "还没完成。",
        "還沒有完成。",
        "並未完成。",
        "不完成也可以。",
        "無法完成。",
    ),
    *(
        "完成度很高。",
        "完成後再說。",
        "尚未準備就緒。",
        "还没准备就绪。",
        "Not done.",
        "Isn't finished.",
        "Incomplete.",
    ),
]


# covers: K4-9
@pytest.mark.parametrize("negation", ["未", "尚未", "沒有", "没有", "還沒", "还没", "不"])
def test_a_negating_prefix_takes_the_points_of_a_word_away(negation: str) -> None:
    assert (analyze_text("完成。").points, analyze_text(f"{negation}完成。").points) == (10, 0)
    assert not analyze_text(f"{negation}完成。").completion.keywords
    assert not completed(f"{negation}完成。沒有更多工作。準備就緒。", "natural_language")
    assert completed("完成。沒有更多工作。準備就緒。", "natural_language")


# covers: S4-58, KX-8
def test_a_negated_word_scores_nothing(subtests: pytest.Subtests) -> None:
    for text in NEGATED:
        with subtests.test(text=text):
            assert analyze_text(text).points == 0


# covers: S4-58, K4-9, KX-8
@pytest.mark.parametrize(
    "text", ["完成。", "DONE.", "Done.", "done.", "已完成。", "任务完成了。", "Ready For Review.", "准备就绪。"]
)
def test_words_count_in_any_case_and_both_languages(text: str) -> None:
    assert analyze_text(text).points == 10


# covers: S4-55, S4-56, S4-57
def test_a_new_group_of_keywords_is_ten_points_and_one_indicator() -> None:
    analyzer = ResponseAnalyzer(
        keywords=[
            Keyword(text="新指標一", language="zh", group="new"),
            Keyword(text="新指標二", language="zh", group="new"),
        ]
    )
    analysis = analyze_text("新指標二。新指標一。", analyzer=analyzer)
    assert (analysis.points, analysis.indicators) == (10, ("新指標二",))


# covers: S4-24..S4-31, K4-6
@pytest.mark.parametrize("opening", ["RALPH_STATUS", "COPILOT_STATUS"])
@pytest.mark.parametrize("closing", ["END_RALPH_STATUS", "END_COPILOT_STATUS", "END_STATUS"])
def test_the_block_and_its_fields(opening: str, closing: str) -> None:
    block = BLOCK.format("true").replace("END_RALPH_STATUS", closing).replace("---RALPH", "---RALPH")
    found = parse_status(block.replace("---RALPH_STATUS---", f"---{opening}---"))
    assert isinstance(found, StatusReport)
    assert (found.exit_signal, found.reason, found.status) == (True, "已完成所有工作，無待辦項目", "")
    more = parse_status(f"---{opening}---\nSTATUS: IN_PROGRESS\nTASKS_DONE: 3/7\nEXIT_SIGNAL: false\n---{closing}---")
    assert isinstance(more, StatusReport)
    assert (more.exit_signal, more.status, more.fields) == (False, "IN_PROGRESS", {"TASKS_DONE": "3/7"})
    assert more.raw.startswith(f"---{opening}---")


# covers: K4-11, S4-13
@pytest.mark.parametrize(
    ("text", "signal"),
    [
        (f"{BLOCK.format('true')}\n\nAnd then:\n\n{BLOCK.format('false')}", False),
        (f"{BLOCK.format('false')}\n\nAnd then:\n\n{BLOCK.format('true')}", True),
        (f"```\n{BLOCK.format('true')}\n```\n\nMore words.", True),
        (f"```\nan example:\n{BLOCK.format('true')}\n```", None),
        ("> " + BLOCK.format("true").replace("\n", "\n> "), None),
        ("No block.", None),
    ],
)
def test_the_last_block_that_counts_wins(text: str, signal: bool | None) -> None:
    found = parse_status(text)
    assert (found.exit_signal if isinstance(found, StatusReport) else None) is signal
    if signal is None:
        assert isinstance(found, StatusMissing)


# covers: K4-11
def test_an_unclosed_block_and_a_copy_of_the_prompts_example_say_nothing() -> None:
    assert isinstance(parse_status(BLOCK.format("true").removesuffix("---END_RALPH_STATUS---")), StatusMalformed)
    assert isinstance(parse_status(BLOCK.format("true"), example=BLOCK.format("true")), StatusMissing)


# covers: S4-46..S4-54, K4-1, K4-7
def test_the_walk_through_the_breakers_states() -> None:
    breaker, state = CircuitBreaker(), BreakerState()
    walked = [state.state]
    for seen in (FAILURE, FAILURE, FAILURE, SUCCESS):
        state = breaker.record(state, seen, AT)
        walked.append(state.state)
    assert walked == ["closed", "closed", "closed", "open", "open"], "nothing runs while it is open"
    probing = breaker.reset(state)
    assert probing.state == "half_open"
    assert breaker.record(probing, SUCCESS, AT).state == "closed"
    assert breaker.record(probing, FAILURE, AT).state == "open"
    recovered = breaker.record(probing, SUCCESS, AT)
    assert (recovered.no_progress, recovered.probes, recovered.reason) == (0, 0, "")


# covers: K4-1, K4-2, KX-4
def test_the_same_error_has_a_threshold_of_its_own() -> None:
    breaker, state = CircuitBreaker(), BreakerState()
    for number in range(1, 6):
        state = breaker.record(state, Observation(progressed=True, errors=("e: at path",)), AT)
        assert state.state == ("open" if number == 5 else "closed")


# covers: K4-5
def test_each_strategy_reads_the_same_case_and_changes_nothing() -> None:
    analysis = analyze_text(BLOCK.format("true"))
    case = Case(output=Output(text=BLOCK.format("true")), analysis=analysis)
    first = {name: claimed(strategy, case) for name, strategy in STRATEGIES.items()}
    assert {name: claimed(strategy, case) for name, strategy in STRATEGIES.items()} == first
    assert {name for name, claim in first.items() if claim} == {"auto", "exit_signal", "natural_language"}


# covers: KX-5
@pytest.mark.parametrize(
    "text", ["", "Done and finished. " * 500, "Maybe. " * 50 + "error " * 50, "完成沒有更多工作準備就緒" * 99]
)
def test_every_scale_is_capped(text: str) -> None:
    analysis = analyze_text(text, previous=[text] * 4, errors=["a: b"] * 50)
    shares = (analysis.confidence, analysis.completion.confidence, analysis.stuck.confidence)
    scores = (analysis.metrics.completion_score, analysis.metrics.confidence, analysis.metrics.quality_score)
    assert all(0 <= value <= 100 for value in (*shares, *scores))
    assert 0 <= analysis.points <= 35
    assert 0 <= analysis.metrics.error_count <= 7
