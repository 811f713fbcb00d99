"""One turn on a Copilot runtime: the prompt goes in, events come out, and what goes wrong becomes a value."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import anyio

from ralph.executors.base import Turn, watchdog
from ralph.executors.copilot.events import Event, classify_failure, ends_turn, in_the_providers_words, record
from ralph.executors.copilot.runtime import CopilotRuntime
from ralph.executors.permissions import Denied, PermissionPolicy, PermissionRequest
from ralph.types import evolve
from ralph.types.output import Answered, Failed, Outcome

if TYPE_CHECKING:
    from copilot import CopilotSession

__all__ = ["Conversation", "asked_for"]

_ABORT = 2.0
_SETTLE = 1.0
"""Seconds for an agent to let go of its work, and for the runtime to say so; it usually takes 20 milliseconds."""


class Conversation:
    """One turn: a session is opened, the prompt sent, and its events are listened to until it is over.

    Args:
        options: for the SDK's session, the handlers excepted.
        classify: the failure that an event tells of, or None.
    """

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
        self._options: dict[str, Any] = {**options, "on_event": self._heard, "on_permission_request": self._asked}
        self._session: CopilotSession | None = None
        self._begun = False
        self._usable = True
        self._failure: Failed | None = None
        self._call_failure: Failed | None = None
        self._over = anyio.Event()
        self._idle = anyio.Event()

    async def hold(self, text: str, last_session: str | None) -> Outcome:
        """How the turn ended. A cancellation goes through; `close` is to be called in any case.

        Args:
            last_session: the one before; it is deleted unless it is taken up again, so that none pile up.
        """
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
            return evolve(self._failure, retry_after=wait)
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

    def _asked(self, request: Any, _invocation: object) -> Any:
        from copilot.rpc import PermissionDecisionApproveOnce, PermissionDecisionReject

        self._turn.transcript.alive()
        verdict = self._permissions.decide(asked_for(request.to_dict()), self._turn.workspace)
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
