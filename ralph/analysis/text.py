"""A reply as the detectors read it: quotes, fences and tables are blanked out, and the rest is cut into sentences.

Blanking keeps every position: a span of the prose is a span of the text. Of a reply longer than `HEAD` and `TAIL`
together, these two are read, and between them only the surroundings of a few strong phrases. Every step is linear in
the length of the text, whatever it contains.
"""

import re
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from typing import NamedTuple

from ahocorasick_rs import AhoCorasick, MatchKind

from ralph.system.text import pattern, storable

HEAD, TAIL = 16_384, 65_536
"""Characters read at the beginning and at the end of a reply that is longer than both together."""

_AROUND = 300
"""Characters read on either side of a strong phrase in between."""
_MOST_FENCES = 4_000
_MOST_FENCES_OF_ALL = 20_000
"""Fence marks that count in the text that is read closely, and in the whole of a long reply. The text after them counts
as outside of a fence."""

Span = tuple[int, int]
Prescanner = Callable[[str, Sequence[Span]], Sequence[int]]
"""Finds a few places of strong phrases in some spans of a text, in order."""

_FENCE = pattern(r"\n[ \t]{0,8}(`{3,}|~{3,})([^\n]*)")
_HEADING = pattern(r"\n[ \t]{0,3}#{1,6}[ \t][^\n]*")
_SET_OFF = pattern(r"\n[ \t]{0,8}[>|][^\n]*")
"""A quote or a row of a table. A search that begins with a line feed skips from line to line, in a twentieth of the
time of `^`. The text then needs one before its first line."""
_QUOTED = {
    mark: pattern(f"{mark}[^{mark}{end}\n]{{1,200}}{end}")
    for mark, end in (("`", "`"), ('"', '"'), ("“", "”"), ("「", "」"), ("『", "』"))
}
_LINE_END = pattern(r"\n(?:\n|(?![ \t]{0,8}[a-z]))")
"""The end of a line, unless the next line continues in lower case."""
_STOPS = {
    **{mark: pattern(rf"\{mark}(?=[\s\"'*_)\]])") for mark in ".!?"},
    **{mark: pattern(mark) for mark in "。！？；"},
}
"""The end of a sentence, by its first character. Each has its own pattern, as `re` skips to one character six times as
fast as to one of several."""
_END = re.Match[str].end
_HIDDEN = (
    ("---ralph_status---", "---end_ralph_status---"),
    ("---copilot_status---", "---end_copilot_status---"),
    ("<promise>", "</promise>"),
    ("<thinking>", "</thinking>"),
    ("<think>", "</think>"),
    ("<!--", "-->"),
)
_HIDING = ("<", "_status---")
"""Every text with one of these marks has one of these strings; a text without them is not searched for each mark."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A reply prepared for the detectors.

    Attributes:
        text: the text that is read, with its status block blanked; of a long reply the pieces with blank lines between.
        lower: the same in lower case.
        unfenced: `text` without code fences.
        prose: `unfenced` in lower case without quotes, tables and inline code, but with headings.
        headings: their spans.
        starts: the beginnings of sentences and headings, ascending.
        stretches: the spans of the reply that are read, in order.
        seams: where each stretch begins in `text`.
    """

    text: str
    lower: str
    unfenced: str
    prose: str
    headings: tuple[Span, ...]
    starts: tuple[int, ...]
    stretches: tuple[Span, ...]
    seams: tuple[int, ...]

    @property
    def closely(self) -> int:
        """The number of characters of the reply that are read."""
        return sum(end - begin for begin, end in self.stretches)

    def sentence(self, position: int) -> Span:
        """Return the span of the sentence or heading around a position."""
        starts = self.starts
        index = bisect_right(starts, position)
        return starts[index - 1], starts[index] if index < len(starts) else len(self.prose)

    def in_heading(self, position: int) -> bool:
        """Return whether a position is in a heading."""
        index = bisect_right(self.headings, (position, sys.maxsize))
        return index > 0 and position < self.headings[index - 1][1]

    def section(self, heading: int) -> Span:
        """Return the span below the heading around a position, up to the next heading."""
        index = bisect_right(self.headings, (heading, sys.maxsize))
        end = self.headings[index][0] if index < len(self.headings) else len(self.prose)
        return self.headings[index - 1][1], end

    def place(self, start: int, end: int) -> Span:
        """Return the span of the reply for a span of `text`."""
        if len(self.seams) == 1:
            return start, end
        return self._place(start), max(self._place(start), self._place(end - 1) + 1)

    def _place(self, position: int) -> int:
        """Return the position in the reply; the blank line between two pieces is at the end of the first."""
        index = bisect_right(self.seams, position) - 1
        begin, end = self.stretches[index]
        return min(begin + position - self.seams[index], end)


