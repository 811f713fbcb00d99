"""Conversion of bytes into text that can be shown and stored."""

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE, lookup
from typing import NamedTuple

__all__ = ["Decoded", "cleaned", "decoded", "one_line"]

_UNSHOWN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_LINE_ENDS = re.compile("\r\n?|\u2028|\u2029")
_DECLARED = re.compile(rb"charset\s{0,9}=\s{0,9}[\"']?([\w.:-]{2,40})", re.IGNORECASE)


class Decoded(NamedTuple):
    """A text, and its encoding if that is a guess; empty if it is not."""

    text: str
    guessed: str = ""


def cleaned(text: str) -> str:
    """Normalise line ends, and replace each character that no store or terminal can hold."""
    return _LINE_ENDS.sub("\n", _UNSHOWN.sub("\N{REPLACEMENT CHARACTER}", _LINE_ENDS.sub("\n", text)))


def one_line(text: str, most: int) -> str:
    """Return a text without line breaks, at most `most` characters."""
    return " ".join(cleaned(text[: 4 * most]).split())[:most]


def decoded(content: bytes, declared: str = "") -> Decoded | None:
    """Decode bytes in the encoding that they show or declare, else UTF-8, else Windows-1252; None for binary data.

    Args:
        content: the bytes.
        declared: the encoding that came with them, as in a Content-Type; empty if none did.
    """
    if content.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return Decoded(cleaned(content.decode("utf-16", "replace")))
    if b"\0" in content[:8_192]:
        return None
    for encoding in (declared, "utf-8-sig", _declared_within(content)):
        if encoding and (text := _strictly(content, encoding)) is not None:
            return Decoded(cleaned(text))
    if declared and _is_encoding(declared):
        return Decoded(cleaned(content.decode(declared, "replace")))
    if _mostly_utf8(content):
        return Decoded(cleaned(content.decode("utf-8-sig", "replace")))
    return Decoded(cleaned(content.decode("cp1252", "replace")), guessed="Windows-1252")


def _declared_within(content: bytes) -> str:
    found = _DECLARED.search(content[:2_048])
    return found[1].decode("ascii", "replace") if found else ""


def _strictly(content: bytes, encoding: str) -> str | None:
    if not _is_encoding(encoding):
        return None
    try:
        return content.decode(encoding)
    except ValueError:
        return None


def _is_encoding(name: str) -> bool:
    """Return True if Python knows the encoding as one for text: `zlib` is among the codecs, too."""
    try:
        return getattr(lookup(name), "_is_text_encoding", True) and name.lower() not in {"idna", "punycode"}
    except (LookupError, ValueError):
        return False


def _mostly_utf8(content: bytes) -> bool:
    """Return True for UTF-8 with few errors, or with one at the end, as after a cut within a character."""
    kept = content.decode("utf-8", "ignore").encode()
    wrong = len(content) - len(kept)
    return wrong * 20 < sum(byte > 127 for byte in kept) or _strictly(content[:-wrong], "utf-8") is not None
