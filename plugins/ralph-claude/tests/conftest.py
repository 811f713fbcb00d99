"""What the tests of Claude Code have in common: the real program that the SDK brings along, and a scripted model.

Nothing of this machine's Claude Code is used: no login, no settings, no sessions.
"""

from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from ralph import Output, Prompt, Turn
from ralph.executors import Timeouts, Transcript
from ralph.testing import ModelServer, Step
from ralph_claude import ClaudeExecutor

PATIENT = Timeouts(idle=20, iteration=40, tool=20)


class Scene:
    """A scripted model, an executor on it, and a workspace.

    Attributes:
        seen: what the transcripts told.
    """

    def __init__(self, server: ModelServer, executor: ClaudeExecutor, work: Path) -> None:
        self.server, self.executor, self.work = server, executor, work
        self.seen: list[Any] = []
        self.last: Turn | None = None

    async def turn(self, text: str = "Do it.", *, timeouts: Timeouts = PATIENT, **more: Any) -> Output:
        self.last = Turn(workspace=self.work, timeouts=timeouts, transcript=Transcript(self.seen.append), **more)
        return await self.executor.execute(Prompt(text=text, task=text), self.last)

    def program(self) -> psutil.Process:
        """Claude Code, while it runs."""
        (process,) = [child for child in psutil.Process().children() if "--input-format" in child.cmdline()]
        return process


Stage = Callable[..., AbstractAsyncContextManager[Scene]]


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """That of a person without a login, and in no Claude Code."""
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "CLAUDE_CODE_OAUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    return folder


@pytest.fixture
def scene(tmp_path: Path) -> Stage:
    work = tmp_path / "work"
    work.mkdir()

    @asynccontextmanager
    async def stage(
        steps: Iterable[Step], kind: type[ClaudeExecutor] = ClaudeExecutor, **options: Any
    ) -> AsyncGenerator[Scene]:
        async with ModelServer(list(steps)) as server:
            given: dict[str, Any] = {"model": "claude-sonnet-5", "base_url": server.base_url, **options}
            async with kind(**given) as executor:
                yield Scene(server, executor, work)

    return stage
