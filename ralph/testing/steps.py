"""Steps: the vocabulary of a `ModelServer`'s script, one step for each request to the model.

```
Say       a message that ends the agent's turn
Call      one tool, by name and arguments            Use      several tools in one message
WriteFile, EditFile, Shell                           the same, in the tools that the agent offers
Fail      an HTTP error                              Empty    a well-formed answer without text or tools
Hang      never answers                              Stall    begins to answer, then goes silent
Cut       begins to answer, then drops the line      Garbage  an answer that is not one
```

Steps are frozen, and each can be written in JSON: `{"step": "say", "text": "Done."}`.

`react` converts a step to an answer that uses the tools in the request. Supported are the Copilot CLI's `create`,
`edit`, `apply_patch` (which it offers to some models instead), `bash` and `powershell`, Claude Code's `Write`, `Edit`
and `Bash`, and Codex's `exec_command`, which takes patches, too.
"""

import json
import shlex
from collections.abc import Mapping
from dataclasses import field, replace
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, JsonValue, NonNegativeFloat, PositiveInt
from pydantic.dataclasses import dataclass

from ralph.testing.wire import Answer, ModelRequest, ToolUse
from ralph.types import evolve
from ralph.types.output import Usage

_STRICT = ConfigDict(extra="forbid")


@dataclass(frozen=True, config=_STRICT)
class Say:
    """A message without tools, which ends the agent's turn.

    Attributes:
        usage: the reported tokens; missing ones are estimated from the lengths of the texts.
        chunk: characters in one piece of a streamed answer.
        pace: seconds before each piece, or before the whole if it is not streamed.
    """

    text: str
    usage: Usage = field(default=Usage(), kw_only=True)
    chunk: PositiveInt = field(default=24, kw_only=True)
    pace: NonNegativeFloat = field(default=0.0, kw_only=True)
    step: Literal["say"] = field(default="say", kw_only=True)


@dataclass(frozen=True, config=_STRICT)
class Call:
    """A message that calls one tool.

    Attributes:
        arguments: an object, or text that is sent unchanged: for tools with free text, and for broken JSON.
        text: the message's text.
        id: the call's id; None for a generated one.
    """

    tool: str
    arguments: Mapping[str, JsonValue] | str = field(default_factory=dict[str, JsonValue])
    text: str = ""
    id: str | None = field(default=None, kw_only=True)
    usage: Usage = field(default=Usage(), kw_only=True)
    step: Literal["call"] = field(default="call", kw_only=True)


@dataclass(frozen=True, config=_STRICT)
class WriteFile:
    """A call that creates a file; the Copilot CLI's tool refuses if it exists.

    Attributes:
        path: from the agent's working folder, or absolute.
    """

    path: str
    content: str
    text: str = ""
    step: Literal["write_file"] = field(default="write_file", kw_only=True)


@dataclass(frozen=True, config=_STRICT)
class EditFile:
    """A call that replaces `old`, whole lines that occur once in the file, by `new`."""

    path: str
    old: str
    new: str
    text: str = ""
    step: Literal["edit_file"] = field(default="edit_file", kw_only=True)


@dataclass(frozen=True, config=_STRICT)
class Shell:
    """A call of a command in the agent's shell."""

    command: str
    text: str = ""
    step: Literal["shell"] = field(default="shell", kw_only=True)


Action = Annotated[Call | WriteFile | EditFile | Shell, Field(discriminator="step")]


@dataclass(frozen=True, config=_STRICT)
class Use:
    """A message that calls several tools at once; the texts of its actions keep their order."""

    actions: tuple[Action, ...]
    text: str = ""
    usage: Usage = field(default=Usage(), kw_only=True)
    step: Literal["use"] = field(default="use", kw_only=True)


@dataclass(frozen=True, config=_STRICT)
class Fail:
    """An HTTP error.

    Attributes:
        status: 400 by default means a context that is too long.
        retry_after: the header, in seconds; None leaves it out.
        message, code: by default those of providers with that status.
        headers: further ones.
    """

    status: Annotated[int, Field(ge=400, le=599)]
    message: str = ""
    code: str = ""
    retry_after: NonNegativeFloat | None = field(default=None, kw_only=True)
    headers: Mapping[str, str] = field(default_factory=dict[str, str], kw_only=True)
    step: Literal["fail"] = field(default="fail", kw_only=True)


@dataclass(frozen=True, config=_STRICT)
class Hang:
    """A request without an answer; the connection drops after `seconds`, or when the server closes."""

    seconds: NonNegativeFloat | None = None
    step: Literal["hang"] = field(default="hang", kw_only=True)


@dataclass(frozen=True, config=_STRICT)
class Stall:
    """An unfinished answer that falls silent after the text."""

    text: str = "Let me"
    seconds: NonNegativeFloat | None = None
    step: Literal["stall"] = field(default="stall", kw_only=True)


@dataclass(frozen=True, config=_STRICT)
class Cut:
    """An unfinished answer that drops the connection after the text."""

    text: str = "Let me"
    step: Literal["cut"] = field(default="cut", kw_only=True)


