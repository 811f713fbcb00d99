"""Analyses as CSV and JSON."""

import csv
import io
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from ralph_grounding.export import COLUMNS, csv_lines, json_array, json_lines
from ralph_grounding.result import AnalysisResult
from ralph_grounding.store.records import ScoreRow, StoredAnalysis

T0 = datetime(2026, 3, 1, tzinfo=UTC)


def row(**given: Any) -> ScoreRow:
    fields: dict[str, Any] = {
        **dict.fromkeys(("id", "run_id", "query_id", "query", "domain", "ai_provider", "model"), "x"),
        **dict.fromkeys(("accuracy", "accuracy_tier", "completeness", "completeness_tier")),
        **dict.fromkeys(("attribution", "attribution_tier", "combined")),
        "flags": (),
        "created_at": T0,
    }
    return ScoreRow(**fields | given)


def analysis(identity, response="an answer"):
    result = AnalysisResult(id=identity, query_id="q", response=response, analyzed_at=T0, analyzer_version="1")
    return StoredAnalysis(id=identity, query_id="q", query_set_id="s", run_id="r", result=result, created_at=T0)


async def each(*items):
    for item in items:
        yield item


async def text(lines):
    return "".join([line async for line in lines])


async def read(*rows):
    return list(csv.DictReader(io.StringIO(await text(csv_lines(each(*rows))), newline="")))


async def test_csv_has_a_line_for_each_analysis_and_nothing_where_nothing_was_measured():
    said = 'a "query", with a comma\nand two lines'
    [found] = await read(row(query=said, accuracy=49.5, accuracy_tier="poor", flags=("needs_review", "b")))
    assert tuple(found) == COLUMNS
    assert found["query"] == said
    assert (found["accuracy"], found["accuracy_tier"], found["completeness"]) == ("49.5", "poor", "")
    assert found["flags"] == "needs_review b"
    assert datetime.fromisoformat(found["created_at"]) == T0


@pytest.mark.parametrize("begin", ["=", "+", "-", "@", "\t", "\r", "\n"])
async def test_no_cell_is_a_formula(begin):
    formula = f"{begin}HYPERLINK(1)"
    columns = ("id", "run_id", "query_id", "query", "domain", "ai_provider", "model")
    [found] = await read(row(**dict.fromkeys(columns, formula), flags=(formula,), accuracy=0.0))
    texts = [found[name] for name in ("id", "run_id", "query_id", "query", "domain", "provider", "model", "flags")]
    assert texts == [f"'{formula}"] * 8
    assert found["accuracy"] == "0.0"


async def test_csv_can_be_written_whatever_the_texts():
    told = await text(csv_lines(each(row(query="nul \0 and half a pair \ud800"))))
    assert "\0" not in told
    assert "nul \N{REPLACEMENT CHARACTER} and" in told.encode().decode()


async def test_json_is_whole():
    kept = [analysis("a"), analysis("b", "=1 \0 \ud800")]
    objects = json.loads(await text(json_array(each(*kept))))
    assert [found["id"] for found in objects] == ["a", "b"]
    assert objects[1]["result"]["response"] == "=1 \0 \ud800"
    lines = (await text(json_lines(each(*kept)))).splitlines()
    assert [json.loads(line) for line in lines] == objects
    assert StoredAnalysis.model_validate(objects[1]) == kept[1]
    assert json.loads(await text(json_array(each()))) == []
