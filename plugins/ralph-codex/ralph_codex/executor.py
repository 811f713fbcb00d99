"""The Codex CLI as an executor: one process for each turn.

Override points, for a subclass:

command(prompt, turn)
    The command line; the prompt comes on its standard input.
environment(turn)
    The environment of Codex and so of the agent's shells, except what `command` keeps from these.
classify(ending)
    The failure that the end of a turn means, or None.

An exit status of 0 says little: a turn in which every command was denied has it, too. A turn has succeeded if the
status is 0, Codex reports it as completed, and the agent's last message came after its last tool.
"""

import os
import tempfile
from pathlib import Path
from typing import ClassVar, Unpack

from ralph import Prompt, Turn
from ralph.errors import ExecutorUnavailableError
from ralph.executors import (
    BOUNDS,
    NO_KEY,
    AgentOptions,
    Bound,
    Confinement,
    Listener,
    PermissionPolicy,
    ProgramExecutor,
)
from ralph.system.process import run
from ralph.types.output import Outcome
from ralph_codex.flags import quoted, require_keepable, rules, sandbox_settings
from ralph_codex.home import OwnHome, has_provider
from ralph_codex.listener import LOGGED, CodexListener
from ralph_codex.provision import PINNED, present_codex, provide_codex, require_version
from ralph_codex.session_log import SessionLog, find_log

__all__ = ["CodexExecutor"]

_KEY = "RALPH_CODEX_KEY"
_HEADER = "RALPH_CODEX_HEADER_"
_LOGINS = ("CODEX_API_KEY", "CODEX_ACCESS_TOKEN")
_UNSEEN = (f"{_KEY}*", f"{_HEADER}*", *_LOGINS, "OPENAI_API_KEY", "CODEX_HOME", "RUST_LOG")
"""Variables that the agent's commands are not given: keys, and what Ralph itself sets for Codex."""

_NOT_FOR_LOOKING = ("apps", "goals", "hooks", "image_generation", "memories", "multi_agent", "plugins", "skill_search")


