"""What is kept of analyses, on a real SQLite file and a real PostgreSQL server."""

import json
import sqlite3
import tracemalloc
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from sqlalchemy import create_engine, make_url, text

from ralph.errors import StoreError, StoreUnusableError, UsageError
from ralph.store import open_store
from ralph.testing.store_conformance import sample_run
from ralph_grounding.filters import parse_filter
from ralph_grounding.materials import Query
from ralph_grounding.result import (
    AccuracyResult,
    AnalysisResult,
    AttributionResult,
    CompletenessResult,
    Scores,
)
from ralph_grounding.store import open_grounding_store
from ralph_grounding.store.records import BatchError, GroundingRun, QuerySet
from ralph_grounding.store.rows import as_json, restored, storable

HOSTILE = "nul \0, half a pair \ud800, a backslash \\u0000, 'quotes\"; DROP TABLE grounding_runs; --"
T0 = datetime(2026, 3, 1, tzinfo=UTC)


def result(
    query_id: str = "q1",
    *,
    accuracy: float | None = 90.0,
    completeness: float | None = 60.0,
    attribution: float | None = 0.0,
    identity: str = "",
    **fields: Any,
) -> AnalysisResult:
    scores = Scores(
        accuracy=None
        if accuracy is None
        else AccuracyResult(score=accuracy, tier="excellent" if accuracy >= 85 else "poor", similarity=1, calibrated=1),
        completeness=None
        if completeness is None
        else CompletenessResult(score=completeness, tier="fair", total_required=5, total_found=3),
        attribution=None if attribution is None else AttributionResult(score=attribution, tier="poor"),
        combined=fields.pop("combined", 50.0),
    )
    return AnalysisResult(
        id=identity or f"{query_id}-{fields.get('ai_provider', '')}-{fields.get('model', '')}",
        query_id=query_id,
        response="an answer",
        scores=scores,
        analyzed_at=T0,
        analyzer_version="1",
        **fields,
    )


def queries(*ids, **fields):
    return QuerySet.of(Query(id=each, text=f"what is {each}?", **fields) for each in ids or ("q1", "q2", "q3"))


def run(run_id="run-1", *, of=None, at=T0, **fields):
    return GroundingRun(id=run_id, query_set_id=(of or queries()).id, started_at=at, **fields)


async def kept(url, *results, **fields):
    """A store's content after these results of one run."""
    async with open_grounding_store(url) as store:
        begun = await store.begin_run(run(**fields), queries())
        await store.keep(begun, results)


async def ids(found):
    return [each.id async for each in found]


# covers: S3-12, S3-115, S3-116, S3-117, S3-118, S3-119, S3-120, S3-121, S3-122, S3-123, S3-124, S3-125
async def test_an_analysis_is_kept_whole_and_found_by_what_stands_beside_it(store_url):
    before = datetime.now(UTC)
    given = result(domain="example.com", ai_provider="openai", model="gpt", flags=("needs_review",), notes=("look",))
    await kept(store_url, given)
    async with open_grounding_store(store_url) as store:
        stored = await store.analysis(given.id[:4])
    assert stored is not None
    assert stored.result == given
    assert (stored.id, stored.query_id, stored.run_id, stored.query_set_id) == (given.id, "q1", "run-1", queries().id)
    assert (stored.domain, stored.ai_provider, stored.model) == ("example.com", "openai", "gpt")
    assert (stored.accuracy_score, stored.completeness_score, stored.attribution_score) == (90.0, 60.0, 0.0)
    assert before - timedelta(seconds=1) <= stored.created_at <= datetime.now(UTC) + timedelta(seconds=1)


async def test_what_was_not_measured_is_none_and_not_zero(store_url):
    await kept(store_url, result(accuracy=None, completeness=None, attribution=None, combined=None))
    async with open_grounding_store(store_url) as store:
        [row] = [row async for row in store.scores()]
        assert (row.accuracy, row.completeness_tier, row.combined) == (None, None, None)
        assert row.points == (None, None, None)
        assert await ids(store.scores(parse_filter("accuracy<50"))) == []


