"""The base of every executor: it hands a prompt to an agent and returns the output.

An executor is a class with a name and one coroutine:

```python
class Echo(Executor):
    name = "echo"
    confines = frozenset({"sandbox", "environment"})

    async def execute(self, prompt: Prompt, turn: Turn) -> Output:
        done = await self.run_program(["my-agent"], turn, stdin=prompt.text)
        return turn.transcript.finish(Answered(), text=done.stdout)
```

An agent's failure is a value (`Failed`), never an exception: it reaches the breaker. Everything that an agent says
while it works goes through `turn.transcript`, which masks secrets, informs viewers, feeds the watchdog, and keeps what
there is when the turn is cut short.
"""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Any, ClassVar, Literal, Self, TypeVar, Unpack, get_args

import anyio

from ralph.errors import UnconfinedError, in_words
from ralph.executors.permissions import PermissionPolicy
from ralph.prompt import Prompt
from ralph.system.process import Finished, run
from ralph.system.sandbox import Confinement, Needs
from ralph.system.secrets import Redactor
from ralph.types import evolve
from ralph.types.output import Attempt, Failed, Message, Outcome, Output, TimedOut, Timeouts, ToolCall, Usage

_T = TypeVar("_T")

Quantity = Literal["tokens", "premium_requests", "cost"]
"""A quantity that an executor can measure; a limit on another one is an error at the start."""

Bound = Literal["permission", "deny", "sandbox", "environment"]
"""A bound for the agent: the permission mode, patterns to deny, the sandbox with the limits of resources,
and the choice of variables.
"""

BOUNDS: frozenset[Bound] = frozenset(get_args(Bound))

_BOUND = 2_000
_SECONDS_TO_STOP = 60.0
_MOST_UNFINISHED = 100_000
"""Characters that are kept of an unfinished message, in case it never ends."""


