"""A reply as it is read: what is quoted, fenced or shown is blanked out, and the rest is cut into sentences.

Blanking keeps every position, so that a span found in the prose is a span of the reply. Every step is linear in the
length of the text, whatever stands in it.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

__all__ = ["HEAD", "TAIL", "Reading", "Span", "read"]

HEAD, TAIL = 40_000, 100_000
"""Characters read at the beginning and at the end of a text that is longer than both together."""

Span = tuple[int, int]

_FENCE = re.compile(r"^[ \t]{0,8}(`{3,}|~{3,})([^\n]*)", re.MULTILINE)
_HEADING = re.compile(r"^[ \t]{0,3}#{1,6}[ \t][^\n]*", re.MULTILINE)
_SET_OFF = re.compile(r"^[ \t]{0,8}[>|][^\n]*", re.MULTILINE)
"""A quote or a row of a table."""
_QUOTED = re.compile(
    r"`[^`\n]{1,200}`"
    r'|"[^"\n]{1,200}"'
    r"|“[^“”\n]{1,200}”"
    r"|「[^「」\n]{1,200}」"
    r"|『[^『』\n]{1,200}』"
)
_SENTENCE_END = re.compile(
    r"[.!?。！？；\n](?:(?<=[.!?])(?=[\s\"'*_)\]])|(?<=[。！？；])|(?<=\n)(?:\n|(?![ \t]{0,8}[a-z])))"
)
"""Its first character is one of a set, to which `re` skips ahead."""
_HIDDEN = (
    ("---ralph_status---", "---end_ralph_status---"),
    ("---copilot_status---", "---end_copilot_status---"),
    ("<promise>", "</promise>"),
    ("<thinking>", "</thinking>"),
    ("<think>", "</think>"),
    ("<!--", "-->"),
)


@dataclass(frozen=True, slots=True)
class Reading:
    """A reply made ready for the detectors.

    Attributes:
        text: what is read of the reply, its status block blanked; of a long reply the beginning and the end.
        lower: the same in lower case.
        unfenced: `text` without code fences.
        prose: `unfenced` in lower case without quotes, tables, inline code; headings are still there.
        headings: their spans.
        starts: where sentences and headings begin, ascending.
        seam, gap: from `seam` on, a position in the reply is `gap` characters further than in `text`.
    """

    text: str
    lower: str
    unfenced: str
    prose: str
    headings: tuple[Span, ...]
    starts: tuple[int, ...]
    seam: int
    gap: int

    def sentence(self, position: int) -> Span:
        """The sentence (or heading) around a position."""
        index = bisect_right(self.starts, position)
        end = self.starts[index] if index < len(self.starts) else len(self.prose)
        return self.starts[index - 1], end

    def in_heading(self, position: int) -> bool:
        """Whether a heading stands at a position."""
        index = bisect_right(self.headings, position, key=lambda span: span[0])
        return index > 0 and position < self.headings[index - 1][1]

    def section(self, heading: int) -> Span:
        """What stands under the heading around a position, up to the next heading."""
        index = bisect_right(self.headings, heading, key=lambda span: span[0])
        end = self.headings[index][0] if index < len(self.headings) else len(self.prose)
        return self.headings[index - 1][1], end

    def place(self, position: int) -> int:
        """Where a position of `text` is in the reply."""
        return position + self.gap if position >= self.seam else position


def read(reply: str, hidden: Sequence[Span] = ()) -> Reading:
    """Make a reply ready.

    Args:
        hidden: spans that are no prose, such as the status block.
    """
    whole = _blanked(reply, hidden) if hidden else reply
    text, seam, gap = _window(whole)
    text = text.encode(errors="replace").decode()  # lone surrogates are question marks from here on
    text = _blanked(text, _paired(_lower(text)))
    unfenced = _blanked(text, _fences(text))
    prose = _SET_OFF.sub(_spaces, unfenced) if ">" in unfenced or "|" in unfenced else unfenced
    prose = _QUOTED.sub(_spaces, prose).replace("’", "'")
    headings = tuple(match.span() for match in _HEADING.finditer(prose)) if "#" in prose else ()
    starts = {0, *(match.end() for match in _SENTENCE_END.finditer(prose))}
    starts.update(edge for span in headings for edge in span)
    return Reading(text, _lower(text), unfenced, _lower(prose), headings, tuple(sorted(starts)), seam, gap)


def _window(text: str) -> tuple[str, int, int]:
    if len(text) <= HEAD + TAIL:
        return text, len(text), 0
    return f"{text[:HEAD]}\n\n{text[-TAIL:]}", HEAD + 2, len(text) - HEAD - 2 - TAIL


def _lower(text: str) -> str:
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(small if len(small := char.lower()) == 1 else char for char in text)


def _fences(text: str) -> Iterator[Span]:
    """Code fences with their marks; one that is not closed reaches to the end."""
    begin, mark = -1, ""
    if "```" not in text and "~~~" not in text:
        return
    for match in _FENCE.finditer(text):
        fence, info = match[1], match[2]
        if begin < 0:
            if fence[0] == "~" or "`" not in info:
                begin, mark = match.start(), fence
        elif fence.startswith(mark) and not info.strip():
            yield begin, match.end()
            begin = -1
    if begin >= 0:
        yield begin, len(text)


def _spaces(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _paired(lower: str) -> list[Span]:
    """What stands between marks that hide it; a mark that is never closed hides nothing."""
    spans: list[Span] = []
    for opening, closing in _HIDDEN:
        begin = lower.find(opening)
        while begin >= 0:
            end = lower.find(closing, begin)
            if end < 0:
                break
            end += len(closing)
            spans.append((begin, end))
            begin = lower.find(opening, end)
    return spans


def _blanked(text: str, spans: Iterable[Span]) -> str:
    """The text with spaces in place of the spans; lines stay lines."""
    pieces: list[str] = []
    at = 0
    for begin, end in sorted(spans):
        if end > at:
            shown = text[max(begin, at) : end]
            pieces += text[at : max(begin, at)], "\n".join(" " * len(line) for line in shown.split("\n"))
            at = end
    return "".join((*pieces, text[at:])) if pieces else text
