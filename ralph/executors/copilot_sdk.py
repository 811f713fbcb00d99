"""The Copilot SDK as an executor: one runtime for the whole run, a session for each turn.

Override points, for a subclass:

session_options(turn)
    The keywords of the SDK's `create_session` and `resume_session`, the handlers excepted.
environment()
    The environment of the runtime and so of the agent's shells.
classify(event)
    The failure that an event of the runtime tells of, or None.

What the SDK leaves open is closed here. Its death or freezing in the middle of a turn is noticed, its processes are
ended, and the next turn finds a new runtime, which can take the session up again. Its own retries, a minute of them,
are cut short where they cannot help. It never fetches a CLI, for it is always given one.
"""

import os
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import anyio

from ralph.errors import ExecutorUnavailableError, UsageError
from ralph.executors.base import Executor, Turn, watchdog
from ralph.executors.copilot_events import Event, classify_failure, ends_turn, failure_in, record
from ralph.executors.copilot_runtime import CopilotRuntime
from ralph.executors.permissions import Denied, PermissionPolicy, PermissionRequest
from ralph.executors.provision import provide_cli, provide_runtime
from ralph.executors.provision_fetch import Progress
from ralph.output import Completed, Failed, Outcome, Output
from ralph.prompt import Prompt

if TYPE_CHECKING:
    from copilot import CopilotSession

__all__ = ["CopilotSDKExecutor", "asked_for"]

_NO_KEY = "ralph-local-no-key"
"""The runtime hides the key wherever it occurs in what it says, so that it must not be a short word."""

_ABORT = 2.0
_SETTLE = 1.0
"""Seconds for an agent to let go of its work, and for the runtime to say so; it usually takes 20 milliseconds."""