class _Fence(NamedTuple):
    """A fenced stretch of a text with its marks."""

    begin: int
    end: int
    mark: str


def read(reply: str, hidden: Sequence[Span] = (), prescan: Prescanner | None = None) -> Reading:
    """Prepare a reply for the detectors.

    Args:
        reply: the whole text.
        hidden: spans that are not prose, such as the status block.
        prescan: finds the places that are worth reading in the middle of a long reply.
    """
    if len(reply) <= HEAD + TAIL:
        stretches = ((0, len(reply)),)
        text, unfenced = _piece(reply, hidden)
        seams = (0,)
    else:
        fences = tuple(_fences(reply, most=_MOST_FENCES_OF_ALL))
        stretches = tuple(_stretches(reply, fences, prescan))
        pieces = [
            _piece(reply[begin:end], _within(hidden, begin, end), _open_fence(fences, begin))
            for begin, end in stretches
        ]
        text, unfenced = ("\n\n".join(texts) for texts in zip(*pieces, strict=True))
        seams = tuple(_seams(stretches))
    prose = _prose(unfenced)
    headings = _headings(prose)
    starts = sorted({*_sentence_starts(prose), *chain.from_iterable(headings), *seams})
    lower = _lower(text)
    lower_prose = lower if prose is text else _lower(prose)
    return Reading(text, lower, unfenced, lower_prose, headings, tuple(starts), stretches, seams)


def _stretches(reply: str, fences: Sequence[_Fence], prescan: Prescanner | None) -> Iterator[Span]:
    """Yield the spans of a long reply to read.

    A phrase within a fence is no reason to read there: it is code, even if the fence is never closed.
    """
    last = len(reply) - TAIL
    at, end = 0, HEAD
    for place in prescan(reply, list(_between(fences, HEAD, last))) if prescan else ():
        begin, stop = _surroundings(reply, place)
        if begin > end:
            yield at, end
            at = begin
        end = max(end, min(last, stop))
    if end == last:
        yield at, len(reply)
    else:
        yield at, end
        yield last, len(reply)


