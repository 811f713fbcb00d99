"""Claude Code as an executor: one process for each turn, talked with through the Claude Agent SDK.

Override points, for a subclass:

command(turn, session_id)
    The command line; the prompt comes on its standard input.
environment()
    The environment of Claude Code and so of the agent's shells.
policy(turn)
    What the agent's tools may do in a turn.
"""

import logging
import os
import shutil
import uuid
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar

import anyio
import anyio.to_thread

from ralph import Answered, Executor, Failed, Output, Prompt, RalphError, TimedOut, Turn
from ralph.errors import ExecutorUnavailableError
from ralph.executors import Confinement, PermissionPolicy, spawn
from ralph_claude.conversation import Conversation
from ralph_claude.settings import SettingSource
from ralph_claude.tools import LOOKING, NOT_HERE

__all__ = ["ClaudeExecutor"]

_NO_KEY = "ralph-local-no-key"
_LOGINS = ("ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN")
"""In the order in which Claude Code takes them."""

_OURS = {
    "CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD": "1",
    "CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1",
    "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_ENTRYPOINT": "sdk-py",
    "DISABLE_AUTOUPDATER": "1",
}
"""What would outlive the turn, or talk to others, is turned off. The first has the workspace's CLAUDE.md read although
its settings are not, for it is named as an additional folder.
"""

_NOT_PASSED_ON = ("CLAUDECODE", "CLAUDE_CODE_SESSION_ID")
"""Of a Claude Code that Ralph itself was started from."""


