"""The Ralph Runtime guide, rule by rule, with what was decided where its text and its code disagree."""

import inspect
import json

import pytest

from ralph.analysis import (
    Analysis,
    AnalysisContext,
    Metrics,
    Past,
    ResponseAnalyzer,
    analyze_text,
    expectation_messages,
)
from ralph.analysis.metrics import (
    CATASTROPHIC_ERRORS,
    LIKELY,
    STAGNATION,
    SURE,
    UNSURE,
    output_quality,
    quality_score,
)
from ralph.cli.reply import Question, judge
from ralph.pipeline.evaluate import Rules
from ralph.status import StatusMissing
from ralph.types.output import Output
from ralph.types.plan import compare, parse_plan

FOUR = ("completion_score", "confidence", "error_count", "response_length")


def metrics(text: str, plan: str | None = None) -> Metrics:
    return analyze_text(text, plan=plan).metrics


def found(text: str, *signals: str) -> list[tuple[str, float]]:
    return [(piece.text.lower(), piece.weight) for piece in analyze_text(text).evidence if piece.signal in signals]


# covers: S0-3, S0-6, S0-11, S0-18..S0-22
def test_one_text_becomes_four_json_numbers(high: Analysis, medium: Analysis, low: Analysis) -> None:
    required = [
        parameter.name
        for parameter in inspect.signature(analyze_text).parameters.values()
        if parameter.default is parameter.empty
    ]
    assert required == ["text"]
    for analysis in (high, medium, low):
        told = json.loads(analysis.metrics.model_dump_json(include=set(FOUR)))
        assert set(told) == set(FOUR)
        assert all(type(value) is int for value in told.values())
        assert 0 <= told["completion_score"] <= 100
        assert 0 <= told["confidence"] <= 100


# covers: S0-5
@pytest.mark.parametrize(
    ("text", "plan", "score"),
    [
        ("Nothing.", "- [ ] a\n- [ ] b\n", 0),
        ("Nothing.", "- [x] a\n- [ ] b\n- [ ] c\n", 33),
        ("Nothing.", "- [x] a\n- [x] b\n", 100),
        ("The task is 0% complete.", None, 0),
        ("The task is 37.5% complete.", None, 37),
        ("The task is 100% complete.", None, 100),
        ("The task is 140% complete, so to say.", None, 100),
        ("I don't know what to do.", None, 0),
        ("It is done, done, and finished.", None, 100),
    ],
)
def test_the_completion_score_goes_from_nought_to_a_hundred(text: str, plan: str | None, score: int) -> None:
    assert metrics(text, plan).completion_score == score


# covers: S0-7, K0-11
@pytest.mark.parametrize(
    ("text", "distinct", "occurrences"),
    [
        ("All is well.", 0, 0),
        ("There was an error.", 1, 1),
        ("An error, an error, and one more error.", 1, 3),
        ("An error and an exception.", 2, 2),
        ("There was no error, and 0 errors were found.", 0, 0),
        ("Error, failure, exception, issue, problem.", 5, 5),
    ],
)
def test_error_detection_counts_distinct_indicators_and_their_occurrences(
    text: str, distinct: int, occurrences: int
) -> None:
    told = metrics(text)
    assert (told.error_count, told.error_occurrences) == (distinct, occurrences)


# covers: S0-9, S0-16, S0-17, S0-120, K0-10, K0-18
def test_the_worked_examples_fall_in_the_quality_bands_that_they_are_named_for(
    high: Analysis, medium: Analysis, low: Analysis
) -> None:
    scores = [analysis.metrics.quality_score for analysis in (high, medium, low)]
    assert scores[0] >= 70 > scores[1] >= 40 > scores[2]
    assert [analysis.metrics.level for analysis in (high, medium, low)] == ["excellent", "minimum", "minimum"]


