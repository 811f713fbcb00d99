"""The fields of a status block: which there may be, and how a value is read as its type."""

import json
import re
from collections.abc import Callable
from math import isfinite
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, JsonValue, PlainSerializer, PlainValidator, WithJsonSchema
from pydantic.dataclasses import dataclass

from ralph.errors import UsageError
from ralph.system.text import storable

__all__ = ["RESERVED", "StatusField", "as_signal", "as_text", "shown"]

RESERVED = frozenset({"EXIT_SIGNAL", "REASON", "STATUS"})
"""The fields that every block may have."""

_WORDS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_TYPES: dict[str, Any] = {"str": str, "int": int, "float": float, "bool": bool, "list[str]": list[str]}
_SAMPLES = {"str": "text", "int": "3", "float": "0.5", "bool": "false", "list[str]": "one, two"}


def _field_type(given: object) -> object:
    for name, known in _TYPES.items():
        if given in (name, known):
            return known
    raise UsageError(f"A status field cannot be of type {given!r}.", f"Use one of {', '.join(_TYPES)}.")


def _type_name(given: object) -> str:
    return next(name for name, known in _TYPES.items() if known == given)


if TYPE_CHECKING:
    FieldType = type[str | int | float | bool | list[str]]
else:  # pydantic has no schema for type[list[str]]
    FieldType = Annotated[
        Any,
        PlainValidator(_field_type),
        PlainSerializer(_type_name, return_type=str),
        WithJsonSchema({"enum": list(_TYPES)}),
    ]


@dataclass(frozen=True)
class StatusField:
    """A further field that the agent is asked for in its status block.

    Attributes:
        name: in capitals, digits and underscores.
        type: str, int, float, bool or list[str]; their names as text do as well.
        description: what the agent should put there; part of the prompt.
        example: a value of that type, for the prompt; None for one that fits the type.
        choices: what a str may be; empty for anything.
    """

    name: str
    type: FieldType = Field(default_factory=lambda: str)
    description: str = ""
    example: JsonValue = None
    choices: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[A-Z][A-Z0-9_]{0,63}", self.name):
            raise UsageError(
                f"{self.name[:80]!r} cannot be the name of a status field.",
                "Use capitals, digits and underscores, such as TESTS_STATUS.",
            )
        if self.name in RESERVED:
            raise UsageError(f"Every status block has {self.name} already.", "Choose another name for the field.")
        try:
            self.parse(self.sample)
        except ValueError as error:
            raise UsageError(f"The example of the status field {self.name} does not fit it: {error}.") from None

    @property
    def type_name(self) -> str:
        return _type_name(self.type)

    @property
    def sample(self) -> str:
        """The example as it stands in a block."""
        if self.example is None:
            return self.choices[0] if self.choices else _SAMPLES[self.type_name]
        return ", ".join(map(as_text, self.example)) if isinstance(self.example, list) else as_text(self.example)

    def parse(self, raw: JsonValue) -> JsonValue:
        """The value of the field's type, from a line's text or a JSON value. Raises ValueError, saying why not."""
        value = _PARSERS[self.type_name](raw)
        if not self.choices:
            return value
        word = _without_remark(str(value)).casefold()
        for choice in self.choices:
            if choice.casefold() == word:
                return choice
        raise ValueError(f"{shown(value)} is none of {', '.join(self.choices)}")


def as_text(value: JsonValue) -> str:
    """A field's value as text: what stands in a line, or a JSON value as JSON; nothing for None."""
    if value is None:
        return ""
    return storable(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def as_signal(value: JsonValue) -> bool | None:
    """A yes or no, whatever the case and the marks around it; None for anything else."""
    return _WORDS.get(_word(value))


def shown(value: JsonValue) -> str:
    """The value as it is quoted in a message: one line, bounded."""
    text = " ".join(as_text(value).split())
    return repr(text if len(text) <= 60 else f"{text[:60]}…")


def _word(value: JsonValue) -> str:
    """A value that is one word, without the marks around it."""
    return as_text(value).strip("*_`\"' \t\n").casefold()


def _without_remark(text: str) -> str:
    """`5 (app.py and four more)` is 5."""
    return text.partition("(")[0].strip() or text


def _whole(raw: JsonValue) -> int:
    digits = _without_remark(_word(raw))
    if not re.fullmatch(r"[+-]?[0-9]{1,18}", digits):
        raise ValueError(f"{shown(raw)} is not a whole number")
    return int(digits)


def _number(raw: JsonValue) -> float:
    digits = _without_remark(_word(raw))
    if not re.fullmatch(r"[+-]?(?:[0-9]{1,40}(?:\.[0-9]{0,40})?|\.[0-9]{1,40})(?:e[+-]?[0-9]{1,3})?", digits):
        raise ValueError(f"{shown(raw)} is not a number")
    if not isfinite(value := float(digits)):
        raise ValueError(f"{shown(raw)} is too large")
    return value


def _truth(raw: JsonValue) -> bool:
    word = _without_remark(_word(raw))
    if word not in _WORDS:
        raise ValueError(f"{shown(raw)} is not true or false")
    return _WORDS[word]


def _list(raw: JsonValue) -> JsonValue:
    """A JSON array, lines behind bullets, or words between commas."""
    if isinstance(raw, str) and raw.startswith("["):
        try:
            raw = json.loads(raw)
        except (ValueError, RecursionError):
            raise ValueError(f"{shown(raw)} is not a list") from None
    if isinstance(raw, list):
        return [as_text(item) for item in raw]
    text = as_text(raw)
    bulleted = text.lstrip().startswith(("- ", "* "))
    items = (
        item.strip().removeprefix("- ").removeprefix("* ") for item in re.split(r"\n" if bulleted else r"[,\n]", text)
    )
    return [item for item in items if item]


_PARSERS: dict[str, Callable[[JsonValue], JsonValue]] = {
    "str": as_text,
    "int": _whole,
    "float": _number,
    "bool": _truth,
    "list[str]": _list,
}