def _surroundings(reply: str, place: int) -> Span:
    """Return the span around a place, cut at whole lines if possible, else at whole words."""
    first, last = place - _AROUND, place + _AROUND
    begin = max(reply.find("\n", first, place), first) if "\n" in reply[first:place] else reply.find(" ", first, place)
    end = max(reply.rfind("\n", place + _AROUND // 2, last), reply.rfind(" ", place, last))
    return max(begin, first), end if end >= 0 else last


def _between(fences: Iterable[_Fence], begin: int, end: int) -> Iterator[Span]:
    """Yield the parts of a span outside of fences."""
    for fence in fences:
        if fence.begin >= end:
            break
        if fence.begin > begin:
            yield begin, fence.begin
        begin = max(begin, fence.end)
    if begin < end:
        yield begin, end


def _within(spans: Sequence[Span], begin: int, end: int) -> list[Span]:
    """Return the spans relative to a piece of the text."""
    return [(max(0, first - begin), min(end, last) - begin) for first, last in spans if first < end and last > begin]


def _open_fence(fences: Sequence[_Fence], position: int) -> str:
    """Return the mark of the fence around a position."""
    index = bisect_left(fences, position, key=lambda fence: fence.begin) - 1
    return fences[index].mark if index >= 0 and position < fences[index].end else ""


def _seams(stretches: Iterable[Span]) -> Iterator[int]:
    at = 0
    for begin, end in stretches:
        yield at
        at += end - begin + 2


def _piece(text: str, hidden: Iterable[Span], fence: str = "") -> tuple[str, str]:
    """Return a piece of the reply that begins in a fence with a mark, or in none; with and without code fences."""
    if hidden:
        text = _blanked(text, hidden)
    text = storable(text)  # replaces lone surrogates
    lower = _lower(text)
    if any(map(lower.__contains__, _HIDING)):
        text = _blanked(text, _paired(lower))
    return text, _blanked(text, [(begin, end) for begin, end, _ in _fences(text, fence)])


def _prose(text: str) -> str:
    """Blank out quotes, tables and inline code."""
    if ">" in text or "|" in text:
        text = _SET_OFF.sub(_blank_line, f"\n{text}")[1:]
    for mark, quoted in _QUOTED.items():
        if mark in text:
            text = quoted.sub(_blank, text)
    return text.replace("’", "'")


def _sentence_starts(prose: str) -> list[int]:
    starts = [*map(_END, _LINE_END.finditer(prose))]
    for mark, stop in _STOPS.items():
        if mark in prose:
            starts += map(_END, stop.finditer(prose))
    return starts


def _headings(prose: str) -> tuple[Span, ...]:
    if "#" not in prose:
        return ()
    return tuple([(match.start(), match.end() - 1) for match in _HEADING.finditer(f"\n{prose}")])


def _lower(text: str) -> str:
    """Return the text in lower case, at the same length: the dotted capital I becomes one letter."""
    return text.replace("İ", "i").lower()


def _fences(text: str, mark: str = "", most: int = _MOST_FENCES) -> Iterator[_Fence]:
    """Yield code fences with their marks.

    The text may begin in a fence with a mark, and a fence that is never closed reaches to the end.
    """
    begin = 0
    if ("`" in text and "```" in text) or ("~" in text and "~~~" in text):  # one character is found ten times as fast
        for match in islice(_FENCE.finditer(f"\n{text}"), most):
            fence, info = match.groups()
            if not mark:
                if fence[0] == "~" or "`" not in info:
                    begin, mark = match.start(), fence
            elif fence.startswith(mark) and not info.strip():
                yield _Fence(begin, match.end() - 1, mark)
                mark = ""
    if mark:
        yield _Fence(begin, len(text), mark)


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _blank_line(match: re.Match[str]) -> str:
    return "\n" + " " * (len(match[0]) - 1)


def _paired(lower: str) -> list[Span]:
    """Return the spans between marks that hide them; a mark that is never closed hides nothing."""
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
    """Return the text with spaces in place of the spans; lines stay lines."""
    pieces: list[str] = []
    at = 0
    for begin, end in sorted(spans):
        if end > at:
            shown = text[max(begin, at) : end]
            pieces += text[at : max(begin, at)], "\n".join([" " * len(line) for line in shown.split("\n")])
            at = end
    return "".join((*pieces, text[at:])) if pieces else text


def matches_at(expression: re.Pattern[str], text: str, places: Iterable[int]) -> Iterator[re.Match[str]]:
    """Yield the matches that begin at ascending places and do not overlap."""
    end = 0
    for place in places:
        if place >= end and (match := expression.match(text, place)):
            end = match.end()
            yield match


class PrefilteredPattern:
    """A regular expression with matches that all begin with one of a few words.

    `re` alone would try it at every character; searching for the words first takes a tenth of the time in prose.

    Args:
        words: a match begins with one of them. Of words that overlap in the text only the first, longest one is tried.
        expression: in the syntax of `re.VERBOSE`.
        needed: every match has one of these words. Without any of them nothing is searched.
    """

    def __init__(self, words: Sequence[str], expression: str, needed: Sequence[str] = ()) -> None:
        self._begins = words
        self._needed = needed
        self._pattern = pattern(expression, re.VERBOSE)

    @cached_property
    def _words(self) -> AhoCorasick:
        return AhoCorasick(self._begins, MatchKind.LeftmostLongest, store_patterns=False)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """Return the matches in order; they do not overlap."""
        if self._needed and not any(map(text.__contains__, self._needed)):
            return iter(())
        places = [start for _, start, _ in self._words.find_matches_as_indexes(text)]
        return matches_at(self._pattern, text, places) if places else iter(())

    def search(self, text: str) -> re.Match[str] | None:
        """Return the first match."""
        return next(self.finditer(text), None)


_DIGIT = pattern(r"\d")


def has_digit(text: str) -> bool:
    """Return whether a text has a digit of any script; ten searches for one character each are the fastest."""
    return any(map(text.__contains__, "0123456789")) or (not text.isascii() and _DIGIT.search(text) is not None)


_ENGLISH = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
)
_NUMERALS = (
    _ENGLISH,
    "零 一 二 三 四 五 六 七 八 九 十",
    "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince",
    "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn",
)
NUMBERS = _ENGLISH.split()
_TENS = (
    "twenty thirty forty fifty sixty seventy eighty ninety",
    "veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa",
    "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig",
)
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh"
_VALUES = {
    **{word: number for words in _NUMERALS for number, word in enumerate(words.split())},
    **{word: 10 * number for words in _TENS for number, word in enumerate(words.split(), 2)},
    **{word: number for number, word in enumerate(_ORDINALS.split(), 1)},
    "both": 2,
    "兩": 2,
    "两": 2,
}


def number_of(written: str) -> int:
    """Return the value of digits, a word, an ordinal ("third"), or tens and ones in Chinese."""
    digits = written.replace(",", "").replace(".", "")
    if digits.isdecimal() or written in _VALUES:
        return int(digits) if digits.isdecimal() else _VALUES[written]
    tens, _, ones = written.partition("十")
    return 10 * _VALUES.get(tens, 1) + _VALUES.get(ones, 0)


class Quantity(NamedTuple):
    """A percentage, a fraction or a count beside the whole that it is a share of, and its place.

    Attributes:
        is_stated: its own words say that the part is done.
    """

    start: int
    end: int
    part: float
    whole: int
    is_stated: bool = False

    @property
    def is_partial(self) -> bool:
        return self.part < self.whole


_WRITTEN = "|".join(sorted((word for word in _VALUES if not word.isascii() or len(word) > 2), key=len, reverse=True))
_NUMBER_READ = rf"(?:\d{{1,3}}(?:[.,]\d{{3}})+|\d{{1,7}}|{_WRITTEN})"
_OF = r"(?:out of|of|von|aus|der|de)"
# From the sign or word between a count and its whole on, as patterns that begin with one character are found sooner.
_WHOLES = [
    pattern(rf"{sign}({_NUMBER_READ})(?![a-zäöüñ]|\d|[.,]\d|\s?[/%]|\s(?:19|20)\d\d)")
    for sign in (r"/\s?", rf"\s{_OF}\s(?:the |all |its |their |our |den |las |los |un total de |insgesamt ){{0,2}}")
]
_COUNT = pattern(rf"(?<![a-z0-9.,/$€£#-])(?<!\d:)(?<![äöüáéíóúñ]){_NUMBER_READ}\s?\Z")
_MOST_WRITTEN = 24  # characters before that sign in which the count stands
_PERCENTAGE = pattern(
    r"[0-9](?<![a-z0-9.,$€£/-].)[0-9]{0,2}(?:[.,][0-9]{1,3})?\s?(?:[%％]|percent\b|per cent\b|prozent\b|por ciento\b)"
    r"(?!\s?[/:–-]\s?[0-9])"
)
_PERCENT_SIGNS = ("%", "％", "percent", "per cent", "prozent", "por ciento")
# "百分之五十", "七成", and "15 个故事中完成了 8 个".
_HAN = r"[0-9]{1,4}|[一二三四五六七八九]?十[一二三四五六七八九]?|[一二三四五六七八九]"
_CHINESE = pattern(
    rf"百分之\s?(?P<percent>{_HAN})|(?P<tenths>[一二三四五六七八九])成(?![功员員果立为為本品长長分就熟型])"
    rf"|(?P<whole>{_HAN})\s?[个個项項章页頁条條][^。；\n]{{0,30}}?"
    rf"(?:[中里][的,，]?|完成了?|[^未没沒]了)\s?(?P<part>{_HAN})\s?[个個项項章页頁条條]"
)
# "34 entries, 3 of them are ticked"
_OF_THEM = pattern(rf"\b(\d{{1,5}}) [a-z][^.;\n]{{0,40}}?[ ,]({_NUMBER_READ}) of them (?:are|is)\b")
MOST_QUANTITIES = 60  # that are examined, from the beginning and as many from the end
_MOST_READ = 6_000  # characters in which they are sought, at the beginning and as many at the end
_YEARS = range(1900, 2200)


def read_quantities(text: str) -> Iterator[Quantity]:
    """Yield the percentages, fractions and counts of a text in lower case that have a whole, in no order.

    Dates, versions, times and paths are none. A part that is more than its whole is none either, as in "24/7".
    """
    for match in chain.from_iterable(whole.finditer(text) for whole in _WHOLES):
        before = _COUNT.search(text, max(0, match.start() - _MOST_WRITTEN), match.start())
        if before is None:
            continue
        part, whole = number_of(before[0].rstrip()), number_of(match[1])
        if part <= whole and not (whole in _YEARS and part <= 31):
            yield Quantity(before.start(), match.end(), part, whole)
    for match in _OF_THEM.finditer(text) if " of them " in text else ():
        if (part := number_of(match[2])) <= number_of(match[1]):
            yield Quantity(*match.span(), part, number_of(match[1]))
    if any(map(text.__contains__, _PERCENT_SIGNS)):
        for match in _PERCENTAGE.finditer(text):
            amount = float(match[0].rstrip("%％abcdefghijklmnopqrstuvwxyz \t\n").replace(",", "."))
            if amount <= 100:
                yield Quantity(*match.span(), amount, 100)
    for match in () if text.isascii() else _CHINESE.finditer(text):
        percent, tenths, whole, part = match.groups()
        if percent or tenths:
            yield Quantity(*match.span(), number_of(percent or tenths), 100 if percent else 10)
        elif number_of(part) <= number_of(whole):
            yield Quantity(*match.span(), number_of(part), number_of(whole), is_stated=True)


def read_ends(text: str) -> Iterator[Quantity]:
    """Yield the same of the beginning and the end of a text; in between, a long one tells of its parts."""
    end = len(text)
    for first, last in ((0, end),) if end <= 2 * _MOST_READ else ((0, _MOST_READ), (end - _MOST_READ, end)):
        for found in read_quantities(text[first:last]):
            yield found._replace(start=found.start + first, end=found.end + first) if first else found
