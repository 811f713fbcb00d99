"""What the tests of Codex have in common: the real program, and a scripted model.

Nothing of this machine's Codex is used: no login, no settings, no sessions.
"""

import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
import pytest

from ralph import Output, Prompt, Turn
from ralph.errors import ProvisionError
from ralph.executors import PermissionPolicy
from ralph.testing import ModelServer
from ralph_codex import CodexExecutor
from ralph_codex.provision import cache_folder, provide_codex

Made = Callable[..., Awaitable[CodexExecutor]]


@pytest.fixture(scope="session")
def codex() -> Path:
    """The Codex CLI; fetched once into the user's cache where it is not there.

    Where it cannot be had, the test is skipped with the reason, but in CI it fails: nothing real is left out there.
    """
    try:
        return anyio.run(provide_codex)
    except ProvisionError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(error))


@pytest.fixture(autouse=True)
def nobody(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A person without a login and without shell profiles, which Codex's login shells would run for seconds."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache_folder().parent.parent))
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("OPENAI_API_KEY", "CODEX_API_KEY", "CODEX_ACCESS_TOKEN", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "nobody"))


@pytest.fixture
def home(codex: Path) -> Iterator[Path]:
    """A home folder of Codex's; among the temporary files it could not work."""
    with TemporaryDirectory(prefix="test-", dir=codex.parent.parent.parent, ignore_cleanup_errors=True) as folder:
        yield Path(folder)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
async def made(codex: Path) -> AsyncIterator[Made]:
    """Makes executors that are pointed at a scripted model, and stops them in the end.

    Where a test names no policy, Codex's sandbox is left out: it takes most of the time that a short turn takes.
    """
    async with AsyncExitStack() as stack:

        async def make(server: ModelServer, **options: Any) -> CodexExecutor:
            everything = PermissionPolicy(mode="approve-all")
            given: dict[str, Any] = {"model": "m", "base_url": server.base_url, "permissions": everything, **options}
            return await stack.enter_async_context(CodexExecutor(**given))

        yield make


@pytest.fixture
def run(workspace: Path) -> Callable[..., Awaitable[Output]]:
    """Runs one turn of an executor."""

    async def go(executor: CodexExecutor, text: str = "Mend it.", **turn: Any) -> Output:
        return await executor.execute(Prompt(task=text, text=text), Turn(workspace=workspace, **turn))

    return go
