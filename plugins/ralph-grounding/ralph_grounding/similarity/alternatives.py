"""Expected answers that name several alternatives, each of them right."""

import re
from collections.abc import Iterator

__all__ = ["alternatives"]

_MOST = 64
_WORDS = 8
_LONGEST = 10_000
_SEPARATOR = re.compile(r"[/|;]")
# Dates, fractions and addresses contain slashes, too.
_NO_SEPARATOR = re.compile(r"\d[ \t]?/[ \t]?\d|://|/[ \t]*$|^[ \t]*/|[\r\n]")
_ASIDE = re.compile(r"(?:^|[ \t])\([^()]{0,200}\)")


def alternatives(reference: str) -> list[str]:
    """List the reference itself first, then each answer it names: the parts of "A/B", "A; B" or "A | B".

    Asides are left out. Only short parts are separate answers: two sentences with a semicolon between them belong
    together, and so do the halves of "km/h". At most 64.
    """
    if len(reference) > _LONGEST:
        return [reference]
    found: dict[str, None] = {reference: None}
    for part in _parts(reference):
        found[part] = None
        if plain := _ASIDE.sub("", part).strip():
            found[plain] = None
        if len(found) >= _MOST:
            break
    return list(found)


def _parts(reference: str) -> Iterator[str]:
    if _NO_SEPARATOR.search(reference):
        yield reference
        return
    parts = [part for piece in _SEPARATOR.split(reference) if (part := piece.strip())]
    together = len(parts) == 2 and any(len(part) <= 2 for part in parts)
    if together or any(len(part.split()) > _WORDS for part in parts):
        yield reference
    else:
        yield from parts