async def test_texts_that_a_database_has_no_room_for_come_back_as_they_were(store_url):
    identity = HOSTILE.replace("\ud800", "")  # no query's id has half a character
    asked = QuerySet.of([Query(id=identity, text=HOSTILE, domain=HOSTILE)])
    given = result(identity, domain=HOSTILE, ai_provider=HOSTILE, model=HOSTILE, flags=("a",), metadata={"x": HOSTILE})
    given = given.model_copy(update={"response": HOSTILE * 1000})
    async with open_grounding_store(store_url) as store:
        begun = await store.begin_run(run(of=asked, domain=HOSTILE), asked)
        await store.keep(begun, [given], [BatchError(query_id=HOSTILE, provider=HOSTILE, error=HOSTILE)])
    async with open_grounding_store(store_url) as store:
        [stored] = [each async for each in store.analyses()]
        assert stored.result == given
        assert (stored.query_id, stored.domain, stored.ai_provider) == (identity, HOSTILE, HOSTILE)
        [row] = [row async for row in store.scores()]
        assert (row.query, row.model) == (HOSTILE, HOSTILE)
        assert await store.failures("run-1") == [BatchError(query_id=HOSTILE, provider=HOSTILE, error=HOSTILE)]
        assert await store.query_set(asked.id) == asked
        [kept_run] = await store.runs(domain=HOSTILE)
        assert (kept_run.domain, kept_run.succeeded, kept_run.failed) == (HOSTILE, 1, 1)


@given(st.text(alphabet=st.characters(codec=None)))
def test_every_text_survives_its_escape(given_text):
    assert restored(storable(given_text)) == given_text
    storable(given_text).encode()
    assert "\0" not in storable(given_text)


async def test_a_run_has_one_analysis_of_a_query_provider_and_model(store_url):
    async with open_grounding_store(store_url) as store:
        begun = await store.begin_run(run(total=4), queries())
        first = result(ai_provider="a")
        await store.keep(begun, [first])
        await store.keep(begun, [result(ai_provider="a", accuracy=1.0, identity="again"), result(ai_provider="b")])
        assert sorted(await ids(store.scores())) == sorted([first.id, "q1-b-"])
        found = await store.run("run-1")
        assert found is not None
        assert (found.progress, found.total, found.status) == (2, 4, "running")
        more = [result("q2", ai_provider=name) for name in "abc"]
        await store.keep(begun, more, [BatchError(query_id="q3", error="no answer")])
        found = await store.run("run-1")
        assert found is not None
        assert (found.progress, found.total) == (6, 6)
        again = await store.begin_run(run(total=3), queries())
        assert (again.progress, again.total) == (5, 6)
        other = await store.begin_run(run("run-2"), queries())
        await store.keep(other, [result(ai_provider="a", identity="in another run")])
        assert len(await ids(store.scores())) == 6
        with pytest.raises(StoreError, match="another analysis with the id"):
            await store.keep(other, [result("q2", identity=first.id)])


# covers: S3-116, S3-117
async def test_a_result_of_no_query_of_the_set_is_refused_and_nothing_of_its_group_stays(store_url):
    async with open_grounding_store(store_url) as store:
        begun = await store.begin_run(run(), queries())
        with pytest.raises(StoreError, match="cannot add this entry"):
            await store.keep(begun, [result("q1"), result("unknown")])
        assert await ids(store.scores()) == []
        await store.keep(begun, [result("q1")])
        assert len(await ids(store.scores())) == 1


async def test_a_run_is_continued_only_as_it_was_begun(store_url):
    async with open_grounding_store(store_url) as store:
        await store.begin_run(run(options={"threshold": 0.75}), queries())
        with pytest.raises(UsageError, match="another set of queries"):
            await store.begin_run(run(of=queries("q9")), queries("q9"))
        with pytest.raises(UsageError, match="other options"):
            await store.begin_run(run(options={"threshold": 0.8}), queries())
        again = await store.begin_run(run(options={"threshold": 0.75}, at=T0 + timedelta(days=1)), queries())
        assert again.started_at == T0


@pytest.mark.parametrize("priority", [float("nan"), float("inf")])
def test_a_query_that_could_not_be_read_back_is_refused(priority):
    with pytest.raises(ValidationError, match="finite"):
        Query(id="q", text="?", priority=priority)


async def test_a_run_that_was_cut_off_is_summed_up_by_what_it_has(store_url):
    async with open_grounding_store(store_url) as store:
        begun = await store.begin_run(run(domain="example.com"), queries())
        other = await store.begin_run(run("run-2"), queries())
        await store.keep(other, [result("q1", accuracy=0.0, identity="of another run")])
        await store.keep(begun, [result("q1", accuracy=90.0)], [BatchError(query_id="q2", error="503")])
        await store.keep(begun, [result("q3", accuracy=50.0)])
        await store.end_run("run-1", "cancelled", T0)
        cut_off = await store.run("run-1")
        assert cut_off is not None
        assert cut_off.summary is None
        found = await store.summary(cut_off)
        assert (found.run_id, found.domain, found.query_count, found.failed_count) == ("run-1", "example.com", 2, 1)
        assert (found.accuracy.mean, found.accuracy.distribution["excellent"], found.trend) == (70, 1, None)
        await store.end_run("run-1", "completed", T0, summary=found.model_copy(update={"failed_count": 7}))
        ended = await store.run("run-1")
        assert ended is not None
        assert (await store.summary(ended)).failed_count == 7


