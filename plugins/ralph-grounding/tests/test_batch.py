"""A batch: pairs, failures, retries, backpressure, cancellation, and a run that is continued."""

import asyncio
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import anyio
import anyio.to_thread
import pytest

from ralph.errors import StoreError, UsageError
from ralph_grounding.batch import BatchError, BatchResult, run_batch
from ralph_grounding.errors import NoGroundTruthError, ProviderError
from ralph_grounding.filters import parse_filter
from ralph_grounding.materials import AIResponse, Query
from ralph_grounding.responses.answers import ResponseFailure
from ralph_grounding.result import AccuracyResult, AnalysisResult, Scores
from ralph_grounding.settings import BatchSettings
from ralph_grounding.store import open_grounding_store

T0 = datetime(2026, 3, 1, tzinfo=UTC)


def queries(count, domain="example.com"):
    return [Query(id=f"q{number}", text=f"question {number}", domain=domain) for number in range(count)]


def responses(count, provider="p"):
    return [
        AIResponse(query_id=f"q{number}", response=f"answer {number}", provider=provider) for number in range(count)
    ]


def analysed(response, query, score=80.0):
    accuracy = AccuracyResult(score=score, tier="good", similarity=0.8, calibrated=0.8)
    return AnalysisResult(
        id=uuid4().hex,
        query_id=query.id,
        query=query.text,
        domain=query.domain,
        ai_provider=response.provider,
        model=response.model,
        response=response.response,
        scores=Scores(accuracy=accuracy, combined=score),
        analyzed_at=T0,
        analyzer_version="1",
    )


async def analyze(response, query):
    await asyncio.sleep(0)
    return analysed(response, query)


async def at_once(seconds):
    """No time passes between tries."""


async def outcome(*args, **kwargs):
    """What a batch yields, and its result."""
    seen: list[Any] = [each async for each in run_batch(*args, **{"sleep": at_once, **kwargs})]
    assert isinstance(seen[-1], BatchResult)
    return seen[:-1], seen[-1]


# covers: S3-106, S3-114, S3-155, S3-156, S3-157, S3-158, S3-159
async def test_results_come_as_they_are_there_and_the_batch_last():
    seen, batch = await outcome(responses(7), queries(7), analyze)
    assert sorted(each.query_id for each in seen) == [f"q{number}" for number in range(7)]
    assert batch.results == tuple(seen)
    assert all(each.response == each.query.replace("question", "answer") for each in seen)
    assert (batch.total, batch.succeeded, batch.failed, batch.errors) == (7, 7, 0, ())
    assert (batch.domain, batch.status) == ("example.com", "completed")
    assert batch.run_id
    assert batch.started_at <= batch.completed_at
    assert (batch.summary.query_count, batch.summary.run_id) == (7, batch.run_id)
    assert batch.summary.accuracy.mean == pytest.approx(80)
    assert batch.summary.trend is None


# covers: K3-12
async def test_what_cannot_be_paired_is_an_error_and_the_rest_goes_on():
    given = [*responses(3), AIResponse(query_id="nobody's", response="?"), responses(1)[0], *responses(1, "other")]
    seen, batch = await outcome(given, queries(5), analyze)
    assert sorted((error.query_id, error.error) for error in batch.errors) == [
        ("nobody's", "No query has this id."),
        ("q0", "This provider and model answered this query more than once."),
        ("q3", "This query has no response."),
        ("q4", "This query has no response."),
    ]
    assert (batch.succeeded, batch.failed, batch.total) == (4, 4, 8)
    assert len(seen) == batch.total


# covers: S3-154, K3-18
async def test_a_provider_that_gave_no_answer_is_listed_with_its_words():
    given = [*responses(190), *(BatchError(query_id=f"q{n}", error="503 of the server") for n in range(190, 200))]
    _, batch = await outcome(given, queries(200), analyze)
    assert (batch.total, batch.succeeded, batch.failed) == (200, 190, 10)
    assert {error.error for error in batch.errors} == {"503 of the server"}
    assert sorted(error.query_id for error in batch.errors) == [f"q{number}" for number in range(190, 200)]
    assert (batch.summary.query_count, batch.summary.failed_count) == (190, 10)


