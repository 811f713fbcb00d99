"""The base of every executor for a real agent, and of one with a program that prints JSON lines.

`AgentExecutor` has what all agents share: the model and its endpoint, the permission policy, the confinement, the home
folder, and a process that leaves nothing behind. A subclass writes `converse`, which runs one turn.

`ProgramExecutor` runs one process for each turn, with the prompt on standard input. A subclass writes `command`, and a
`Listener` that puts the events of the program into the transcript:

```python
class MyListener(Listener):
    def take(self, event: Event) -> None:
        if event.get("type") == "message":
            self.transcript.message(text(event.get("text")))
        elif event.get("type") == "end":
            self.result = 0


class MyExecutor(ProgramExecutor):
    name, label = "mine", "My agent"

    def command(self, prompt: Prompt, turn: Turn) -> list[str]:
        return ["my-agent", "--json", *(["--read-only"] if turn.read_only else [])]

    def listener(self, turn: Turn) -> Listener:
        return MyListener(turn.transcript)
```
"""

import codecs
import os
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar, TypedDict, Unpack

import anyio

from ralph.errors import RalphError, UsageError
from ralph.executors.base import Bound, Executor, Transcript, Turn, within_time
from ralph.executors.endpoint import Address, parse_endpoint
from ralph.executors.failures import describe_exit
from ralph.executors.npm import Progress
from ralph.executors.permissions import PermissionPolicy
from ralph.executors.program_output import Event, JsonLines, Line, Oversized, Unreadable
from ralph.prompt import Prompt
from ralph.system.process import ByteStream, Running, spawn
from ralph.system.process_tree import scratch_folder
from ralph.system.sandbox import Confinement, Needs
from ralph.types.output import Answered, Failed, Outcome, Output

NO_KEY = "ralph-local-no-key"
"""The key for an endpoint that needs none. It is long: agents mask a key wherever it occurs in their output."""

_TAIL = 2_000
_LONGEST_LINE = 16_384


class AgentOptions(TypedDict, total=False):
    """The options of `AgentExecutor`, for the signature of a subclass that passes them on."""

    model: str | None
    base_url: str | None
    api_key: str | None
    headers: Mapping[str, str] | None
    permissions: PermissionPolicy | None
    confinement: Confinement | None
    home: Path | None
    progress: Progress | None


class AgentExecutor(Executor):
    """An executor for a real agent. Write `converse`.

    Args:
        program: the agent's program; None to find or fetch one.
        model: None for the agent's default.
        base_url: an endpoint instead of the agent's own provider; no login is needed then.
        api_key: the endpoint's, or the provider's.
        headers: further ones for the endpoint.
        permissions: what the agent's tools may do.
        confinement: what the agent can see of this machine: variables, and a sandbox.
        home: the folder with logins and sessions. None for the user's own, or with an endpoint for one that is removed
            by `stop`.
        progress: called as the download of a program proceeds.

    Raises:
        UsageError: an endpoint without a model, if `endpoint_needs_model`.
    """

    confines: frozenset[Bound] = frozenset()
    logins: ClassVar[tuple[str, ...]] = ()
    """The variables with a login, best first; the first that is set is passed on although it looks secret."""

    hosts: ClassVar[tuple[str, ...]] = ()
    """The hosts of the agent's own provider, which a sandbox lets it reach."""

    endpoint_needs_model: ClassVar[bool] = True
    program: Path | None

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
        progress: Progress | None = None,
    ) -> None:
        if base_url and not model and self.endpoint_needs_model:
            raise UsageError(f"The endpoint {base_url} needs a model's name.", "Give one with --model.")
        self.program, self.model, self.base_url, self.api_key = program, model, base_url, api_key
        self.headers = dict(headers or {})
        self.permissions, self.confinement = permissions or PermissionPolicy(), confinement or Confinement()
        self.progress = progress
        self.account = base_url or self.name
        self._home = home
        self._folders: TemporaryDirectory[str] | None = None

    async def converse(self, prompt: Prompt, turn: Turn) -> Outcome:
        """Run one turn, put it into `turn.transcript`, and return how it ended.

        A `RalphError` counts as unavailable. When it is cancelled, it ends the agent's work.
        """
        raise NotImplementedError

    async def execute(self, prompt: Prompt, turn: Turn) -> Output:
        turn.transcript.executor, turn.transcript.model = self.name, self.model
        try:
            outcome = await self.converse(prompt, turn)
        except RalphError as error:
            outcome = Failed(failure="unavailable", message=str(error))
        return turn.transcript.finish(outcome)

    async def start(self) -> None:
        await self.confinement.require()

    async def stop(self) -> None:
        if self._folders:
            self._folders.cleanup()
            self._folders = None

    @property
    def logs_in(self) -> bool:
        """True if the agent uses the user's own login."""
        return not self.base_url and not self.api_key

    @property
    def has_own_home(self) -> bool:
        """True if the agent's home folder belongs to the executor."""
        return self._home is None and bool(self.base_url)

    @property
    def home(self) -> Path | None:
        """The folder with logins and sessions; None for the user's own."""
        return self.own_folder("home") if self.has_own_home else self._home

    def own_folder(self, name: str) -> Path:
        """Return a folder that `stop` removes; it is made when it is first asked for."""
        if self._folders is None:
            self._folders = scratch_folder(self.name)
        folder = Path(self._folders.name, name)
        folder.mkdir(exist_ok=True)
        return folder

    def user_folders(self) -> list[Path]:
        """Return what the agent writes to in the user's own folders if `home` is None."""
        return []

    def inherited_environment(self) -> dict[str, str]:
        """Return the variables that the agent gets from Ralph's own: no secret but a login, if it needs one."""
        login = next(((name,) for name in self.logins if os.environ.get(name)), ()) if self.logs_in else ()
        return self.confinement.environment(login)

    def confined(self, argv: Sequence[str], workspace: Path, **needs: Unpack[Needs]) -> list[str]:
        """Return the command line that runs the agent's program within its bounds.

        As in `Executor`, and the sandbox also opens the agent's home, and the way to its model.
        """
        home = [self.home] if self.home else self.user_folders()
        model = [f"{address.host}:{address.port}"] if (address := self.endpoint_address) else self.hosts
        needs["writable"] = [*home, *needs.get("writable", ())]
        needs["hosts"] = [*model, *needs.get("hosts", ())]
        return super().confined(argv, workspace, **needs)

    @property
    def endpoint_address(self) -> Address | None:
        """The address of the endpoint; None for the agent's own provider."""
        return parse_endpoint(self.base_url) if self.base_url else None

    @asynccontextmanager
    async def running(self, argv: Sequence[str], turn: Turn, env: Mapping[str, str]) -> AsyncGenerator[Running]:
        """Start a program for a turn; leaving the block ends it, with everything that its tools have started."""
        async with spawn(argv, cwd=turn.workspace, env=env) as program:
            try:
                yield program
            finally:
                if turn.transcript.did_something:
                    program.suspected()