async def test_a_query_set_is_the_same_whatever_the_order_of_its_queries():
    assert queries("a", "b").id == queries("b", "a").id
    assert queries("a", "b").id != queries("a", "c").id
    with pytest.raises(UsageError, match="Two queries"):
        queries("a", "a")


async def test_runs_are_listed_and_found_by_the_beginning_of_their_id(store_url):
    async with open_grounding_store(store_url) as store:
        for number in range(3):
            domain = "a.com" if number else "b.com"
            await store.begin_run(run(f"run-{number}x", at=T0 + timedelta(days=number), domain=domain), queries())
        await store.end_run("run-1x", "failed", T0)
        assert [each.id for each in await store.runs()] == ["run-2x", "run-1x", "run-0x"]
        assert [each.id for each in await store.runs(domain="a.com", status="failed")] == ["run-1x"]
        found = await store.run("run-0")
        assert found is not None
        assert found.id == "run-0x"
        assert await store.run("run-") is None
        assert await store.run("run_0") is None
        assert await store.run("%") is None
        assert await store.run("") is None


FILTERED = [
    ("accuracy<50", ["b"]),
    ("accuracy<=40", ["b"]),
    ("accuracy>=90 and completeness=60", ["a"]),
    ("combined=50, provider=openai", ["a"]),
    ('model="a model"', ["b"]),
    ("model!=gpt", ["b", "c"]),
    ("domain=example.com", ["a"]),
    ("query=q2", ["b"]),
    ("run=run-1", ["a", "b", "c"]),
    ("run=run", []),
    ("flag=needs_review", ["a"]),
    ("flag!=needs_review", ["b", "c"]),
    ("flag=needs", []),
    ("flag=%", []),
    ("accuracy.tier=poor", ["b"]),
    ("accuracy.tier!=poor", ["a"]),
    ("tier=excellent", ["a"]),
    ("tier!=excellent", ["b", "c"]),
    ("completeness.tier=fair", ["a", "b", "c"]),
    ('provider="x\' OR 1=1 --"', []),
    ("", ["a", "b", "c"]),
]


async def test_filters_find_what_they_say(store_url):
    await kept(
        store_url,
        result(
            "q1", identity="a", ai_provider="openai", model="gpt", domain="example.com", flags=("x", "needs_review")
        ),
        result("q2", identity="b", accuracy=40.0, model="a model", combined=None),
        result("q3", identity="c", accuracy=None, completeness=60.5),
    )
    async with open_grounding_store(store_url) as store:
        for wanted, found in FILTERED:
            assert sorted(await ids(store.scores(parse_filter(wanted)))) == found, wanted
            assert sorted(await ids(store.analyses(parse_filter(wanted)))) == found, wanted


async def test_the_worst_come_first_and_the_unmeasured_last(store_url):
    await kept(
        store_url,
        result("q1", accuracy=70.0, identity="middle"),
        result("q1", accuracy=20.0, ai_provider="b", identity="worst"),
        result("q2", accuracy=None, identity="none"),
        result("q3", accuracy=100.0, attribution=75.0, identity="best"),
    )
    async with open_grounding_store(store_url) as store:
        assert await ids(store.scores(order="worst")) == ["worst", "middle", "best", "none"]
        assert await ids(store.scores(order="best")) == ["best", "middle", "worst", "none"]
        assert await ids(store.analyses(order="worst", limit=2)) == ["worst", "middle"]
        assert (await ids(store.scores(order="best", by="attribution")))[0] == "best"


async def test_a_stream_that_is_left_in_the_middle_leaves_nothing_and_does_not_stop_a_writer(store_url):
    async with open_grounding_store(store_url) as store:
        begun = await store.begin_run(run(), queries())
        await store.keep(begun, [result("q1", identity=f"{n}", ai_provider=f"p{n}") for n in range(1200)])
        stream = store.scores(order="oldest")
        seen = [(await anext(stream)).id for _ in range(3)]
        await store.keep(begun, [result("q2", identity="written meanwhile")])
        await stream.aclose()
        assert len(seen) == 3
        with anyio.move_on_after(0.01):
            async for _ in store.analyses():
                await anyio.sleep(0.005)
        assert len(await ids(store.scores())) == 1201


async def test_long_analyses_are_read_a_few_at_a_time(tmp_path):
    long = [
        result("q1", identity=f"{n}", ai_provider=f"p{n}").model_copy(update={"response": "x" * 1_000_000})
        for n in range(40)
    ]
    async with open_grounding_store(str(tmp_path / "g.db")) as store:
        await store.keep(await store.begin_run(run(), queries()), long)
        tracemalloc.start()
        try:
            assert len(await ids(store.analyses())) == 40
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert peak < 20_000_000


