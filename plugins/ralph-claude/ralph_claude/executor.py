"""Claude Code as an executor: one process for each turn, talked with through the Claude Agent SDK.

Override points, for a subclass:

command(turn, session_id)
    The command line, without the program; the prompt comes on its standard input.
environment()
    The environment of Claude Code and so of the agent's shells.
policy(turn)
    What the agent's tools may do in a turn.
"""

import logging
import os
import uuid
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar, Unpack

import anyio
import anyio.to_thread

from ralph import Prompt, Turn
from ralph.errors import ExecutorUnavailableError
from ralph.executors import BOUNDS, NO_KEY, AgentExecutor, AgentOptions, Bound, find_program
from ralph.types.output import Outcome
from ralph_claude.conversation import Conversation
from ralph_claude.settings import SettingSource
from ralph_claude.tools import LOOKING, NOT_HERE

__all__ = ["ClaudeExecutor"]

_LOGINS = ("ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN")

_OURS = {
    "CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD": "1",
    "CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1",
    "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_ENTRYPOINT": "sdk-py",
    "DISABLE_AUTOUPDATER": "1",
}
"""Turns off what would outlive the turn or connect to others. The first makes Claude Code read the workspace's
CLAUDE.md although its settings are not read, because the workspace is named as an additional folder.
"""

_NOT_PASSED_ON = ("CLAUDECODE", "CLAUDE_CODE_SESSION_ID")
"""The variables of a Claude Code that Ralph itself was started from."""


