"""The analyzer: one answer against what is known, from a text to the whole result."""

import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ralph.errors import UsageError
from ralph_grounding import (
    AIResponse,
    AnalysisResult,
    BatchResult,
    ExpectedAnswer,
    ExpectedClaim,
    GroundingAnalyzer,
    GroundingSettings,
    GroundTruth,
    NoGroundTruthError,
    Query,
)
from ralph_grounding.analyzer import ANALYZER_VERSION
from ralph_grounding.batch import BatchError
from ralph_grounding.ground_truth.chunks import page_of_text
from ralph_grounding.result import Conflict

GROUND = GroundTruth(
    pages=(
        page_of_text(
            "# Opening hours\n\nThe Lantern Museum opens at nine in the morning. It is closed on Mondays.\n\n"
            "# Tickets\n\nA ticket costs 12 euros. Children under six pay nothing. Dogs are not allowed inside.",
            url="https://lantern.example/visit",
        ),
    ),
    domain="lantern.example",
    brands=("Lantern Museum",),
)
CLAIMS = (
    ExpectedClaim(statement="The museum opens at nine in the morning."),
    ExpectedClaim(statement="A ticket costs 12 euros."),
    ExpectedClaim(statement="Dogs are not allowed inside.", importance="optional"),
)
QUERY = Query(
    id="q1",
    text="When does the museum open, and what does it cost?",
    expected=ExpectedAnswer(text="It opens at nine in the morning, and a ticket costs 12 euros.", claims=CLAIMS),
)
ANSWER = (
    "The museum opens at nine in the morning. A ticket costs 15 euros. The building was once a lighthouse. "
    "See https://www.lantern.example/visit for more."
)


def said(text: object, **more: Any) -> AIResponse:
    return AIResponse(query_id="q1", response=text, **more)


async def analyzed(text: object, query: Query = QUERY, ground: GroundTruth = GROUND, **more: Any) -> AnalysisResult:
    async with GroundingAnalyzer(GroundingSettings.model_validate(more)) as analyzer:
        return await analyzer.analyze(said(text), query, ground)


def scores(result: AnalysisResult) -> tuple[float | None, float | None, float | None]:
    parts = (result.scores.accuracy, result.scores.completeness, result.scores.attribution)
    first, second, third = (None if part is None else part.score for part in parts)
    return first, second, third


# covers: S3-4, S3-5, S3-8..S3-11, S3-13, S3-15, S3-16, S3-105
async def test_an_answer_is_scored_with_the_evidence_for_each_score() -> None:
    result = await analyzed(ANSWER)
    accuracy, completeness, attribution = result.scores.accuracy, result.scores.completeness, result.scores.attribution
    assert accuracy
    assert completeness
    assert attribution
    assert accuracy.matched_chunks[0].ground_truth_chunk_id in {chunk.id for chunk, _ in GROUND.chunks}
    assert (completeness.score, completeness.total_found, completeness.total_required) == (50, 1, 2)
    assert [found.claim.statement for found in completeness.claims_found] == [CLAIMS[0].statement]
    assert [missing.statement for missing in completeness.claims_missing] == [CLAIMS[1].statement]
    assert (attribution.score, attribution.has_url_citation) == (100, True)
    assert result.scores.combined == pytest.approx(0.4 * accuracy.score + 0.4 * 50 + 0.2 * 100)


# covers: S3-6, S3-7
async def test_people_are_told_what_is_there_what_is_not_and_what_may_be_wrong() -> None:
    claims = (result := await analyzed(ANSWER)).feedback.claims
    assert [found.claim for found in claims.found] == [CLAIMS[0].statement]
    assert [(missing.claim, missing.importance) for missing in claims.missing] == [
        (CLAIMS[1].statement, "required"),
        (CLAIMS[2].statement, "optional"),
    ]
    wrong = next(one for one in claims.contradicts if one.claim == CLAIMS[1].statement)
    assert wrong.statement.strip() == "A ticket costs 15 euros."
    assert [(conflict.kind, conflict.expected, conflict.said) for conflict in wrong.conflicts] == [
        ("number", "12", "15")
    ]
    assert "The building was once a lighthouse." in [one.text.strip() for one in claims.not_in_ground_truth]
    (highlight,) = result.feedback.highlights.highlights
    assert highlight.response_text.strip() == "The museum opens at nine in the morning."
    assert highlight.ground_truth_source.page_url == "https://lantern.example/visit"
    assert 0 < result.feedback.highlights.coverage_percent < 100


