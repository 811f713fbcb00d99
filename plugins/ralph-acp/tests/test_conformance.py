"""The executor keeps to what every executor does."""

from collections.abc import Callable

import pytest

from ralph.testing import ExecutorConformance
from ralph_acp import AcpExecutor


class TestAcpExecutor(ExecutorConformance):
    @pytest.fixture
    def executor(self, scripted: Callable[..., AcpExecutor]) -> AcpExecutor:
        return scripted(["say", "Everything is done."])

    @pytest.fixture
    def failing(self, scripted: Callable[..., AcpExecutor]) -> AcpExecutor:
        return scripted(["fail", -32603, "Internal error", None])

    @pytest.fixture
    def hanging(self, scripted: Callable[..., AcpExecutor]) -> AcpExecutor:
        return scripted(["say", "Let me"], ["hang"])