class ClaudeExecutor(AgentExecutor):
    """Runs Claude Code.

    Args:
        program: Claude Code; None for the one that the SDK brings along, or else the one on PATH.
        sources: whose settings of Claude Code apply, with their hooks and MCP servers. The workspace's CLAUDE.md is
            read in any case, except in a turn that only looks.
        retries: how often Claude Code repeats a failed request to the model.
        options: those of `AgentExecutor`. The endpoint speaks Anthropic's protocol; no login is passed on to it.
            Claude Code's own rules come on top of `permissions`.
    """

    name: ClassVar[str] = "claude"
    confines: frozenset[Bound] = BOUNDS
    hosts: ClassVar[tuple[str, ...]] = ("api.anthropic.com",)
    logins: ClassVar[tuple[str, ...]] = _LOGINS
    endpoint_needs_model: ClassVar[bool] = False

    def __init__(
        self,
        program: Path | None = None,
        *,
        sources: Sequence[SettingSource] = (),
        retries: int = 2,
        **options: Unpack[AgentOptions],
    ) -> None:
        super().__init__(program, **options)
        self._sources, self._retries = tuple(sources), retries
        self._temporary: Path | None = None
        self.account = self.base_url or "anthropic"
        priced = not self.base_url or not self.model or self.model.startswith("claude")
        self.measures = frozenset({"tokens", "cost"}) if priced else frozenset({"tokens"})

    def user_folders(self) -> list[Path]:
        return [Path.home() / ".claude", Path.home() / ".claude.json"]

    def command(self, turn: Turn, session_id: str | None) -> list[str]:
        """Return the command line, without the program.

        Args:
            turn: the one to run.
            session_id: the session to continue; None for a new one.
        """
        sources = () if turn.read_only else self._sources
        return [
            *("--input-format", "stream-json", "--output-format", "stream-json", "--verbose"),
            *("--include-partial-messages", "--permission-mode", "default", "--permission-prompt-tool", "stdio"),
            f"--setting-sources={','.join(sources)}",
            *(() if sources else ("--strict-mcp-config",)),
            *_tools(turn),
            *(("--model", self.model) if self.model else ()),
            f"--resume={session_id}" if session_id else f"--session-id={uuid.uuid4()}",
        ]

    def environment(self) -> dict[str, str]:
        """Return the whole environment of Claude Code: no secret but its login."""
        apart = {*_NOT_PASSED_ON, *(() if self.logs_in else _LOGINS)}
        env = {name: value for name, value in self.inherited_environment().items() if name not in apart} | _OURS
        env["CLAUDE_CODE_MAX_RETRIES"] = str(self._retries)
        for variable, folder in (("CLAUDE_CONFIG_DIR", self.home), ("CLAUDE_CODE_TMPDIR", self._temporary)):
            if folder:
                env[variable] = str(folder)
        if not self.logs_in:
            env["ANTHROPIC_API_KEY"] = self.api_key or NO_KEY
        return env | self._endpoint()

    async def check(self) -> str:
        program = _runnable(self.program or _found())
        seen = not self.logs_in or any(os.environ.get(name) for name in _LOGINS)
        return str(program) if seen else f"{program}; Ralph cannot see a login that it keeps itself"

    async def login_command(self) -> list[str]:
        own = ["env", f"CLAUDE_CONFIG_DIR={self.home}"] if self.home else []
        return [*own, str(_runnable(self.program or _found())), "auth", "login"]

    async def start(self) -> None:
        await super().start()
        self._temporary = self.own_folder("tmp")
        self.program = _runnable(self.program or _found())
        await anyio.to_thread.run_sync(import_module, "claude_agent_sdk")
        if not (logger := logging.getLogger("claude_agent_sdk")).handlers:
            # Without one Python would print what the SDK logs over any display.
            logger.addHandler(logging.NullHandler())

    async def stop(self) -> None:
        self._temporary = None
        await super().stop()

    async def converse(self, prompt: Prompt, turn: Turn) -> Outcome:
        session = turn.session_id if turn.session_of in {"", self.name} else None
        if self._temporary is None:
            await self.start()
        outcome, forgotten = await self._hold(prompt, turn, session)
        if forgotten and session:
            turn.transcript.diagnosed("The session cannot be resumed, so a new one begins.")
            outcome, _ = await self._hold(prompt, turn, None)
        return outcome

    async def _hold(self, prompt: Prompt, turn: Turn, session_id: str | None) -> tuple[Outcome, bool]:
        """Return how the turn ended, and whether that was because the session is unknown."""
        argv = self.confined(
            [str(self.program), *self.command(turn, session_id)],
            turn.workspace,
            writable=[self.own_folder("tmp")],
            read_only=turn.read_only,
        )
        async with self.running(argv, turn, self.environment()) as running:
            conversation = Conversation(running, turn, self.policy(turn))
            try:
                outcome = await conversation.hold(prompt.text)
            finally:
                with anyio.CancelScope(shield=True):
                    await conversation.close()
        return outcome, conversation.forgotten

    def _endpoint(self) -> dict[str, str]:
        env: dict[str, str] = {}
        if self.headers:
            env["ANTHROPIC_CUSTOM_HEADERS"] = "\n".join(f"{name}: {value}" for name, value in self.headers.items())
        if self.base_url:
            env["ANTHROPIC_BASE_URL"] = self.base_url.rstrip("/").removesuffix("/v1")
            if self.model:
                kinds = ("HAIKU", "SONNET", "OPUS")
                env |= {f"ANTHROPIC_DEFAULT_{kind}_MODEL": self.model for kind in kinds}
        return env


def _tools(turn: Turn) -> list[str]:
    if turn.read_only:
        return ["--tools", ",".join(LOOKING)]
    return ["--disallowedTools", ",".join(NOT_HERE), f"--add-dir={turn.workspace}"]


def _runnable(program: Path) -> Path:
    if os.access(program, os.X_OK):
        return program
    raise ExecutorUnavailableError(
        f"There is no Claude Code that can be run at {str(program)!r}.",
        "Correct or remove the setting plugins.claude.program.",
    )


def _found() -> Path:
    """Return the program that the SDK brings along, or else the one on PATH."""
    spec = find_spec("claude_agent_sdk")
    bundled = Path(spec.origin or "").parent / "_bundled" / "claude" if spec else Path()
    if bundled.is_file():
        return bundled
    if found := find_program("claude"):
        return Path(found)
    raise ExecutorUnavailableError(
        "Claude Code was not found: the SDK has none for this machine, and there is none on PATH.",
        "Install it, or name it with the setting plugins.claude.program.",
    )