@dataclass(frozen=True, slots=True)
class Ending:
    """The end of an agent's process and of its turn.

    Attributes:
        code: the exit status, negative for a signal; None if the turn was given up.
        failure: what the agent itself reported last.
        result: the exit code that the agent itself reported for the turn; None if it reported none.
        answered: the agent's last message asks for no tool.
        spoke: it printed at least one event.
        complaint: the end of its error stream and of what it printed besides events.
    """

    code: int | None
    failure: Failed | None
    result: int | None
    answered: bool
    spoke: bool
    complaint: str


class Listener:
    """Follows what an agent's program prints in one turn. Write `take`, which puts an event into the transcript.

    Attributes:
        label: the program's name in messages; that of the executor.
        start_limit: seconds until the program's first output; None for no limit but the watchdog's.
        failure: what the agent itself reported last.
        given_up: continuing the turn is of no use.
        result: the exit code that the agent itself reports for the turn.
        spoke: it printed at least one event.
    """

    label = "The agent"
    start_limit: float | None = None

    def __init__(self, transcript: Transcript) -> None:
        self.transcript = transcript
        self.failure: Failed | None = None
        self.given_up = self.spoke = False
        self.result: int | None = None
        self._text = self._errors = ""
        self._first_output = anyio.Event()
        self._talking: anyio.CancelScope | None = None

    def take(self, event: Event) -> None:
        """Put an event into the transcript. The event may hold anything: this must not raise."""
        raise NotImplementedError

    def take_oversized(self, line: Oversized) -> None:
        """Handle a line that was too long to be kept. A tool that ended in it must not seem to continue."""
        self.transcript.diagnosed(f"{self.label} printed a line of {line.size:,} bytes: it is left out.")

    def take_error(self, line: str) -> None:
        """Handle a line of the error stream."""
        self._errors = f"{self._errors}{line}\n"[-_TAIL:]

    def take_text(self, said: str) -> None:
        """Keep the end of what the program prints besides events."""
        self._text = f"{self._text}{said}"[-_TAIL:]

    def keep_alive(self) -> None:
        """Note that output came: a sign of life."""
        self.transcript.alive()

    def give_up(self, failure: Failed) -> None:
        """End the turn with a failure, because continuing is of no use."""
        self.failure, self.given_up = failure, True
        if self._talking:
            self._talking.cancel()

    def finish(self) -> None:
        """Put the rest into the transcript when the turn is over, in whatever way it ended."""

    @property
    def complaint(self) -> str:
        """The end of what the program printed besides events, and of its error stream."""
        return f"{self._text}{self._errors}"

    @property
    def answered(self) -> bool:
        """True if the agent's last message asks for no tool."""
        messages = self.transcript.messages
        return bool(messages) and messages[-1].tool_calls == 0

    def ending(self, code: int | None) -> Ending:
        """Return what the turn is judged by; `code` is the exit status."""
        return Ending(
            code=None if self.given_up else code,
            failure=self.failure,
            result=self.result,
            answered=self.answered,
            spoke=self.spoke,
            complaint=self.complaint,
        )

    async def follow(self, program: Running, prompt: str) -> None:
        """Hand the prompt over, and read until the program has ended or the turn is given up."""
        async with anyio.create_task_group() as talking:
            self._talking = talking.cancel_scope
            talking.start_soon(_hand_over, program, prompt)
            talking.start_soon(self.read_errors, program.stderr)
            if self.start_limit is not None:
                talking.start_soon(self._await_start, self.start_limit)
            await self._read_events(program.stdout)
            await program.wait()

    async def read_errors(self, stream: ByteStream) -> None:
        """Read the error stream to its end, line by line; of a long line the end counts."""
        decode, rest = codecs.getincrementaldecoder("utf-8")("replace").decode, ""
        try:
            async for chunk in stream:
                self.keep_alive()
                *lines, rest = (rest + decode(chunk)).split("\n")
                rest = rest[-_LONGEST_LINE:]
                for line in lines:
                    self.take_error(line[:_LONGEST_LINE])
                    if self.given_up:
                        return
        finally:
            if rest and not self.given_up:
                self.take_error(rest)

    def take_line(self, line: Line) -> None:
        """Handle a line of the output, whatever it is."""
        match line:
            case Unreadable(text):
                self.take_text(f"{text}\n")
            case Oversized():
                self.take_oversized(line)
            case event:
                self.spoke = True
                self.take(event)

    async def _read_events(self, stream: ByteStream) -> None:
        lines = JsonLines()
        async for chunk in stream:
            self._first_output.set()
            self.keep_alive()
            for line in lines.feed(chunk):
                self.take_line(line)
                if self.given_up:
                    return
        self._first_output.set()
        for line in lines.end():
            self.take_line(line)

    async def _await_start(self, limit: float) -> None:
        with anyio.move_on_after(limit):
            await self._first_output.wait()
            return
        said = f"{self.label} gave no sign of life for {limit:g} s: can it write to its home folder and cache?"
        self.give_up(Failed(failure="unavailable", message=said))


