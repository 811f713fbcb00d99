"""Texts made fit for display: deceptive or invalid characters are replaced."""

import re

__all__ = ["clipped", "number", "web_address"]

_UNSHOWN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufff9-\ufffb]"
)
_ADDRESS = re.compile(r"https?://[^\s\"'<>\\]{1,2000}", re.IGNORECASE)


def clipped(text: str, most: int = 300) -> str:
    """Return at most `most` characters, with an ellipsis if there are more. Controls, also of direction, become �."""
    shown = _UNSHOWN.sub("\ufffd", text[:most].replace("\r\n", "\n"))
    return f"{shown}…" if len(text) > most else shown


def number(value: float | None, digits: int = 0) -> str:
    """Format a score for readers; a dash if there is none. Minus signs are real ones."""
    if value is None:
        return "–"
    return f"{value:.{digits}f}".replace("-", "−") if round(value, digits) else f"{0:.{digits}f}"


def web_address(url: str) -> str:
    """Return the address if a link may lead there, else nothing: neither scripts nor files."""
    return url if _ADDRESS.fullmatch(url) else ""