# covers: S0-98, S0-103..S0-106, S0-108..S0-110, S0-112..S0-114, K0-10
@pytest.mark.parametrize(("name", "row"), [("high", (100, 90, 0)), ("medium", (50, 50, 2)), ("low", (0, 20, 1))])
def test_the_analyze_command_gives_the_worked_examples(
    examples: dict[str, str], name: str, row: tuple[int, ...]
) -> None:
    told = judge(Question(text=examples[name]), Rules()).as_json()["metrics"]
    assert tuple(told[name] for name in FOUR) == (*row, len(examples[name].strip()))


# covers: S0-12, S0-62, S0-63, S0-116, K0-3, K0-3b, K0-3c
@pytest.mark.parametrize(
    ("text", "plan", "score", "source"),
    [
        ("- [x] a\n\nProgress: 90%. The parser is complete.", "- [x] a\n- [ ] b\n- [ ] c\n", 33, "plan"),
        ("- [x] a\n- [ ] b\n\nProgress: 90%. The parser is complete.", None, 50, "checklist"),
        ("Progress: 90%. The parser is complete.", None, 90, "percentage"),
        ("The parser is complete.", None, 100, "keyword"),
        ("I looked around.", None, 50, "default"),
        ("The parser is complete.", "Nothing to tick.", 0, "plan"),
        ("Progress is 75% complete", None, 75, "percentage"),
    ],
)
def test_the_first_source_that_there_is_gives_the_completion(
    text: str, plan: str | None, score: int, source: str
) -> None:
    told = metrics(text, plan)
    assert (told.completion_score, told.completion_source) == (score, source)


# covers: K0-3
@pytest.mark.parametrize(
    ("text", "plan", "warnings"),
    [
        ("Progress: 54%.", "- [x] a\n- [x] b\n- [ ] c\n", 0),
        ("Progress: 86%.", "- [x] a\n- [x] b\n- [ ] c\n", 0),
        ("Progress: 87%.", "- [x] a\n- [x] b\n- [ ] c\n", 1),
        ("- [ ] d\n\nProgress: 10%. The parser is complete.", "- [x] a\n- [x] b\n- [ ] c\n", 3),
        ("The parser is complete.", None, 0),
    ],
)
def test_sources_that_differ_by_more_than_twenty_points_are_told(text: str, plan: str | None, warnings: int) -> None:
    said = [warning for warning in analyze_text(text, plan=plan).warnings if "says" in warning]
    assert len(said) == warnings


PERCENTAGES = [
    ("Progress: 0%", 0),
    ("Progress: 5%", 5),
    ("Progress: 08%", 8),
    ("Progress: 99.9%", 99),
    ("The work is 99,5 % complete", 99),
    ("Progress: 100%", 100),
    ("Progress: 101%", None),
    ("Progress: 150%", None),
    ("Progress: 1234%", None),
    ("Progress: v1.75%", None),
    ("About 75 percent done", 75),
    ("About 75 per cent done", 75),
    ("進度 75％", 75),
    ("進度達到百分之75", 75),
    ("Progress: none to speak of", None),
]


# covers: S0-31..S0-34, S0-65, K0-1
def test_a_percentage_is_a_whole_number_up_to_a_hundred(subtests: pytest.Subtests) -> None:
    for text, score in PERCENTAGES:
        with subtests.test(text=text):
            told = metrics(text)
            assert told.completion_source == ("default" if score is None else "percentage")
            assert told.completion_score == (50 if score is None else score)


# covers: S0-32, K0-1b
@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("All tests with 100% coverage.", None),
        ("It runs 50% faster.", None),
        ("CPU at 90%, memory at 40%.", None),
        ("I am 90% confident that this is complete.", None),
        ("The discount is 20%.", None),
        ("`Progress: 80%` is printed, and ```50% done``` too.", None),
        ("At first 20% of the work was there, then 60%, and it is 80% complete now.", 80),
        ("Progress: 40%. Test coverage: 90%.", 40),
        ("It is 50% faster now and 30% complete.", 30),
        ("The code is 80% covered, 20% done.", 20),
    ],
)
def test_of_percentages_the_last_one_of_the_work_counts(text: str, score: int | None) -> None:
    assert (metrics(text).completion_source == "percentage") is (score is not None)
    if score is not None:
        assert metrics(text).completion_score == score
        assert found(text, "percentage") == [(f"{score}%", score)]


