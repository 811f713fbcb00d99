r"""Verifiers by name, as in `--verifier review:rounds=2,timeout=5m`.

Behind the name come keys and their values, with commas in between. A comma within quotes separates nothing, and neither
does `\,`. Quotes around a whole value are taken off; others stay, for the shell or program that the value is for:

```
command:command=pytest -q,timeout=15m
command:command="pytest -q tests/unit,tests/api"
command:command=python -c 'print(1, 2)'
```
"""

import re
from collections.abc import Iterator, Mapping
from functools import partial

from pydantic import BaseModel, Field, ValidationError

from ralph.errors import UnknownNameError, UsageError, nearest, plainly
from ralph.settings import Duration
from ralph.system.secrets import Redactor
from ralph.verifiers.base import Verifier, VerifierContext, VerifierProvider
from ralph.verifiers.command import CommandVerifier, parse_command
from ralph.verifiers.review import ReviewVerifier

_QUOTES = "\"'"
_REMEDY = "Write it as NAME:key=value,key=value; put a value with commas in quotes."


class _CommandKeys(BaseModel, frozen=True, extra="forbid"):
    command: str = Field(min_length=1, description="What is run.")
    timeout: Duration | None = Field(default=None, description="How long it may take; unset: verify_timeout.")


class _ReviewKeys(BaseModel, frozen=True, extra="forbid"):
    rounds: int | None = Field(default=None, ge=1, le=9, description="Fresh sessions that must agree: verify_rounds.")
    timeout: Duration | None = Field(default=None, description="Of all together; unset: verify_timeout.")
    diff: int = Field(default=60_000, ge=1_000, le=1_000_000, description="Characters of the changes that it is shown.")


def _program(keys: _CommandKeys, context: VerifierContext, *, split: bool = True) -> Verifier:
    return CommandVerifier(
        parse_command(keys.command) if split else keys.command,
        timeout=keys.timeout or context.timeout,
        redactor=context.redactor,
        confinement=context.confinement,
    )


def _review(keys: _ReviewKeys, context: VerifierContext) -> Verifier:
    return ReviewVerifier(
        context.executor,
        rounds=keys.rounds or context.rounds,
        timeout=keys.timeout or context.timeout,
        diff=keys.diff,
        redactor=context.redactor,
    )


VERIFIERS: Mapping[str, VerifierProvider] = {
    kind.name: kind
    for kind in (
        VerifierProvider("command", "a program and its arguments must end with status 0", _CommandKeys, _program),
        VerifierProvider("review", "a fresh session of the agent must find the work done", _ReviewKeys, _review),
        VerifierProvider(
            "shell", "a shell command must end with status 0", _CommandKeys, partial(_program, split=False)
        ),
    )
}
"""The kinds by name."""


def verifier_named(text: str, context: VerifierContext, kinds: Mapping[str, VerifierProvider] = VERIFIERS) -> Verifier:
    """Build the verifier of a specification.

    Raises:
        UnknownNameError: no kind has that name.
        UsageError: a key is unknown, missing or given twice, or its value is not valid.
    """
    name, values = parse_specification(text)
    if name not in kinds:
        raise UnknownNameError("verifier", name, kinds)
    kind = kinds[name]
    try:
        keys = kind.keys.model_validate(values)
    except ValidationError as error:
        raise _refused(kind, error) from None
    return kind.build(keys, context)


def parse_specification(text: str) -> tuple[str, dict[str, str]]:
    """Split a specification into the name and the keys; see the module for the quoting.

    Raises:
        UsageError: it cannot be parsed.
    """
    name, _, rest = text.partition(":")
    values: dict[str, str] = {}
    for part in _parts(text, rest) if rest.strip() else ():
        key, equals, value = part.partition("=")
        key = key.strip()
        if not equals or not _KEY.fullmatch(key):
            raise UsageError(f"The verifier {_shown(text)} cannot be read at {_shown(part)}.", _REMEDY)
        if key in values:
            raise UsageError(f"The verifier {_shown(text)} gives {key!r} twice.", "Give it once.")
        values[key] = _bare(value.strip())
    return name.strip(), values


_KEY = re.compile(r"[A-Za-z][\w-]{0,63}")


def _parts(text: str, rest: str) -> Iterator[str]:
    """Split a text at the commas that separate."""
    quote, part = "", ""
    escaped = False
    for character in rest:
        if escaped:
            part += "," if character == "," else f"\\{character}"
            escaped = False
        elif character == "\\":
            escaped = True
        elif character == "," and not quote:
            yield part
            part = ""
        else:
            if character in _QUOTES and quote in {"", character}:
                quote = "" if quote else character
            part += character
    if quote:
        raise UsageError(f"The verifier {_shown(text)} has an open {quote}.", "Close the quotation.")
    yield part + "\\" * escaped


def _bare(value: str) -> str:
    whole = len(value) > 1 and value[0] in _QUOTES and value.find(value[0], 1) == len(value) - 1
    return value[1:-1] if whole else value


def _refused(kind: VerifierProvider, error: ValidationError) -> UsageError:
    found = error.errors()
    first = next((each for each in found if each["type"] == "extra_forbidden"), found[0])
    key = str(first["loc"][0]) if first["loc"] else ""
    given = f"The verifier {kind.name!r}"
    if first["type"] == "extra_forbidden":
        return UsageError(f"{given} has no key {key!r}.", nearest(key, kind.keys.model_fields))
    about = kind.keys.model_fields[key].description if key in kind.keys.model_fields else ""
    if first["type"] == "missing":
        meant = f" ({about[0].lower()}{about[1:].rstrip('.')})" if about else ""
        return UsageError(f"{given} needs the key {key!r}.", f"Write {kind.name}:{key}=…{meant}.")
    value = _shown(str(first["input"]))
    return UsageError(f"{given}: {key} is {value}, which is not valid: {plainly(first['msg'])}.", about or "")


def _shown(text: str) -> str:
    return repr(Redactor()(text if len(text) <= 200 else f"{text[:199]}…"))