async def test_it_stands_beside_ralphs_own_runs_whoever_came_first(store_url):
    async with open_grounding_store(store_url) as store:
        await store.keep(await store.begin_run(run(), queries()), [result()])
        async with open_store(store_url) as ralphs:
            await ralphs.create(sample_run())
            assert (await ralphs.check()) == (1, ())
    async with open_grounding_store(store_url) as store:
        assert len(await ids(store.scores())) == 1


async def test_it_joins_a_store_that_ralph_made(store_url):
    async with open_store(store_url) as ralphs:
        await ralphs.create(sample_run())
    await kept(store_url, result())
    async with open_store(store_url) as ralphs:
        assert await ralphs.run("run-1") is not None


async def test_tables_of_a_later_version_are_left_alone(tmp_path):
    path = str(tmp_path / "g.db")
    await kept(path, result())
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE grounding_schema_version SET version = 99")
    with pytest.raises(StoreUnusableError, match="newer ralph-grounding"):
        async with open_grounding_store(path):
            pass


@pytest.mark.parametrize("harm", ["no JSON", '{"id": 1}', "[" * 100_000, '{"id":"\\ud800"}'])
async def test_a_damaged_result_is_told_of_and_does_not_hide_the_others(tmp_path, harm):
    path = str(tmp_path / "g.db")
    await kept(path, result("q1"), result("q2"))
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE grounding_analyses SET result = ? WHERE query_id = 'q1'", (harm,))
    async with open_grounding_store(path) as store:
        with pytest.raises(Exception, match="cannot be read back"):
            await store.analysis("q1")
        assert len([each async for each in store.analyses(parse_filter("query!=q1"))]) == 1
        assert len(await ids(store.scores())) == 2


async def test_what_cannot_be_a_store_is_told_in_a_sentence(tmp_path):
    (tmp_path / "text").write_text("no database " * 1000)
    for name, problem in (
        ("text", "not an SQLite database"),
        (".", "it is not a file"),
        ("text/x", "name another place"),
    ):
        with pytest.raises(StoreUnusableError, match=problem):
            async with open_grounding_store(str(tmp_path / name)):
                pass
    for name in ("memory:", "mysql://user:secret@host/x", "postgresql://host:port:secret/x", ""):
        with pytest.raises(UsageError) as raised:
            open_grounding_store(name)
        assert "secret" not in str(raised.value)


async def test_a_file_that_is_taken_away_takes_nothing_more(tmp_path):
    path = tmp_path / "g.db"
    async with open_grounding_store(str(path)) as store:
        begun = await store.begin_run(run(), queries())
        await store.keep(begun, [result("q1")])
        path.rename(tmp_path / "elsewhere.db")
        with pytest.raises(StoreError, match="removed or replaced"):
            await store.keep(begun, [result("q2")])
        (tmp_path / "elsewhere.db").rename(path)
        await store.keep(begun, [result("q2")])
        assert len(await ids(store.scores())) == 2


async def test_a_server_that_cannot_be_reached_is_named_without_its_password():
    url = "postgresql://someone:geheim@127.0.0.1:1/nowhere"
    with pytest.raises(StoreUnusableError, match="Check that its server runs") as raised:
        async with open_grounding_store(url):
            pass
    assert "someone@127.0.0.1:1/nowhere" in str(raised.value)
    assert "geheim" not in str(raised.value)


async def test_a_lost_connection_is_made_anew_without_doubling_anything(postgres_server):
    url = f"{postgres_server.get_uri()}&schema=test_lost"
    driver = make_url(postgres_server.get_uri().replace("postgresql://", "postgresql+psycopg://"))
    async with open_grounding_store(url) as store:
        begun = await store.begin_run(run(), queries())
        await store.keep(begun, [result("q1")])
        engine = create_engine(driver)
        with engine.connect() as connection:
            others = "FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND state = 'idle'"
            connection.execute(text(f"SELECT pg_terminate_backend(pid) {others}"))
        engine.dispose()
        await store.keep(begun, [result("q2")])
        found = await store.run("run-1")
    assert found is not None
    assert found.succeeded == 2


def test_the_default_place_is_beside_ralphs_own_store(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    place = Path(open_grounding_store().place)
    assert place.name == "grounding.db"
    assert place.parent.name == "ralph"


def test_json_of_anything_is_ascii_where_it_must_be():
    told = as_json(result(metadata={"odd": object, "text": "\ud800"}))
    assert json.loads(told)["metadata"]["text"] == "\ud800"
    told.encode()
