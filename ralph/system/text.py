"""Text that is safe to store, to show and to pass on; durations in words; patterns that are compiled on first use.

Agent text is hostile: `storable` removes what no store can hold, `printable` what must not reach a terminal, and a
`Redactor` masks secrets. Those are tokens of a known shape (GitHub, GitLab, OpenAI, Anthropic, AWS, Slack, Google,
Stripe, Hugging Face, npm, PyPI, Docker, DigitalOcean, SendGrid, Shopify, Sentry, JSON web tokens), private keys,
credentials of an Authorization header, passwords within addresses, and the given values.

A text that comes in pieces is masked to the very same result as the whole. `RedactedStream` holds back what could
still become part of a secret: in prose the current word, at most a few thousand characters.
"""

import codecs
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

if TYPE_CHECKING:
    from ahocorasick_rs import AhoCorasick

SPELT_OUT = "ralph.spelt-out"
"""The error handler for encodings that lack a character: those of Ralph's own sentences are written with others, any
other becomes a question mark.
"""

_CONTROL = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|.)?|[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]"
)
_UNSEEN = re.compile(
    "[\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f]"
)
"""Unicode's format characters, but for those that are drawn, and its line and paragraph separators."""


_IN_ASCII = {"“": '"', "”": '"', "…": "...", "×": "x", "–": "-", "→": "->", "·": "-"}


