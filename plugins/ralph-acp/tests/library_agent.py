"""An agent that is made with the protocol's own library, so that its models judge what the executor sends."""

import asyncio
import os
from typing import Any, cast

from acp import PROTOCOL_VERSION, Agent, InitializeResponse, NewSessionResponse, PromptResponse, RequestError, run_agent
from acp.helpers import start_tool_call, update_agent_message_text, update_tool_call
from acp.schema import PermissionOption, ToolCallUpdate


class Working:
    """Writes a file by the client, if it may, runs a command by it, and repeats the prompt."""

    def on_connect(self, conn: Any) -> None:
        self.client = conn

    async def initialize(self, protocol_version: int, **kwargs: Any) -> InitializeResponse:
        return InitializeResponse(protocol_version=PROTOCOL_VERSION)

    async def new_session(self, cwd: str, **kwargs: Any) -> NewSessionResponse:
        return NewSessionResponse(session_id=f"in {cwd}")

    async def prompt(self, session_id: str, prompt: Any, **kwargs: Any) -> PromptResponse:
        def tell(update: Any) -> Any:
            return self.client.session_update(session_id, update)

        path = os.path.join(session_id.removeprefix("in "), "made.txt")  # noqa: PTH118
        given = {"path": path}
        await tell(update_agent_message_text("I write."))
        await tell(start_tool_call("t", "Write a file", kind="edit", status="pending", raw_input=given))
        call = ToolCallUpdate(tool_call_id="t", title="Write a file", kind="edit", raw_input=given)
        options = [
            PermissionOption(option_id="1", name="Always", kind="allow_always"),
            PermissionOption(option_id="2", name="Once", kind="allow_once"),
        ]
        answer = await self.client.request_permission(session_id=session_id, tool_call=call, options=options)
        if getattr(answer.outcome, "option_id", "") == "2":
            await self.client.write_text_file(session_id=session_id, path=path, content="made")
        await tell(update_tool_call("t", status="completed"))
        terminal = await self.client.create_terminal(session_id=session_id, command="cat made.txt; exit 4")
        name = {"session_id": session_id, "terminal_id": terminal.terminal_id}
        status = await self.client.wait_for_terminal_exit(**name)
        shown = await self.client.terminal_output(**name)
        await self.client.release_terminal(**name)
        try:
            await self.client.read_text_file(session_id=session_id, path="/etc/passwd")
        except RequestError:
            await tell(update_agent_message_text(f"{shown.output} {status.exit_code} {prompt[0].text}"))
        return PromptResponse(stop_reason="end_turn")


if __name__ == "__main__":
    asyncio.run(run_agent(cast("Agent", Working())))