@dataclass(frozen=True, slots=True)
class MessageDelta:
    """A piece of an unfinished message: shown live, never stored."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """A use of a tool has begun."""

    call: ToolCall


@dataclass(frozen=True, slots=True)
class ToolFinished:
    """A use of a tool has ended."""

    call: ToolCall


@dataclass(frozen=True, slots=True)
class FellBack:
    """The executor `before` failed, and `after` (the same one, for a retry) tries next."""

    before: str
    after: str
    attempt: Attempt


@dataclass(frozen=True, slots=True)
class Diagnosed:
    """Something the user should know that is neither a message nor a failure, such as a restarted runtime."""

    text: str


TurnEvent = Message | MessageDelta | ToolStarted | ToolFinished | FellBack | Diagnosed | Usage
"""An event that a transcript sends to its listener; a `Usage` is that of the whole turn so far."""


class Transcript:
    """The messages and tool calls of the turn so far; every text in it is cleaned and masked.

    One executor at a time writes it. The runner reads it, and takes `finish(Interrupted(…))` from it when the turn is
    cut short.
    """

    def __init__(self, emit: Callable[[TurnEvent], None] | None = None, redactor: Redactor | None = None) -> None:
        self._emit: Callable[[TurnEvent], None] = emit or (lambda _: None)
        self._redactor = redactor or Redactor()
        self._stream = self._redactor.stream()
        self._messages: list[Message] = []
        self._unfinished = ""
        self._calls: dict[str, ToolCall] = {}
        self._started: dict[str, float] = {}
        self._usage = Usage()
        self._attempts: list[Attempt] = []
        self._began = self._attempt_began = monotonic()
        self.last_activity = self._began
        self.executor = ""
        self.model: str | None = None
        self.session_id: str | None = None
        self.diagnostics = ""

    def alive(self) -> None:
        """Note a sign of life that is nothing else."""
        self.last_activity = monotonic()

    def delta(self, text: str) -> None:
        """Add a piece of an unfinished message."""
        self.alive()
        self._say(self._stream.feed(text))

    def message(self, text: str, tool_calls: int = 0) -> None:
        """Add a whole message; `tool_calls` counts the tools that it asks for."""
        self.alive()
        self._say(self._stream.flush())
        self._unfinished = ""
        message = Message(text=self._redactor(text), tool_calls=tool_calls)
        self._messages.append(message)
        self._emit(message)

    def tool_started(self, call_id: str, name: str, arguments: str = "") -> None:
        self.alive()
        call = ToolCall(id=self._bounded(call_id), name=self._bounded(name), arguments=self._bounded(arguments))
        self._calls[call_id] = call
        self._started[call_id] = monotonic()
        self._emit(ToolStarted(call))

    def tool_finished(self, call_id: str, *, success: bool, result: str = "", denied: bool = False) -> None:
        """Record the end of a tool; one that was never started is ignored."""
        self.alive()
        began = self._started.pop(call_id, None)
        if call_id not in self._calls or began is None:
            return
        changes = {
            "success": success,
            "denied": denied,
            "result": self._bounded(result),
            "duration": monotonic() - began,
        }
        self._calls[call_id] = call = evolve(self._calls[call_id], **changes)
        self._emit(ToolFinished(call))

    def used(self, usage: Usage) -> None:
        """Add to the usage of the running attempt."""
        self.alive()
        self._usage += usage
        self._emit(self.usage)

    def diagnosed(self, text: str) -> None:
        """Show viewers something that is neither a message nor a failure."""
        self._emit(Diagnosed(self._bounded(text)))

    def gave_up(self, executor: str, outcome: Outcome, following: str) -> None:
        """Close the running attempt as failed; `following` names the executor that tries next.

        Its messages and tool calls leave the transcript, its usage and outcome stay in `Output.attempts`.
        """
        attempt = Attempt(
            executor=executor,
            outcome=self._masked(outcome),
            usage=self._usage,
            duration=monotonic() - self._attempt_began,
        )
        self._attempts.append(attempt)
        self._messages, self._calls, self._started, self._usage = [], {}, {}, Usage()
        self._stream, self._unfinished = self._redactor.stream(), ""
        self.session_id, self.diagnostics = None, ""
        self._attempt_began = monotonic()
        self.alive()
        self._emit(FellBack(executor, following, attempt))

    @property
    def messages(self) -> tuple[Message, ...]:
        return tuple(self._messages)

    @property
    def usage(self) -> Usage:
        """Of the whole turn so far, failed attempts included."""
        return sum((attempt.usage for attempt in self._attempts), self._usage)

    @property
    def did_something(self) -> bool:
        """True if the running attempt has used a tool, and so may have changed the workspace."""
        return bool(self._calls)

    def expires(self, timeouts: Timeouts) -> tuple[float, TimedOut]:
        """Return when, on the monotonic clock, the turn is over if nothing more happens, and as what."""
        ends = [(self._began + timeouts.iteration, TimedOut(limit="iteration", after=timeouts.iteration))]
        if self._started:
            oldest = min(self._started.values())
            ends.append((oldest + timeouts.tool, TimedOut(limit="tool", after=timeouts.tool)))
        else:
            ends.append((self.last_activity + timeouts.idle, TimedOut(limit="idle", after=timeouts.idle)))
        return min(ends, key=lambda end: end[0])

    def finish(self, outcome: Outcome, *, text: str | None = None) -> Output:
        """Return the turn as an `Output`.

        An unfinished message is its last message, but never its text.

        Args:
            text: the agent's answer, for executors that have nothing but one; it becomes a message.
        """
        if text is not None:
            self.message(text)
        self._say(self._stream.flush())
        unfinished = (Message(text=self._unfinished),) if self._unfinished else ()
        last = self._messages[-1] if self._messages else Message(text="")
        return Output(
            text="" if last.tool_calls else last.text,
            messages=(*self.messages, *unfinished),
            tool_calls=tuple(self._calls.values()),
            usage=self.usage,
            outcome=self._masked(outcome),
            executor=self.executor,
            model=self.model and self._redactor(self.model),
            session_id=self.session_id and self._redactor(self.session_id),
            duration=monotonic() - self._began,
            attempts=tuple(self._attempts),
            diagnostics=self._redactor(self.diagnostics)[-_BOUND:],
        )

    def _say(self, shown: str) -> None:
        if shown:
            self._unfinished += shown[: _MOST_UNFINISHED - len(self._unfinished)]
            self._emit(MessageDelta(shown))

    def _masked(self, outcome: Outcome) -> Outcome:
        """Mask the message of a failure: providers like to repeat a key that they do not accept."""
        if isinstance(outcome, Failed):
            return evolve(outcome, message=self._redactor(outcome.message))
        return outcome

    def _bounded(self, text: str) -> str:
        """Return the beginning of a text.

        A secret that is cut in two is left out, because half of it would not be recognised.
        """
        stream = self._redactor.stream()
        shown = stream.feed(text[: 2 * _BOUND])
        return (shown + stream.flush() if len(text) <= 2 * _BOUND else shown)[:_BOUND]


@dataclass(slots=True)
class Turn:
    """One turn for an executor, besides the prompt.

    Attributes:
        workspace: the folder that the agent works in; absolute.
        transcript: takes everything that the agent says and does.
        session_id: the agent's session to continue; None for a fresh one.
        session_of: the executor that this session belongs to.
        read_only: the agent is only to look, as for a review. If possible, the executor gives it no tool that changes
            anything or connects to others, and lets it take no instructions from the workspace's files.
    """

    workspace: Path
    iteration: int = 1
    timeouts: Timeouts = field(default_factory=Timeouts)
    transcript: Transcript = field(default_factory=Transcript)
    session_id: str | None = None
    session_of: str = ""
    read_only: bool = False


class Executor:
    """Hands a prompt to an agent and returns the output. Subclass it and give it a `name`.

    An executor lives in `async with`: `start` is called once before the first turn, `stop` once at the end, also
    after a failure. `execute` is called for one turn at a time. When it is cancelled, it must end the agent's work,
    processes included, and then let the cancellation propagate; it has a few seconds for that.

    Attributes:
        measures: the quantities of `Usage` that it fills in; a limit on another one is an error at the start.
        confines: the bounds that it keeps; another one that the user asks for is an error at the start. A program that
            is started with `run_program`, or with `confined` and `confinement.environment()`, keeps the sandbox and the
            choice of variables. A subclass with an `execute` of its own declares again what it keeps.
        tries_again: it tries a failed turn again by itself, if that is of any use; else a failure that may pass is
            tried once more for it.
        account: the account with the quota. A rate limit falls back only to an executor of another account.
    """

    name: ClassVar[str] = ""
    tries_again: ClassVar[bool] = False
    measures: frozenset[Quantity] = frozenset()
    confines: frozenset[Bound] = frozenset()
    account: str = ""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        own = vars(cls)
        if "confines" not in own and ("execute" in own or "converse" in own):
            cls.confines = frozenset()

    @cached_property
    def confinement(self) -> Confinement:
        """The bounds of the programs that it starts."""
        return Confinement()

    @cached_property
    def permissions(self) -> PermissionPolicy:
        """The policy for the agent's tools."""
        return PermissionPolicy()

    def confine(self, confinement: Confinement, permissions: PermissionPolicy) -> None:
        """Take over the bounds that the user asks for; called before `start`. Those that it was built with stay.

        Raises:
            UnconfinedError: it does not keep one of them.
        """
        boxed = "sandbox" in self.confines
        for bound, option in _asked(confinement, permissions):
            mounted = bound == "permission" and boxed  # in the sandbox, the workspace is then read-only
            if bound not in self.confines and not (mounted and confinement.sandbox.used):
                raise UnconfinedError(self.name, option, bound, boxed=mounted)
        if confinement.asks or not self.confinement.asks:
            self.confinement = confinement
        if permissions.asks:
            self.permissions = permissions

    def policy(self, turn: Turn) -> PermissionPolicy:
        """Return what the agent's tools may do in a turn."""
        return self.permissions.for_reading() if turn.read_only else self.permissions

    def confined(self, argv: Sequence[str], workspace: Path, **needs: Unpack[Needs]) -> list[str]:
        """Return the command line that runs the agent's program within its bounds; unchanged without any.

        Args:
            argv: the program and its arguments; the sandbox shows the program's folder.
            needs: what a sandbox has to open besides (`readable`, `writable`, `hosts`), and `read_only`, with which the
                workspace may not be written either, as in the permission mode "read-only".
        """
        needs["read_only"] = needs.get("read_only", False) or self.permissions.mode == "read-only"
        if Path(argv[0]).is_absolute():
            needs["readable"] = [Path(argv[0]).parent, *needs.get("readable", ())]
        return self.confinement.command(argv, cwd=workspace, agent=True, **needs)

    async def run_program(
        self, argv: Sequence[str], turn: Turn, *, stdin: bytes | str | None = None, hosts: Iterable[str] = ()
    ) -> Finished:
        """Run a program for a turn: within its bounds, in its time, with no secret, and leaving nothing behind.

        Raises:
            ProgramMissingError: there is no such program.
            UsageError: it cannot be started with these arguments.
        """
        return await run(
            self.confined(argv, turn.workspace, hosts=hosts, read_only=turn.read_only),
            cwd=turn.workspace,
            env=self.confinement.environment(),
            stdin=stdin,
            timeout=turn.timeouts.iteration,
            end_leftovers=True,
        )

    async def check(self) -> str:
        """Return what the executor would work with here, such as its program, for `ralph doctor`; empty if unknown.

        Nothing is prepared: nothing is fetched, and no model is asked.

        Raises:
            RalphError: it cannot work here; why, and what to do.
        """
        return ""

    async def login_command(self) -> list[str]:
        """Return the command with which the user logs the agent in, for `ralph login`; empty if it has none."""
        return []

    async def start(self) -> None:
        """Prepare for turns. Raises `ExecutorUnavailableError` if the executor cannot work at all."""

    async def execute(self, prompt: Prompt, turn: Turn) -> Output:
        """Run one turn of the agent. Failures of the agent are in the output, not raised."""
        raise NotImplementedError

    async def stop(self) -> None:
        """Free what `start` and `execute` took; it may be called after a failed `start`, and twice."""

    async def __aenter__(self) -> Self:
        try:
            await self._alive(self.start)
        except BaseException:
            await self.__aexit__(None, None, None)
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with anyio.move_on_after(_SECONDS_TO_STOP, shield=True) as bound:
            await self._alive(self.stop)
        if bound.cancelled_caught:
            raise RuntimeError(f"the executor {self.name} did not stop within {_SECONDS_TO_STOP:g} seconds")

    async def _alive(self, step: Callable[[], Awaitable[None]]) -> None:
        """Take a step that must not end the program, as `sys.exit` of foreign code would."""
        try:
            await step()
        except SystemExit as error:
            raise RuntimeError(f"the executor {self.name} tried to end the program: {in_words(error)}") from error