async def test_an_answer_that_failed_to_a_query_that_is_none_keeps_its_own_reason():
    _, batch = await outcome([BatchError(query_id="nobody's", error="503 of the server")], [], analyze)
    assert [error.error for error in batch.errors] == ["503 of the server"]


async def test_a_very_long_reason_is_cut():
    async def fail(response, query):
        raise NoGroundTruthError("no luck " * 10_000)

    _, batch = await outcome(responses(1), queries(1), fail)
    [error] = batch.errors
    assert error.error.startswith("no luck ")
    assert len(error.error) == 1000


# covers: S3-152, S3-153
@pytest.mark.parametrize(
    ("settings", "tries"),
    [(BatchSettings(), 3), (BatchSettings(retry_on_failure=False), 1), (BatchSettings(max_retries=4), 5)],
)
async def test_a_failing_analysis_is_tried_again_as_often_as_is_set(settings, tries):
    attempts = []

    async def fail(response, query):
        attempts.append(query.id)
        raise ValueError("no\0 luck")

    _, batch = await outcome(responses(2), queries(2), fail, settings=settings)
    assert sorted(attempts) == sorted(["q0", "q1"] * tries)
    assert [error.error for error in batch.errors] == ["ValueError: no\0 luck"] * 2
    assert batch.status == "failed"
    assert batch.summary.accuracy.mean is None


async def test_one_that_succeeds_at_last_is_no_failure_and_waits_grow():
    attempts, waits = [], []

    async def sleep(seconds):
        waits.append(seconds)

    async def third(response, query):
        attempts.append(query.id)
        if len(attempts) < 3:
            raise ProviderError("busy", kind="server", again=True)
        return analysed(response, query)

    _, batch = await outcome(responses(1), queries(1), third, sleep=sleep)
    assert (batch.succeeded, len(attempts), len(waits)) == (1, 3, 2)
    assert all(0 <= wait <= 5 for wait in waits)


# covers: S3-166
@pytest.mark.parametrize("error", [NoGroundTruthError("There is no ground truth.", "Name some."), None])
async def test_what_would_fail_again_is_not_tried_again(error):
    attempts = []

    async def fail(response, query):
        attempts.append(query.id)
        raise error or ProviderError("The key is wrong.", kind="key")

    _, batch = await outcome(responses(3), queries(3), fail)
    assert len(attempts) == 3
    assert (batch.succeeded, batch.failed, batch.results) == (0, 3, ())


async def test_the_first_failure_ends_it_where_that_is_asked_for():
    async def some(response, query):
        if query.id == "q3":
            raise NoGroundTruthError("nothing")
        return await analyze(response, query)

    settings = BatchSettings(continue_on_error=False, concurrency=1)
    seen, batch = await outcome(responses(10), queries(10), some, settings=settings)
    assert [each.query_id for each in seen] == ["q0", "q1", "q2", "q3"]
    assert (batch.status, batch.total, batch.succeeded, batch.failed) == ("failed", 4, 3, 1)


# covers: S3-151
async def test_five_are_analysed_at_a_time_and_no_response_is_taken_before_there_is_room():
    taken = running = most = 0
    assert BatchSettings().concurrency == 5

    async def source():
        nonlocal taken
        for response in responses(50):
            taken += 1
            assert taken - done <= 5
            yield response

    async def slowly(response, query):
        nonlocal running, most
        running += 1
        most = max(most, running)
        for _ in range(30):
            await asyncio.sleep(0)
        running -= 1
        return analysed(response, query)

    done = 0
    async for each in run_batch(source(), queries(50), slowly):
        if isinstance(each, AnalysisResult):
            done += 1
    assert (most, done, running) == (5, 50, 0)


async def test_while_nobody_takes_the_results_no_more_are_made():
    begun = []

    async def note(response, query):
        begun.append(query.id)
        return analysed(response, query)

    async with aclosing(run_batch(responses(50), queries(50), note)) as batch:
        await anext(batch)
        for _ in range(100):
            await asyncio.sleep(0)
        assert len(begun) <= 6


async def test_a_slow_source_holds_no_result_back():
    more = asyncio.Event()

    async def source():
        yield responses(1)[0]
        await more.wait()
        yield responses(2)[1]

    with anyio.fail_after(10):
        batch = run_batch(source(), queries(2), analyze)
        first = await anext(batch)
        assert isinstance(first, AnalysisResult)
        more.set()
        rest = [each async for each in batch]
    assert len(rest) == 2