class ClaudeExecutor(Executor):
    """Runs Claude Code.

    Args:
        program: Claude Code; None for the one that the SDK brings along, or else the one on PATH.
        model: None for Claude Code's default.
        base_url: an endpoint that speaks Anthropic's protocol, instead of Anthropic's; no login is needed then, and
            none is passed on.
        api_key: the endpoint's, or Anthropic's.
        headers: further ones for the endpoint.
        permissions: what the agent's tools may do. Claude Code's own rules come on top of it.
        confinement: what the agent can see of this machine: variables, and a sandbox.
        home: where login and sessions are kept. None for the user's own folder, or with an endpoint of one's own for
            one that goes with the executor.
        sources: whose settings of Claude Code hold, with their hooks and MCP servers. The workspace's CLAUDE.md is
            read in any case, but in a turn that only looks.
        retries: how often a failed request to the model is repeated by Claude Code.
    """

    name: ClassVar[str] = "claude"

    def __init__(
        self,
        program: Path | None = None,
        *,
        model: str | None = None,
        base_url: str | None = None,
        api_key: str | None = None,
        headers: Mapping[str, str] | None = None,
        permissions: PermissionPolicy | None = None,
        confinement: Confinement | None = None,
        home: Path | None = None,
        sources: Sequence[SettingSource] = (),
        retries: int = 2,
    ) -> None:
        self.model, self.base_url, self.permissions = model, base_url, permissions or PermissionPolicy()
        self.confinement = confinement or Confinement()
        self._program, self._home, self._api_key = program, home, api_key
        self._headers, self._sources, self._retries = dict(headers or {}), tuple(sources), retries
        self._own: TemporaryDirectory[str] | None = None
        self.account = base_url or "anthropic"
        priced = not base_url or not model or model.startswith("claude")
        self.measures = frozenset({"tokens", "cost"}) if priced else frozenset({"tokens"})

    @property
    def home(self) -> Path | None:
        """Where login and sessions are kept; None for the user's own folder."""
        return self._folder("home") if self._home is None and self.base_url else self._home

    def policy(self, turn: Turn) -> PermissionPolicy:
        """What the agent's tools may do in a turn."""
        return self.permissions.for_reading() if turn.read_only else self.permissions

    def command(self, turn: Turn, session_id: str | None) -> list[str]:
        """The command line, without the program.

        Args:
            session_id: the session to take up again; None for a new one.
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
        """The whole environment of Claude Code: no secret but its login."""
        login = next(((name,) for name in _LOGINS if os.environ.get(name)), ()) if self._logs_in else ()
        given = self.confinement.environment(login)
        apart = {*_NOT_PASSED_ON, *(() if self._logs_in else _LOGINS)}
        env = {name: value for name, value in given.items() if name not in apart} | _OURS
        env["CLAUDE_CODE_MAX_RETRIES"] = str(self._retries)
        for variable, folder in (("CLAUDE_CONFIG_DIR", self.home), ("CLAUDE_CODE_TMPDIR", self._folder("tmp"))):
            if folder:
                env[variable] = str(folder)
        if not self._logs_in:
            env["ANTHROPIC_API_KEY"] = self._api_key or _NO_KEY
        return env | self._endpoint()

    async def check(self) -> str:
        program = _runnable(self._program or _found())
        seen = not self._logs_in or any(os.environ.get(name) for name in _LOGINS)
        return str(program) if seen else f"{program}; Ralph cannot see a login that it keeps itself"

    async def start(self) -> None:
        await self.confinement.require()
        self._own = self._own or TemporaryDirectory(prefix="ralph-claude-", ignore_cleanup_errors=True)
        self._program = _runnable(self._program or _found())
        await anyio.to_thread.run_sync(import_module, "claude_agent_sdk")
        if not (logger := logging.getLogger("claude_agent_sdk")).handlers:
            # Without one Python would print what the SDK logs over any display.
            logger.addHandler(logging.NullHandler())

    async def stop(self) -> None:
        if self._own:
            self._own.cleanup()
            self._own = None

    async def execute(self, prompt: Prompt, turn: Turn) -> Output:
        transcript = turn.transcript
        transcript.executor, transcript.model = self.name, self.model
        session = turn.session_id if turn.session_of in {"", self.name} else None
        try:
            if self._own is None:
                await self.start()
            outcome, forgotten = await self._converse(prompt, turn, session)
            if forgotten and session:
                transcript.diagnosed("The session cannot be resumed, so a new one begins.")
                outcome, _ = await self._converse(prompt, turn, None)
        except RalphError as error:
            return transcript.finish(Failed(failure="unavailable", message=str(error)))
        return transcript.finish(outcome)

    async def _converse(
        self, prompt: Prompt, turn: Turn, session_id: str | None
    ) -> tuple[Answered | Failed | TimedOut, bool]:
        """How the turn ended, and whether that was because the session is unknown."""
        program = self._program or _found()
        argv = self._confined([str(program), *self.command(turn, session_id)], turn.workspace)
        async with spawn(argv, cwd=turn.workspace, env=self.environment()) as running:
            conversation = Conversation(running, turn, self.policy(turn))
            try:
                outcome = await conversation.hold(prompt.text)
            finally:
                with anyio.CancelScope(shield=True):
                    await conversation.close()
                if turn.transcript.did_something:
                    running.suspected()
        return outcome, conversation.forgotten

    def _confined(self, argv: Sequence[str], workspace: Path) -> list[str]:
        kept = [self.home] if self.home else [Path.home() / ".claude", Path.home() / ".claude.json"]
        writable = [*kept, *([Path(self._own.name)] if self._own else [])]
        readable = [Path(argv[0]).parent]
        return self.confinement.command(argv, cwd=workspace, agent=True, readable=readable, writable=writable)

    def _folder(self, name: str) -> Path | None:
        """A folder that goes with the executor; None before its start."""
        if self._own is None:
            return None
        folder = Path(self._own.name, name)
        folder.mkdir(exist_ok=True)
        return folder

    @property
    def _logs_in(self) -> bool:
        """Whether the user's own login is used."""
        return not self.base_url and not self._api_key

    def _endpoint(self) -> dict[str, str]:
        env: dict[str, str] = {}
        if self._headers:
            env["ANTHROPIC_CUSTOM_HEADERS"] = "\n".join(f"{name}: {value}" for name, value in self._headers.items())
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
    """The program that the SDK brings along, or else the one on PATH."""
    spec = find_spec("claude_agent_sdk")
    bundled = Path(spec.origin or "").parent / "_bundled" / "claude" if spec else Path()
    if bundled.is_file():
        return bundled
    if found := shutil.which("claude"):
        return Path(found)
    raise ExecutorUnavailableError(
        "Claude Code was not found: the SDK has none for this machine, and there is none on PATH.",
        "Install it, or name it with the setting plugins.claude.program.",
    )