KEYWORDS = [
    ("It is done.", 100),
    ("It is complete.", 100),
    ("It is finished.", 100),
    ("It was a success.", 100),
    ("It is incomplete.", 50),
    ("I abandoned it.", 50),
    ("It is undone and unsuccessful.", 50),
    ("It is not done.", 50),
    ("It is to be completed.", 50),
    ("Complete the remaining steps.", 50),
    ("It was successfully renamed.", 50),
    ("It is almost done.", 50),
    ("It is only partially complete.", 50),
    ("It will be complete once you run it.", 50),
    ("```\ndone\n```", 50),
    ('It printed "finished".', 50),
]


# covers: S0-36, S0-37, S0-64, K0-2, K0-4
def test_a_keyword_is_a_word_that_reports(subtests: pytest.Subtests) -> None:
    for text, score in KEYWORDS:
        with subtests.test(text=text):
            assert metrics(text).completion_score == score


CUES = [
    ("I AM SURE.", 90),
    ("I'm not sure.", 20),
    ("I'm not entirely sure.", 20),
    ("That's not a problem, I am sure.", 90),
    ("I'm certainly not sure.", 30),
    ("I'm absolutely unsure.", 30),
    ("It is likely, and I am sure.", 90),
    ("It is probably right, but I am unsure.", 20),
    ("That is unlikely.", 20),
    ("Measure it, ensure it, make sure of it, make certain of it.", 50),
    ("I'm uncertain.", 20),
    ("I'm not certain.", 20),
    ("I cannot be certain.", 20),
    ("It is unclear.", 20),
    ("I don't know.", 20),
    ("I don’t know.", 20),
    ("Are you sure?", 50),
    ("Sure, here it is.", 50),
    ("## Sure things\n\nNothing else.", 50),
    ("The log says “I am confident”.", 50),
]


# covers: S0-66
def test_the_explicit_levels_are_ninety_sixty_and_twenty() -> None:
    assert (SURE, LIKELY, UNSURE) == (90, 60, 20)
    said = ("I am confident.", "It will probably work.", "I am not sure.")
    assert [metrics(text).confidence for text in said] == [90, 60, 20]


# covers: S0-13, S0-41..S0-43, S0-117, K0-5, K0-5b
def test_the_cue_that_sets_the_certainty(subtests: pytest.Subtests) -> None:
    for text, score in CUES:
        with subtests.test(text=text):
            assert metrics(text).confidence == score


HEDGES = [
    ("It runs.", 50),
    *((f"It {word} runs, {word}.", 40) for word in ("maybe", "might", "could", "approximately", "perhaps")),
    *((f"It {word} runs, {word}.", 40) for word in ("roughly", "basically", "I think")),
    *((f"It {word} runs, {word}.", 60) for word in ("definitely", "undoubtedly", "assured", "guaranteed")),
    ("It is likely, but it might break.", 50),
    ("I am sure that it definitely runs, guaranteed.", 100),
    ("Maybe it might, perhaps it could, basically, roughly, approximately, I think.", 0),
]


# covers: S0-47, S0-48, S0-52, S0-53, S0-67..S0-71, K0-6
def test_each_hedge_and_certainty_moves_it_by_ten_once(subtests: pytest.Subtests) -> None:
    for text, score in HEDGES:
        with subtests.test(text=text):
            assert metrics(text).confidence == score


# covers: K0-7
def test_hedges_do_not_lower_a_level_that_is_low_already() -> None:
    assert metrics("I'm not sure. Maybe it could, perhaps it might.").confidence == 20
    assert metrics("I'm not sure, it is definitely odd. Maybe it could.").confidence == 30


# covers: S0-52, K0-8
@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("It runs without tests.", 50),
        ("It runs without doubt.", 60),
        ("It runs without a doubt.", 60),
        ("It runs without any doubt.", 60),
        ("There is no doubt, without a doubt.", 60),
        ("I doubt it.", 40),
    ],
)
def test_doubt_is_a_hedge_and_its_absence_a_certainty(text: str, score: int) -> None:
    assert metrics(text).confidence == score