class CopilotSDKExecutor(Executor):
    """Runs the agent of GitHub Copilot through its SDK.

    Args:
        model: None for Copilot's default; an endpoint needs one.
        base_url: an OpenAI-compatible endpoint instead of GitHub's; no login is needed then.
        api_key: the endpoint's.
        wire_api, headers: how the endpoint is talked to.
        program: the runtime to use; None to find or fetch one.
        permissions: what the agent's tools may do.
        home: where sessions are kept, to be taken up by a later run. None for a folder that goes with the executor,
            or with GitHub's models, for the user's own, where their login lies.
        progress: told how the download of a runtime goes.
    """

    name: ClassVar[str] = "copilot-sdk"

    def __init__(
        self,
        *,
        model: str | None = None,
        base_url: str | None = None,
        api_key: str | None = None,
        wire_api: Literal["completions", "responses"] = "completions",
        headers: Mapping[str, str] | None = None,
        program: Path | None = None,
        permissions: PermissionPolicy | None = None,
        home: Path | None = None,
        progress: Progress | None = None,
    ) -> None:
        if base_url and not model:
            raise UsageError(f"The endpoint {base_url} needs a model's name.", "Give one with --model.")
        self.model, self.base_url, self.permissions = model, base_url, permissions or PermissionPolicy()
        self._api_key, self._wire_api, self._headers = api_key, wire_api, dict(headers or {})
        self._program, self._home, self._progress = program, home, progress
        self._runtime: CopilotRuntime | None = None
        self._own_home: tempfile.TemporaryDirectory[str] | None = None
        self._last_session: str | None = None
        self.account = base_url or "github"
        self.measures = frozenset({"tokens"}) if base_url else frozenset({"tokens", "premium_requests"})

    def session_options(self, turn: Turn) -> dict[str, Any]:
        """The keywords for the SDK's session; the same ones for a new session and for one that is taken up again."""
        options: dict[str, Any] = {
            "working_directory": str(turn.workspace),
            "streaming": True,
            "infinite_sessions": {"enabled": turn.session_id is not None},
        }
        if self.model:
            options["model"] = self.model
        if self.base_url:
            options["provider"] = {
                "type": "openai",
                "base_url": self.base_url,
                "api_key": self._api_key or _NO_KEY,
                "wire_api": self._wire_api,
                "headers": self._headers,
            }
        return options

    def environment(self) -> dict[str, str]:
        """The whole environment of the runtime; with an endpoint of one's own it talks to nobody else."""
        ours = {"COPILOT_AUTO_UPDATE": "false", "COPILOT_SKIP_CLI_DOWNLOAD": "1"}
        if self.base_url and self.model:
            ours |= {
                "COPILOT_OFFLINE": "true",
                "COPILOT_PROVIDER_BASE_URL": self.base_url,
                "COPILOT_MODEL": self.model,
            }
        return {**os.environ, **ours}

    def classify(self, event: Event) -> Failed | None:
        """The failure that an event tells of: of the turn ("session.error") or of one call to the model."""
        return failure_in(event)

    async def start(self) -> None:
        if self._program is None:
            found = await provide_cli(progress=self._progress)
            self._program = await provide_runtime(found) or found.path
        if not self._program.is_file():
            raise ExecutorUnavailableError(
                f"There is no Copilot runtime at {str(self._program)!r}.",
                "Correct or remove the setting executor.cli_path; `ralph doctor` tells what is there.",
            )
        await self._start_runtime(self._program)

    async def stop(self) -> None:
        if self._runtime:
            await self._runtime.stop()
            self._runtime = None
        if self._own_home:
            self._own_home.cleanup()
            self._own_home = None

    async def execute(self, prompt: Prompt, turn: Turn) -> Output:
        transcript = turn.transcript
        transcript.executor, transcript.model = self.name, self.model
        try:
            runtime = await self._living_runtime(turn)
        except ExecutorUnavailableError as error:
            return transcript.finish(Failed(failure="unavailable", message=str(error)))
        conversation = _Conversation(self, runtime, turn)
        try:
            outcome = await conversation.hold(prompt.text, self._last_session)
        finally:
            with anyio.CancelScope(shield=True):
                usable = await conversation.close()
                self._last_session = transcript.session_id or self._last_session
                if not usable:
                    transcript.diagnosed("The Copilot runtime died or hung; the next turn gets a new one.")
                    await self._give_up_runtime(runtime)
        return transcript.finish(outcome)

    async def _living_runtime(self, turn: Turn) -> CopilotRuntime:
        if self._runtime and self._runtime.lives:
            return self._runtime
        if self._runtime:
            turn.transcript.diagnosed("The Copilot runtime has died since the last turn; this one gets a new one.")
            await self._give_up_runtime(self._runtime)
        if self._program is None:
            await self.start()
        return self._runtime or await self._start_runtime(self._program or Path())

    async def _start_runtime(self, program: Path) -> CopilotRuntime:
        home = self._home
        if home is None and self.base_url:
            self._own_home = self._own_home or tempfile.TemporaryDirectory(
                prefix="ralph-copilot-", ignore_cleanup_errors=True
            )
            home = Path(self._own_home.name)
        runtime = CopilotRuntime(program, self.environment(), home)
        try:
            await runtime.start()
        except BaseException:
            with anyio.CancelScope(shield=True):
                await runtime.stop(gently=False)
            raise
        self._runtime = runtime
        return runtime

    async def _give_up_runtime(self, runtime: CopilotRuntime) -> None:
        self._runtime = None
        await runtime.stop(gently=False)


