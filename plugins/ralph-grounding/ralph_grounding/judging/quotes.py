"""The check of a judge's quotation: are these words in the answer?"""

import re

from ralph_grounding.text.sentences import Span

__all__ = ["LONGEST_QUOTE", "find_quote"]

LONGEST_QUOTE = 2_000
"""Characters of a quotation; a longer one is not taken."""

_MARKS = "\"'“”„‟«»‹›‘’「」『』 \t\r\n"
_TELLING = re.compile(r"\d|[A-Za-z]{4}|[^\W\d_A-Za-z].*[^\W\d_A-Za-z]", re.DOTALL)
"""A number, a word of four letters, or two letters of another script: shorter words such as "the" are in any answer."""


def find_quote(quote: str, answer: str) -> Span | None:
    """Return the place of the quotation in the answer, or None if it is not there word for word.

    White space may differ, and quotation marks around the whole are ignored. It must not begin or end within a word of
    Latin letters, or within a number.
    """
    if len(quote) > LONGEST_QUOTE:
        return None
    for words in (quote.split(), quote.strip(_MARKS).split()):
        if not _TELLING.search(" ".join(words)):
            continue
        pattern = r"\s+".join(map(re.escape, words))
        start = r"(?<![A-Za-z0-9])(?<!\d[.,])" if words[0][0].isalnum() and words[0][0].isascii() else ""
        end = r"(?![A-Za-z0-9]|[.,]\d)" if words[-1][-1].isalnum() and words[-1][-1].isascii() else ""
        if found := re.search(start + pattern + end, answer):
            return Span(*found.span())
    return None