# covers: S3-14
@pytest.mark.parametrize(
    ("expected", "ground", "measured"),
    [
        (ExpectedAnswer(text="It opens at nine."), GroundTruth(), (True, False, False)),
        (ExpectedAnswer(claims=CLAIMS), GroundTruth(), (False, True, False)),
        (ExpectedAnswer(), GroundTruth(domain="lantern.example"), (False, False, True)),
        (ExpectedAnswer(), GroundTruth(brands=("Lantern",)), (False, False, True)),
        (ExpectedAnswer(), GroundTruth(pages=GROUND.pages), (False, False, False)),
        (ExpectedAnswer(text="It opens at nine.", claims=CLAIMS), GROUND, (True, True, True)),
    ],
)
async def test_each_score_is_measured_without_the_others(
    expected: ExpectedAnswer, ground: GroundTruth, measured: tuple[bool, bool, bool]
) -> None:
    alone = await analyzed(ANSWER, Query(id="q1", text=QUERY.text, expected=expected), ground)
    assert tuple(score is not None for score in scores(alone)) == measured
    assert (alone.scores.combined is not None) == any(measured)
    whole = await analyzed(ANSWER)
    if alone.scores.completeness:
        assert alone.scores.completeness == whole.scores.completeness
    if alone.scores.attribution and ground.domain:
        assert alone.scores.attribution.score == 100


# covers: S3-93..S3-104, S3-112, S3-113, K3-11
async def test_the_result_says_what_was_judged_when_and_by_what() -> None:
    at = datetime(2026, 11, 1, 9, 30, tzinfo=UTC)
    response = said(
        ANSWER, provider="acme", model="acme-2", responded_at=at, tokens=71, latency=1.5, metadata={"seed": 7}
    )
    async with GroundingAnalyzer() as analyzer:
        result = await analyzer.analyze(response, QUERY, GROUND)
        other = await analyzer.analyze(response, QUERY, GROUND)
    assert result.id
    assert result.id != other.id
    assert (result.query_id, result.query, result.domain) == ("q1", QUERY.text, "lantern.example")
    assert (result.ai_provider, result.model, result.response_at) == ("acme", "acme-2", at)
    assert result.response == ANSWER
    assert result.expected == QUERY.expected
    assert result.provider == "lexical"
    assert result.analyzed_at.tzinfo is not None
    assert abs((datetime.now(UTC) - result.analyzed_at).total_seconds()) < 60
    assert result.analyzer_version == ANALYZER_VERSION
    assert result.ground_truth_version == GROUND.version
    assert result.metadata == {"seed": 7, "tokens": 71, "latency": 1.5}
    assert AnalysisResult.model_validate_json(result.model_dump_json()) == result


# covers: S3-160, S3-161, K3-17
@pytest.mark.parametrize("text", ["", "  \n\t ", None, {}, []])
@pytest.mark.parametrize("ground", [GROUND, GroundTruth()])
async def test_an_empty_answer_has_nothing_on_all_three_and_is_to_be_looked_at(
    text: object, ground: GroundTruth
) -> None:
    result = await analyzed(text, ground=ground)
    assert scores(result) == (0, 0, 0)
    assert result.scores.combined == 0
    parts = (result.scores.accuracy, result.scores.completeness, result.scores.attribution)
    assert [part.tier for part in parts if part] == ["poor"] * 3
    assert {"empty_response", "needs_review"} <= set(result.flags)
    assert "The answer is empty: all three scores are 0." in result.notes
    assert len(result.feedback.claims.missing) == len(CLAIMS)


async def test_an_empty_answer_does_not_pass_where_all_claims_must_be_found() -> None:
    result = await analyzed("", completeness={"require_all_required": True})
    assert result.scores.completeness
    assert result.scores.completeness.passed is False