class CodexExecutor(ProgramExecutor):
    """Runs the Codex CLI.

    Args:
        program: the native program, not npm's script; None for the pinned one, fetched if it is not there.
        network: the agent's commands may use the network in the mode "workspace".
        retries: how often a failed request to an endpoint is repeated.
        options: those of `AgentExecutor`. The endpoint speaks OpenAI's responses; `ralph_codex.flags` says how far
            Codex enforces `permissions`; `home` is CODEX_HOME, by default the user's own, or with an endpoint or a key
            a folder that is removed by `stop`.

    Raises:
        UsageError: an endpoint without a model, or a policy that Codex cannot enforce.
    """

    name: ClassVar[str] = "codex"
    label: ClassVar[str] = "Codex"
    confines: frozenset[Bound] = BOUNDS
    hosts: ClassVar[tuple[str, ...]] = ("api.openai.com", "chatgpt.com", "auth.openai.com")

    def __init__(
        self,
        program: Path | None = None,
        *,
        network: bool = False,
        retries: int = 2,
        **options: Unpack[AgentOptions],
    ) -> None:
        super().__init__(program.expanduser().absolute() if program else None, **options)
        self.network, self.retries = network, retries
        self._named = self.program
        self._home = self._home.expanduser().absolute() if self._home else None
        self._own_home: OwnHome | None = None
        self.account = self.base_url or "openai"
        self.measures = frozenset({"tokens"})
        self._require_keepable()

    def confine(self, confinement: Confinement, permissions: PermissionPolicy) -> None:
        super().confine(confinement, permissions)
        self._require_keepable()

    async def check(self) -> str:
        if self._named:
            await require_version(self._named)
        program = self._named or present_codex()
        if program is None:
            return f"not here yet; the first run fetches version {PINNED} with npm"
        if self.logs_in:
            await self._require_login(program)
        return str(program)

    async def login_command(self) -> list[str]:
        program = self._named or await provide_codex(progress=self.progress)
        return ["env", f"CODEX_HOME={self.home}", str(program), "login"]

    async def start(self) -> None:
        await super().start()
        if self._named:
            await require_version(self._named)
        else:
            self.program = await provide_codex(progress=self.progress)
        self._make_home()
        if self.program and self.logs_in:
            await self._require_login(self.program)

    async def stop(self) -> None:
        if self._own_home:
            self._own_home.close()
            self._own_home = None
        await super().stop()

    @property
    def has_own_home(self) -> bool:
        """True if the home folder belongs to the executor; only Codex writes into the user's."""
        return self._home is None and not self.logs_in

    @property
    def home(self) -> Path:
        """Codex's home folder: sessions, and a login."""
        if self._own_home:
            return self._own_home.path
        return self._home or Path(os.environ.get("CODEX_HOME") or Path.home() / ".codex")

    def command(self, prompt: Prompt, turn: Turn) -> list[str]:
        """Return the command line, which continues the session of the turn's transcript if there is one."""
        session_id = turn.transcript.session_id
        settings = [*self._common(), *self._provider(), *self._bounds(turn)]
        aside = ["--ignore-user-config"] if self.has_own_home or turn.read_only else []
        flags = ["--json", "--color", "never", "--skip-git-repo-check", *aside, "--cd", str(turn.workspace)]
        if turn.read_only:
            settings += ["project_doc_max_bytes=0", 'web_search="disabled"', "skills.include_instructions=false"]
            settings += [f"features.{name}=false" for name in _NOT_FOR_LOOKING]
        flags += [part for setting in settings for part in ("-c", setting)]
        return [str(self.program), "exec", *flags, *(["resume", session_id] if session_id else []), "-"]

    def environment(self, turn: Turn) -> dict[str, str]:
        """Return the whole environment of Codex. What is secret in it does not reach the agent's shells."""
        env = self.confinement.environment(_LOGINS if self.logs_in else ())
        env |= {"CODEX_HOME": str(self.home), "RUST_LOG": LOGGED}
        if self.base_url:
            env |= {_KEY: self.api_key or NO_KEY}
            return env | {f"{_HEADER}{n}": value for n, value in enumerate(self.headers.values())}
        return env | ({"CODEX_API_KEY": self.api_key} if self.api_key else {})

    def listener(self, turn: Turn) -> Listener:
        """Return what follows the turn. A session that Codex does not know is not continued."""
        known = find_log(self.home, turn.session_id) if turn.session_id else None
        turn.transcript.session_id = turn.session_id if known else None
        return CodexListener(turn.transcript, SessionLog(self.home, known))

    async def converse(self, prompt: Prompt, turn: Turn) -> Outcome:
        listener = self.listener(turn)
        argv = self.command(prompt, turn)
        package = Path(argv[0]).parent.parent
        confined = self.confined(argv, turn.workspace, readable=[package], read_only=turn.read_only)
        return await self.hold(prompt, turn, listener, confined)

    def _require_keepable(self) -> None:
        boxed = self.confinement.sandbox.used
        require_keepable(self.permissions, ruled=self.has_own_home, network=self.network, boxed=boxed)

    def _make_home(self) -> None:
        if not self.has_own_home:
            self.home.mkdir(parents=True, exist_ok=True)
        elif self._own_home is None:
            self._own_home = OwnHome(rules(self.permissions))
        if self.home.resolve().is_relative_to(Path(tempfile.gettempdir()).resolve()):
            raise ExecutorUnavailableError(
                f"Codex's home folder would be {str(self.home)!r}, in the folder for temporary files: all of Codex's "
                "commands would fail there.",
                "Name another folder in the setting plugins.codex.home.",
            )

    async def _require_login(self, program: Path) -> None:
        if any(os.environ.get(name) for name in _LOGINS) or has_provider(self.home):
            return
        env = {**self.confinement.environment(), "CODEX_HOME": str(self.home)}
        done = await run([str(program), "login", "status"], cwd=Path.home(), env=env, timeout=30, end_leftovers=True)
        if done.code != 0:
            said = " ".join(f"{done.stdout} {done.stderr}".split())[:800] or "it does not answer"
            raise ExecutorUnavailableError(
                f"Codex is not logged in ({said}).",
                f"Run `{program} login`, give a key with executor.api_key, or an endpoint with --base-url.",
            )

    def _common(self) -> list[str]:
        kept = self.confinement.environment().get("RUST_LOG")
        settings = [
            'approval_policy="never"',
            "analytics.enabled=false",
            "check_for_update_on_startup=false",
            "features.unbounded_connection_retries=false",
            'shell_environment_policy.inherit="all"',
            "shell_environment_policy.ignore_default_excludes=true",
            f"shell_environment_policy.exclude=[{', '.join(map(quoted, _UNSEEN))}]",
        ]
        if kept:
            settings.append(f"shell_environment_policy.set.RUST_LOG={quoted(kept)}")
        return [*settings, f"model={quoted(self.model)}"] if self.model else settings

    def _provider(self) -> list[str]:
        if not self.base_url:
            return []
        headers = ", ".join(f"{quoted(name)}={quoted(f'{_HEADER}{n}')}" for n, name in enumerate(self.headers))
        settings = {
            "name": quoted("ralph"),
            "base_url": quoted(self.base_url),
            "env_key": quoted(_KEY),
            "wire_api": quoted("responses"),
            "env_http_headers": f"{{{headers}}}",
            "request_max_retries": "0",
            "stream_max_retries": str(self.retries),
        }
        return ['model_provider="ralph"', *(f"model_providers.ralph.{key}={value}" for key, value in settings.items())]

    def _bounds(self, turn: Turn) -> list[str]:
        if self.confinement.sandbox.used:
            return ['sandbox_mode="danger-full-access"']
        secret = [self.home / "auth.json"]
        return sandbox_settings(
            self.policy(turn), turn.workspace, network=self.network, folders=self.confinement.folders, secret=secret
        )
