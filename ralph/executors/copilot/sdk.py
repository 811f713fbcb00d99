"""The Copilot SDK as an executor: one runtime for the whole run, a session for each turn.

In a sandbox, each turn has a runtime of its own: whatever its tools have left running ends with it.

A subclass may override `session_options`, `environment` and `classify`.

The executor handles what the SDK leaves open. It notices the runtime's death or freezing in the middle of a turn, ends
its processes, and gives the next turn a new runtime, which can continue the session. The SDK's own retries, a minute of
them, are cut short where they cannot help. It never downloads a CLI, because it is always given one.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import anyio

from ralph.errors import ExecutorUnavailableError
from ralph.executors.base import BOUNDS, Bound, Turn, first_of, watchdog
from ralph.executors.copilot.base import LOOKING, CopilotExecutor
from ralph.executors.copilot.events import classify_failure, ends_turn, failure_in, in_the_providers_words, record
from ralph.executors.copilot.provision import provide_cli, provide_runtime
from ralph.executors.copilot.runtime import CopilotRuntime
from ralph.executors.permissions import Denied, PermissionPolicy, PermissionRequest
from ralph.executors.program_output import Event, mapping, objects, text
from ralph.prompt import Prompt
from ralph.types import evolve
from ralph.types.output import Answered, Failed, Outcome

if TYPE_CHECKING:
    from copilot import CopilotSession

_ABORT = 2.0
_SETTLE = 1.0
"""Seconds for an agent to let go of its work, and for the runtime to say so; it usually takes 20 milliseconds."""


class CopilotSDKExecutor(CopilotExecutor):
    """Runs the agent of GitHub Copilot through its SDK; `program` is then the runtime."""

    name: ClassVar[str] = "copilot-sdk"
    confines: frozenset[Bound] = BOUNDS
    _runtime: CopilotRuntime | None = None
    _last_review: str | None = None
    _last_session: str | None = None
    _looks = False

    def session_options(self, turn: Turn) -> dict[str, Any]:
        """Return the keywords for the SDK's session; they are the same for a new session and a continued one."""
        options: dict[str, Any] = {"working_directory": str(turn.workspace), "streaming": True}
        if turn.read_only:
            options |= {"skip_custom_instructions": True, "available_tools": [*LOOKING]}
        if self.model:
            options["model"] = self.model
        if self.base_url:
            options["provider"] = {
                "type": "openai",
                "base_url": self.base_url,
                "api_key": self.key,
                "wire_api": self.wire_api,
                "headers": self.headers,
            }
        return options

    def environment(self) -> dict[str, str]:
        """Return the whole environment of the runtime; with an endpoint, it connects to nothing else."""
        ours = {"COPILOT_AUTO_UPDATE": "false", "COPILOT_SKIP_CLI_DOWNLOAD": "1"}
        if self.base_url and self.model:
            ours |= {"COPILOT_OFFLINE": "true", "COPILOT_PROVIDER_BASE_URL": self.base_url, "COPILOT_MODEL": self.model}
        return {**self.inherited_environment(), **ours}

    def classify(self, event: Event) -> Failed | None:
        """Return the failure that an event reports: of the turn ("session.error") or of one call to the model."""
        return failure_in(event)

    async def start(self) -> None:
        await super().start()
        if self.program is None:
            found = await provide_cli(progress=self.progress)
            self.program = await provide_runtime(found) or found.path
        if not self.program.is_file():
            raise ExecutorUnavailableError(
                f"There is no Copilot runtime at {str(self.program)!r}.",
                "Correct or remove the setting executor.cli_path; `ralph doctor` shows what is there.",
            )
        await self._start_runtime(self.program)

    async def stop(self) -> None:
        if self._runtime:
            await self._runtime.stop()
            self._runtime = None
        await super().stop()

    async def converse(self, prompt: Prompt, turn: Turn) -> Outcome:
        runtime = await self._living_runtime(turn)
        if turn.session_of not in {"", self.name}:
            turn = replace(turn, session_id=None)
        last_session = self._last_review if turn.read_only else self._last_session
        conversation = Conversation(
            runtime, turn, options=self.session_options(turn), permissions=self.policy(turn), classify=self.classify
        )
        cancelled = True
        try:
            outcome = await conversation.hold(prompt.text, last_session)
            cancelled = False
            return outcome
        finally:
            with anyio.CancelScope(shield=True):
                usable = await conversation.close()
                self._remember(turn)
                if not usable and not cancelled:  # Ctrl-C ends the runtime as well
                    turn.transcript.diagnosed("The Copilot runtime died or hung; the next turn gets a new one.")
                if not usable or self.confinement.sandbox.used:
                    await self._give_up_runtime(runtime, gently=usable)

    def _remember(self, turn: Turn) -> None:
        """Keep the turn's session, which is deleted when the next one of its kind begins.

        A review must not cost the agent the session that it is to continue.
        """
        session = turn.transcript.session_id
        if turn.read_only:
            self._last_review = session or self._last_review
        else:
            self._last_session = session or self._last_session

    async def _living_runtime(self, turn: Turn) -> CopilotRuntime:
        fits = turn.read_only == self._looks or not self.confinement.sandbox.used
        if self._runtime and self._runtime.lives and fits:
            return self._runtime
        if self._runtime:
            if fits:
                turn.transcript.diagnosed("The Copilot runtime has died since the last turn; this one gets a new one.")
            await self._give_up_runtime(self._runtime)
        if self.program is None:
            await self.start()
            return await self._living_runtime(turn)
        return self._runtime or await self._start_runtime(self.program, read_only=turn.read_only)

    async def _start_runtime(self, program: Path, *, read_only: bool = False) -> CopilotRuntime:
        self._looks = read_only
        runtime = CopilotRuntime(program, self.environment(), self.home, self._command)
        try:
            await runtime.start()
        except BaseException:
            with anyio.CancelScope(shield=True):
                await runtime.stop(gently=False)
            raise
        self._runtime = runtime
        return runtime

    def _command(self, argv: Sequence[str], logs: Path) -> list[str]:
        workspace = self.confinement.workspace or Path.cwd()
        return self.confined(argv, workspace, readable=self.unpacked(), writable=[logs], read_only=self._looks)

    async def _give_up_runtime(self, runtime: CopilotRuntime, *, gently: bool = False) -> None:
        self._runtime = None
        await runtime.stop(gently=gently)


