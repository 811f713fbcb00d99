"""Faults that a night brings, put into whole runs on the real Copilot runtime."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ralph.testing import ModelServer, Shell, Use

pytestmark = pytest.mark.timeout(90)


def against(server: ModelServer, workspace: Path) -> tuple[str, ...]:
    return ("-C", str(workspace), "--base-url", server.base_url, "--model", "m", "--display", "json")


@pytest.mark.parametrize("executor", ["copilot-sdk", "copilot-cli"])
def test_a_limit_on_tokens_ends_a_turn_that_would_not_end(ralph: Callable, workspace: Path, executor: str) -> None:
    endless = Use((Shell("true"),), text="Once more.")
    with ModelServer([], then=endless) as server:
        ran = ralph("run", "Go on", "--executor", executor, "--max-tokens", "60000", *against(server, workspace))
        asked = len(server.requests)
    assert ran.code == 5, ran.stderr
    assert ran.end["stop_reason"] == "limit_reached"
    assert ran.end["detail"].startswith("max_tokens")
    assert ran.end["iterations"] == 1
    assert asked < 40, "some twelve thousand tokens a call: five calls and what comes until they are told of"
