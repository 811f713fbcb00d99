"""Bytes as text that can be shown and stored."""

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE, lookup
from typing import NamedTuple

__all__ = ["Decoded", "cleaned", "decoded", "one_line"]

_UNSHOWN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_LINE_ENDS = re.compile("\r\n?|\u2028|\u2029")
_DECLARED = re.compile(rb"charset\s{0,9}=\s{0,9}[\"']?([\w.:-]{2,40})", re.IGNORECASE)


class Decoded(NamedTuple):
    """A text, and in which encoding it was read where that is a guess; empty where it is not."""

    text: str
    guessed: str = ""


def cleaned(text: str) -> str:
    """The text with a replacement character for each that no store or terminal has, and line feeds as line ends."""
    return _LINE_ENDS.sub("\n", _UNSHOWN.sub("\N{REPLACEMENT CHARACTER}", _LINE_ENDS.sub("\n", text)))


def one_line(text: str, most: int) -> str:
    """A text without line breaks, at most so long."""
    return " ".join(cleaned(text[: 4 * most]).split())[:most]


def decoded(content: bytes, declared: str = "") -> Decoded | None:
    """Bytes as text, in the encoding that they show or declare, else UTF-8, else Windows-1252; None if it is no text.

    Args:
        declared: the encoding that came along, as in a Content-Type; empty where none did.
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
    """Whether Python knows the encoding, and it is one of text: `zlib` is among the codecs, too."""
    try:
        return getattr(lookup(name), "_is_text_encoding", True) and name.lower() not in {"idna", "punycode"}
    except (LookupError, ValueError):
        return False


def _mostly_utf8(content: bytes) -> bool:
    """Whether the bytes are UTF-8 but for a few, or but for the last, as where a text was cut within a character."""
    kept = content.decode("utf-8", "ignore").encode()
    wrong = len(content) - len(kept)
    return wrong * 20 < sum(byte > 127 for byte in kept) or _strictly(content[:-wrong], "utf-8") is not None
