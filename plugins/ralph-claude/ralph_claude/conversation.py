"""One turn with a running Claude Code: send the prompt, decide on permissions, and judge how it ended."""

from typing import TYPE_CHECKING, Any

import anyio

from ralph import Answered, Failed, TimedOut, Turn
from ralph.executors import Denied, PermissionPolicy, Running, describe_exit, within_time
from ralph_claude.listener import ClaudeListener
from ralph_claude.tools import requested

if TYPE_CHECKING:
    from claude_agent_sdk import ClaudeSDKClient, PermissionResultAllow, PermissionResultDeny, ToolPermissionContext

__all__ = ["Conversation"]

_START = 60.0
"""Seconds until it answers for the first time; it usually takes less than one."""

_ABORT = 1.0
_LEAVE = 2.0
"""Seconds to let go of its work, and to save its session and end."""


class Conversation:
    """One turn; call `hold` and then `close`."""

    def __init__(self, program: Running, turn: Turn, policy: PermissionPolicy) -> None:
        self._program, self._turn, self._policy = program, turn, policy
        self._listener = ClaudeListener(turn.transcript)
        self._client: ClaudeSDKClient | None = None
        self._asked = False

    @property
    def forgotten(self) -> bool:
        """True if the session to continue is no longer known, and nothing was done."""
        told = f"{self._listener.complaint}{self._listener.failure and self._listener.failure.message}"
        return not self._asked and "No conversation found" in told

    async def hold(self, prompt: str) -> Answered | Failed | TimedOut:
        """Run the turn and return how it ended. A cancellation propagates; call `close` in any case."""

        async def work() -> None:
            async with anyio.create_task_group() as listening:
                listening.start_soon(self._listener.read_errors, self._program.stderr)
                await self._talk(prompt)
                listening.cancel_scope.cancel()

        timed_out = await within_time(self._turn, work)
        return timed_out or self._outcome()

    async def close(self) -> None:
        """Have it save its session and end, if it can; the executor ends the program anyway."""
        self._turn.transcript.diagnostics = self._listener.complaint
        if self._client is None:
            return
        answers = self._listener.settled or await self._interrupted(self._client)
        with anyio.move_on_after(_ABORT):
            await self._client.disconnect()
        if answers:
            self._program.close_stdin()
            with anyio.move_on_after(_LEAVE):
                await self._program.wait()

    async def _talk(self, prompt: str) -> None:
        from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient, HookMatcher

        from ralph_claude.transport import ProgramTransport

        options = ClaudeAgentOptions(
            can_use_tool=self._decided,
            hooks={"PreToolUse": [HookMatcher(hooks=[_asking], on_failure="block")]},
            forward_subagent_text=True,
            verbatim_prompts=True,
        )
        self._client = ClaudeSDKClient(options, ProgramTransport(self._program, self._listener))
        try:
            with anyio.fail_after(_START):
                await self._client.connect()
            await self._client.query(prompt)
        except TimeoutError:
            self._listener.take_text(f"It gave no sign of life for {_START:g} s.\n")
            return
        except Exception as error:  # noqa: BLE001 - the SDK raises bare exceptions
            if not await self._ended():
                self._listener.take_text(f"{error}\n")
            return
        self._asked = True
        await self._listener.over.wait()
        if not self._listener.settled and not self._listener.failure:
            await self._ended()

    async def _ended(self) -> bool:
        """Return True if the program has ended, which comes a moment after the end of its output."""
        with anyio.move_on_after(_ABORT):
            await self._program.wait()
        return self._program.code is not None

    async def _decided(
        self, tool: str, given: dict[str, Any], context: "ToolPermissionContext"
    ) -> "PermissionResultAllow | PermissionResultDeny":
        from claude_agent_sdk import PermissionResultAllow, PermissionResultDeny

        self._turn.transcript.alive()
        verdict = self._policy.decide(requested(tool, given), self._turn.workspace)
        if isinstance(verdict, Denied):
            self._listener.denied(context.tool_use_id)
            return PermissionResultDeny(message=verdict.reason)
        return PermissionResultAllow()

    async def _interrupted(self, client: "ClaudeSDKClient") -> bool:
        """Interrupt the turn; return True if the program let go of its work."""
        if not self._asked or self._program.code is not None:
            return False
        with anyio.move_on_after(_ABORT) as patience:
            try:
                await client.interrupt()
            except Exception:  # noqa: BLE001 - it is ended anyway
                return False
        return not patience.cancelled_caught

    def _outcome(self) -> Answered | Failed:
        if failure := self._listener.failure:
            return failure
        if not self._listener.settled:
            return self._crashed()
        messages = self._turn.transcript.messages
        if not messages or messages[-1].tool_calls:
            return Failed(failure="protocol", message="The agent ended its turn without a word.")
        return Answered()

    def _crashed(self) -> Failed:
        code = self._program.code
        said = " ".join(self._listener.complaint.split())[-300:]
        if code is None:
            return Failed(failure="unavailable", message=f"Claude Code does not answer. {said}".strip())
        how = describe_exit(code)
        return Failed(failure="crashed", message=f"Claude Code {how} in the middle of the turn. {said}".strip())


async def _asking(_given: Any, _call_id: str | None, _context: Any) -> Any:
    """Have every tool requested, even one that Claude Code or a workspace's settings would allow by themselves."""
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask"}}
