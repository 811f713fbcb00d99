"""Masking of secrets, applied where text enters.

What is masked: tokens of a known shape (GitHub, OpenAI, Anthropic, AWS, Slack, Google, JSON web tokens), private keys,
credentials of an Authorization header, passwords within addresses, and the values that are given. NUL and lone
surrogates, which no store can hold, become replacement characters.

A text that comes in pieces is masked to the very same result as the whole. `RedactedStream` holds back what could
still become part of a secret: in prose the word under way, at most a few thousand characters.
"""

import json
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple
from urllib.parse import quote

__all__ = ["MASK", "RedactedStream", "Redactor", "secret_values"]

MASK = "***"

_SHORTEST = 6
"""A shorter value is not masked: it would eat the text."""

# Every alternative begins with plain characters and needs a bounded number of them to be recognised; what follows in
# the same alphabet belongs to the secret, however long. All but `before` and `pem` are one run of visible ASCII.
_SHAPES = re.compile(
    r"""
      (?P<key> gh[pousr]_[A-Za-z0-9]{20} | github_pat_[A-Za-z0-9_]{20}
             | sk-(?<![A-Za-z0-9]sk-)(?:(?:ant|proj|svcacct|admin|or)-[A-Za-z0-9_-]{16} | [A-Za-z0-9]{20})
             | A(?:KIA|SIA)(?<![A-Z0-9]....)[A-Z0-9]{16} | xox[abeoprs]-[A-Za-z0-9-]{10} | xapp-[A-Za-z0-9-]{10}
             | AIza[A-Za-z0-9_-]{35} ) [A-Za-z0-9_-]*
    | (?P<token> eyJ(?<![A-Za-z0-9]eyJ)[A-Za-z0-9_-]{8,500}\.eyJ[A-Za-z0-9_-]{8} ) [A-Za-z0-9_.-]*
    | (?P<before> Bearer[ \t]{1,4} | bearer[ \t]{1,4} | Authorization:[ \t]{1,4}[Bb]asic[ \t]{1,4}
                | authorization:[ \t]{1,4}[Bb]asic[ \t]{1,4} )
      (?: [A-Za-z0-9._~+/-]{16} | (?=[A-Za-z._~+/-]{0,15}[0-9])[A-Za-z0-9._~+/-]{8} ) [A-Za-z0-9._~+/=-]*
    | (?P<address> ://[!-.0-9;-?A-~]{0,256}: ) [!-.0-?A-~]{1,256}(?=@)
    | (?P<pem> -----BEGIN[ ][A-Z0-9 ]{0,40}PRIVATE[ ]KEY(?:[ ]BLOCK)?----- )
    """,
    re.VERBOSE,
)
_REACH = 1_100
"""How many characters tell at most whether a secret begins here."""

_TAILS = {
    "key": re.compile(r"[A-Za-z0-9_-]*"),
    "token": re.compile(r"[A-Za-z0-9_.-]*"),
    "before": re.compile(r"[A-Za-z0-9._~+/=-]*"),
}
_UNFINISHED = re.compile(
    r"(?:-----BEGIN[A-Z0-9 ]{0,70}|(?:[Bb]earer|[Aa]uthorization:(?:[ \t]{1,4}[Bb]asic)?)[ \t]{0,4})\Z"
)
_VISIBLE = "".join(map(chr, range(0x21, 0x7F)))

_KEY_LENGTH = 8_000
_KEY_END = re.compile(r"-----END [A-Z0-9 ]{0,60}-----")
_KEY_LINES = re.compile(
    r"(?:(?:\s|\\[nr])*(?:Proc-Type|DEK-Info):[^\n\\]{0,100})*(?:(?:\s|\\[nr])*[A-Za-z0-9+/=]{16,})*"
)

_UNSTORABLE = re.compile(r"[\x00\ud800-\udfff]")

_SECRET_PART = re.compile(
    r"(?:.*(?:TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|APIKEY)|PASS|PWD|KEY|PAT|SECRETS|PASSWORDS)"
)


class _Secret(NamedTuple):
    """A secret in a text: its span, what stands there instead, and what of the text after it belongs to it as well."""

    start: int
    end: int
    shown: str
    tail: re.Pattern[str] | None = None


class Redactor:
    """Masks secrets in texts.

    Args:
        values: literal secrets, masked wherever they occur, also in the spelling of JSON and of addresses. Values of
            less than 6 characters are left alone.
    """

    def __init__(self, values: Iterable[str] = ()) -> None:
        spellings = {spelling for value in values for spelling in _spellings(_storable(value.strip()))}
        known = sorted((value for value in spellings if len(value) >= _SHORTEST), key=len, reverse=True)
        self._values = re.compile("|".join(map(re.escape, known))) if known else None
        self._broken = tuple(value for value in known if value.strip(_VISIBLE))
        self._reach = max([_REACH, *(len(value) for value in known)])

    def __call__(self, text: str) -> str:
        """The text without its secrets; in time proportional to its length."""
        stream = self.stream()
        return stream.feed(text) + stream.flush()

    def stream(self) -> "RedactedStream":
        """For one text that comes in pieces."""
        return RedactedStream(self._values, self._broken, self._reach)