# covers: S0-55, K0-9
def test_the_word_that_set_the_level_is_not_counted_again() -> None:
    assert metrics("Certainly the right approach. Certainly.").confidence == 90
    assert found("Certainly the right approach. Certainly.", "certainty_cue", "certainty") == [("certainly", 90)]
    assert metrics("Absolutely and certainly right.").confidence == 100


# covers: S0-14, S0-56..S0-58, S0-118, K0-11
def test_distinct_patterns_and_occurrences_of_errors() -> None:
    told = metrics("Error, error, errors: it failed. An exception, an issue, a problem, a bug, a mistake.")
    assert (told.error_count, told.error_occurrences) == (7, 9)
    assert len(found("Error, error, errors.", "error")) == 3


ERROR_WORDS = [
    ("It errored, two builds crashed, and the third is failing.", 2),
    ("Failures: 3", 1),
    ("3 of 12 failed", 1),
    ("ValueError: bad input", 1),
    ("The command ended with exit code 2.", 1),
    ("Exit status: 1", 1),
    ("The command ended with exit code 0.", 0),
    ("No errors found", 0),
    ("No errors or issues were found", 0),
    ("0 failed, 12 passed", 0),
    ("None of the tests failed.", 0),
    ("Debug the tissue sample, mirrored", 0),
    ("Fixed the bug and resolved 3 issues", 0),
    ("A check prevents errors.", 0),
    ("I did not fix the bug.", 1),
    ('{"error": null}', 0),
    ("error: null\nfailed: 0\nerrors: []", 0),
    ("error: null pointer", 1),
    ("error: No such file", 1),
    ("error: 0.5 is no integer", 1),
    ("Failing tests: 0", 0),
    ("Issues: None.", 0),
    ("**Issues:** none so far", 0),
    ("Known issues:\n- none", 0),
    ("Known issues:\n- The parser is slow", 1),
    ("Problems: - the parser is slow", 1),
    ("See issue #12.", 0),
    ("With the exception of a.py it is error-free and error free.", 0),
]


# covers: S0-57, K0-12, KX-6
def test_an_error_word_that_reports_an_error(subtests: pytest.Subtests) -> None:
    for text, count in ERROR_WORDS:
        with subtests.test(text=text):
            assert metrics(text).error_count == count


# covers: K0-12
@pytest.mark.parametrize(
    ("section", "count"),
    [
        ("The page flickers.", 1),
        ("\nThe page has a bug.", 2),
        ("", 0),
        ("None.", 0),
        ("- None", 0),
        ("N/A", 0),
        ("No issues.", 0),
        ("No known issues found.\n\n## Next\n\nThe page.", 0),
        ("\n## Next\n\nThe page.", 0),
        ("### First\n\n## Next\n\nThe page.", 0),
    ],
)
def test_a_heading_counts_where_its_section_reports_something(section: str, count: int) -> None:
    assert metrics(f"The page is there.\n\n## Issues\n{section}\n").error_count == count


# covers: S0-77, K0-19
@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("Error, failure, exception, issue, problem.", "below_minimum"),
        ("Error, failure, exception, issue.", "minimum"),
        ("Traceback (most recent call last):\n  x", "below_minimum"),
        ("It ended with panic: nil map", "below_minimum"),
        ("It ended with a segfault.", "below_minimum"),
        ("It was OOM killed.", "below_minimum"),
        ("It ran out of memory.", "below_minimum"),
        ("I fixed the segfault.", "minimum"),
        ("", "below_minimum"),
    ],
)
def test_a_catastrophe_is_below_the_minimum(text: str, level: str) -> None:
    assert CATASTROPHIC_ERRORS == 5
    assert metrics(text).level == level


