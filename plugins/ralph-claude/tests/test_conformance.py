"""What every executor does, held by the real Claude Code on scripted models."""

from collections.abc import Iterator

import pytest

from ralph.testing import ExecutorConformance, Fail, Hang, ModelServer, Say, Step
from ralph_claude import ClaudeExecutor


def on(step: Step) -> Iterator[ClaudeExecutor]:
    """An executor on a model that always does the same."""
    with ModelServer(then=step) as server:
        yield ClaudeExecutor(model="claude-sonnet-5", base_url=server.base_url, retries=0)


@pytest.mark.long
class TestClaude(ExecutorConformance):
    @pytest.fixture
    def executor(self) -> Iterator[ClaudeExecutor]:
        yield from on(Say("Everything is done."))

    @pytest.fixture
    def failing(self) -> Iterator[ClaudeExecutor]:
        yield from on(Fail(401))

    @pytest.fixture
    def hanging(self) -> Iterator[ClaudeExecutor]:
        yield from on(Hang())
