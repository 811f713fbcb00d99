"""Two executors as one: the second steps in if the first fails.

| the first one's turn ended as | then |
|---|---|
| completed, interrupted | that is the turn |
| unavailable, protocol, crashed | once more after a short pause, then the second one |
| rate limited | that is the turn (Ralph pauses), unless the second is declared to use another account |
| auth, refused | that is the turn: the user has to act, or it would be refused again |
| timed out | that is the turn: the agent may be half-way, and its time was spent; the loop continues from there |

There is no other try when the time for the iteration is nearly used up. After an attempt that had begun to use tools,
the prompt says that the workspace may be half-changed. A breaker of its own leaves the first executor alone once it has
failed again and again, which saves the loop the wait.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from time import monotonic
from typing import ClassVar

import anyio

from ralph.errors import ExecutorUnavailableError
from ralph.executors.base import Executor, Turn
from ralph.executors.execute import Relay, Sleep, asked, may_pass, nearly_over
from ralph.executors.permissions import PermissionPolicy
from ralph.prompt import Prompt
from ralph.system.sandbox import Confinement
from ralph.types.output import Failed, Output

_BOUND = 500


@dataclass(slots=True)
class PrimaryBreaker:
    """The breaker over the first executor: it decides whether that one is asked at all.

    Attributes:
        failure_threshold: fallbacks in a row that open it.
        cool_down: seconds for which it stays open; the next turn then asks the first executor once more, and a
            failure opens the breaker again.
    """

    failure_threshold: int = 3
    cool_down: float = 600.0
    clock: Callable[[], float] = monotonic
    failures: int = 0
    opened_at: float | None = None

    @property
    def allows(self) -> bool:
        return self.opened_at is None or self.clock() - self.opened_at >= self.cool_down

    @property
    def probing(self) -> bool:
        return self.opened_at is not None and self.allows

    def succeeded(self) -> None:
        self.failures, self.opened_at = 0, None

    def failed(self) -> None:
        self.failures += 1
        if self.failures >= self.failure_threshold or self.probing:
            self.open()

    def open(self) -> None:
        self.opened_at = self.clock()


class FallbackExecutor(Executor):
    """Asks `primary`, and `secondary` if that fails for a reason that another executor may not have.

    `Output.executor` names the one that answered, `Output.attempts` lists the failed ones. The secondary is not started
    before it is needed. A session belongs to the executor that opened it: the other one starts a new one. The breaker
    is that over the primary; `sleep` waits between the two tries of one executor.
    """

    name: ClassVar[str] = "fallback"
    tries_again: ClassVar[bool] = True

    def __init__(
        self,
        primary: Executor,
        secondary: Executor,
        *,
        breaker: PrimaryBreaker | None = None,
        sleep: Sleep = anyio.sleep,
    ) -> None:
        self.primary, self.secondary = primary, secondary
        self.measures = primary.measures & secondary.measures
        self.confines = primary.confines & secondary.confines
        self.account = primary.account
        self._breaker = breaker or PrimaryBreaker()
        self._sleep = sleep
        self._started: set[int] = set()
        self._unsaid = ""

    def confine(self, confinement: Confinement, permissions: PermissionPolicy) -> None:
        self.primary.confine(confinement, permissions)
        self.secondary.confine(confinement, permissions)
        self.confinement = self.primary.confinement

    async def login_command(self) -> list[str]:
        return await self.primary.login_command()

    async def start(self) -> None:
        """Start the primary, or the secondary if the primary cannot work."""
        problem = await self._unready(self.primary)
        if problem is None:
            return
        other = await self._unready(self.secondary)
        if other is not None:
            raise ExecutorUnavailableError(
                f"Neither {self.primary.name} nor {self.secondary.name} can work. "
                f"{self.primary.name}: {problem.problem} {self.secondary.name}: {other.problem}",
                " ".join(dict.fromkeys(filter(None, (problem.remedy, other.remedy)))),
            ) from problem
        self._breaker.open()
        self._unsaid = f"{self.primary.name} cannot work, so {self.secondary.name} does. {problem}"

    async def execute(self, prompt: Prompt, turn: Turn) -> Output:
        if self._unsaid:
            turn.transcript.diagnosed(self._unsaid)
            self._unsaid = ""
        relay = Relay(prompt, turn)
        if not self._breaker.allows and await self._steps_in(turn):
            return await self._asked(self.secondary, relay)
        output = await self._first_output(relay)
        if output.outcome.kind == "completed":
            self._breaker.succeeded()
        if not self._switches(output) or nearly_over(turn) or not await self._steps_in(turn):
            return output
        relay.hand_on(output, self.primary, self.secondary)
        self._breaker.failed()
        if not self._breaker.allows:
            turn.transcript.diagnosed(
                f"{self.primary.name} keeps failing, so only {self.secondary.name} is used for "
                f"{self._breaker.cool_down:g} seconds."
            )
        return await self._asked(self.secondary, relay, tries=1)

    async def stop(self) -> None:
        """Stop what was started; the secondary also if stopping the primary raises."""
        try:
            await self._stop(self.primary)
        finally:
            await self._stop(self.secondary)

    async def _first_output(self, relay: Relay) -> Output:
        """Return the primary's output. One that is only probed gets a single try."""
        tries = 1 if self._breaker.probing else 2
        if problem := await self._unready(self.primary):
            return relay.turn.transcript.finish(Failed(failure="unavailable", message=str(problem)[:_BOUND]))
        return await self._asked(self.primary, relay, tries)

    async def _asked(self, executor: Executor, relay: Relay, tries: int = 2) -> Output:
        relay.turn = turn = self._with_own_session(executor, relay.turn)
        turn.transcript.executor = executor.name
        return await asked(executor, relay, tries=tries, sleep=self._sleep)

    def _with_own_session(self, executor: Executor, turn: Turn) -> Turn:
        """Give an executor only its own session; one of unknown owner is the primary's, which mostly answers."""
        owner = self.secondary if turn.session_of == self.secondary.name else self.primary
        if turn.session_id is None or owner is executor:
            return turn
        turn.transcript.diagnosed(f"{executor.name} cannot continue the session of {owner.name}: it starts a new one.")
        return replace(turn, session_id=None)

    def _switches(self, output: Output) -> bool:
        if output.failure and output.failure.failure == "rate_limited":
            return self.secondary.account not in {"", self.primary.account}
        return may_pass(output)

    async def _steps_in(self, turn: Turn) -> bool:
        """Return True if the secondary can work; otherwise show why it cannot."""
        problem = await self._unready(self.secondary)
        if problem:
            turn.transcript.diagnosed(f"{self.secondary.name} cannot step in. {problem}")
        return problem is None

    async def _unready(self, executor: Executor) -> ExecutorUnavailableError | None:
        """Start the executor, once; return why it cannot work, or None."""
        if id(executor) in self._started:
            return None
        self._started.add(id(executor))
        try:
            await executor.start()
        except ExecutorUnavailableError as error:
            with anyio.CancelScope(shield=True):
                await self._stop(executor)
            return error
        return None

    async def _stop(self, executor: Executor) -> None:
        if id(executor) in self._started:
            self._started.discard(id(executor))
            await executor.stop()
