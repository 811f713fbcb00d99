"""An agent without a model, made with the protocol's own library: it does what the script in a file says.

A script is a list of steps, each a list of a word and what belongs to it; see `Scripted.step`. What the client
answers is said, so that a test can read it.
"""

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

from acp import PROTOCOL_VERSION, Agent, RequestError, run_agent
from acp.helpers import start_tool_call, update_agent_message_text, update_tool_call
from acp.schema import (
    AgentCapabilities,
    InitializeResponse,
    LoadSessionResponse,
    NewSessionResponse,
    PermissionOption,
    PromptResponse,
    ToolCallUpdate,
    Usage,
)

ONCE = [("yes", "allow_once"), ("always", "allow_always"), ("no", "reject_once")]


class Scripted:
    def __init__(self, steps: list[list[Any]]) -> None:
        self.steps = steps
        self.cancelled = asyncio.Event()
        self.capabilities: Any = None
        self.prompt_text = ""
        self.ended: dict[str, Any] = {"stop_reason": "end_turn"}

    def on_connect(self, conn: Any) -> None:
        self.client = conn

    async def initialize(self, protocol_version: int, client_capabilities: Any = None, **kwargs: Any) -> Any:
        self.capabilities = client_capabilities
        if self.steps[0][0] == "mute":
            await asyncio.Event().wait()
        if self.steps[0][0] == "die at once":
            sys.stderr.write("Error: not logged in\n")
            sys.stderr.flush()
            os._exit(3)
        version = 7 if self.steps[0][0] == "version" else PROTOCOL_VERSION
        return InitializeResponse(
            protocol_version=version, agent_capabilities=AgentCapabilities(load_session=self.steps[0][0] != "forgets")
        )

    async def new_session(self, cwd: str, **kwargs: Any) -> Any:
        if self.steps[0][0] == "login":
            raise RequestError.auth_required()
        return NewSessionResponse(session_id="fresh")

    async def load_session(self, cwd: str, session_id: str, **kwargs: Any) -> Any:
        if session_id != "kept":
            raise RequestError.resource_not_found(session_id)
        await self.client.session_update(session_id, update_agent_message_text("<promise>of old</promise>"))
        return LoadSessionResponse()

    async def cancel(self, session_id: str, **kwargs: Any) -> None:
        leave("cancelled")
        self.cancelled.set()

    async def prompt(self, session_id: str, prompt: Any, **kwargs: Any) -> Any:
        self.session, self.prompt_text = session_id, prompt[0].text
        for number, (word, *rest) in enumerate(self.steps):
            await self.step(number, word, *rest)
        return PromptResponse(**self.ended)

    async def say(self, text: str) -> None:
        await self.client.session_update(self.session, update_agent_message_text(text))

    async def tell(self, asked: Any) -> None:
        """Says what the client answers."""
        try:
            answer = await asked
        except RequestError as error:
            await self.say(f"refused: {error}\n")
        else:
            told = answer.model_dump(mode="json", exclude_none=True) if answer is not None else {}
            await self.say(f"{json.dumps(told)}\n")

    async def step(self, number: int, word: str, *rest: Any) -> None:
        match word, rest:
            case "say", (text,):
                await self.say(text)
            case "echo", ():
                await self.say(f"{self.session}: {self.prompt_text}")
            case "capabilities", ():
                await self.say(self.capabilities.model_dump_json(exclude_none=True))
            case "tool", (kind, given, status):
                await self.client.session_update(
                    self.session,
                    start_tool_call(f"t{number}", f"A {kind}", kind=kind, status="pending", raw_input=given),
                )
                if status:
                    done = update_tool_call(f"t{number}", status=status, raw_output={"said": "result"})
                    await self.client.session_update(self.session, done)
            case "ask", (kind, given, *more):
                await self.ask(number, kind, given, more[0] if more else ONCE)
            case "read", (path, *more):
                await self.tell(self.client.read_text_file(session_id=self.session, path=path, **(more or [{}])[0]))
            case "write", (path, content):
                await self.tell(self.client.write_text_file(session_id=self.session, path=path, content=content))
            case "run", (command, *more):
                await self.run(command, **(more or [{}])[0])
            case "end", (ended,):
                self.ended = {**ended, **({"usage": Usage(**ended["usage"])} if "usage" in ended else {})}
            case "fail", (code, message, data):
                raise RequestError(code, message, data)
            case "hang", ():
                await self.cancelled.wait()
                self.ended = {"stop_reason": "cancelled"}
            case "deaf", ():
                await asyncio.Event().wait()
            case "die", ():
                os.kill(os.getpid(), signal.SIGKILL)
            case "child", ():
                leave("child", str(background()))
            case "raw", (line,):
                sys.stdout.write(line + "\n")
                sys.stdout.flush()
            case _:
                return

    async def ask(self, number: int, kind: Any, given: Any, options: Any) -> None:
        call = ToolCallUpdate(
            tool_call_id=f"t{number}", title=f"A {kind}", kind=kind, raw_input=given, status="pending"
        )
        offered = [PermissionOption(option_id=name, name=name, kind=option) for name, option in options]
        await self.tell(self.client.request_permission(session_id=self.session, tool_call=call, options=offered))

    async def run(self, command: str, **options: Any) -> None:
        kill = options.pop("kill", False)
        try:
            terminal = await self.client.create_terminal(session_id=self.session, command=command, **options)
        except RequestError as error:
            await self.say(f"refused: {error}\n")
            return
        name = {"session_id": self.session, "terminal_id": terminal.terminal_id}
        if kill:
            await self.client.kill_terminal(**name)
        await self.tell(self.client.wait_for_terminal_exit(**name))
        await self.tell(self.client.terminal_output(**name))
        await self.client.release_terminal(**name)


def leave(name: str, content: str = "") -> None:
    Path(name).write_text(content)


def background() -> int:
    return subprocess.Popen(["sleep", "300"], start_new_session=True).pid


if __name__ == "__main__":
    asyncio.run(run_agent(cast("Agent", Scripted(json.loads(Path(sys.argv[1]).read_text())))))
