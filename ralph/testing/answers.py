"""Conversion of a script's step to an answer that uses the tools in the request.

Supported are the Copilot CLI's `create`, `edit`, `apply_patch` (which it offers to some models instead), `bash` and
`powershell`, Claude Code's `Write`, `Edit` and `Bash`, and Codex's `exec_command`, which takes patches, too.
"""

import json
import shlex

from ralph.testing.request import ModelRequest
from ralph.testing.steps import (
    Action,
    Call,
    Cut,
    EditFile,
    Empty,
    Fail,
    Garbage,
    Hang,
    Say,
    Shell,
    Stall,
    Step,
    Use,
    WriteFile,
)
from ralph.testing.wire import Answer, End, ToolUse
from ralph.types import evolve
from ralph.types.output import Usage

__all__ = ["Reaction", "react"]

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
            return _answer(request, step.text, usage=step.usage, chunk=step.chunk, pace=step.pace)
        case Stall():
            return _answer(request, step.text, end="stall", silence=step.seconds)
        case Cut():
            return _answer(request, step.text, end="cut")
        case Use():
            return _answer(request, step.text, step.actions, usage=step.usage)
        case Call():
            return _answer(request, step.text, (step,), usage=step.usage)
        case WriteFile() | EditFile() | Shell():
            return _answer(request, step.text, (step,))


def _answer(
    request: ModelRequest,
    text: str = "",
    actions: tuple[Action, ...] = (),
    *,
    usage: Usage = Usage(),  # noqa: B008 - frozen
    end: End = "whole",
    silence: float | None = None,
    chunk: int = 24,
    pace: float = 0.0,
) -> Answer:
    uses = [_use(action, request, f"call-{request.number}-{n}") for n, action in enumerate(actions, 1)]
    said = len(text) + sum(len(use.name) + len(use.arguments) for use in uses)
    return Answer(
        id=str(request.number),
        model=request.model,
        text=text,
        uses=uses,
        usage=_counted(usage, request, said),
        chunk=chunk,
        pace=pace,
        end=end,
        silence=silence,
    )


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
