"""One turn with an agent, from the handshake to the answer, and the agent's requests to its client."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import anyio
import anyio.to_thread
from acp import PROTOCOL_VERSION, RequestError
from acp.connection import Connection

from ralph.errors import UsageError
from ralph.executors import Confinement, Denied, PermissionPolicy, PermissionRequest, Redactor, Running, Turn
from ralph.executors.program_output import as_json, mapping, text, whole
from ralph.types.output import Answered, Failed, Outcome, Usage
from ralph_acp.agents import Agent
from ralph_acp.failures import classify
from ralph_acp.files import read_file, write_file
from ralph_acp.permission import answer, objection, offers_once
from ralph_acp.terminals import Terminals, command_line
from ralph_acp.updates import Updates
from ralph_acp.wire import Wire

__all__ = ["Conversation", "Offer"]

_GRACE: Final = 2.0
"""Seconds that the agent has to answer a cancellation."""

_NOT_ALLOWED: Final = -32_000

Handler = Callable[[Mapping[str, Any]], Awaitable[Mapping[str, Any] | None]]


@dataclass(frozen=True, slots=True)
class Offer:
    """The capabilities that the agent is offered, and their bounds.

    Attributes:
        files, terminals: whether the client reads and writes files, and runs commands, for it.
        start_timeout: in seconds, until its session is there.
    """

    agent: Agent
    policy: PermissionPolicy
    confinement: Confinement
    redactor: Redactor
    files: bool = True
    terminals: bool = True
    start_timeout: float = 60.0


class Conversation:
    """Talks with the agent's process in one turn.

    Attributes:
        outcome: how the turn ended; None while it continues.
        complaint: the end of what the agent said outside the protocol.
    """

    def __init__(self, program: Running, turn: Turn, offer: Offer) -> None:
        self._program, self._turn, self._offer = program, turn, offer
        self._wire = Wire(program, turn.transcript)
        self._updates = Updates(turn.transcript, offer.agent)
        self._connection: Connection
        self._terminals: Terminals
        self._session = ""
        self._prompted = False
        self.outcome: Outcome | None = None

    @property
    def complaint(self) -> str:
        return self._wire.complaint

    async def hold(self, prompt: str) -> None:
        """Run the turn. When it is cancelled, the agent is asked to stop, and given a moment for it."""
        offer = self._offer
        async with anyio.create_task_group() as group:
            looks = offer.policy.mode == "read-only"
            workspace = self._turn.workspace
            self._terminals = Terminals(group, workspace, offer.confinement, offer.redactor, read_only=looks)
            self._connection = Connection(self._handle, self._wire)
            try:
                group.start_soon(self._wire.read_errors, self._program.stderr)
                self.outcome = await self._talk(prompt)
            finally:
                with anyio.CancelScope(shield=True):
                    await self._connection.close()
            group.cancel_scope.cancel()

    async def _talk(self, prompt: str) -> Outcome:
        try:
            with anyio.fail_after(self._offer.start_timeout):
                if failure := await self._begin():
                    return failure
        except TimeoutError:
            said = f"The agent was not ready after {self._offer.start_timeout:g} s."
            return Failed(failure="unavailable", message=said)
        except RequestError as error:
            return self._failure(error)
        except ConnectionError:
            return await self._gone()
        self._prompted = True
        try:
            ended = await self._ask(prompt)
        except RequestError as error:
            return self._failure(error)
        except ConnectionError:
            return await self._gone()
        return self._judged(ended)

    async def _begin(self) -> Failed | None:
        """Perform the handshake and open the session: the one to continue, if the agent still has it."""
        offered = {"readTextFile": self._offer.files, "writeTextFile": self._offer.files and not self._turn.read_only}
        terminals = self._offer.terminals and not self._turn.read_only
        greeting = await self._request(
            "initialize",
            protocolVersion=PROTOCOL_VERSION,
            clientCapabilities={"fs": offered, "terminal": terminals},
            clientInfo={"name": "ralph", "title": "Ralph", "version": "1"},
        )
        if greeting.get("protocolVersion") != PROTOCOL_VERSION:
            spoken = as_json(greeting.get("protocolVersion"))[:20] or "none"
            said = f"The agent speaks version {spoken} of the protocol, Ralph {PROTOCOL_VERSION}."
            return Failed(failure="refused", message=said)
        loads = mapping(greeting.get("agentCapabilities")).get("loadSession") is True
        self._session = await self._loaded() if loads and self._turn.session_id else ""
        if not self._session:
            begun = await self._request("session/new", cwd=str(self._turn.workspace), mcpServers=[])
            self._session = text(begun.get("sessionId"))
        self._turn.transcript.session_id = self._session if loads else None
        return None if self._session else Failed(failure="protocol", message="The agent did not begin a session.")

    async def _loaded(self) -> str:
        """Return the session that is continued; empty if the agent no longer has it."""
        known = self._turn.session_id or ""
        try:
            await self._request("session/load", sessionId=known, cwd=str(self._turn.workspace), mcpServers=[])
        except RequestError as error:
            self._turn.transcript.diagnosed(f"The agent cannot continue its session and begins another: {error}")
            return ""
        return known

    async def _ask(self, prompt: str) -> Mapping[str, Any]:
        """Return the agent's response to a prompt. On cancellation it is asked to stop, and waited for a little."""
        answered, ended, failure = anyio.Event(), dict[str, Any](), list[Exception]()

        async def ask(shielded: anyio.CancelScope) -> None:
            with shielded:
                try:
                    words = [{"type": "text", "text": prompt}]
                    ended.update(await self._request("session/prompt", sessionId=self._session, prompt=words))
                except (RequestError, ConnectionError) as error:
                    failure.append(error)
                answered.set()

        async with anyio.create_task_group() as group:
            shielded = anyio.CancelScope(shield=True)
            group.start_soon(ask, shielded)
            try:
                await answered.wait()
            except anyio.get_cancelled_exc_class():
                with anyio.move_on_after(_GRACE, shield=True):
                    await self._stop()
                    await answered.wait()
                shielded.cancel()
                raise
        if failure:
            raise failure[0]
        return ended

    async def _stop(self) -> None:
        try:
            await self._connection.send_notification("session/cancel", {"sessionId": self._session})
        except ConnectionError:
            return

    async def _request(self, method: str, **params: Any) -> Mapping[str, Any]:
        return mapping(await self._connection.send_request(method, params))

    def _failure(self, error: RequestError) -> Failed:
        code: object = error.code
        return classify(str(error), code=code, data=error.data)

    async def _gone(self) -> Failed:
        """Return the failure of a process that has ended, or closed its output."""
        with anyio.move_on_after(1.0):
            await self._program.wait()
        code = self._program.code
        how = "closed its output" if code is None else f"ended with status {code}"
        how = f"was killed by signal {-code}" if code is not None and code < 0 else how
        said = " ".join(self.complaint.split())[-200:]
        guess = classify(said)
        if code and code > 0 and not self._prompted and guess.failure == "auth":
            return guess
        return Failed(failure="crashed", message=f"The agent {how}. {said}".strip())

    def _judged(self, ended: Mapping[str, Any]) -> Outcome:
        """Return what the end of a turn means; the protocol's "end_turn" alone is not success."""
        reason, transcript = text(ended.get("stopReason")), self._turn.transcript
        told = mapping(ended.get("usage"))
        if told and self._offer.agent.counts:
            transcript.used(_usage(told))
        if reason == "end_turn" and not told and self._offer.agent.fails_silently:
            return classify(self._updates.complaint or "The agent ended its turn without reporting its usage.")
        match reason:
            case "end_turn":
                self._updates.end_message()
            case "max_tokens" | "max_turn_requests":
                transcript.diagnosed(f"The agent was cut short: {reason}.")
                return Answered()
            case "refusal":
                return Failed(failure="refused", message="The model refused to go on.")
            case "cancelled":
                return Failed(failure="crashed", message="The agent's turn was cancelled, and not by Ralph.")
            case _:
                return Failed(failure="protocol", message=f"The turn ended for no known reason: {reason[:100]!r}.")
        if transcript.messages or transcript.did_something:
            return Answered()
        return Failed(failure="protocol", message="The agent gave no answer.")

    async def _handle(self, method: str, params: Any, notified: bool) -> Any:  # noqa: FBT001 - the library calls it
        """Handle a notification or a request. It raises only `RequestError`, in answer to a request."""
        told = mapping(params)
        if notified:
            if method == "session/update" and self._prompted and text(told.get("sessionId")) == self._session:
                self._updates.take(mapping(told.get("update")))
            return None
        handler = self._handlers.get(method)
        if handler is None:
            raise RequestError.method_not_found(method[:100])
        try:
            return await handler(told)
        except (OSError, UsageError) as error:
            said = self._offer.redactor(error.problem if isinstance(error, UsageError) else str(error))
            raise RequestError(_NOT_ALLOWED, said[:500]) from None

    @property
    def _handlers(self) -> Mapping[str, Handler]:
        return {
            "session/request_permission": self._permit,
            "fs/read_text_file": self._read,
            "fs/write_text_file": self._write,
            "terminal/create": self._create_terminal,
            "terminal/output": self._terminal_output,
            "terminal/wait_for_exit": self._terminals.wait,
            "terminal/kill": self._terminals.kill,
            "terminal/release": self._terminals.release,
        }

    async def _permit(self, told: Mapping[str, Any]) -> Mapping[str, Any]:
        call = mapping(told.get("toolCall"))
        reason = objection(self._updates.asked(call), self._offer.policy, self._turn.workspace)
        if not reason and not offers_once(told):
            reason = "It could only be allowed for good."
        if reason:
            self._updates.refused(text(call.get("toolCallId")), reason)
        return answer(told, allowed=not reason)

    async def _read(self, told: Mapping[str, Any]) -> Mapping[str, Any]:
        path = self._allowed(PermissionRequest(kind="read", paths=(text(told.get("path")),)))
        line, limit = (told.get(name) if isinstance(told.get(name), int) else None for name in ("line", "limit"))
        read = await anyio.to_thread.run_sync(lambda: read_file(self._turn.workspace, path, line=line, limit=limit))
        return {"content": read}

    async def _write(self, told: Mapping[str, Any]) -> Mapping[str, Any]:
        path = self._allowed(PermissionRequest(kind="write", paths=(text(told.get("path")),)))
        content = text(told.get("content"))
        await anyio.to_thread.run_sync(write_file, self._turn.workspace, path, content)
        return {}

    async def _create_terminal(self, told: Mapping[str, Any]) -> Mapping[str, Any]:
        self._allowed(PermissionRequest(kind="shell", command=command_line(told)))
        return await self._terminals.create(told)

    async def _terminal_output(self, told: Mapping[str, Any]) -> Mapping[str, Any]:
        return self._terminals.output(told)

    def _allowed(self, request: PermissionRequest) -> str:
        """Return the path of the request. Raises `OSError` with the reason if it may not be carried out."""
        offered = self._offer.terminals if request.kind == "shell" else self._offer.files
        if not offered:
            raise OSError("That is not offered.")
        decision = self._offer.policy.decide(request, self._turn.workspace)
        if isinstance(decision, Denied):
            raise OSError(decision.reason)
        return request.paths[0] if request.paths else ""


def _usage(told: Mapping[str, Any]) -> Usage:
    """Return the usage of the turn. Cached tokens are a part of the input."""
    return Usage(
        input_tokens=whole(told.get("inputTokens")),
        output_tokens=whole(told.get("outputTokens")),
        cache_read_tokens=whole(told.get("cachedReadTokens")),
    )