class RedactedStream:
    """One text in pieces: what `feed` and `flush` return is, joined, what the redactor makes of the whole.

    Made by `Redactor.stream`.
    """

    def __init__(self, values: re.Pattern[str] | None, broken: tuple[str, ...], reach: int) -> None:
        self._values, self._broken, self._reach = values, broken, reach
        self._text = ""
        self._from = 0  # what stands before is done with, and kept as context of what comes
        self._tail: re.Pattern[str] | None = None

    def feed(self, chunk: str) -> str:
        """Takes the next piece and returns what is safe to show by now."""
        self._text += _storable(chunk)
        return self._shown(self._decided(), final=False)

    def flush(self) -> str:
        """Ends the text and returns the rest of it."""
        shown = self._shown(len(self._text), final=True)
        self._text, self._from, self._tail = "", 0, None
        return shown

    def _shown(self, decided: int, *, final: bool) -> str:
        """Masks and releases what comes before `decided`, and secrets that begin there as a whole."""
        text, position, pieces = self._text, self._from, list[str]()
        if self._tail and (tail := self._tail.match(text, position)):
            position = tail.end()
        if position < len(text):
            self._tail = None
        shape = _SHAPES.search(text, position)
        value = self._values.search(text, position) if self._values else None
        while secret := self._first(shape, value, decided, final=final):
            if secret.start == secret.end:  # a private key whose end is not here yet
                decided = secret.start
                break
            pieces += text[position : secret.start], secret.shown
            position = secret.end
            self._tail = secret.tail if position == len(text) else None
            if shape and shape.start() < position:
                shape = _SHAPES.search(text, position)
            if value and self._values and value.start() < position:
                value = self._values.search(text, position)
        pieces.append(text[position:decided])
        position = max(position, decided)
        self._text = text[max(position - 1, 0) :]
        self._from = min(position, 1)
        return "".join(pieces)

    def _first(
        self, shape: re.Match[str] | None, value: re.Match[str] | None, decided: int, *, final: bool
    ) -> _Secret | None:
        """The next secret that begins before `decided`; of two that begin together the longer."""
        found = [match for match in (shape, value) if match and match.start() < decided]
        if not found:
            return None
        match = min(found, key=lambda match: (match.start(), -match.end()))
        kind = match.lastgroup if match is shape else None
        if kind == "pem":
            return _Secret(match.start(), _key_end(match, final=final) or match.start(), MASK)
        before = match[kind] if kind in {"before", "address"} else ""
        return _Secret(match.start(), match.end(), before + MASK, _TAILS.get(kind or ""))

    def _decided(self) -> int:
        """Up to where no character that may come can change what is a secret."""
        text = self._text
        earliest = max(self._from, len(text) - self._reach)
        decided = earliest + len(text[earliest:].rstrip(_VISIBLE))
        if decided > earliest and (unfinished := _UNFINISHED.search(text, max(self._from, decided - 100), decided)):
            decided = unfinished.start()
        for value in self._broken:
            start = max(self._from, len(text) - len(value) + 1)
            while (start := text.find(value[0], start, decided)) >= 0:
                if value.startswith(text[start:]):
                    decided = start
                start += 1
        return decided


def secret_values(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The values of the variables whose names say that they are secret, such as GH_TOKEN and AWS_SECRET_ACCESS_KEY."""
    return tuple(value for name, value in environ.items() if value and _is_secret(name.upper().split("_")))


def _is_secret(parts: list[str]) -> bool:
    names_a_place = parts == ["PWD"] or parts[-1] in {"FILE", "PATH", "DIR"} or parts[:2] == ["GIT", "CONFIG"]
    return not names_a_place and any(_SECRET_PART.fullmatch(part) for part in parts)


def _spellings(value: str) -> set[str]:
    return {value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1], quote(value, safe="")}


def _storable(text: str) -> str:
    return text if text.isascii() and "\0" not in text else _UNSTORABLE.sub("\ufffd", text)


def _key_end(begin: re.Match[str], *, final: bool) -> int | None:
    """Where a private key ends: behind its END line, or where the text stops looking like a key; None: not here yet."""
    text, start = begin.string, begin.end()
    whole = final or len(text) >= start + _KEY_LENGTH + 80
    last = text.find("-----END", start, start + _KEY_LENGTH)
    if last >= 0 and (closing := _KEY_END.match(text, last)):
        return closing.end()
    if not whole:
        return None
    if last >= 0:
        return last
    lines = _KEY_LINES.match(text, start, start + _KEY_LENGTH)
    return lines.end() if lines else start