# covers: S0-75, S0-78, S0-88, S0-89, S0-91, K0-16
@pytest.mark.parametrize(
    ("before", "warnings", "level"),
    [
        (55, ["No progress detected"], "below_minimum"),
        (50, ["No progress detected"], "below_minimum"),
        (49, ["Progress below stagnation threshold"], "minimum"),
        (48, ["Progress below stagnation threshold"], "minimum"),
        (47, [], "minimum"),
        (46, [], "good"),
        (39, [], "excellent"),
    ],
)
def test_the_edges_of_progress(before: int, warnings: list[str], level: str) -> None:
    assert STAGNATION == 3
    context = AnalysisContext(plan=parse_plan("- [x] a\n- [ ] b\n"), past=(Past(completion_score=before),))
    analysis = ResponseAnalyzer().analyze(Output(text="I am sure."), StatusMissing(), context)
    assert analysis.metrics.progress == 50 - before
    assert [warning.removeprefix("⚠️  Warning: ") for warning in analysis.warnings] == warnings
    assert analysis.metrics.level == level


# covers: S0-23, S0-76, K0-13, KX-10
@pytest.mark.parametrize(
    ("text", "length"), [("", 0), (" \n ", 0), ("-n", 2), ("-e \\t", 5), ("完成", 2), ("one\n", 3), ("🙂", 1)]
)
def test_the_length_is_in_characters(text: str, length: int) -> None:
    assert metrics(text).response_length == length


# covers: S0-25, S0-26, S0-28, K0-14, K0-15
@pytest.mark.parametrize(
    ("boxes", "score"),
    [
        ("- [x] a\n- [x] b\n- [ ] c\n", 66),
        ("- [x] a\n" * 199 + "- [ ] b\n", 99),
        ("- [x] a\n" * 200, 100),
        ("- [X] a\n  * [x] b\n\t+ [x] c\n1. [x] d\n2) [ ] e\n", 80),
        ("- [x] a\n- [link](u)\n- [2026-01-29] note\n- [] b\n", 100),
        ("- [x] a\n```\n- [ ] b\n```\n", 100),
        ("- [x] a\n## Optional\n- [ ] b\n### More\n- [ ] c\n", 100),
        ("- [x] a\n## Future work\n- [ ] b\n## Nice to have\n- [ ] c\n", 100),
        ("- [x] a\n## Phase 2 (optional)\n- [ ] b\n", 100),
        ("- [x] a\n## Optional\n- [ ] b\n## Rest\n- [ ] c\n", 50),
        ("- [x] a\n## Future-proof the parser\n- [ ] b\n", 50),
        ("- [x] a\n- [ ] (optional) b\n- [ ] c (Optional)\n- [ ] **Nice to have:** d\n", 100),
        ("- [x] a\n- [ ] Optional chaining\n- [ ] Make c optional\n- [ ] d(optional=1)\n", 25),
    ],
)
def test_what_is_a_box_and_what_share_of_them_is_ticked(boxes: str, score: int) -> None:
    assert metrics("Hm.", plan=boxes).completion_score == score


# covers: D-2, K0-14
def test_an_item_that_is_called_optional_during_the_run_stays_open() -> None:
    before, now = parse_plan("- [x] a\n- [ ] b\n"), parse_plan("- [x] a\n- [ ] b (optional)\n")
    assert compare(before, now).still_open == ("b",)


# covers: S0-9, S0-16, S0-72..S0-74, S0-120, K0-18
@pytest.mark.parametrize(
    ("change", "by"),
    [
        ({"completion": 60}, -16),
        ({"confidence": 60}, -12),
        ({"errors": 1}, -4),
        ({"errors": 7}, -20),
    ],
)
def test_the_parts_of_the_quality(change: dict[str, int], by: int) -> None:
    whole = {"completion": 100, "confidence": 100, "errors": 0}
    assert quality_score(**whole, output=100) == 100
    assert quality_score(**whole, output=0) == 90
    assert quality_score(**whole | change, output=100) == 100 + by
    assert (output_quality(""), output_quality("a.py b.py c.py d.py e.py " + "x" * 500)) == (0, 100)


# covers: S0-86, S0-90
def test_the_guides_message_of_completion(high: Analysis) -> None:
    assert expectation_messages(high.metrics) == ("✅ Completion detected",)
    assert expectation_messages(metrics("It is done.")) == ("✅ Completion detected",)
    assert expectation_messages(metrics("Not yet.")) == ()