@pytest.mark.parametrize("way", ["cancelled", "left", "broken"])
async def test_nothing_is_left_running_and_the_run_can_be_continued(store_url, way):
    running = set()
    closed = []

    async def source():
        try:
            for response in responses(20):
                yield response
            await asyncio.Event().wait()
        finally:
            closed.append(True)

    async def hang(response, query):
        if query.id in {"q0", "q1"}:
            return analysed(response, query)
        running.add(query.id)
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            running.remove(query.id)
        raise AssertionError

    async def consume(store):
        async with aclosing(run_batch(source(), queries(20), hang, store=store, run_id="r")) as batch:
            seen = [await anext(batch), await anext(batch)]
            assert all(isinstance(each, AnalysisResult) for each in seen)
            if way == "cancelled":
                asyncio.get_running_loop().call_soon(scope.cancel)
                await anext(batch)
            if way == "broken":
                raise ZeroDivisionError

    before = asyncio.all_tasks()
    scope = anyio.CancelScope()
    async with open_grounding_store(store_url) as store:
        if way == "cancelled":
            with scope:
                await consume(store)
        elif way == "left":
            await consume(store)
        else:
            with pytest.raises(ZeroDivisionError):
                await consume(store)
        assert (running, closed) == (set(), [True])
        assert asyncio.all_tasks() == before
        found = await store.run("r")
        assert found is not None
        assert (found.status, found.succeeded) == ("cancelled", 2)
        _, batch = await outcome(responses(20), queries(20), analyze, store=store, run_id="r")
        assert (batch.total, batch.succeeded, len(batch.results)) == (20, 20, 20)
        found = await store.run("r")
        assert found is not None
        assert (found.status, found.succeeded, found.failed, found.total) == ("completed", 20, 0, 20)
        assert found.summary == batch.summary


async def test_a_source_that_breaks_is_told_of_and_the_run_has_failed(tmp_path):
    async def source():
        yield responses(1)[0]
        raise UsageError("Line 2 is no response.")  # while the first is being analysed, which is not lost

    async with open_grounding_store(str(tmp_path / "g.db")) as store:
        with pytest.raises(UsageError, match="Line 2"):
            await outcome(source(), queries(2), analyze, store=store, run_id="r")
        found = await store.run("r")
        assert found is not None
        assert (found.status, found.succeeded) == ("failed", 1)


# covers: S3-118
async def test_what_failed_is_tried_again_when_the_run_is_continued(store_url):
    attempts = []

    async def some(response, query):
        attempts.append(query.id)
        if query.id in {"q2", "q5"}:
            raise NoGroundTruthError("nothing to hold it against")
        return analysed(response, query)

    async with open_grounding_store(store_url) as store:
        _, first = await outcome(responses(8), queries(8), some, store=store, options={"a": 1})
        assert (first.succeeded, first.failed, first.status) == (6, 2, "completed")
        assert sorted(error.query_id for error in await store.failures(first.run_id)) == ["q2", "q5"]
        seen, second = await outcome(
            responses(8), queries(8), analyze, store=store, run_id=first.run_id, options={"a": 1}
        )
        assert sorted(each.query_id for each in seen) == ["q2", "q5"]
        assert (second.total, second.succeeded, second.failed, second.summary.query_count) == (8, 8, 0, 8)
        assert len(second.results) == 8
        assert await store.failures(first.run_id) == []
        with pytest.raises(UsageError, match="other options"):
            await outcome(responses(8), queries(8), analyze, store=store, run_id=first.run_id)
    assert len(attempts) == 8


async def test_failures_that_a_source_tells_of_are_kept_and_asked_for_again(store_url):
    failed = ResponseFailure(query_id="q1", provider="p", error="503", kind="server")
    async with open_grounding_store(store_url) as store:
        _, first = await outcome([responses(1)[0], failed], queries(2), analyze, store=store, run_id="r")
        assert (first.succeeded, first.failed) == (1, 1)
        kept = await store.failures("r")
        assert [(error.query_id, error.provider, error.error) for error in kept] == [("q1", "p", "503")]
        _, second = await outcome(responses(2)[1:], queries(2), analyze, store=store, run_id="r")
        assert (second.total, second.succeeded, second.failed) == (2, 2, 0)


