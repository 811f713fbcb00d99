"""An agent without a model: it does what the script in a file says, and says what the client answers.

It speaks the protocol by hand, so that it starts at once and can also break the rules. A script is a list of steps,
each a list of a word and what belongs to it.
"""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, NoReturn

Json = dict[str, Any]

ONCE = [("yes", "allow_once"), ("always", "allow_always"), ("no", "reject_once")]


class RefusedError(Exception):
    """The client answered with an error."""


class FailingError(Exception):
    """The agent answers with an error."""


class Agent:
    def __init__(self, steps: list[list[Any]]) -> None:
        self.steps = steps
        self.first = steps[0][0]
        self.capabilities: Json = {}
        self.session = ""
        self.prompt = ""
        self.ended: Json = {"stopReason": "end_turn"}
        self.requests = 0

    def serve(self) -> NoReturn:
        while True:
            message = self.receive()
            try:
                answer = {"result": self.answer(message["method"], message["params"])}
            except FailingError as error:
                code, said, data = error.args
                answer = {"error": {"code": code, "message": said, "data": data}}
            if "id" in message:
                self.send({"id": message["id"], **answer})

    def receive(self) -> Json:
        line = sys.stdin.readline()
        if not line:
            sys.exit(0)
        message = json.loads(line)
        if message.get("method") == "session/cancel":
            Path("cancelled").touch()
        return message

    def send(self, message: Json) -> None:
        self.write(json.dumps({"jsonrpc": "2.0", **message}))

    def write(self, line: str) -> None:
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()

    def ask(self, method: str, **params: Any) -> Json:
        self.requests += 1
        self.send({"id": f"a{self.requests}", "method": method, "params": {"sessionId": self.session, **params}})
        while (message := self.receive()).get("id") != f"a{self.requests}":
            continue
        if "error" in message:
            raise RefusedError(message["error"]["message"])
        return message["result"]

    def update(self, which: str, **params: Any) -> None:
        update = {"sessionUpdate": which, **params}
        self.send({"method": "session/update", "params": {"sessionId": self.session, "update": update}})

    def say(self, text: str) -> None:
        self.update("agent_message_chunk", content={"type": "text", "text": text})

    def tell(self, method: str, **params: Any) -> Json:
        """Asks, and says what is answered."""
        try:
            answer = self.ask(method, **params)
        except RefusedError as error:
            self.say(f"refused: {error}\n")
            return {}
        self.say(f"{json.dumps(answer)}\n")
        return answer

    def answer(self, method: str, params: Json) -> Json:
        match method:
            case "initialize":
                return self.greet(params)
            case "session/new" if self.first == "login":
                raise FailingError(-32000, "Authentication required", None)
            case "session/new":
                return {"sessionId": "fresh"}
            case "session/load" if params["sessionId"] != "kept":
                raise FailingError(-32002, "Resource not found", None)
            case "session/load":
                self.session = params["sessionId"]
                self.say("<promise>of old</promise>")
                return {}
            case "session/prompt":
                self.session, self.prompt = params["sessionId"], params["prompt"][0]["text"]
                for number, (word, *rest) in enumerate(self.steps):
                    self.step(f"t{number}", word, *rest)
                return self.ended
            case _:
                return {}

    def greet(self, params: Json) -> Json:
        self.capabilities = params["clientCapabilities"]
        if self.first == "mute":
            signal.pause()
        if self.first == "die at once":
            sys.stderr.write("Error: not logged in\n")
            sys.exit(3)
        version = 7 if self.first == "version" else params["protocolVersion"]
        return {"protocolVersion": version, "agentCapabilities": {"loadSession": self.first != "forgets"}}

    def step(self, name: str, word: str, *rest: Any) -> None:
        match word, rest:
            case "say", (text,):
                self.say(text)
            case "echo", ():
                self.say(f"{self.session}: {self.prompt}")
            case "capabilities", ():
                self.say(json.dumps(self.capabilities))
            case "tool", (kind, given, status):
                self.update(
                    "tool_call", toolCallId=name, title=f"A {kind}", kind=kind, status="pending", rawInput=given
                )
                self.update("tool_call_update", toolCallId=name, status=status, rawOutput={"said": "result"})
            case "ask", (kind, given, *more):
                call = {"toolCallId": name, "title": f"A {kind}", "kind": kind, "rawInput": given}
                options = [{"optionId": each, "name": each, "kind": how} for each, how in (more or [ONCE])[0]]
                self.tell("session/request_permission", toolCall=call, options=options)
            case "read", (path, *more):
                self.tell("fs/read_text_file", path=path, **(more or [{}])[0])
            case "write", (path, content):
                self.tell("fs/write_text_file", path=path, content=content)
            case "run", (command, *more):
                self.run(command, **(more or [{}])[0])
            case "raw", (line,):
                self.write(line)
            case _:
                self.end(word, *rest)

    def end(self, word: str, *rest: Any) -> None:
        match word, rest:
            case "end", (ended,):
                self.ended = ended
            case "fail", (code, message, data):
                raise FailingError(code, message, data)
            case "hang", ():
                while self.receive().get("method") != "session/cancel":
                    continue
                self.ended = {"stopReason": "cancelled"}
            case "deaf", ():
                while True:
                    self.receive()
            case "die", ():
                os.kill(os.getpid(), signal.SIGKILL)
            case "child", ():
                child = subprocess.Popen(["sleep", "300"], start_new_session=True)
                Path("child").write_text(str(child.pid))
            case _:
                return

    def run(self, command: str, *, kill: bool = False, **options: Any) -> None:
        try:
            name = self.ask("terminal/create", command=command, **options)
        except RefusedError as error:
            self.say(f"refused: {error}\n")
            return
        if kill:
            self.ask("terminal/kill", **name)
        self.tell("terminal/wait_for_exit", **name)
        self.tell("terminal/output", **name)
        self.ask("terminal/release", **name)


if __name__ == "__main__":
    Agent(json.loads(Path(sys.argv[1]).read_text())).serve()