def _spell_out(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    missing = error.object[error.start : error.end]
    return "".join(_IN_ASCII.get(character, "?") for character in missing), error.end


codecs.register_error(SPELT_OUT, _spell_out)


def printable(text: str, most: int = 4_000) -> str:
    """Return text without escape sequences, control characters and invisible characters that turn or hide text.

    Line ends stay.
    """
    clean = _UNSEEN.sub("", _CONTROL.sub("", text[: 2 * most].replace("\r\n", "\n").replace("\r", "\n")))
    return clean if len(clean) <= most and len(text) <= 2 * most else f"{clean[:most]} …"


def one_line(text: str, most: int = 200) -> str:
    """Return untrusted text as one printable line of at most `most` characters."""
    words = " ".join(printable(text, 4 * most).split())
    return words if len(words) <= most else f"{words[: most - 1]}…"


def counted(count: int, what: str) -> str:
    """Return a number with its noun: 1 file, 2 files."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def duration(seconds: float) -> str:
    """Return seconds in words: 4.2 s, 3 min 20 s, 2 h 5 min."""
    if seconds < 59.95 or not math.isfinite(seconds):  # an imported run may hold anything
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min"


def additions(added: Mapping[str, float]) -> str:
    """Return what was added to which limits: max iterations by 10, max duration by 1 h 30 min."""
    amounts = {name: duration(more) if name == "max_duration" else f"{more:,.15g}" for name, more in added.items()}
    return ", ".join(f"{name.replace('_', ' ')} by {amount}" for name, amount in amounts.items())


def pattern(source: str, flags: int = 0) -> re.Pattern[str]:
    """Return what `re.compile` gives, compiled when it is first used.

    Compiling the patterns of all detectors takes longer than importing everything else, and most replies need few of
    them. A mistake in the source therefore shows on first use.
    """
    return cast("re.Pattern[str]", _Late(source, flags))


class _Late:
    """A stand-in for a compiled pattern. It keeps each attribute once used, so it is as fast as the pattern itself."""

    def __init__(self, source: str, flags: int) -> None:
        self._source = source
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        found = getattr(re.compile(self._source, self._flags), name)
        setattr(self, name, found)
        return found


_UNSTORABLE = pattern(r"[\x00\ud800-\udfff]")


def storable(text: str) -> str:
    """Return the text with a replacement character for each NUL and lone surrogate, which no store can hold."""
    if "\0" not in text:
        if text.isascii():
            return text
        try:
            text.encode()
        except UnicodeEncodeError:
            pass
        else:
            return text
    return _UNSTORABLE.sub("\ufffd", text)


MASK = "***"

_PIECE = 100_000
"""Characters of a text that are looked at together."""

_SHORTEST = 6
"""A shorter value is not masked: it would eat the text."""

# Every alternative begins with one of `_BEGINNINGS` and needs a bounded number of characters to be recognised; what
# follows in the same alphabet belongs to the secret, however long. All but `before` and `pem` are one run of visible
# ASCII.
_SHAPES = pattern(
    r"""
      (?P<key> gh[pousr]_[A-Za-z0-9]{20} | github_pat_[A-Za-z0-9_]{20}
             | sk-(?<![A-Za-z0-9]sk-)(?:(?:ant|proj|svcacct|admin|or)-[A-Za-z0-9_-]{16} | [A-Za-z0-9]{20})
             | A(?:KIA|SIA)(?<![A-Z0-9]....)[A-Z0-9]{16} | xox[abeoprs]-[A-Za-z0-9-]{10} | xapp-[A-Za-z0-9-]{10}
             | AIza[A-Za-z0-9_-]{35} | gl(?:pat|ptt|dt|rt|cbt|soat)-[A-Za-z0-9_-]{20} | hf_[A-Za-z0-9]{30}
             | npm_[A-Za-z0-9]{30} | pypi-[A-Za-z0-9_-]{50} | [sr]k_(?:live|test)_[A-Za-z0-9]{20}
             | dckr_pat_[A-Za-z0-9_-]{20} | do[opr]_v1_[a-f0-9]{40} | shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}
             | sntrys_[A-Za-z0-9_-]{20} ) [A-Za-z0-9_-]*
    | (?P<token> eyJ(?<![A-Za-z0-9]eyJ)[A-Za-z0-9_-]{8,500}\.eyJ[A-Za-z0-9_-]{8} | ya29\.[A-Za-z0-9_-]{20}
             | SG\.[A-Za-z0-9_-]{16,40}\.[A-Za-z0-9_-]{16} ) [A-Za-z0-9_.-]*
    | (?P<before> Bearer[ \t]{1,4} | bearer[ \t]{1,4} | Authorization:[ \t]{1,4}[Bb]asic[ \t]{1,4}
                | authorization:[ \t]{1,4}[Bb]asic[ \t]{1,4} )
      (?: [A-Za-z0-9._~+/-]{16} | (?=[A-Za-z._~+/-]{0,15}[0-9])[A-Za-z0-9._~+/-]{8} ) [A-Za-z0-9._~+/=-]*
    | (?P<address> ://[!-.0-9;-?A-~]{0,256}: ) [!-.0-?A-~]{1,256}(?=@)
    | (?P<pem> -----BEGIN[ ][A-Z0-9 ]{0,40}PRIVATE[ ]KEY(?:[ ]BLOCK)?----- )
    """,
    re.VERBOSE,
)
_BEGINNINGS = (
    *("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "sk-", "AKIA", "ASIA", "xox", "xapp-", "AIza", "eyJ"),
    *("glpat-", "glptt-", "gldt-", "glrt-", "glcbt-", "glsoat-", "hf_", "npm_", "pypi-", "sk_live_", "sk_test_"),
    *("rk_live_", "rk_test_", "dckr_pat_", "doo_v1_", "dop_v1_", "dor_v1_", "shpat_", "shpca_", "shppa_", "shpss_"),
    *("sntrys_", "ya29.", "SG."),
    *("Bearer", "bearer", "Authorization:", "authorization:", "://", "-----BEGIN"),
)
_REACH = 1_100
"""How many characters tell at most whether a secret begins here."""

_TAILS = {
    "key": pattern(r"[A-Za-z0-9_-]*"),
    "token": pattern(r"[A-Za-z0-9_.-]*"),
    "before": pattern(r"[A-Za-z0-9._~+/=-]*"),
}
_UNFINISHED = pattern(
    r"(?:-----BEGIN[A-Z0-9 ]{0,70}|(?:[Bb]earer|[Aa]uthorization:(?:[ \t]{1,4}[Bb]asic)?)[ \t]{0,4})\Z"
)
_VISIBLE = "".join(map(chr, range(0x21, 0x7F)))

_KEY_LENGTH = 8_000
_KEY_END = pattern(r"-----END [A-Z0-9 ]{0,60}-----")
_KEY_LINES = pattern(r"(?:(?:\s|\\[nr])*(?:Proc-Type|DEK-Info):[^\n\\]{0,100})*(?:(?:\s|\\[nr])*[A-Za-z0-9+/=]{16,})*")

_SECRET_PART = pattern(
    r"(?:.*(?:TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|APIKEY)|PASS|PWD|KEY|PAT|SECRETS|PASSWORDS)"
)


class _Secret(NamedTuple):
    """A secret in a text: its span, its replacement, and what of the following text belongs to it as well."""

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
        from ahocorasick_rs import AhoCorasick

        spellings = {spelling for value in values for spelling in _spellings(storable(value.strip()))}
        known = [value for value in spellings if len(value) >= _SHORTEST]
        self._sought = AhoCorasick((*_BEGINNINGS, *known), store_patterns=False)
        self._broken = tuple(value for value in known if value.strip(_VISIBLE))
        self._reach = max([_REACH, *(len(value) for value in known)])

    def __call__(self, text: str) -> str:
        """Return the text without its secrets, in time proportional to its length."""
        stream = self.stream()
        last = len(text) // _PIECE * _PIECE
        shown = [stream.feed(text[at : at + _PIECE]) for at in range(0, last, _PIECE)]
        return "".join((*shown, stream.flush(text[last:])))

    def within(self, data: object) -> Any:
        """Return JSON values with every text in them masked; keys and numbers stay."""
        if isinstance(data, str):
            return self(data)
        if isinstance(data, Mapping):
            return {key: self.within(value) for key, value in cast("Mapping[str, object]", data).items()}
        if isinstance(data, list | tuple):
            return [self.within(value) for value in cast("Sequence[object]", data)]
        return data

    def stream(self) -> "RedactedStream":
        """Return a redactor for one text that comes in pieces."""
        return RedactedStream(self._sought, self._broken, self._reach)


class RedactedStream:
    """One text in pieces: what `feed` and `flush` return is, joined, what the redactor makes of the whole.

    Made by `Redactor.stream`.
    """

    def __init__(self, sought: "AhoCorasick", broken: tuple[str, ...], reach: int) -> None:
        self._sought, self._broken, self._reach = sought, broken, reach
        self._text = ""
        self._from = 0  # what stands before is done with, and kept as context of what comes
        self._tail: re.Pattern[str] | None = None

    def feed(self, chunk: str) -> str:
        """Take the next piece and return what is safe to show by now."""
        self._text += storable(chunk)
        return self._shown(self._decided(), final=False)

    def flush(self, last: str = "") -> str:
        """Take the last piece, end the text and return the rest of it."""
        self._text += storable(last)
        shown = self._shown(len(self._text), final=True)
        self._text, self._from, self._tail = "", 0, None
        return shown

    def _shown(self, decided: int, *, final: bool) -> str:
        """Mask and release what comes before `decided`, and secrets that begin there as a whole."""
        text, position, pieces = self._text, self._from, list[str]()
        if self._tail and (tail := self._tail.match(text, position)):
            position = tail.end()
        if position < len(text):
            self._tail = None
        for start, value_end in self._candidates(text):
            if start < position:
                continue
            if start >= decided:
                break
            secret = _secret(text, start, value_end, final=final)
            if secret is None:
                continue
            if secret.start == secret.end:  # a private key with an end that is yet to come
                decided = start
                break
            pieces += text[position:start], secret.shown
            position = secret.end
            self._tail = secret.tail if position == len(text) else None
        pieces.append(text[position:decided])
        position = max(position, decided)
        self._text = text[max(position - 1, 0) :]
        self._from = min(position, 1)
        return "".join(pieces)

    def _candidates(self, text: str) -> list[tuple[int, int]]:
        """Return the possible starts of secrets, in order, with the end of the longest given value there, or 0."""
        ends: dict[int, int] = {}
        for index, start, end in self._sought.find_matches_as_indexes(text, overlapping=True):
            ends[start] = max(ends.get(start, 0), end if index >= len(_BEGINNINGS) else 0)
        return sorted(ends.items())

    def _decided(self) -> int:
        """Return the end of the text in which no further character can change what is a secret."""
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


def _secret(text: str, start: int, value_end: int, *, final: bool) -> _Secret | None:
    """Return the secret that begins there: of a known shape, or a given value if that is longer."""
    shape = _SHAPES.match(text, start)
    if shape is None or shape.end() < value_end:
        return _Secret(start, value_end, MASK) if value_end else None
    kind = shape.lastgroup or ""
    if kind == "pem":
        return _Secret(start, _key_end(shape, final=final) or start, MASK)
    before = shape[kind] if kind in {"before", "address"} else ""
    return _Secret(start, shape.end(), before + MASK, _TAILS.get(kind))


def secret_values(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the values of variables with secret names, such as GH_TOKEN and AWS_SECRET_ACCESS_KEY."""
    return tuple(value for name, value in environ.items() if value and is_secret_name(name))


def is_secret_name(name: str) -> bool:
    """Return True if a variable's name says that its value is secret."""
    parts = name.upper().split("_")
    names_a_place = parts == ["PWD"] or parts[-1] in {"FILE", "PATH", "DIR"} or parts[:2] == ["GIT", "CONFIG"]
    return not names_a_place and any(_SECRET_PART.fullmatch(part) for part in parts)


def _spellings(value: str) -> set[str]:
    import json
    from urllib.parse import quote

    return {value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1], quote(value, safe="")}


def _key_end(begin: re.Match[str], *, final: bool) -> int | None:
    """Return the end of a private key: its END line, or where it stops looking like a key; None if that is to come."""
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
