"""The guard: each check fails closed, alone."""

from typing import Any

import pytest
from markupsafe import escape

from ralph.store.base import Store
from ralph.watch.web.guard import Access, Allowance

from .conftest import BASE, TOKEN, Open, ended


async def test_the_token_becomes_a_cookie_and_leaves_the_address(dashboard: Open) -> None:
    client = dashboard(token=None)
    assert (await client.get("/")).status_code == 401
    assert (await client.get("/login?token=wrong")).status_code == 401
    signed_in = await client.get(f"/login?token={TOKEN}")
    assert (signed_in.status_code, signed_in.headers["location"]) == (303, "/")
    cookie = signed_in.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert TOKEN not in cookie
    assert (await client.get("/")).status_code == 200


@pytest.mark.parametrize(
    ("asked", "led_to"),
    [
        ("/runs/run-001?a=1&b=%2F", "/runs/run-001?a=1&b=%2F"),
        ("/runs/a%2Fb", "/runs/a%2Fb"),
        ("/?q=http://a.example", "/?q=http://a.example"),
        ("//night.example/", "/"),
        ("/\\night.example", "/"),
        ("/\t/night.example", "/"),
        ("http://night.example/", "/"),
        ("night.example", "/"),
        ("/x//night.example", "/"),
        ("/login?token=x", "/"),
        ("/" + "a" * 5_000, "/"),
        ("", "/"),
    ],
)
async def test_a_sign_in_leads_to_the_page_that_was_asked_for(dashboard: Open, asked: str, led_to: str) -> None:
    client = dashboard(token=None)
    for token in (TOKEN, f"http://127.0.0.1:8720/login?token={TOKEN}"):
        answer = await client.get("/login", params={"token": token, "next": asked})
        assert (answer.status_code, answer.headers["location"]) == (303, led_to)
    wrong = await dashboard(token=None).get("/login", params={"token": "wrong", "next": asked})
    assert wrong.status_code == 401
    shown = str(escape(led_to))
    assert f'<a href="{shown}">Open this page' in wrong.text
    if asked.startswith(("/runs", "//")):
        unknown = (await dashboard(token=None).get(f"{BASE}{asked}")).text
        assert f'name="next" value="{shown}"' in unknown
        assert f'<a href="{shown}">Open this page' in unknown


@pytest.mark.parametrize("given", ["", "Bearer", "Bearer wrong", "Basic the-token-of-this-test", "Bearer é"])
async def test_another_bearer_is_no_user(dashboard: Open, given: str) -> None:
    client = dashboard(token=None)
    assert (await client.get("/", headers={b"authorization": given.encode()})).status_code == 401
    assert (await client.get("/", headers={b"cookie": f"ralph-8720={given}".encode()})).status_code == 401
    assert (await client.get("/", headers={"cookie": f"ralph-1={Access(token=TOKEN).session}"})).status_code == 401


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:8720", 200),
        ("localhost:8720", 200),
        ("LOCALHOST", 200),
        ("[::1]:8720", 200),
        ("night.example", 421),
        ("127.0.0.1.night.example", 421),
        ("127.0.0.1@night.example", 421),
        ("night.example/127.0.0.1", 421),
        ("192.0.2.7", 421),
        ("localhost.", 421),
        ("", 421),
        ("[", 421),
    ],
)
async def test_a_rebound_name_is_refused(dashboard: Open, host: str, status: int) -> None:
    assert (await dashboard().get("/", headers={"host": host})).status_code == status


async def test_a_name_is_known_where_the_user_allows_it(dashboard: Open) -> None:
    client = dashboard(access={"names": ("ralph.example",), "loopback": False})
    for host, status in (("ralph.example", 200), ("192.0.2.7:8720", 200), ("night.example", 421)):
        assert (await client.get("/", headers={"host": host})).status_code == status


OWN = {"origin": BASE}


@pytest.mark.parametrize(
    ("headers", "passes"),
    [
        (OWN, True),
        ({"sec-fetch-site": "same-origin"}, True),
        ({}, False),
        ({"origin": "null"}, False),
        ({"origin": "http://night.example"}, False),
        ({"origin": "http://127.0.0.1:3000"}, False),
        ({"origin": f"{BASE}.night.example"}, False),
        ({"origin": "file://127.0.0.1:8720"}, False),
        ({"sec-fetch-site": "same-site"}, False),
        ({"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}, False),
        ({**OWN, "sec-fetch-site": "cross-site"}, True),
    ],
)
async def test_a_form_of_another_site_changes_nothing(
    dashboard: Open, store: Store, headers: dict[str, str], passes: bool
) -> None:
    await store.create(ended(1, stop_reason="stuck"))
    client = dashboard(token=None)
    await client.get(f"/login?token={TOKEN}")
    answer = await client.post("/runs/run-001/tell", headers=headers, data={"text": "Stop it."})
    assert (answer.status_code == 403) is not passes
    assert len(await store.requests("run-001")) == passes


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"}, 403),
        ({"sec-fetch-site": "same-site", "sec-fetch-mode": "cors"}, 403),
        ({"origin": "http://night.example"}, 403),
        ({"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}, 200),
        ({"sec-fetch-site": "none"}, 200),
    ],
)
async def test_another_site_embeds_nothing(dashboard: Open, headers: dict[str, str], status: int) -> None:
    assert (await dashboard().get("/", headers=headers)).status_code == status


async def test_every_answer_has_the_policy(dashboard: Open) -> None:
    client = dashboard(token=None)
    for path in ("/", "/static/app.css", "/login", "/nothing"):
        answer = await client.get(path)
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == ("no-cache" if path.startswith("/static") else "no-store")


async def test_read_only_accepts_no_control(dashboard: Open, store: Store) -> None:
    await store.create(ended(1, stop_reason="stuck"))
    client = dashboard(access={"read_only": True})
    assert (await client.post("/runs/run-001/tell", data={"text": "Go on."})).status_code == 403
    assert await store.requests("run-001") == []
    assert '<form method="post"' not in (await client.get("/runs/run-001")).text


async def test_controls_are_rate_limited(dashboard: Open, store: Store) -> None:
    await store.create(ended(1, stop_reason="stuck"))
    client = dashboard()
    answers = [await client.post("/runs/run-001/tell", data={"text": "Go on."}) for _ in range(15)]
    assert [answer.status_code for answer in answers[:10]] == [303] * 10
    assert answers[-1].status_code == 429
    assert answers[-1].headers["retry-after"]


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "TRACE", "PATCH"])
async def test_other_methods_are_refused(dashboard: Open, method: str) -> None:
    assert (await dashboard().request(method, "/")).status_code == 405


async def test_a_websocket_is_refused(dashboard: Open) -> None:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    guard: Any = dashboard()._transport.app  # pyright: ignore[reportAttributeAccessIssue]
    await guard({"type": "websocket", "path": "/", "headers": []}, None, send)
    assert sent == [{"type": "websocket.close", "code": 1008}]


def test_an_allowance_refills(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("ralph.watch.web.guard.monotonic", lambda: now)
    allowance = Allowance(burst=2, rate=1)
    assert [allowance.take() for _ in range(3)] == [True, True, False]
    now += 1.5
    assert [allowance.take() for _ in range(2)] == [True, False]
