"""The agent's reports on its running turn, put into the transcript.

The protocol has no ends of messages: one ends where another begins, where a tool is called, and with the turn. A
message that is followed by a tool call is one that asked for it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ralph.executors import Transcript
from ralph.executors.program_output import as_json, mapping, objects, text
from ralph_acp.agents import Agent

__all__ = ["ToolTold", "Updates"]

_LONGEST = 2_000_000
"""Characters that are kept of one message."""

_ENDED = frozenset({"completed", "failed"})
_ERROR = "Error: "


@dataclass(slots=True)
class ToolTold:
    """The facts that are known by now of a tool call.

    Attributes:
        kind: such as "edit", "execute" or "other".
        given: what the tool was given.
    """

    kind: str = ""
    title: str = ""
    given: Mapping[str, Any] | None = None
    content: object = None
    locations: object = None
    begun: bool = False
    refused: bool = False

    def learn(self, told: Mapping[str, Any]) -> None:
        """Take what an update contains; what it leaves out stays as it was."""
        self.kind = text(told.get("kind")) or self.kind
        self.title = text(told.get("title")) or self.title
        self.given = mapping(told.get("rawInput")) or self.given
        self.content = told.get("content") or self.content
        self.locations = told.get("locations") or self.locations


class Updates:
    """Follows one turn.

    Attributes:
        complaint: the last that the agent told as an error in place of a message.
    """

    def __init__(self, transcript: Transcript, agent: Agent) -> None:
        self._transcript, self._agent = transcript, agent
        self._said: list[str] = []
        self._length = 0
        self._message_id = ""
        self._tools: dict[str, ToolTold] = {}
        self.complaint = ""

    def take(self, update: Mapping[str, Any]) -> None:
        """Take one update; an unknown kind is a sign of life and nothing else."""
        match update.get("sessionUpdate"):
            case "agent_message_chunk":
                self._take_chunk(text(mapping(update.get("content")).get("text")), text(update.get("messageId")))
            case "tool_call" | "tool_call_update":
                self._take_tool(update)
            case _:
                pass

    def asked(self, told: Mapping[str, Any]) -> tuple[ToolTold, ToolTold]:
        """Return the tool call of a permission request: as it was announced, and as the request describes it."""
        call_id = text(told.get("toolCallId"))
        known, request = self._known(call_id), ToolTold()
        announced = replace(known)
        request.learn(told)
        if not known.begun:
            given = {**mapping(told.get("rawInput")), **(known.given or {})}
            known.learn({**told, "kind": known.kind or told.get("kind"), "rawInput": given})
            self._begin(call_id)
        return announced, request

    def refused(self, call_id: str, reason: str) -> None:
        """Record that the policy denied a tool."""
        self._known(call_id).refused = True
        self._transcript.tool_finished(call_id, success=False, result=reason, denied=True)

    def end_message(self, tool_calls: int = 0) -> None:
        """Complete the unfinished message.

        Before a tool call, an empty one counts as well: what was said before is then not the last message.
        """
        said, messages = "".join(self._said), self._transcript.messages
        self._said, self._length, self._message_id = [], 0, ""
        if said.strip() or (tool_calls and not (messages and messages[-1].tool_calls)):
            self._transcript.message(said, tool_calls)

    def _take_chunk(self, said: str, message_id: str) -> None:
        if self._agent.notices and said.startswith(self._agent.notices):
            self._transcript.diagnosed(said)
            return
        if message_id != self._message_id and self._said:
            self.end_message()
        self._message_id = message_id
        if said.startswith(_ERROR):
            self.complaint = said
        kept = said[: _LONGEST - self._length]
        if kept:
            self._said.append(kept)
            self._length += len(kept)
            self._transcript.delta(kept)

    def _take_tool(self, told: Mapping[str, Any]) -> None:
        call_id, status = text(told.get("toolCallId")), text(told.get("status"))
        tool = self._known(call_id)
        tool.learn(told)
        if set(tool.given or ()) - {"cwd"} or status not in {"", "pending"}:
            self._begin(call_id)
        if status in _ENDED and not tool.refused:
            self._transcript.tool_finished(call_id, success=status == "completed", result=_result(told))

    def _known(self, call_id: str) -> ToolTold:
        """Return the call; a new one ends the message before it."""
        if call_id not in self._tools:
            self.end_message(tool_calls=1)
            self._tools[call_id] = ToolTold()
        return self._tools[call_id]

    def _begin(self, call_id: str) -> None:
        """Record the start of a tool. Agents announce a tool before they know its arguments: it has not begun then."""
        tool = self._tools[call_id]
        if not tool.begun:
            tool.begun = True
            name = tool.kind if tool.kind not in {"", "other"} else tool.title or "tool"
            self._transcript.tool_started(call_id, name, as_json(tool.given or None) or tool.title)


def _result(told: Mapping[str, Any]) -> str:
    """Return the result of a tool, as text."""
    said = [text(mapping(item.get("content")).get("text")) for item in objects(told.get("content"))]
    return "\n".join(filter(None, said)) or as_json(told.get("rawOutput") or None)
