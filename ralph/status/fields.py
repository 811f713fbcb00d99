"""The fields of a status block, and the parsing of their values."""

import json
import re
from collections.abc import Callable, Mapping
from math import isfinite
from typing import TYPE_CHECKING, Annotated, Any, Generic, cast, overload

from pydantic import Field, JsonValue, PlainSerializer, PlainValidator, WithJsonSchema
from pydantic.dataclasses import dataclass

from ralph.errors import UsageError
from ralph.system.text import storable

RESERVED = frozenset({"EXIT_SIGNAL", "REASON", "STATUS"})
"""The fields that every block may have."""

_WORDS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_TYPES: dict[str, Any] = {"str": str, "int": int, "float": float, "bool": bool, "list[str]": list[str]}
_SAMPLES = {"str": "text", "int": "3", "float": "0.5", "bool": "false", "list[str]": "one, two"}


def _field_type(given: object) -> object:
    for name, known in _TYPES.items():
        if given in (name, known):
            return known
    raise UsageError(f"{given!r} is not a valid type of a status field.", f"Use one of {', '.join(_TYPES)}.")


def _type_name(given: object) -> str:
    return next(name for name, known in _TYPES.items() if known == given)


if TYPE_CHECKING:
    from typing_extensions import TypeVar  # for its default, which typing has from Python 3.13 on

    FieldValue = str | int | float | bool | list[str]
    T_co = TypeVar("T_co", bound=FieldValue, covariant=True, default=FieldValue)
else:
    from typing import TypeVar

    T_co = TypeVar("T_co", covariant=True)

FieldType = Annotated[
    type[T_co],
    PlainValidator(_field_type),
    PlainSerializer(_type_name, return_type=str),
    WithJsonSchema({"enum": list(_TYPES)}),
]


@dataclass(frozen=True)
class StatusField(Generic[T_co]):
    """A further field of the status block; `read` and `StatusReport.value` return it with its type.

    Attributes:
        name: in capitals, digits and underscores.
        type: str, int, float, bool or list[str], or the name of one of these as text.
        description: what the agent should put there; part of the prompt.
        example: a value of that type, for the prompt; None for one that fits the type.
        choices: the values that a str may have; empty for any.

    Raises:
        UsageError: the name, the type or the example is not valid.
    """

    name: str
    type: FieldType[T_co] = Field(default_factory=cast("Any", lambda: str))
    description: str = ""
    example: JsonValue = None
    choices: tuple[str, ...] = ()

    if TYPE_CHECKING:

        @overload
        def __init__(
            self: "StatusField[str]",
            name: str,
            *,
            description: str = "",
            example: JsonValue = None,
            choices: tuple[str, ...] = (),
        ) -> None: ...

        @overload
        def __init__(
            self,
            name: str,
            type: FieldType[T_co],
            description: str = "",
            example: JsonValue = None,
            choices: tuple[str, ...] = (),
        ) -> None: ...

        def __init__(self, *_given: Any, **_named: Any) -> None: ...

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[A-Z][A-Z0-9_]{0,63}", self.name):
            raise UsageError(
                f"{self.name[:80]!r} is not a valid name of a status field.",
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
        """The example as it is written in a block."""
        if self.example is None:
            return self.choices[0] if self.choices else _SAMPLES[self.type_name]
        return ", ".join(map(as_text, self.example)) if isinstance(self.example, list) else as_text(self.example)

    def parse(self, raw: JsonValue) -> T_co:
        """Return the value of the field's type, from a line's text or a JSON value.

        Raises:
            ValueError: the text is not of that type, or is not one of the choices; the message says which.
        """
        value = _PARSERS[self.type_name](raw)
        if not self.choices:
            return cast("T_co", value)
        word = _without_remark(str(value)).casefold()
        for choice in self.choices:
            if choice.casefold() == word:
                return cast("T_co", choice)
        raise ValueError(f"{shown(value)} is not one of {', '.join(self.choices)}")

    def read(self, fields: Mapping[str, JsonValue]) -> T_co | None:
        """Return this field of a report or an event with its type; None if it is missing or of another type."""
        if self.name not in fields:
            return None
        try:
            return self.parse(fields[self.name])
        except ValueError:
            return None


def as_text(value: JsonValue) -> str:
    """Return a field's value as text: that of a line, or a JSON value as JSON; empty for None."""
    if value is None:
        return ""
    return storable(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def as_signal(value: JsonValue) -> bool | None:
    """Return a yes or no in any case and with marks around it; None for anything else."""
    return _WORDS.get(_word(value))


def shown(value: JsonValue) -> str:
    """Return the value as it is quoted in a message: one line, bounded."""
    text = " ".join(as_text(value).split())
    return repr(text if len(text) <= 60 else f"{text[:60]}…")


def _word(value: JsonValue) -> str:
    """Return a value of one word without the marks around it."""
    return as_text(value).strip("*_`\"' \t\n").casefold()


def _without_remark(text: str) -> str:
    """Return the text before a remark in parentheses: `5 (app.py and four more)` is 5."""
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
    """Return the items of a JSON array, of lines behind bullets, or of text between commas."""
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
