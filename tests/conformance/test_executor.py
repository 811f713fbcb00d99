"""Every executor does what an executor does, the real Copilot among them."""

import runpy
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import anyio
import pytest

from ralph.executors import CopilotCLIExecutor, CopilotSDKExecutor, FallbackExecutor
from ralph.executors.base import Executor, Turn, within_time
from ralph.prompt import Prompt
from ralph.testing import ExecutorConformance, Fail, Hang, ModelServer, Reply, Say, ScriptedExecutor
from ralph.types.output import Failed, TimedOut

SAID = "Nothing remarkable happened."


async def hangs(_prompt: Prompt, turn: Turn) -> TimedOut:
    return await within_time(turn, anyio.sleep_forever) or TimedOut(limit="iteration", after=0)


class TestScripted(ExecutorConformance):
    @pytest.fixture
    def executor(self) -> Executor:
        return ScriptedExecutor([SAID])

    @pytest.fixture
    def failing(self) -> Executor:
        return ScriptedExecutor([Failed(failure="crashed", message="it fell over")])

    @pytest.fixture
    def hanging(self) -> Executor:
        return ScriptedExecutor([hangs])


class TestFallback(ExecutorConformance):
    """The first one is at its limit, always."""

    @pytest.fixture
    def executor(self) -> Executor:
        return _second(SAID)

    @pytest.fixture
    def failing(self) -> Executor:
        return _second(Failed(failure="refused", message="not that"))

    @pytest.fixture
    def hanging(self) -> Executor:
        return _second(hangs)


def _second(reply: Reply) -> Executor:
    limited = Failed(failure="rate_limited", message="come back later", retry_after=60)
    return FallbackExecutor(ScriptedExecutor([limited], account="one"), ScriptedExecutor([reply], account="two"))


class TestProgram(ExecutorConformance):
    """The executor of the examples, which runs a program for each turn."""

    @pytest.fixture
    def program(self) -> Callable[..., Executor]:
        return runpy.run_path(str(Path(__file__).parents[2] / "examples" / "custom_executor.py"))["ProgramExecutor"]

    @pytest.fixture
    def executor(self, program: Callable[..., Executor]) -> Executor:
        return program("echo", SAID)

    @pytest.fixture
    def failing(self, program: Callable[..., Executor]) -> Executor:
        return program("false")

    @pytest.fixture
    def hanging(self, program: Callable[..., Executor]) -> Executor:
        return program("sleep", "60")


class TestFourthAgent(ExecutorConformance):
    """The agent of the examples, which has nothing but what the public base gives."""

    @pytest.fixture
    def agent(self) -> Callable[..., Executor]:
        example = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "fourth_agent.py"))
        return partial(example["SparrowExecutor"], sys.executable, "-c", example["STAND_IN"])

    @pytest.fixture
    def executor(self, agent: Callable[..., Executor]) -> Executor:
        return agent()

    @pytest.fixture
    def failing(self, agent: Callable[..., Executor]) -> Executor:
        return agent("fail")

    @pytest.fixture
    def hanging(self, agent: Callable[..., Executor]) -> Executor:
        return agent("hang")


class OfCopilot(ExecutorConformance):
    """A real agent, whose model answers everything with one step."""

    pace = 1.0

    @pytest.fixture
    def copilot(self) -> Callable[[str], Executor]:
        """Makes one whose model is at an address."""
        raise NotImplementedError

    @pytest.fixture
    def executor(self, copilot: Callable[[str], Executor]) -> Iterator[Executor]:
        with ModelServer(lambda _: Say(SAID)) as server:
            yield copilot(server.base_url)

    @pytest.fixture
    def failing(self, copilot: Callable[[str], Executor]) -> Iterator[Executor]:
        with ModelServer(lambda _: Fail(401)) as server:
            yield copilot(server.base_url)

    @pytest.fixture
    def hanging(self, copilot: Callable[[str], Executor]) -> Iterator[Executor]:
        with ModelServer(lambda _: Hang()) as server:
            yield copilot(server.base_url)


@pytest.mark.long
class TestCopilotCLI(OfCopilot):
    @pytest.fixture
    def copilot(self, copilot_cli: Path) -> Callable[[str], Executor]:
        return lambda url: CopilotCLIExecutor(copilot_cli, model="m", base_url=url)


class TestCopilotSDK(OfCopilot):
    @pytest.fixture
    def copilot(self, copilot_runtime: Path) -> Callable[[str], Executor]:
        return lambda url: CopilotSDKExecutor(program=copilot_runtime, model="m", base_url=url)
