"""The Codex CLI as an executor: one process for each turn.

Override points, for a subclass:

command(turn, session_id)
    The command line; the prompt comes on its standard input.
environment(turn)
    The environment of Codex and so of the agent's shells, but for what `command` keeps from these.
classify(ending)
    The failure that the end of a turn means, or None.

An exit status of 0 says little: a turn in which every command was denied has it, too. A turn has succeeded when the
status is 0, Codex reports it as completed, and the agent's last word came after its last tool.
"""

import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from ralph import Answered, Executor, Failed, Output, Prompt, Turn
from ralph.errors import ExecutorUnavailableError, UsageError
from ralph.executors import Confinement, PermissionPolicy, describe_exit, spawn, within_time
from ralph.system.process import run
from ralph.types import evolve
from ralph_codex.flags import quoted, require_keepable, rules, sandbox_settings
from ralph_codex.home import OwnHome, has_provider
from ralph_codex.listener import LOGGED, Ending, Listener
from ralph_codex.provision import PINNED, present_codex, provide_codex, require_version
from ralph_codex.session_log import SessionLog, find_log

if TYPE_CHECKING:
    from ralph.executors import Progress

__all__ = ["CodexExecutor"]

_KEY = "RALPH_CODEX_KEY"
_HEADER = "RALPH_CODEX_HEADER_"
_LOGINS = ("CODEX_API_KEY", "CODEX_ACCESS_TOKEN")
_UNSEEN = (f"{_KEY}*", f"{_HEADER}*", *_LOGINS, "OPENAI_API_KEY", "CODEX_HOME", "RUST_LOG")
"""Variables that the agent's commands are not given: keys, and what Ralph itself sets for Codex."""

_NOT_FOR_LOOKING = ("apps", "goals", "hooks", "image_generation", "memories", "multi_agent", "plugins", "skill_search")
_NO_KEY = "ralph-local-no-key"


