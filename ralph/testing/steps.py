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
"""

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, JsonValue, NonNegativeFloat, PositiveInt
from pydantic.dataclasses import dataclass

from ralph.types.output import Usage

__all__ = [
    "Action",
    "Call",
    "Cut",
    "EditFile",
    "Empty",
    "Fail",
    "Garbage",
    "Hang",
    "Say",
    "Shell",
    "Stall",
    "Step",
    "Use",
    "WriteFile",
]

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