# covers: S3-164, S3-165
async def test_a_long_answer_is_cut_and_that_is_noted() -> None:
    result = await analyzed(ANSWER + " More." * 1000, max_response=len(ANSWER))
    assert result.response == ANSWER
    assert result.metadata["truncated_from"] == len(ANSWER) + 6000
    assert result.flags == ("truncated",)
    assert f"Only the first {len(ANSWER)} of {len(ANSWER) + 6000:,} characters were examined." in result.notes


async def test_an_answer_that_its_provider_cut_off_is_told_of() -> None:
    async with GroundingAnalyzer() as analyzer:
        cut = await analyzer.analyze(said(ANSWER, metadata={"finish_reason": "length"}), QUERY, GROUND)
        whole = await analyzer.analyze(said(ANSWER, metadata={"finish_reason": "stop"}), QUERY, GROUND)
    assert (cut.flags, whole.flags) == (("truncated",), ())
    assert scores(cut) == scores(whole)


# covers: S3-167, S3-168
@pytest.mark.parametrize(
    ("text", "note"),
    [
        ({"choices": [{"message": {"content": ANSWER}}]}, "It is not text but an object; the text inside is scored."),
        ([ANSWER], "It is not text but a list; the text inside is scored."),
        (f"{ANSWER}\n\n```python\nx = 1", "It ends inside a code block, as if it was cut off."),
        (f"{ANSWER}\0\ud800", "It contains characters that cannot be shown; they were replaced."),
    ],
)
async def test_a_malformed_answer_is_scored_as_well_as_can_be_and_flagged(text: object, note: str) -> None:
    result = await analyzed(text)
    assert result.scores.completeness
    assert result.scores.completeness.score == 50
    assert result.flags == ("malformed",)
    assert result.notes == (note,)
    assert result.metadata["malformed"] == [note]
    result.model_dump_json().encode()


# covers: S3-179
@pytest.mark.parametrize(
    "text",
    [
        "Das Museum öffnet um neun Uhr morgens, und eine Eintrittskarte kostet zwölf Euro für Erwachsene.",
        "博物馆早上九点开门，成人门票为十二欧元。星期一闭馆，狗不能进入馆内参观。",
        "博物館は朝九時に開館します。入場料は十二ユーロです。月曜日は休館日です。",
    ],
)
async def test_an_answer_in_another_language_is_told_of(text: str) -> None:
    result = await analyzed(text)
    assert {"other_language", "needs_review"} <= set(result.flags)
    assert "'en'" in result.notes[-1]


async def test_an_answer_in_the_language_of_its_ground_truth_is_judged_in_it() -> None:
    text = "博物馆早上九点开门，成人门票为十二欧元。星期一闭馆。"
    query = Query(id="q1", text="", expected=ExpectedAnswer(claims=(ExpectedClaim(statement="博物馆早上九点开门"),)))
    result = await analyzed(text, query, GroundTruth(pages=(page_of_text(text, url="a"),)))
    assert (result.flags, scores(result)[1]) == ((), 100)


# covers: S3-166
async def test_without_anything_to_hold_it_against_there_is_no_analysis() -> None:
    with pytest.raises(NoGroundTruthError, match="nothing to check the answer against") as raised:
        await analyzed(ANSWER, Query(id="q1", text="?"), GroundTruth())
    assert isinstance(raised.value, UsageError)
    assert "expected answer" in raised.value.remedy


# covers: K3-6
async def test_no_required_claim_is_said_to_be_nothing_to_check() -> None:
    query = Query(id="q1", text="", expected=ExpectedAnswer(claims=()))
    result = await analyzed(ANSWER, query)
    assert (scores(result)[1], result.flags) == (100, ("nothing_to_check",))
    assert result.notes


