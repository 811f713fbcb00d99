"""Any agent that speaks the Agent Client Protocol, as an executor: one process for each turn.

A process of its own makes each turn start afresh and leaves nothing running behind it. A session is gone on with by
`session/load`, where the agent can do that.
"""

import shutil
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, ClassVar

from ralph import Prompt
from ralph.errors import ExecutorUnavailableError, UsageError
from ralph.executors import (
    Confinement,
    Executor,
    PermissionPolicy,
    ProgramMissingError,
    Redactor,
    Turn,
    spawn,
    within_time,
)
from ralph.types import evolve
from ralph.types.output import Failed, Outcome, Output
from ralph_acp.agents import Agent, Endpoint, filled
from ralph_acp.conversation import Conversation, Offer

if TYPE_CHECKING:
    from ralph.executors import Progress

__all__ = ["AcpExecutor"]


class AcpExecutor(Executor):
    """Runs an agent through the Agent Client Protocol.

    Args:
        agent: a known agent; None for one that is only given by its command.
        command: the program and its arguments; empty to look for the known agent's.
        env: further variables. `{model}`, `{base_url}` and `{api_key}` in them and in the command are filled in.
        model, base_url, api_key, headers, wire_api: which model answers; without a `base_url`, one of the agent's own
            provider.
        permissions: what the agent's tools may do. It decides what the agent asks for; an agent that does not ask
            is bounded by the sandbox alone.
        confinement: what the agent can see of this machine.
        redactor: masks secrets in the output of commands that are run for the agent.
        home: where a known agent keeps its sessions. None for a folder that goes with the executor, or with the
            agent's own provider for the user's own, where their login lies.
        files, terminals: whether the agent is offered to have files read and written, and commands run, for it.
        start_timeout: in seconds, until the agent has to be ready for a prompt.

    Raises:
        UsageError: neither an agent nor a command, or an endpoint that the agent cannot be told of.
    """

    name: ClassVar[str] = "acp"

    def __init__(
        self,
        agent: Agent | None = None,
        command: Sequence[str] = (),
        *,
        env: Mapping[str, str] | None = None,
        model: str | None = None,
        base_url: str | None = None,
        api_key: str | None = None,
        headers: Mapping[str, str] | None = None,
        wire_api: str = "completions",
        permissions: PermissionPolicy | None = None,
        confinement: Confinement | None = None,
        redactor: Redactor | None = None,
        home: Path | None = None,
        files: bool = True,
        terminals: bool = True,
        start_timeout: float = 60.0,
        progress: "Progress | None" = None,
    ) -> None:
        self._known, self.agent = agent is not None, agent or Agent()
        self.model, self.endpoint = model, Endpoint(model, base_url, api_key, headers, wire_api)
        self.permissions, self.confinement = permissions or PermissionPolicy(), confinement or Confinement()
        self._command, self._env, self._progress = list(command), dict(env or {}), progress
        self._redactor, self._home = redactor or Redactor(), home
        self._own_home: TemporaryDirectory[str] | None = None
        self._files, self._terminals, self._start_timeout = files, terminals, start_timeout
        self.account = base_url or self.agent.name
        self.measures = frozenset({"tokens"}) if self.agent.counts else frozenset()
        self._check()

    def _check(self) -> None:
        told, url = [*self._command, *self._env.values()], self.endpoint.url
        if not self._known and not self._command:
            raise UsageError(
                "The executor acp does not know which agent to run.",
                'Name one in [plugins.acp], as in agent = "opencode" or command = ["my-agent", "--acp"].',
            )
        if url and self._known and not self.model:
            raise UsageError(f"The endpoint {Redactor()(url)} needs a model's name.", "Give one with --model.")
        if url and not self._known and not any("{base_url}" in word for word in told):
            raise UsageError(
                "Neither plugins.acp.command nor plugins.acp.env names the endpoint.",
                "Put {base_url} into its command or into plugins.acp.env, or remove executor.base_url.",
            )

    async def check(self) -> str:
        if not self._command:
            return f"{self.agent.name}, {await self.agent.present()}"
        program = filled(self._command, self.endpoint)[0]
        if found := shutil.which(program):
            return found
        raise ExecutorUnavailableError(f"There is no program {program!r}.", "Correct the setting plugins.acp.command.")

    async def start(self) -> None:
        await self.confinement.require()
        if not self._command:
            self._command = await self.agent.found(self._progress)

    async def stop(self) -> None:
        if self._own_home:
            self._own_home.cleanup()
            self._own_home = None

    @property
    def home(self) -> Path | None:
        """Where sessions are kept; None for the user's own folder. One that goes with the executor is made here."""
        if self._home is None and self._known and self.endpoint.url and self._own_home is None:
            self._own_home = TemporaryDirectory(prefix="ralph-acp-", ignore_cleanup_errors=True)
        return Path(self._own_home.name) if self._own_home else self._home

    def command(self, turn: Turn) -> list[str]:
        """The command line of the agent, within its bounds."""
        own = self.agent.command(self.endpoint, self.home, read_only=turn.read_only)
        argv = [*filled(self._command, self.endpoint), *own]
        places = [self.home] if self.home else self.agent.places()
        readable = [Path(argv[0]).parent, *self.agent.places()]
        return self.confinement.command(argv, cwd=turn.workspace, agent=True, readable=readable, writable=places)

    def environment(self, turn: Turn) -> dict[str, str]:
        """The whole environment: no secret but the login, where the agent's own provider needs one."""
        logins = () if self.endpoint.url else self.agent.logins
        given = zip(self._env, filled(list(self._env.values()), self.endpoint), strict=True)
        own = self.agent.environment(self.endpoint, self.home, read_only=turn.read_only)
        return {**self.confinement.environment(logins), **own, **dict(given)}

    async def execute(self, prompt: Prompt, turn: Turn) -> Output:
        turn.transcript.executor, turn.transcript.model = self.name, self.model
        return turn.transcript.finish(await self._converse(prompt, turn))

    async def _converse(self, prompt: Prompt, turn: Turn) -> Outcome:
        transcript = turn.transcript
        try:
            async with spawn(self.command(turn), cwd=turn.workspace, env=self.environment(turn)) as program:
                conversation = Conversation(program, turn, self._offer(turn))
                try:
                    timed_out = await within_time(turn, partial(conversation.hold, prompt.text))
                finally:
                    transcript.diagnostics = conversation.complaint
                    if transcript.did_something:
                        program.suspected()
                    program.close_stdin()
        except ProgramMissingError as error:
            return Failed(failure="unavailable", message=str(error))
        outcome = timed_out or conversation.outcome
        if isinstance(outcome, Failed) and outcome.failure == "rate_limited" and outcome.retry_after is None:
            return evolve(outcome, retry_after=self.agent.retry_after(self.home))
        return outcome or Failed(failure="crashed", message="The turn ended before the agent's answer.")

    def _offer(self, turn: Turn) -> Offer:
        return Offer(
            self.agent,
            self.permissions.for_reading() if turn.read_only else self.permissions,
            self.confinement,
            self._redactor,
            files=self._files,
            terminals=self._terminals,
            start_timeout=self._start_timeout,
        )
