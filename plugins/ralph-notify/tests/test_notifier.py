"""Runs that send notifications to a real receiver."""

import logging
import time
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from ralph import Limits, Runner, RunRecord
from ralph.errors import UsageError
from ralph.testing import ScriptedExecutor
from ralph_notify import Notifier, NotifySettings

pytestmark = pytest.mark.filterwarnings("ignore:'imghdr' is deprecated:DeprecationWarning")  # Apprise's

DONE = "All done.\n---RALPH_STATUS---\nEXIT_SIGNAL: true\nREASON: written\n---END_RALPH_STATUS---"


def notifier(*urls: str, **more: Any) -> Notifier:
    return Notifier(NotifySettings(urls=tuple(map(SecretStr, urls)), **more))


def run(observer: Notifier, replies: list[str], limit: int = 3) -> RunRecord:
    runner = Runner(executor=ScriptedExecutor(replies), hooks=[observer], limits=Limits(max_iterations=limit))
    return runner.run_sync("Write a parser.")


def test_the_end_of_a_run_arrives_everywhere(receiver: Any):
    record = run(notifier(receiver.url("a"), receiver.url("b")), [DONE])
    assert record.stop_reason == "completed"
    assert sorted(path for path, _ in receiver.got) == ["/a", "/b"]
    body = receiver.got[0][1]
    assert body["title"] == "Ralph: completed"
    assert f"ralph show {record.id}" in body["message"]
    assert "Task: Write a parser." in body["message"]
    assert body["type"] == "warning"


def test_only_the_chosen_events_are_sent(receiver: Any):
    observer = notifier(receiver.url("a"), on=("run_started", "iteration_finished"))
    run(observer, ["The lexer is done.", "The parser is next."], limit=2)
    assert receiver.titles == ["Ralph: started", "Ralph: iteration 1 finished", "Ralph: iteration 2 finished"]


def test_a_question_is_sent_once_while_it_stays_open(receiver: Any):
    asked = "I cannot go on without you. Which database should I use, PostgreSQL or SQLite?"
    run(notifier(receiver.url("a")), [asked, asked, "The lexer is done."], limit=3)
    assert [title for title in receiver.titles if "needs you" in title] == ["Ralph: the agent needs you in iteration 1"]


def test_one_observer_serves_several_runs(receiver: Any):
    observer = notifier(receiver.url("a"))
    first, second = run(observer, [DONE]), run(observer, ["The lexer is done."], limit=1)
    assert first.id in receiver.got[0][1]["message"]
    assert second.id in receiver.got[1][1]["message"]


def test_a_receiver_that_hangs_holds_up_neither_the_run_nor_the_others(receiver: Any, caplog: Any):
    observer = notifier(receiver.url("hang?rto=60"), receiver.url("b"), on=("iteration_finished",), patience=0.3)
    began = time.monotonic()
    record = run(observer, ["The lexer is done.", "The parser is done."], limit=2)
    assert time.monotonic() - began < 5
    assert record.stop_reason == "limit_reached"
    assert [path for path, _ in receiver.got if path == "/b"] == ["/b", "/b"]
    assert "number 1 (json) did not take all notifications in time" in caplog.text


def test_a_receiver_that_hangs_gets_a_bounded_queue(receiver: Any, caplog: Any):
    observer = notifier(receiver.url("hang?rto=60"), on=("iteration_finished",), patience=0.1)
    said = [f"Part {number} of the parser is done." for number in range(60)]
    record = run(observer, said, limit=60)
    assert record.iterations
    assert caplog.text.count("50 messages are waiting already") == max(0, record.iterations - 51)


@pytest.mark.parametrize(("path", "why"), [("fail", "it answered 500"), (None, "it cannot be reached")])
def test_a_failure_is_logged_without_a_secret_and_breaks_nothing(receiver: Any, caplog: Any, path: Any, why: str):
    caplog.set_level(logging.DEBUG)
    caplog.set_level(logging.DEBUG, "ralph")
    url = receiver.url(f"{path}/deepsecret") if path else "json://me:hunter2@127.0.0.1:9/deepsecret"
    record = run(notifier(url), [DONE])
    assert record.stop_reason == "completed"
    assert f"address number 1 (json): {why}" in caplog.text
    assert not logging.getLogger("apprise").propagate  # pytest itself listens to it nonetheless
    logged = [record.getMessage() for record in caplog.records if record.name != "apprise"]
    for secret in ("hunter2", "deepsecret"):
        assert secret not in "\n".join(logged)


@pytest.mark.parametrize("url", ["nonsense://token4711/x", "tgram://token4711"])
def test_an_address_that_apprise_does_not_know_is_refused_without_being_shown(url: str):
    with pytest.raises(UsageError, match=r"number 2 \(\w+\) is not an address") as error:
        notifier("json://127.0.0.1/", url)
    assert "4711" not in str(error.value)


def test_the_record_of_a_run_holds_no_address(receiver: Any, tmp_path: Path):
    from ralph.plugins import Plugins
    from ralph.store import open_store

    store = tmp_path / "runs.db"
    runner = Runner(
        executor=ScriptedExecutor(["I read hunter2 and " + receiver.url("a"), DONE]),
        hooks=[notifier(receiver.url("a"))],
        plugins=Plugins.of([]),
        store=open_store(str(store)),
        limits=Limits(max_iterations=1),
    )
    runner.run_sync("Write a parser.")
    assert b"me:hunter2" not in b"".join(each.read_bytes() for each in tmp_path.iterdir() if each.is_file())