@contextmanager
def failing_endpoint() -> Generator[tuple[str, list[str]]]:
    """An endpoint that has trouble with all it is asked, and the paths that it was asked for."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(self.path)
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(500)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None: ...  # noqa: A002 - so it is called

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


# covers: S3-162, S3-163, K3-17
@pytest.mark.parametrize("expected", [QUERY.expected, ExpectedAnswer()])
async def test_an_embedding_endpoint_that_fails_is_replaced_by_words_and_flagged(expected: ExpectedAnswer) -> None:
    query = Query(id="q1", text=QUERY.text, expected=expected)
    with failing_endpoint() as (url, asked):
        providers = {"similarity": "endpoint", "url": url, "embedding_model": "m", "retries": 1}
        result = await analyzed(ANSWER, query, providers=providers)
    by_words = await analyzed(ANSWER, query)
    assert len(asked) > 1, "it is asked again"
    assert set(asked) == {"/v1/embeddings"}
    assert {"keyword_fallback", "needs_review"} <= set(result.flags)
    assert "500" in result.notes[0]
    assert scores(result) == scores(by_words)
    assert by_words.flags == ()


# covers: S3-107, K3-13
async def test_the_same_answer_is_judged_again_against_other_ground_truth() -> None:
    dearer = GroundTruth(pages=(page_of_text("A ticket costs 15 euros.", url="https://lantern.example/visit"),))
    async with GroundingAnalyzer() as analyzer:
        first = await analyzer.analyze(said(ANSWER, provider="acme", model="m", metadata={"seed": 7}), QUERY, GROUND)
        again = await analyzer.reanalyze(first, dearer)
        third = await analyzer.reanalyze(again, GROUND)
    assert again.id not in {first.id, ""}
    assert (first.previous_id, again.previous_id, third.previous_id) == ("", first.id, again.id)
    kept = {"response", "query", "query_id", "domain", "ai_provider", "model", "expected", "response_at", "metadata"}
    assert again.model_dump(include=kept) == first.model_dump(include=kept)
    assert again.ground_truth_version == dearer.version != first.ground_truth_version
    assert "A ticket costs 15 euros." in [one.response_text.strip() for one in again.feedback.highlights.highlights]
    assert third.scores == first.scores
    assert third.feedback == first.feedback


@pytest.mark.parametrize(
    "text", ['{"text": "{\\"text\\": \\"It opens at nine.\\"}"}', "It opens at nine.\0", "It opens. " * 100, "", None]
)
async def test_judged_again_it_has_the_same_flags_and_is_the_same_answer(text: object) -> None:
    async with GroundingAnalyzer(GroundingSettings(max_response=500)) as analyzer:
        first = await analyzer.analyze(said(text), QUERY, GROUND)
        again = await analyzer.reanalyze(first, GROUND)
    assert first.flags
    assert (again.flags, again.notes, again.metadata) == (first.flags, first.notes, first.metadata)
    assert again.response == first.response


# covers: S3-106, S3-108, S3-109, S3-110, S3-111, S3-114, K3-12
async def test_a_batch_gives_each_result_as_it_comes_and_last_the_whole() -> None:
    queries = [QUERY, Query(id="q2", text="Dogs?", expected=ExpectedAnswer(claims=CLAIMS[2:]))]
    given_later: list[str] = []

    def responses() -> Iterator[AIResponse]:
        for number in range(60):
            given_later.append(str(number))
            yield AIResponse(query_id="q1", response=ANSWER, provider="acme", model=str(number))
        yield AIResponse(query_id="q2", response="Dogs are not allowed inside.", provider="acme")
        yield AIResponse(query_id="q3", response="An orphan.")

    async with GroundingAnalyzer() as analyzer:
        seen = []
        taken_at_first = 0
        async for event in analyzer.analyze_batch(responses(), queries, GROUND):
            taken_at_first = taken_at_first or len(given_later)
            seen.append(event)
    assert taken_at_first < 40, "the first result is there before the last answer is asked for"
    *events, ended = seen
    assert isinstance(ended, BatchResult)
    results = [event for event in events if isinstance(event, AnalysisResult)]
    errors = [event for event in events if isinstance(event, BatchError)]
    assert (ended.total, ended.succeeded, ended.failed) == (62, 61, 1)
    assert {result.id for result in results} == {result.id for result in ended.results}
    assert tuple(errors) == ended.errors
    assert errors[0].query_id == "q3"
    assert {result.query for result in results if result.query_id == "q2"} == {"Dogs?"}
    assert {result.domain for result in results} == {ended.domain} == {"lantern.example"}


# covers: S3-178
async def test_the_combined_score_is_weighted_as_the_settings_say() -> None:
    only_claims = {"accuracy": 0, "completeness": 3, "attribution": 0}
    assert (await analyzed(ANSWER, weights=only_claims)).scores.combined == 50
    halves = await analyzed(ANSWER, weights={"accuracy": 0, "completeness": 1, "attribution": 1})
    assert halves.scores.combined == 75


# What holds for any text

_PIECES = st.sampled_from([
    ANSWER, "A ticket costs 15 euros.", "The museum does not open at nine in the morning.", "www.lantern.example",
    "Lantern Museum", "博物馆早上九点开门。", "\u202e", "\0", "\ud800", "```", "\r\n\n", "\u2028", " ", "12", "e\u0301",
    "Dogs are allowed inside!", "https://lantern.example/visit?a=(b)#c", "İ", "ß", "\N{ZERO WIDTH JOINER}👩\u200d🚀",
])  # fmt: skip
TEXTS = st.lists(_PIECES | st.text(max_size=20), max_size=12).map("".join)


def _stretches(result: AnalysisResult) -> Iterator[tuple[str, int, int]]:
    """Each text of a result that is said to stand in the response, and where."""
    parts: list[tuple[str, Any]] = []
    conflicts: list[Conflict] = []
    scored, told = result.scores, result.feedback
    if scored.accuracy:
        parts += [(one.response_segment, one.position) for one in scored.accuracy.matched_chunks]
    if scored.completeness:
        parts += [(one.matched_text, one.position) for one in scored.completeness.claims_found]
        parts += [(one.matched_text, one.position) for one in scored.completeness.matches]
        conflicts += [conflict for one in scored.completeness.matches for conflict in one.conflicts]
    if scored.attribution:
        parts += [(one.matched_text, one.position) for one in scored.attribution.mentions]
    parts += [(one.statement, one.position) for one in told.claims.contradicts]
    conflicts += [conflict for one in told.claims.contradicts for conflict in one.conflicts]
    parts += [(one.text, one.position) for one in told.claims.not_in_ground_truth]
    parts += [(one.response_text, one.response_range) for one in told.highlights.highlights]
    parts += [(one.text, one.position) for one in told.highlights.unmatched_segments]
    parts += [(conflict.said, conflict.position) for conflict in conflicts if conflict.said]
    yield from ((text, at.start, at.end) for text, at in parts)


# covers: S3-49, S3-92
@settings(max_examples=60, deadline=None)
@given(text=TEXTS)
async def test_every_text_of_a_result_stands_where_it_says(text: str) -> None:
    result = await analyzed(text)
    for stretch, start, end in _stretches(result):
        assert 0 <= start <= end <= len(result.response)
        assert result.response[start:end] == stretch
    told = result.feedback.highlights
    ranges = sorted(
        [(one.response_range.start, one.response_range.end) for one in told.highlights]
        + [(one.position.start, one.position.end) for one in told.unmatched_segments]
    )
    assert "".join(result.response[start:end] for start, end in ranges) == result.response
    assert all(before[1] == after[0] for before, after in pairwise(ranges))


@settings(max_examples=60, deadline=None)
@given(text=TEXTS, reference=TEXTS, claims=st.lists(TEXTS.filter(bool), max_size=3), ground=TEXTS, brand=TEXTS)
async def test_no_text_anywhere_raises_anything(
    text: str, reference: str, claims: list[str], ground: str, brand: str
) -> None:
    expected = ExpectedAnswer.model_construct(
        text=reference, claims=tuple(ExpectedClaim.model_construct(statement=claim) for claim in claims)
    )
    truth = GroundTruth.model_construct(
        pages=(page_of_text(ground.encode("utf-8", "replace").decode(), url="a"),), brands=(brand,), domain="a.example"
    )
    result = await analyzed(text, Query.model_construct(id="q1", text=brand, expected=expected), truth)
    assert all(score is None or 0 <= score <= 100 for score in scores(result))


@pytest.mark.parametrize("most", [10_000, pytest.param(100_000, marks=pytest.mark.long)])
async def test_a_hostile_answer_of_millions_of_characters_is_judged_soon(most: int) -> None:
    for text in ("a" * 10**7, "a " * 5 * 10**6, "\0" * 10**7, "。" * 10**6, "1" * 10**6, "](" * 10**6):
        began = datetime.now(UTC)
        result = await analyzed(text, max_response=most)
        assert (datetime.now(UTC) - began).total_seconds() < 30, text[:8]
        assert "truncated" in result.flags