async def _hand_over(program: Running, prompt: str) -> None:
    await program.send(prompt.encode("utf-8", "replace"))
    program.close_stdin()  # an agent with an open input may wait forever for more


class ProgramExecutor(AgentExecutor):
    """An agent with a program that reads the prompt from its input and prints JSON lines. Write `command`, `listener`.

    A turn has succeeded if the exit status and the result that the program reports are 0, the program reports no
    failure, and the agent's last message asks for no tool.
    """

    confines: frozenset[Bound] = frozenset({"sandbox", "environment"})
    label: ClassVar[str] = "The agent"
    """The program's name in messages."""

    def command(self, prompt: Prompt, turn: Turn) -> list[str]:
        """Return the command line of the program; the prompt comes on its standard input."""
        raise NotImplementedError

    def listener(self, turn: Turn) -> Listener:
        """Return what follows the program's output in a turn."""
        raise NotImplementedError

    def environment(self, turn: Turn) -> dict[str, str]:
        """Return the whole environment of the program, and so of the agent's shells."""
        return self.inherited_environment()

    def classify(self, ending: Ending) -> Failed | None:
        """Return the failure that the end of a turn means; None for a turn that has succeeded."""
        if ending.failure:
            return ending.failure
        said = " ".join(ending.complaint.split())[:300]
        if ending.code != 0:
            return self.crashed(describe_exit(ending.code), said)
        if ending.result is None:
            return Failed(failure="protocol", message=f"{self.label} ended without a result. {said}".strip())
        if ending.result != 0:
            return self.crashed(f"reported the result {ending.result}", said)
        return None if ending.answered else Failed(failure="protocol", message="The agent gave no answer.")

    def crashed(self, how: str, said: str) -> Failed:
        """Return the failure of a program that ended in a wrong way."""
        return Failed(failure="crashed", message=f"{self.label} {how}. {said}".strip())

    async def converse(self, prompt: Prompt, turn: Turn) -> Outcome:
        listener = self.listener(turn)
        argv = self.confined(self.command(prompt, turn), turn.workspace, read_only=turn.read_only)
        return await self.hold(prompt, turn, listener, argv)

    async def hold(self, prompt: Prompt, turn: Turn, listener: Listener, argv: Sequence[str]) -> Outcome:
        """Run the program for one turn, and return how the turn ended."""
        listener.label = self.label
        try:
            async with self.running(argv, turn, self.environment(turn)) as program:
                timed_out = await within_time(turn, partial(listener.follow, program, prompt.text))
        finally:
            listener.finish()
            turn.transcript.diagnostics = listener.complaint
        return timed_out or self.classify(listener.ending(program.code)) or Answered()
