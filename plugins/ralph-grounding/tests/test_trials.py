"""Several answers of a model to each query, and how often each claim is made over all answers."""

import csv
import io
import json
from collections import Counter
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from ralph.testing import Fail, ModelServer, Say
from ralph_grounding.claim_rates import wilson

RIGHT, WRONG = "A ticket costs 12 euros.", "A ticket costs 15 euros."


def answers(*given: tuple[str, str, str]) -> None:
    """Write the answers: the query, the text and the provider of each."""
    lines = [{"query_id": query, "response": text, "provider": who, "model": "m"} for query, text, who in given]
    Path("responses.jsonl").write_text("\n".join(map(json.dumps, lines)))


@pytest.mark.parametrize(
    ("found", "total", "low", "high"), [(0, 10, 0, 27.8), (10, 10, 72.2, 100), (1, 2, 9.5, 90.5), (50, 100, 40.4, 59.6)]
)
def test_the_interval_of_a_rate_is_wilsons(found: int, total: int, low: float, high: float) -> None:
    assert wilson(found, total) == (pytest.approx(low, abs=0.05), pytest.approx(high, abs=0.05))


def test_a_file_may_have_several_answers_of_a_model(score: Callable[..., Any], museum: Path) -> None:
    opens = [("open", "The museum opens at nine in the morning.", who) for who in "abc" for _ in range(3)]
    cost = [("cost", RIGHT if (who, trial) in {("a", 0), ("a", 1), ("b", 2)} else WRONG, who)
            for who in "abc" for trial in range(3)]  # fmt: skip
    answers(*opens, *cost)
    batch = ("batch", "--queries", "queries.yaml", "--responses", "responses.jsonl", "-g", "page.md")
    twice = score(*batch, "--json")
    assert (twice.code, twice.json["succeeded"], twice.json["failed"]) == (1, 6, 12)
    assert "more than once" in twice.json["errors"][0]["error"]

    ran = score(*batch, "--trials", "3", "--json")
    assert (ran.code, ran.json["succeeded"], ran.json["failed"]) == (0, 18, 0)
    ticket, opening = ran.json["summary"]["claims"]
    assert (ticket["claim"], ticket["answers"], ticket["found"], ticket["contradicted"]) == (RIGHT, 9, 3, 6)
    assert (ticket["missed_by"], ticket["sides"]) == (["b m", "c m"], 3)
    assert (round(ticket["rate"]), round(ticket["low"]), round(ticket["high"])) == (33, 12, 65)
    assert (opening["missed_by"], opening["found"]) == ([], 9)

    score("report", "last", "-o", "page.html")
    page = Path("page.html").read_text()
    assert "Claims missed most" in page
    assert "2 of 3" in page
    rows = list(csv.DictReader(io.StringIO(score("history", "--run", "last", "--export", "claims").out)))
    assert [(row["claim"], row["missed_by"], row["answers"]) for row in rows] == [
        (RIGHT, "b m, c m", "9"),
        (opening["claim"], "", "9"),
    ]
    exported = list(csv.DictReader(io.StringIO(score("history", "--run", "last", "--export", "csv").out)))
    assert Counter(row["trial"] for row in exported) == {"1": 6, "2": 6, "3": 6}
    both = score("history", "--export", "claims").out
    again = score("again", "last", "-g", "page.md", "--json")
    assert (again.json["succeeded"], again.json["summary"]["claims"][0]["found"]) == (18, 3)
    assert score("history", "--export", "claims").out == both


def test_a_file_may_number_its_answers_in_any_order(score: Callable[..., Any], museum: Path) -> None:
    numbered = [{"query_id": "cost", "response": RIGHT, "provider": "a", "trial": trial} for trial in (3, 1, 2)]
    unnumbered = {"query_id": "open", "response": RIGHT, "provider": "a"}
    mixed = [{**unnumbered, "trial": 2}, unnumbered, unnumbered]
    Path("responses.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in (*numbered, *mixed)))
    batch = ("batch", "--queries", "queries.yaml", "--responses", "responses.jsonl", "-g", "page.md")
    ran = score(*batch, "--trials", "3", "--json")
    assert (ran.code, ran.json["succeeded"], ran.json["failed"]) == (0, 6, 0)


def test_the_terminal_says_what_is_missed_most(score: Callable[..., Any], museum: Path) -> None:
    answers(("open", "No idea.", "a"), ("cost", RIGHT, "a"))
    said = score("batch", "--queries", "queries.yaml", "--responses", "responses.jsonl").out
    missed = said.split("Missed most:\n")[1].splitlines()
    assert missed[0].strip() == "The museum opens at nine in the morning."
    assert "missed by 1 of 1 providers; 0 of 1 answers make it" in missed[1]


def test_each_query_is_asked_as_often_as_wanted_and_only_what_is_missing_is_asked_again(
    score: Callable[..., Any], museum: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = count(1)
    with ModelServer(lambda _: Fail(400) if next(numbers) == 3 else Say(RIGHT)) as server:
        for name, value in {"URL": server.base_url, "MODEL": "m", "API_KEY": "k", "TRIALS": "3"}.items():
            monkeypatch.setenv(f"RALPH_PLUGINS__GROUNDING__ANSWERS__{name}", value)
        ran = score("batch", "--ask", "--queries", "queries.yaml", "--json")
        assert (ran.json["succeeded"], ran.json["failed"]) == (5, 1)
        asked = Counter(request.prompt for request in server.requests)
        assert asked == {"When does it open?": 3, "What does it cost?": 3}
        kept = score("batch", "--continue", "last", "--json")
        assert (kept.json["succeeded"], kept.json["failed"], len(server.requests)) == (6, 0, 7)
        assert [claim["answers"] for claim in kept.json["summary"]["claims"]] == [3, 3]
        more = score("batch", "--ask", "--queries", "queries.yaml", "--trials", "1", "--jsonl")
        assert (more.lines[-1]["batch"]["succeeded"], len(server.requests)) == (2, 9)
