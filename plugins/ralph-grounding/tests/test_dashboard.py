"""The page of scores in Ralph's dashboard."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup

from ralph.store import MemoryStore
from ralph.watch.web import Page, PageRequest
from ralph_grounding import plugin
from ralph_grounding.report.dashboard import show_scores
from ralph_grounding.settings import GroundingSettings

HOSTILE = "<script>window.hit=1</script> **It opens at noon.** \u202e"


def page(**query: str) -> BeautifulSoup:
    async def shown() -> str:
        async with MemoryStore() as store:
            return await show_scores(PageRequest(store, query), GroundingSettings())

    return BeautifulSoup(asyncio.run(shown()), "html.parser")


def test_without_any_score_it_names_the_command_and_makes_no_store(museum: Path, tmp_path: Path) -> None:
    assert [each.text for each in page().select("code")] == ["ralph score batch"]
    assert not list(tmp_path.rglob("grounding.db"))


def test_questions_by_providers_lead_to_the_answers_side_by_side(run: str) -> None:
    shown = page()
    assert [each.text for each in shown.select("thead th")] == ["Question", "acme a1", "other o1"]
    rows = [[cell.text.split()[0] for cell in row.select("td.figure")] for row in shown.select("tbody tr")]
    assert len(rows) == 2
    assert float(rows[0][0]) > float(rows[0][1])  # the first provider answers the first question better
    assert float(rows[1][1]) > float(rows[1][0])
    assert [each.text for each in shown.select("figcaption strong")] == ["acme a1", "other o1"]
    assert all(path["d"] for path in shown.select("svg path"))
    link = shown.select_one("tbody tr:nth-of-type(2) a")
    assert link
    assert link["href"] == f"?run={run}&question=cost"
    answers = page(run=run, question="cost")
    assert [each.text for each in answers.select("h3")] == ["acme a1", "other o1"]
    marked = answers.select("section:first-of-type mark.against")
    assert "".join(each.text for each in marked) == "A ticket costs 15 euros."
    assert "A ticket costs 12 euros." in answers.select("section")[1].text


def test_questions_are_filtered_and_sorted(run: str) -> None:
    def listed(**query: str) -> list[str]:
        return [each.text for each in page(**query).select("td.task")]

    opens, costs = listed()
    assert listed(find="COST") == [costs]
    assert listed(order="text") == sorted([opens, costs], key=str.casefold)
    assert listed(order="worst") == [costs, opens]
    poor = page(tier="poor", order="worst")
    assert poor.select("tbody tr")
    assert all("poor" in row.text for row in poor.select("tbody tr"))
    assert [each.text for each in poor.select("option[selected]")][1:] == ["poor", "worst first"]
    none = page(find="<b>nothing")
    assert "None of the 2 questions matches." in none.text
    assert none.select("input")[0]["value"] == "<b>nothing"


def test_the_trend_of_a_provider_has_a_bar_for_each_run(run: str, score: Callable[..., Any]) -> None:
    words = ("batch", "--queries", "queries.yaml", "--responses", "responses.jsonl", "-g", "page.md", "--json")
    assert score(*words).code == 0
    trends = page().select("figure")
    assert [str(each.select("path")[0]["d"]).count("M") for each in trends] == [2, 2]
    assert "in 2 runs" in trends[0].text


def test_what_does_not_exist_is_said_and_hostile_texts_stay_text(run: str, score: Callable[..., Any]) -> None:
    assert "There is no run none." in page(run="none").text
    assert "No answer to" in page(run=run, question="none").text
    hostile = {"query_id": "open", "response": HOSTILE, "provider": HOSTILE}
    Path("responses.jsonl").write_text(json.dumps(hostile))
    words = ("batch", "--queries", "queries.yaml", "--responses", "responses.jsonl", "-g", "page.md", "--json")
    ran = score(*words)
    for shown in (page(), page(question="open"), page(run=ran.json["run_id"], question="open")):
        assert not shown.select("script, img, style, [style], [onclick]")
        assert "<script>window.hit=1</script>" in shown.text


def test_the_plug_in_offers_the_page() -> None:
    [offered] = list(plugin.ralph_pages(None))
    assert isinstance(offered, Page)
    assert (offered.name, offered.title) == ("scores", "Scores")
