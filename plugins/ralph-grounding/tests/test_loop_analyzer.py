"""The analyzer of a loop: the scores of each reply, in addition to what the built-in one finds."""

import time
from pathlib import Path

import pytest
from pydantic import ValidationError

from ralph import Output
from ralph.analysis import AnalysisContext
from ralph.errors import UsageError
from ralph.testing import AnalyzerConformance
from ralph_grounding.loop.analyzer import GroundedAnalysis, LoopAnalyzer
from ralph_grounding.settings import GroundingSettings, LoopSettings

CLAIMS = "- The museum opens at nine in the morning.\n- A ticket costs 12 euros.\n"
WHOLE = "The museum opens at nine in the morning. A ticket costs 12 euros. See lantern.example."


def looking(**loop: object) -> LoopAnalyzer:
    return LoopAnalyzer(GroundingSettings(loop=LoopSettings.model_validate(loop)))


def analysis(analyzer: LoopAnalyzer, text: str) -> GroundedAnalysis:
    return analyzer.analyze(Output(text=text), None, AnalysisContext())


@pytest.fixture
def claims(tmp_path: Path) -> str:
    file = tmp_path / "claims.yaml"
    file.write_text(CLAIMS)
    return str(file)


class TestAsEveryAnalyzer(AnalyzerConformance):
    @pytest.fixture
    def analyzer(self, claims: str, tmp_path: Path) -> LoopAnalyzer:
        (tmp_path / "facts.md").write_text(f"# Facts\n\n{WHOLE}")
        reference = tmp_path / "right.txt"
        reference.write_text(WHOLE)
        return looking(
            claims=claims,
            reference=str(reference),
            ground_truth=[str(tmp_path / "facts.md")],
            domain="lantern.example",
            brands=["Lantern"],
            min_completeness=80,
            min_accuracy=50,
            min_attribution=50,
        )


def test_a_reply_gets_the_scores_that_can_be_measured(claims: str) -> None:
    found = analysis(looking(claims=claims, domain="lantern.example"), WHOLE)
    assert (found.accuracy, found.completeness, found.attribution) == (None, 100, 75)
    assert (found.missing, found.flags, found.opinion.on_completion) == ((), (), "")
    half = analysis(looking(claims=claims), "The museum opens at nine in the morning.")
    assert (half.completeness, half.missing) == (50, ("A ticket costs 12 euros.",))
    assert half.opinion.on_completion == "", "without a minimum it only stands there"


def test_a_minimum_that_is_not_reached_holds_a_completion_back(claims: str) -> None:
    asking = looking(claims=claims, min_completeness=80)
    opinion = analysis(asking, "The museum opens at nine in the morning. A ticket costs 15 euros.").opinion
    assert opinion.on_completion == "holds_back"
    assert "completeness is 50, but must be at least 80" in opinion.reason
    assert "contradicted: A ticket costs 12 euros." in opinion.reason
    assert analysis(asking, WHOLE).opinion.on_completion == ""
    assert analysis(asking, "").opinion.on_completion == "holds_back"
    unmeasured = analysis(looking(claims=claims, min_accuracy=1), WHOLE).opinion
    assert (unmeasured.on_completion, "accuracy was not measured" in unmeasured.reason) == ("holds_back", True)


def test_what_it_read_at_first_counts(claims: str) -> None:
    asking = looking(claims=claims)
    Path(claims).write_text("- Bananas are yellow.\n")
    assert analysis(asking, WHOLE).completeness == 100


def test_thousands_of_missing_claims_are_told_of_within_bounds(tmp_path: Path) -> None:
    file = tmp_path / "claims.yaml"
    file.write_text("".join(f"- Object {number} of the catalogue weighs {number} tonnes.\n" for number in range(2000)))
    found = analysis(looking(claims=str(file), min_completeness=1), "Nothing of the kind.")
    assert len(found.missing) == 50
    assert len(found.opinion.reason) <= 500


async def test_it_can_be_made_where_an_event_loop_is_at_work(claims: str, tmp_path: Path) -> None:
    (tmp_path / "facts.md").write_text(WHOLE)
    assert analysis(looking(ground_truth=[str(tmp_path / "facts.md")], claims=claims), WHOLE).completeness == 100


@pytest.mark.parametrize(
    ("loop", "said"),
    [
        ({}, "nothing to hold a reply against"),
        ({"claims": "nowhere.yaml"}, "nowhere.yaml"),
        ({"reference": "nowhere.txt"}, "nowhere.txt"),
        ({"ground_truth": ["nowhere"]}, "nowhere"),
    ],
)
def test_what_cannot_be_read_is_told_of_at_once(loop: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=said) as raised:
        looking(**loop)
    assert raised.value.remedy


@pytest.mark.parametrize(
    "loop", [{"ground_truth": ["https://lantern.example/"]}, {"min_accuracy": 101}, {"minimum": 1}]
)
def test_settings_that_cannot_be(loop: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        LoopSettings.model_validate(loop)


def test_a_long_reply_is_judged_soon(claims: str) -> None:
    asking = looking(claims=claims)
    began = time.perf_counter()
    analysis(asking, "The building was once a lighthouse, and a tall one. " * 100_000)
    assert time.perf_counter() - began < 10