def _asked(confinement: Confinement, permissions: PermissionPolicy) -> Iterator[tuple[Bound, str]]:
    """Yield the bounds that the user asks for, each with the option that does so."""
    if option := confinement.sandbox.option:
        yield "sandbox", option
    if permissions.mode == "read-only":
        yield "permission", "--permission read-only"
    if permissions.deny:
        yield "deny", f"--deny {permissions.deny[0]!r}"
    if confinement.variables.only is not None:
        yield "environment", "--env-only"


async def watchdog(turn: Turn) -> TimedOut:
    """Return when the turn has run out of time; cancel it when the turn ends first.

    It sleeps until the earliest moment at which a time can run out, and looks again. A tool that starts or ends
    meanwhile changes the limit in force, but the new one runs out no earlier than its whole length from now.
    """
    shortest = min(turn.timeouts.idle, turn.timeouts.tool)
    while True:
        at, timed_out = turn.transcript.expires(turn.timeouts)
        left = at - monotonic()
        if left <= 0:
            return timed_out
        await anyio.sleep(min(left, shortest))


async def within_time(turn: Turn, work: Callable[[], Awaitable[None]]) -> TimedOut | None:
    """Run `work` with the watchdog, which cancels it at the end of the time; return what ran out, or None.

    An exception of `work` reaches the caller as it is.
    """
    return await first_of(work, partial(watchdog, turn))


async def first_of(*ways: Callable[[], Awaitable[_T]]) -> _T:
    """Return what the first to end returns, or raise its exception as it is; the others are cancelled."""
    ends: list[_T] = []
    failures: list[Exception] = []

    async def go(way: Callable[[], Awaitable[_T]]) -> None:
        try:
            ends.append(await way())
        except Exception as error:  # noqa: BLE001 - it is raised again, outside of the group
            failures.append(error)
        group.cancel_scope.cancel()

    async with anyio.create_task_group() as group:
        for way in ways:
            group.start_soon(go, way)
    for failure in failures:
        raise failure
    return ends[0]