class _Conversation:
    """One turn: a session is opened, the prompt sent, and its events are listened to until it is over."""

    def __init__(self, executor: CopilotSDKExecutor, runtime: CopilotRuntime, turn: Turn) -> None:
        self._executor, self._runtime, self._turn = executor, runtime, turn
        self._session: CopilotSession | None = None
        self._begun = False
        self._usable = True
        self._failure: Failed | None = None
        self._over = anyio.Event()
        self._idle = anyio.Event()

    async def hold(self, text: str, last_session: str | None) -> Outcome:
        """How the turn ended. A cancellation goes through; `close` is to be called in any case."""
        self._runtime.new_turn()

        async def work() -> Outcome:
            try:
                return await self._work(text, last_session)
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

        async def patience() -> Outcome:
            return await watchdog(self._turn)

        return await _first(work, death, patience)

    async def close(self) -> bool:
        """Ends what goes on and leaves the session, which can be taken up again; False: the runtime is of no use."""
        if self._session is None or not self._usable or not self._runtime.lives:
            return self._usable and self._runtime.lives
        try:
            if self._begun and not self._idle.is_set():
                await self._runtime.call(self._session.abort(), _ABORT)
                with anyio.fail_after(_SETTLE):
                    await self._idle.wait()
                await self._runtime.end_children()
            await self._runtime.call(self._session.disconnect(), _ABORT)
        except Exception:  # noqa: BLE001 - whatever it is, the next turn gets a new runtime
            return False
        return True

    async def _work(self, text: str, last_session: str | None) -> Outcome:
        self._session = await self._opened(last_session)
        self._turn.transcript.session_id = self._session.session_id
        self._begun = True
        await self._runtime.call(self._session.send(text))
        await self._over.wait()
        if self._failure and self._failure.failure == "rate_limited" and self._failure.retry_after is None:
            wait = await self._runtime.retry_after()
            return self._failure.model_copy(update={"retry_after": wait})
        if self._failure is None and not self._turn.transcript.messages:
            return Failed(failure="protocol", message="The agent ended its turn without a word.")
        return self._failure or Completed()

    async def _opened(self, last_session: str | None) -> "CopilotSession":
        client, turn = self._runtime.client, self._turn
        wanted = turn.session_id if turn.session_of in {"", self._executor.name} else None
        options: dict[str, Any] = dict(self._executor.session_options(turn))
        options |= {"on_event": self._heard, "on_permission_request": self._asked}
        if wanted:
            try:
                return await self._runtime.call(client.resume_session(wanted, **options))
            except TimeoutError:
                raise
            except Exception as error:
                if not self._runtime.lives:
                    raise
                turn.transcript.diagnosed(f"The session cannot be taken up again, a new one is begun: {error}")
        if last_session:
            with suppress(Exception):
                await self._runtime.call(client.delete_session(last_session))
        return await self._runtime.call(client.create_session(**options))

    def _heard(self, event: Any) -> None:
        """The SDK calls it in the event loop, for each event of the session in order."""
        wire: dict[str, Any] = event.to_dict()
        if not self._begun:
            return
        record(wire, self._turn.transcript)
        if wire.get("agentId"):
            return
        match wire.get("type"):
            case "session.error":
                self._failure = self._executor.classify(wire) or self._failure
            case "model.call_failure" if ends_turn(wire):
                self._failure = self._executor.classify(wire)
                if self._failure:
                    self._over.set()
            case "session.idle":
                self._idle.set()
                self._over.set()
            case _:
                pass

    def _asked(self, request: Any, _invocation: object) -> Any:
        from copilot.rpc import PermissionDecisionApproveOnce, PermissionDecisionReject

        self._turn.transcript.alive()
        verdict = self._executor.permissions.decide(asked_for(request.to_dict()), self._turn.workspace)
        if isinstance(verdict, Denied):
            return PermissionDecisionReject(feedback=verdict.reason)
        return PermissionDecisionApproveOnce()


def asked_for(wire: Mapping[str, Any]) -> PermissionRequest:
    """The runtime's request for a permission in Ralph's words."""

    def text(key: str) -> str:
        value = wire.get(key)
        return value if isinstance(value, str) else ""

    kind = text("kind")
    server = f"{text('serverName')}/" if kind == "mcp" else ""
    paths = [text("fileName"), text("path"), *_edited(wire)]
    return PermissionRequest(
        kind=kind,
        command=text("fullCommandText"),
        paths=tuple(path for path in paths if path),
        url=text("url"),
        tool=server + text("toolName"),
        read_only=wire.get("readOnly") is True,
    )


def _edited(wire: Mapping[str, Any]) -> list[str]:
    """The files of a patch, which can be many and can be moved."""
    edits: list[dict[str, dict[str, str] | None]] = wire.get("fileEdits") or []
    return [side["path"] for edit in edits for name in ("before", "after") if (side := edit.get(name))]


async def _first(*ways: Callable[[], Awaitable[Outcome]]) -> Outcome:
    """What the first of them to end gives; the others are cancelled."""
    ends: list[Outcome] = []
    async with anyio.create_task_group() as group:

        async def go(way: Callable[[], Awaitable[Outcome]]) -> None:
            ends.append(await way())
            group.cancel_scope.cancel()

        for way in ways:
            group.start_soon(go, way)
    return ends[0]