async def test_a_result_is_in_the_store_before_it_is_seen_and_need_not_stay_in_memory(store_url):
    async with open_grounding_store(store_url) as store:
        async for each in run_batch(responses(9), queries(9), analyze, store=store, keep_results=False):
            if isinstance(each, AnalysisResult):
                kept = await store.analysis(each.id)
                assert kept is not None
                assert kept.result == each
            else:
                assert isinstance(each, BatchResult)
                assert (each.succeeded, each.results) == (9, ())


async def test_a_result_that_cannot_be_kept_is_a_failure_of_its_own(tmp_path):
    async def odd(response, query):
        result = analysed(response, query)
        loop: list[object] = []
        loop.append(loop)
        return result.model_copy(update={"metadata": {"loop": loop}}) if query.id == "q1" else result

    async with open_grounding_store(str(tmp_path / "g.db")) as store:
        _, batch = await outcome(responses(3), queries(3), odd, store=store)
    assert (batch.succeeded, [error.query_id for error in batch.errors]) == (2, ["q1"])


# covers: S3-133, K3-14
async def test_a_trend_is_that_to_the_last_completed_run_of_the_domain(store_url):
    def scoring(score):
        async def analyze(response, query):
            return analysed(response, query, score)

        return analyze

    async with open_grounding_store(store_url) as store:

        async def ran(score, count=3, domain="a.com", **more):
            given = queries(count, domain)
            _, batch = await outcome(responses(count), given, scoring(score), store=store, **more)
            return batch.summary

        assert (await ran(80)).trend is None
        assert (await ran(10, domain="b.com")).trend is None
        with pytest.raises(StoreError):
            await outcome(BreakingDown(), queries(3, "a.com"), scoring(1), store=store)
        second = await ran(60)
        assert second.trend is not None
        assert (second.trend.accuracy_delta, second.trend.completeness_delta) == (-20, None)
        assert (second.trend.note, [alert.metric for alert in second.alerts]) == ("", ["accuracy"])
        third = await ran(60, count=2)
        assert third.trend is not None
        assert (third.trend.accuracy_delta, third.trend.same_queries, third.alerts) == (0, False, ())
        for options, note in (
            ({"similarity": ["lexical"], "scoring": {"a": 1}}, ""),
            ({"similarity": ["local"], "scoring": {"a": 1}}, "used another similarity provider, so"),
            ({"similarity": ["local"], "scoring": {"a": 2}}, "used other scoring settings, so"),
        ):
            trend = (await ran(60, count=2, options=options)).trend
            assert trend is not None
            assert note in trend.note
            assert bool(trend.note) == bool(note)
        await ran(60, domain="")
        assert (await ran(60, count=2, domain="")).trend is None
        again = await ran(70, domain="")
        assert again.trend is not None
        assert again.trend.accuracy_delta == pytest.approx(10)
        assert len([row async for row in store.scores(parse_filter("domain=a.com"))]) == 14


class BreakingDown:
    """Responses of which the store takes none."""

    def __iter__(self):
        raise StoreError("the disk is full")


async def test_a_store_that_is_away_for_a_while_is_waited_for(own_postgres):
    server = own_postgres
    away, stopped = [], asyncio.Event()

    async def sleep(seconds):
        away.append(seconds)
        if len(away) == 2:
            await stopped.wait()
            await anyio.to_thread.run_sync(server.start)

    async def stopping(response, query):
        if query.id == "q3":
            await anyio.to_thread.run_sync(server.stop)
            stopped.set()
        return analysed(response, query)

    async with open_grounding_store(server.get_uri()) as store:
        _, batch = await outcome(responses(6), queries(6), stopping, store=store, sleep=sleep)
        assert (batch.succeeded, batch.failed) == (6, 0)
        assert away == [0.25, 0.5]
        assert len([row async for row in store.scores()]) == 6


async def test_two_queries_of_one_id_are_refused_before_anything_is_done():
    with pytest.raises(UsageError, match="Two queries"):
        await outcome(responses(1), [*queries(1), *queries(1)], analyze)


async def test_of_no_responses_and_no_queries_nothing_comes():
    seen, batch = await outcome([], [], analyze)
    assert (seen, batch.total, batch.status) == ([], 0, "completed")