class Conversation:
    """One turn: it opens a session, sends the prompt, and listens to the events until the turn is over."""

    def __init__(
        self,
        runtime: CopilotRuntime,
        turn: Turn,
        *,
        options: Mapping[str, Any],
        permissions: PermissionPolicy,
        classify: Callable[[Event], Failed | None],
    ) -> None:
        self._runtime, self._turn, self._permissions, self._classify = runtime, turn, permissions, classify
        self._options: dict[str, Any] = {**options, "on_event": self._on_event, "on_permission_request": self._decided}
        self._session: CopilotSession | None = None
        self._begun = False
        self._usable = True
        self._failure: Failed | None = None
        self._call_failure: Failed | None = None
        self._over = anyio.Event()
        self._idle = anyio.Event()

    async def hold(self, prompt: str, last_session: str | None) -> Outcome:
        """Run the turn and return how it ended. A cancellation propagates; call `close` in any case.

        The last session is deleted unless it is continued, so that none pile up.
        """
        self._runtime.new_turn()

        async def work() -> Outcome:
            try:
                return await self._work(prompt, last_session)
            except TimeoutError:
                self._usable = False
                return Failed(failure="crashed", message="The Copilot runtime does not answer.")
            except Exception as error:  # noqa: BLE001 - the SDK raises bare exceptions
                self._usable = self._runtime.lives
                said = str(error)[:500]
                return classify_failure(said) if self._usable else Failed(failure="crashed", message=said)

        async def death() -> Outcome:
            await self._runtime.died()
            self._usable = False
            return Failed(failure="crashed", message="The Copilot runtime died in the middle of the turn.")

        return await first_of(work, death, partial(watchdog, self._turn))

    async def close(self) -> bool:
        """End a running turn and leave the session, which can be continued; return False for a useless runtime."""
        if self._session is None or not self._usable or not self._runtime.lives:
            return self._usable and self._runtime.lives
        try:
            if self._begun and not self._idle.is_set():
                await self._runtime.call(self._session.abort(), _ABORT)
                with anyio.fail_after(_SETTLE):
                    await self._idle.wait()
            await self._runtime.call(self._session.disconnect(), _ABORT)
            if self._turn.transcript.did_something:
                await self._runtime.end_children()
        except Exception:  # noqa: BLE001 - whatever it is, the next turn gets a new runtime
            return False
        return True

    async def _work(self, prompt: str, last_session: str | None) -> Outcome:
        self._session = await self._opened(last_session)
        self._turn.transcript.session_id = self._session.session_id
        self._begun = True
        await self._runtime.call(self._session.send(prompt))
        await self._over.wait()
        if self._failure and self._failure.failure == "rate_limited" and self._failure.retry_after is None:
            return evolve(self._failure, retry_after=await self._runtime.retry_after())
        if self._failure is None and not self._turn.transcript.messages:
            return Failed(failure="protocol", message="The agent ended its turn without a word.")
        return self._failure or Answered()

    async def _opened(self, last_session: str | None) -> "CopilotSession":
        client, turn = self._runtime.client, self._turn
        if wanted := turn.session_id:
            try:
                return await self._runtime.call(client.resume_session(wanted, **self._options))
            except TimeoutError:
                raise
            except Exception as error:
                if not self._runtime.lives:
                    raise
                turn.transcript.diagnosed(f"The session cannot be resumed, so a new one begins: {error}")
        if last_session:
            with suppress(Exception):
                await self._runtime.call(client.delete_session(last_session))
        return await self._runtime.call(client.create_session(**self._options))

    def _on_event(self, event: Any) -> None:
        """Handle an event; the SDK calls this in the event loop, for each event of the session in order."""
        wire: dict[str, Any] = event.to_dict()
        if not self._begun:
            return
        record(wire, self._turn.transcript)
        if wire.get("agentId"):
            return
        match wire.get("type"):
            case "session.error":
                failure = self._classify(wire)
                self._failure = in_the_providers_words(failure, self._call_failure) if failure else self._failure
            case "model.call_failure":
                self._call_failure = self._classify(wire)
                if self._call_failure and ends_turn(wire):
                    self._failure = self._call_failure
                    self._over.set()
            case "session.idle":
                self._idle.set()
                self._over.set()
            case _:
                pass

    def _decided(self, request: Any, _invocation: object) -> Any:
        from copilot.rpc import PermissionDecisionApproveOnce, PermissionDecisionReject

        self._turn.transcript.alive()
        verdict = self._permissions.decide(requested(request.to_dict()), self._turn.workspace)
        if isinstance(verdict, Denied):
            return PermissionDecisionReject(feedback=verdict.reason)
        return PermissionDecisionApproveOnce()


def requested(wire: Event) -> PermissionRequest:
    """Return the runtime's request for a permission in Ralph's words."""
    kind = text(wire.get("kind"))
    server = f"{text(wire.get('serverName'))}/" if kind == "mcp" else ""
    edits = objects(wire.get("fileEdits"))  # of a patch, which can have many files and can move them
    sides = [wire, *(mapping(edit.get(name)) for edit in edits for name in ("before", "after"))]
    paths = [text(wire.get("fileName")), *(text(side.get("path")) for side in sides)]
    return PermissionRequest(
        kind=kind,
        command=text(wire.get("fullCommandText")),
        paths=tuple(path for path in paths if path),
        url=text(wire.get("url")),
        tool=server + text(wire.get("toolName")),
        read_only=wire.get("readOnly") is True,
    )
