"""Any agent that speaks the Agent Client Protocol, as an executor: one process for each turn.

A process of its own lets each turn start afresh and leaves nothing running behind it. A session is continued by
`session/load`, if the agent supports that.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar, Unpack

from ralph import Prompt
from ralph.errors import ExecutorUnavailableError, UsageError
from ralph.executors import BOUNDS, AgentExecutor, AgentOptions, Bound, Redactor, Turn, find_program, within_time
from ralph.types import evolve
from ralph.types.output import Failed, Outcome
from ralph_acp.agents import Agent, Endpoint, filled
from ralph_acp.conversation import Conversation, Offer

__all__ = ["AcpExecutor"]


class AcpExecutor(AgentExecutor):
    """Runs an agent through the Agent Client Protocol.

    Args:
        agent: a known agent; None for one that is only given by its command.
        command: the program and its arguments; empty to look for the known agent's.
        env: further variables. `{model}`, `{base_url}` and `{api_key}` in them and in the command are filled in.
        wire_api: the endpoint's dialect.
        redactor: masks secrets in the output of commands that are run for the agent.
        files, terminals: the agent is offered to have files read and written, and commands run, for it.
        start_timeout: in seconds, until the agent has to be ready for a prompt.
        options: those of `AgentExecutor`. `permissions` decides what the agent requests; an agent that does not ask is
            bounded by the sandbox alone, so that of an unknown agent no more is asked. `home` is for a known agent.

    Raises:
        UsageError: neither an agent nor a command, or an endpoint that the agent does not learn of.
    """

    name: ClassVar[str] = "acp"
    confines: frozenset[Bound] = BOUNDS
    endpoint_needs_model: ClassVar[bool] = False

    def __init__(
        self,
        agent: Agent | None = None,
        command: Sequence[str] = (),
        *,
        env: Mapping[str, str] | None = None,
        wire_api: str = "completions",
        redactor: Redactor | None = None,
        files: bool = True,
        terminals: bool = True,
        start_timeout: float = 60.0,
        **options: Unpack[AgentOptions],
    ) -> None:
        super().__init__(**options)
        self._known, self.agent = agent is not None, agent or Agent()
        self.endpoint = Endpoint(self.model, self.base_url, self.api_key, self.headers, wire_api)
        self._command, self._env, self._redactor = list(command), dict(env or {}), redactor or Redactor()
        self._files, self._terminals, self._start_timeout = files, terminals, start_timeout
        self.account = self.base_url or self.agent.name
        self.measures = frozenset({"tokens"}) if self.agent.counts else frozenset()
        if not self._known:
            self.confines &= {"sandbox", "environment"}
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
        if found := find_program(program):
            return found
        raise ExecutorUnavailableError(f"There is no program {program!r}.", "Correct the setting plugins.acp.command.")

    async def start(self) -> None:
        await super().start()
        if not self._command:
            self._command = await self.agent.found(self.progress)

    @property
    def has_own_home(self) -> bool:
        """True if the home folder belongs to the executor: only a known agent can be given one."""
        return self._known and super().has_own_home

    def user_folders(self) -> list[Path]:
        return self.agent.places()

    def command(self, turn: Turn) -> list[str]:
        """Return the command line of the agent, within its bounds."""
        own = self.agent.command(self.endpoint, self.home, read_only=turn.read_only)
        argv = [*filled(self._command, self.endpoint), *own]
        places, hosts = self.agent.places(), () if self.base_url else self.agent.hosts()
        return self.confined(argv, turn.workspace, readable=places, hosts=hosts, read_only=turn.read_only)

    def environment(self, turn: Turn) -> dict[str, str]:
        """Return the whole environment: no secret but the login, if the agent's own provider needs one."""
        logins = () if self.base_url else self.agent.logins
        given = zip(self._env, filled(list(self._env.values()), self.endpoint), strict=True)
        own = self.agent.environment(self.endpoint, self.home, read_only=turn.read_only)
        return {**self.confinement.environment(logins), **own, **dict(given)}

    async def converse(self, prompt: Prompt, turn: Turn) -> Outcome:
        async with self.running(self.command(turn), turn, self.environment(turn)) as program:
            conversation = Conversation(program, turn, self._offer(turn))
            try:
                timed_out = await within_time(turn, partial(conversation.hold, prompt.text))
            finally:
                turn.transcript.diagnostics = conversation.complaint
                program.close_stdin()
        outcome = timed_out or conversation.outcome
        if isinstance(outcome, Failed) and outcome.failure == "rate_limited" and outcome.retry_after is None:
            return evolve(outcome, retry_after=self.agent.retry_after(self.home))
        return outcome or Failed(failure="crashed", message="The turn ended before the agent's answer.")

    def _offer(self, turn: Turn) -> Offer:
        return Offer(
            self.agent,
            self.policy(turn),
            self.confinement,
            self._redactor,
            files=self._files,
            terminals=self._terminals,
            start_timeout=self._start_timeout,
        )