@dataclass(frozen=True, config=_STRICT)
class Garbage:
    """A body with status 200 that is not an answer."""

    body: str = "<html>\x00 502, but with status 200"
    step: Literal["garbage"] = field(default="garbage", kw_only=True)


@dataclass(frozen=True, config=_STRICT)
class Empty:
    """A well-formed answer without text or tools."""

    step: Literal["empty"] = field(default="empty", kw_only=True)


Step = Annotated[
    Say | Call | WriteFile | EditFile | Shell | Use | Fail | Hang | Stall | Cut | Garbage | Empty,
    Field(discriminator="step"),
]

Reaction = Answer | Fail | Hang | Garbage
"""An answer, or one of the ways not to give one."""


def react(step: Step, request: ModelRequest) -> Reaction:
    """Return the reaction of a step to a request. Raises LookupError if the request offers no suitable tool."""
    match step:
        case Fail() | Hang() | Garbage():
            return step
        case Empty():
            return _answer(request)
        case Say():
            return replace(_answer(request, step.text, usage=step.usage), chunk=step.chunk, pace=step.pace)
        case Stall():
            return replace(_answer(request, step.text), end="stall", silence=step.seconds)
        case Cut():
            return replace(_answer(request, step.text), end="cut")
        case Use():
            return _answer(request, step.text, step.actions, step.usage)
        case Call():
            return _answer(request, step.text, (step,), step.usage)
        case WriteFile() | EditFile() | Shell():
            return _answer(request, step.text, (step,))


def _answer(
    request: ModelRequest,
    text: str = "",
    actions: tuple[Action, ...] = (),
    usage: Usage = Usage(),  # noqa: B008 - frozen
) -> Answer:
    uses = [_use(action, request, f"call-{request.number}-{n}") for n, action in enumerate(actions, 1)]
    said = len(text) + sum(len(use.name) + len(use.arguments) for use in uses)
    return Answer(str(request.number), request.model, text, uses, _counted(usage, request, said))


def _counted(given: Usage, request: ModelRequest, said: int) -> Usage:
    """Fill in missing usage with an estimate of four characters a token."""
    asked = given.input_tokens if given.input_tokens is not None else request.size // 4
    return evolve(
        given,
        input_tokens=asked,
        output_tokens=given.output_tokens if given.output_tokens is not None else said // 4 + 1,
        cache_read_tokens=given.cache_read_tokens or 0,
    )


def _use(action: Action, request: ModelRequest, call_id: str) -> ToolUse:
    call = _call(action, request)
    given = call.arguments if isinstance(call.arguments, str) else json.dumps(dict(call.arguments))
    return ToolUse(call.id or call_id, call.tool, given, custom=request.tools.get(call.tool) == "custom")


def _call(action: Action, request: ModelRequest) -> Call:
    match action:
        case Call():
            return action
        case WriteFile():
            return _written(action, request)
        case EditFile():
            return _edited(action, request)
        case Shell():
            return _run(action.command, request)


def _written(action: WriteFile, request: ModelRequest) -> Call:
    path = request.absolute(action.path)
    if "create" in request.tools:
        return Call("create", {"path": path, "file_text": action.content})
    if "Write" in request.tools:
        return Call("Write", {"file_path": path, "content": action.content})
    if "apply_patch" in request.tools:
        return _patch(f"*** Add File: {path}", _signed("+", action.content))
    if not request.tools.keys() & {"bash", "exec_command"}:
        raise LookupError(f"the agent offers no tool to write {action.path} with; it offers {_offered(request)}")
    return _run(f"mkdir -p {_parent(path)} && printf %s {shlex.quote(action.content)} > {shlex.quote(path)}", request)


def _edited(action: EditFile, request: ModelRequest) -> Call:
    path = request.absolute(action.path)
    if "edit" in request.tools:
        return Call("edit", {"path": path, "old_str": action.old, "new_str": action.new})
    if "Edit" in request.tools:
        return Call("Edit", {"file_path": path, "old_string": action.old, "new_string": action.new})
    patch = _patch(f"*** Update File: {path}", "@@", _signed("-", action.old), _signed("+", action.new))
    if "apply_patch" in request.tools:
        return patch
    if "exec_command" in request.tools:
        return _run(f"apply_patch <<'END OF PATCH'\n{patch.arguments}\nEND OF PATCH\n", request)
    raise LookupError(f"the agent offers no tool to edit {action.path} with; it offers {_offered(request)}")


def _run(command: str, request: ModelRequest) -> Call:
    for shell in ("bash", "powershell", "Bash"):
        if shell in request.tools:
            return Call(shell, {"command": command, "description": "Run a command"})
    if "exec_command" in request.tools:
        return Call("exec_command", {"cmd": command})
    raise LookupError(f"the agent offers no shell to run {command!r} in; it offers {_offered(request)}")


def _patch(*lines: str) -> Call:
    return Call("apply_patch", "\n".join(("*** Begin Patch", *lines, "*** End Patch")))


def _signed(sign: str, text: str) -> str:
    return "\n".join(sign + line for line in text.removesuffix("\n").split("\n"))


def _parent(path: str) -> str:
    return shlex.quote(path.rpartition("/")[0] or ".")


def _offered(request: ModelRequest) -> str:
    return ", ".join(sorted(request.tools)) or "none"
