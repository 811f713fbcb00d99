"""An executor for a coding agent of your own: a program that reads a prompt and prints JSON lines.

`uv run python examples/fourth_agent.py` runs it with a stand-in for the agent, which costs nothing.
"""

import sys
import tempfile
from pathlib import Path
from typing import ClassVar, Unpack

import anyio

from ralph import Prompt, Runner, RunRecord, Turn, Usage
from ralph.errors import ExecutorUnavailableError
from ralph.executors import NO_KEY, AgentOptions, Event, Listener, ProgramExecutor, classify_failure, wait_in
from ralph.executors.program_output import as_json, mapping, text, whole
from ralph.workspace import open_workspace


class SparrowListener(Listener):
    """Puts what Sparrow prints into the transcript."""

    def take(self, event: Event) -> None:
        match event.get("type"):
            case "session":
                self.transcript.session_id = text(event.get("id")) or None
                self.transcript.model = text(event.get("model")) or self.transcript.model
            case "text":
                self.transcript.message(text(event.get("text")), tool_calls=whole(event.get("tools")) or 0)
            case "tool":
                self.transcript.tool_started(
                    text(event.get("id")), text(event.get("name")), as_json(event.get("input"))
                )
            case "tool_result":
                success = event.get("ok") is True
                self.transcript.tool_finished(text(event.get("id")), success=success, result=text(event.get("output")))
            case "error":
                message = text(event.get("message"))
                self.failure = classify_failure(
                    message, status=whole(event.get("status")), retry_after=wait_in(message)
                )
            case "end":
                used = mapping(event.get("usage"))
                self.transcript.used(
                    Usage(input_tokens=whole(used.get("input")), output_tokens=whole(used.get("output")))
                )
                self.result = 0
            case _:
                pass


class SparrowExecutor(ProgramExecutor):
    """Runs Sparrow, an agent that exists only in this example."""

    name: ClassVar[str] = "sparrow"
    label: ClassVar[str] = "Sparrow"
    logins: ClassVar[tuple[str, ...]] = ("SPARROW_TOKEN",)

    def __init__(self, *words: str, **options: Unpack[AgentOptions]) -> None:
        super().__init__(Path(words[0]), **options)
        self._words = words
        self.measures = frozenset({"tokens"})

    async def check(self) -> str:
        if self.program and self.program.exists():
            return str(self.program)
        raise ExecutorUnavailableError(f"There is no Sparrow at {str(self.program)!r}.", "Install it.")

    def command(self, prompt: Prompt, turn: Turn) -> list[str]:
        resume = ["--resume", turn.session_id] if turn.session_id else []
        looking = ["--tools", "read"] if turn.read_only else []
        return [*self._words, "--json", *resume, *looking]

    def environment(self, turn: Turn) -> dict[str, str]:
        env = self.inherited_environment()
        if self.base_url:
            env |= {"SPARROW_URL": self.base_url, "SPARROW_TOKEN": self.api_key or NO_KEY}
        if self.home:
            env["SPARROW_HOME"] = str(self.home)
        return env

    def listener(self, turn: Turn) -> Listener:
        return SparrowListener(turn.transcript)


STAND_IN = """
import json, pathlib, sys, time

def say(kind, **fields):
    print(json.dumps({"type": kind, **fields}), flush=True)

asked, poem = sys.stdin.read(), pathlib.Path("poem.txt")
if "hang" in sys.argv:
    time.sleep(600)
say("session", id="s-1", model="sparrow-2")
if "fail" in sys.argv:
    say("error", status=429, message="Too many requests, try again in 20 s")
    sys.exit(1)
if "--tools" not in sys.argv:
    say("text", text="I write the poem.", tools=1)
    say("tool", id="t-1", name="write", input={"path": "poem.txt"})
    poem.write_text("Small brown bird.")
    say("tool_result", id="t-1", ok=True, output="17 bytes")
say("text", text="The poem is written.\\n---RALPH_STATUS---\\nEXIT_SIGNAL: true\\n---END_RALPH_STATUS---")
say("end", usage={"input": len(asked) // 4, "output": 20})
"""


async def main(folder: Path) -> RunRecord:
    executor = SparrowExecutor(sys.executable, "-c", STAND_IN)
    async with Runner(executor=executor, workspace=open_workspace(folder)) as runner:
        return await runner.run("Write a short poem about a bird into poem.txt.")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        record = anyio.run(main, Path(name))
    print(f"{record.stop_reason} after {record.iterations} iterations by {', '.join(record.executors)}")