class CodexExecutor(Executor):
    """Runs the Codex CLI.

    Args:
        program: the native program, not npm's script; None to have the pinned one, fetched where it is not there.
        model: None for Codex's default; an endpoint needs one.
        base_url: an endpoint that speaks OpenAI's responses, instead of OpenAI's own; no login is needed then.
        api_key: the endpoint's, or without an endpoint OpenAI's; None for the endpoint that needs none, or the login.
        headers: further ones for the endpoint.
        permissions: what the agent's tools may do; `ralph_codex.flags` tells how far Codex keeps them.
        confinement: what Codex can see of this machine: variables, and a sandbox.
        home: CODEX_HOME. None for the user's own, where their login lies, or with an endpoint or a key for a folder
            that goes with the executor.
        network: whether the agent's commands may use the network in the mode "workspace".
        retries: how often a failed request to an endpoint is repeated.
        progress: told how the download of the program goes.

    Raises:
        UsageError: an endpoint without a model, or a policy that Codex cannot keep.
    """

    name: ClassVar[str] = "codex"

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
        network: bool = False,
        retries: int = 2,
        progress: "Progress | None" = None,
    ) -> None:
        if base_url and not model:
            raise UsageError(f"The endpoint {base_url} needs a model's name.", "Give one with --model.")
        self.model, self.base_url, self.permissions = model, base_url, permissions or PermissionPolicy()
        self.confinement, self.network, self.retries = confinement or Confinement(), network, retries
        self._api_key, self._headers, self._progress = api_key, dict(headers or {}), progress
        self._program = self._named = program.expanduser().absolute() if program else None
        self._home = home.expanduser().absolute() if home else None
        self._own_home: OwnHome | None = None
        self.account = base_url or "openai"
        self.measures = frozenset({"tokens"})
        require_keepable(self.permissions, ruled=not self._users_home, network=network)

    async def check(self) -> str:
        if self._named:
            await require_version(self._named)
        program = self._named or present_codex()
        if program is None:
            return f"not here yet; the first run fetches version {PINNED} with npm"
        if not (self.base_url or self._api_key):
            await self._require_login(program)
        return str(program)

    async def start(self) -> None:
        await self.confinement.require()
        if self._named:
            await require_version(self._named)
        else:
            self._program = await provide_codex(progress=self._progress)
        self._make_home()
        if self._program and not (self.base_url or self._api_key):
            await self._require_login(self._program)

    async def stop(self) -> None:
        if self._own_home:
            self._own_home.close()
            self._own_home = None

    @property
    def home(self) -> Path:
        """Codex's home folder: sessions, and a login."""
        if self._own_home:
            return self._own_home.path
        return self._home or Path(os.environ.get("CODEX_HOME") or Path.home() / ".codex")

    def policy(self, turn: Turn) -> PermissionPolicy:
        """What the agent's tools may do in a turn."""
        return self.permissions.for_reading() if turn.read_only else self.permissions

    def command(self, turn: Turn, session_id: str | None) -> list[str]:
        """The command line.

        Args:
            session_id: the session to take up; None for a fresh one.
        """
        settings = [*self._common(), *self._provider(), *self._bounds(turn)]
        aside = [] if self._users_home and not turn.read_only else ["--ignore-user-config"]
        flags = ["--json", "--color", "never", "--skip-git-repo-check", *aside, "--cd", str(turn.workspace)]
        if turn.read_only:
            settings += ["project_doc_max_bytes=0", 'web_search="disabled"', "skills.include_instructions=false"]
            settings += [f"features.{name}=false" for name in _NOT_FOR_LOOKING]
        flags += [part for setting in settings for part in ("-c", setting)]
        return [str(self._program), "exec", *flags, *(["resume", session_id] if session_id else []), "-"]

    def environment(self, turn: Turn) -> dict[str, str]:
        """The whole environment of Codex. What is secret in it does not reach the agent's shells."""
        login = () if self.base_url or self._api_key else tuple(name for name in _LOGINS if os.environ.get(name))
        env = self.confinement.environment(login)
        env |= {"CODEX_HOME": str(self.home), "RUST_LOG": LOGGED}
        if self.base_url:
            env |= {_KEY: self._api_key or _NO_KEY}
            return env | {f"{_HEADER}{n}": value for n, value in enumerate(self._headers.values())}
        return env | ({"CODEX_API_KEY": self._api_key} if self._api_key else {})

    def classify(self, ending: Ending) -> Failed | None:
        """The failure that an ending means; None for a turn that succeeded."""
        if ending.failure:
            return ending.failure
        said = " ".join(ending.complaint.split())[:300]
        if ending.code != 0:
            return Failed(failure="crashed", message=f"Codex {describe_exit(ending.code)}. {said}".strip())
        if not ending.completed:
            return Failed(failure="protocol", message=f"Codex ended without completing the turn. {said}".strip())
        return None if ending.answered else Failed(failure="protocol", message="The agent gave no answer.")

    async def execute(self, prompt: Prompt, turn: Turn) -> Output:
        transcript = turn.transcript
        transcript.executor, transcript.model = self.name, self.model
        known = find_log(self.home, turn.session_id) if turn.session_id else None
        transcript.session_id = turn.session_id if known else None
        listener = Listener(transcript, SessionLog(self.home, known))
        argv = self.confined(self.command(turn, transcript.session_id), turn)
        try:
            async with spawn(argv, cwd=turn.workspace, env=self.environment(turn)) as program:
                try:
                    timed_out = await within_time(turn, partial(listener.follow, program, prompt.text))
                finally:
                    program.suspected()  # of commands
        except UsageError as error:
            return transcript.finish(Failed(failure="unavailable", message=str(error)))
        finally:
            listener.close()
            transcript.diagnostics = listener.complaint
        return transcript.finish(timed_out or self.classify(listener.ending(program.code)) or Answered())

    def confined(self, argv: Sequence[str], turn: Turn) -> list[str]:
        """The command line that runs Codex within its bounds.

        Codex's own sandbox does not work within another one, so that the outer one has to keep a turn from writing.
        """
        box, readable = self.confinement, [Path(argv[0]).parent.parent]
        if box.sandbox.used and self.policy(turn).mode == "read-only":
            readable += [turn.workspace, *box.folders]
            nowhere = evolve(box.sandbox, writable=())
            box = replace(box, workspace=self.home, folders=(), sandbox=nowhere)
        return box.command(argv, cwd=turn.workspace, agent=True, readable=readable, writable=[self.home])

    @property
    def _users_home(self) -> bool:
        """Whether Codex's home folder is a person's, which nothing is written into but by Codex."""
        return self._home is not None or not (self.base_url or self._api_key)

    def _make_home(self) -> None:
        if self._users_home:
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
            said = " ".join(f"{done.stdout} {done.stderr}".split())[:200] or "it does not answer"
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
        headers = ", ".join(f"{quoted(name)}={quoted(f'{_HEADER}{n}')}" for n, name in enumerate(self._headers))
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
