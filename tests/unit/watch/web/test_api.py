"""The JSON API: its answers fit its own document, and no path, query or body makes it fail."""

import json
from pathlib import Path
from typing import Any, cast

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from ralph.store.base import Store
from ralph.testing import writes
from ralph.watch.web.api import Api

from .conftest import Open, ended
from .test_pages import HOSTILE, made


def validator(document: dict[str, Any], schema: Any) -> Draft202012Validator:
    return Draft202012Validator({**schema, "components": document["components"]})


async def test_every_answer_fits_the_document(dashboard: Open, store: Store, tmp_path: Path) -> None:
    run = await made(store, tmp_path / "work", writes("a.txt", HOSTILE, HOSTILE), writes("b.txt", "b", "More."))
    client = dashboard()
    document = (await client.get("/api/openapi.json")).json()
    assert document["openapi"] == "3.1.0"
    assert len(document["paths"]) == 11
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            url = path.format(run_id=run.id, number=1, control="tell")
            body: Any = {"json": {"text": "Go on."}} if method == "post" else {}
            query = f"?a={run.id}&b={run.id}" if path == "/api/compare" else ""
            answer = await client.request(method, url + query, **body)
            status = 409 if method == "post" else 200  # the run is completed
            assert answer.status_code == status, (path, answer.text)
            schema = operation["responses"][str(status)]["content"]["application/json"]["schema"]
            validator(document, schema).validate(answer.json())
            for parameter in operation["parameters"]:
                Draft202012Validator.check_schema(parameter["schema"])


async def test_the_api_controls_and_pages(dashboard: Open, store: Store) -> None:
    for number in range(1, 8):
        await store.create(ended(number))
    client = dashboard()
    first = (await client.get("/api/runs?limit=5")).json()
    assert (first["runs"][0]["id"], len(first["runs"]), first["next"]) == ("run-007", 5, 5)
    assert [run["id"] for run in (await client.get("/api/runs?q=number+3")).json()["runs"]] == ["run-003"]
    told = await client.post("/api/runs/run-002/tell", json={"text": "Go on."})
    assert "The agent reads the message" in told.json()["text"]
    assert [each.text for each in await store.requests("run-002")] == ["Go on."]
    form = await client.post("/api/runs/run-002/tell", data={"text": "Go on."})
    assert (form.status_code, form.json()["error"]) == (409, "The body is not JSON.")
    lost = await client.get("/api/runs/none")
    assert (lost.status_code, lost.json()["error"]) == (404, "There is no run 'none' in the store.")
    assert (await dashboard(token=None).get("/api/runs")).json()["error"] == "You are not signed in."


TEXT = st.text(max_size=30)
ODD = st.one_of(TEXT, st.sampled_from(["-1", "0", "7", "1e9", "9" * 30, "\x00", "\ud800", "９", "..", "%", "NaN"]))
DOCUMENT = Api(cast("Any", None)).document


@pytest.mark.timeout(60)
@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
async def test_nothing_makes_it_fail(dashboard: Open, store: Store, tmp_path: Path, data: st.DataObject) -> None:
    if await store.run("run-001") is None:
        await store.create(ended(1))
        await store.create(ended(2))
    client = dashboard()
    path = data.draw(st.sampled_from(sorted(DOCUMENT["paths"])))
    method, operation = next(iter(DOCUMENT["paths"][path].items()))
    names = [parameter["name"] for parameter in operation["parameters"] if parameter["in"] == "query"]
    run_id = data.draw(st.one_of(st.sampled_from(["run-001", "run-"]), ODD))
    parts = {"run_id": run_id, "number": data.draw(ODD), "control": data.draw(st.one_of(st.just("extend"), ODD))}
    url = path.format(**{name: quoted(value) for name, value in parts.items()})
    query = data.draw(st.dictionaries(st.sampled_from([*names, "odd"]), ODD, max_size=3))
    body = data.draw(st.one_of(st.binary(max_size=50), st.dictionaries(TEXT, TEXT, max_size=3).map(dumped)))
    words = "&".join(f"{quoted(name)}={quoted(value)}" for name, value in query.items())
    headers = {"content-type": "application/json"}
    answer = await client.request(method, f"{url}?{words}", content=body if method == "post" else b"", headers=headers)
    assert answer.status_code < 500, answer.text
    if answer.headers.get("content-type") == "application/json":
        answer.json()


def dumped(value: object) -> bytes:
    return json.dumps(value).encode()


def quoted(text: str) -> str:
    """Quote everything that would end a part of the address, as any bytes."""
    return "".join(f"%{byte:02X}" for byte in text.encode(errors="surrogatepass"))


def test_httpx_leaves_quoted_bytes_alone() -> None:
    assert httpx.URL(f"http://a/{quoted('/?')}").raw_path == b"/%2F%3F"
