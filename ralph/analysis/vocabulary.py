"""The words of all languages, found in one pass over the prose, and the reach of each."""

import re
import sys
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property, lru_cache
from itertools import accumulate
from operator import itemgetter
from typing import Any, NamedTuple, cast

from ahocorasick_rs import AhoCorasick, BytesAhoCorasick

from ralph.analysis.lexicon import Keyword, Role, lexicon
from ralph.analysis.text import Reading, Span
from ralph.system.text import pattern

PRESCAN_FIRST, PRESCAN_LAST = 16, 16
"""Places of each rank that are returned, from the beginning and from the end."""

_CHUNK = 16_384
_LONGEST = 100
"""Characters by which a phrase may reach into the next chunk."""


class Prescan:
    """Search for phrases in text that is too long to read closely.

    It finds phrases in any case, written with single spaces, also within words and quotes. It searches from the
    beginning until it has enough, and then from the end. It searches bytes, in a third of the time of characters.

    Args:
        ranks: phrases in lower case. Those of one rank do not crowd out those of another.
    """

    def __init__(self, *ranks: Iterable[str]) -> None:
        self._ranks = [BytesAhoCorasick([phrase.encode() for phrase in phrases]) for phrases in ranks]

    def __call__(self, text: str, spans: Sequence[Span]) -> list[int]:
        """Return the places of the first and the last phrases of each rank within the spans, in order."""
        chunks = [_Chunk(text, parts) for parts in _together(spans)]
        return sorted({place for rank in self._ranks for place in _ends(rank, chunks)})


class _Chunk:
    """Spans of a text that are searched together, with a line feed between each two of them."""

    def __init__(self, text: str, spans: Sequence[Span]) -> None:
        self._text, self._spans = text, spans

    @cached_property
    def _piece(self) -> str:
        return "\n".join([self._text[begin:end] for begin, end in self._spans])

    @cached_property
    def _raw(self) -> bytes:
        return self._piece.encode(errors="replace").lower()

    @cached_property
    def _starts(self) -> list[int]:
        """The positions in the piece at which the spans begin."""
        return list(accumulate([end - begin + 1 for begin, end in self._spans[:-1]], initial=0))

    def places(self, rank: BytesAhoCorasick) -> list[int]:
        """Return the first and the last places."""
        found = rank.find_matches_as_indexes(self._raw)
        if len(found) > PRESCAN_FIRST + PRESCAN_LAST:
            found = [*found[:PRESCAN_FIRST], *found[-PRESCAN_LAST:]]
        ascii_only = self._piece.isascii()
        return [self._place(start if ascii_only else len(self._raw[:start].decode())) for _, start, _ in found]

    def _place(self, position: int) -> int:
        """Return the position in the text for one in the piece."""
        index = bisect_right(self._starts, position) - 1
        return self._spans[index][0] + position - self._starts[index]


def _together(spans: Iterable[Span]) -> Iterator[list[Span]]:
    """Yield spans to search at once: parts of a long span, or many short ones."""
    parts: list[Span] = []
    length = 0
    for first, end in spans:
        for begin in range(first, end if end - first > 1 else first, _CHUNK):
            part = begin, min(begin + _CHUNK + _LONGEST, end)
            if length > _CHUNK:
                yield parts
                parts, length = [], 0
            parts.append(part)
            length += part[1] - begin
    if parts:
        yield parts


def _ends(rank: BytesAhoCorasick, chunks: Sequence[_Chunk]) -> list[int]:
    """Return the first and the last places."""
    first: list[int] = []
    looked_at = 0
    while looked_at < len(chunks) and len(first) < PRESCAN_FIRST:
        first += chunks[looked_at].places(rank)
        looked_at += 1
    last: list[int] = []
    for chunk in reversed(chunks[looked_at:]):
        if len(last) >= PRESCAN_LAST:
            break
        last = [*chunk.places(rank), *last]
    found = [*first, *last]
    return found if len(found) <= PRESCAN_FIRST + PRESCAN_LAST else [*found[:PRESCAN_FIRST], *found[-PRESCAN_LAST:]]


FIRST, LAST = 2_000, 4_200
"""Places of words after which the search from the beginning, and from the end, stops. Ordinary prose has fewer in all
that is read closely."""
_AT_ONCE = 8_192
"""Characters that are searched before the places are counted."""

_INSIDE = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_-./=")
"""Characters that do not stand before a word: after them, letters are the rest of a word, a path or an option."""
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_")
_JOINTS = frozenset("-./=")
_GOES_ON = _LETTERS | _JOINTS | {"("}
"""Characters that do not stand after a word; a joint may, unless a letter follows it."""
_AFTER = r"(?![a-z0-9_(]|[-./=][a-z0-9_])"
_EMPHASIS = pattern(r"\*(?:(?<=[\w']\*)|(?<=[\w'][ \n]\*))\*{0,2}[ \n]?(?=[\w'])")
_WRAPPED = pattern(r"\n(?<=[\w',]\n)[ \t]{1,2}(?=[\w'])")
"""The replacements of a space between two words: marks of emphasis, a line's end with the next line's indentation."""
_NUMBER = r"(?:\d{1,9} )?"
_ANY_NUMBER = pattern(" # ")
_NUMBERS = pattern(r" (?:\d{1,9} )?")
_STRONG: frozenset[Role] = frozenset({"blocked", "limit"})


class Hit(NamedTuple):
    """A word that was found: the name it goes by, and its place in the prose."""

    name: str
    start: int
    end: int


class Hits(defaultdict[Role, list[Hit]]):
    """The hits of each role, in order.

    Attributes:
        left_out: characters that were not searched because there were too many words before and after them.
    """

    left_out: int = 0


_Parts = tuple[tuple[str, tuple[Role, ...]], ...]
"""The names of a form, each with its roles."""
_Place = tuple[int, int, int]
"""The index of a form, its beginning and its end."""
_Part = tuple[int, list[_Place]]
"""The beginning of a part of a text, and the forms in it, with places within the part."""
_BEGIN, _END = itemgetter(1), itemgetter(2)
_Written = dict[str, dict[str, list[Role]]]
"""The names of each form, with their roles."""
_new: Callable[[type[Hit], tuple[str, int, int]], Hit] = cast("Any", tuple).__new__
"""Makes a hit in half the time of a call of the class."""


_Form = tuple[_Parts, _Parts, bool, str]
"""The names and roles of a form among the other words, and in claims; whether no letter may follow it; and the words
before the number in the forms that it begins, empty for a whole form. Plain tuples unpack in a third of the time of
named ones."""


class Vocabulary:
    """The words to search for.

    A longer phrase wins over a shorter one that begins at the same place, and hides the words within it: "make sure"
    hides "sure". Words of claims and other words do not hide each other. Between the words of a phrase there may be up
    to three spaces, line ends or marks of emphasis.
    """

    def __init__(self, keywords: Sequence[Keyword], languages: Sequence[str]) -> None:
        lexicons = [lexicon(language) for language in languages]
        known = (*(keyword for words in lexicons for keyword in words.keywords), *keywords)
        self.keywords = {keyword.text.lower(): keyword for keyword in known}
        self._parts: _Written = {}
        self._claims: _Written = {}
        self._numbered: dict[str, list[str]] = {}
        for name, keyword in self.keywords.items():
            self._add(self._parts, "keyword", name, (name, *keyword.forms))
            if keyword.group == "done":
                self._add(self._parts, "finished", name, (name, *keyword.forms))
        for words in lexicons:
            for known, table in ((self._parts, words.words), (self._claims, words.claims)):
                for role, names in table.items():
                    for name, written in names.items():
                        self._add(known, role, name, written)
        self._patterns: dict[str, re.Pattern[str]] = {}
        begun = {f"{head} {digit}": head for head in self._numbered for digit in "0123456789"}
        whole = sorted({**self._parts, **self._claims}, key=len, reverse=True)
        sought = [*begun, *whole]  # of forms that begin at one place the preferred one comes first
        self._forms: list[_Form] = [((), (), False, head) for head in begun.values()]
        self._forms += [
            (_parts_of(self._parts, text), _parts_of(self._claims, text), _is_letter(text[-1]), "") for text in whole
        ]
        self._automaton = AhoCorasick(sought, store_patterns=False)
        self._longest = max(map(len, sought), default=0)
        self._apart = frozenset(index for index, text in enumerate(sought) if not _is_letter(text[0]))

    def _add(self, known: _Written, role: Role, name: str, written: Iterable[str]) -> None:
        for form in (" ".join(form.lower().split()) for form in written):
            for number in _ANY_NUMBER.finditer(form) if "#" in form else ():
                self._numbered.setdefault(form[: number.start()].replace("# ", ""), []).append(form)
            roles = known.setdefault(form.replace("# ", ""), {}).setdefault(name, [])
            if role not in roles:
                roles.append(role)

    def find(self, prose: str) -> Hits:
        """Return every word of the prose, which is in lower case, by its role and in order."""
        text, gaps = _spaced(prose)
        parts, left_out = self._search(text.replace("_", " ") if "_" in text else text)
        hits = self._hits(text, parts, gaps)
        hits.left_out = left_out
        return hits

    def _search(self, text: str) -> tuple[list[_Part], int]:
        """Return the parts that were searched, and how many characters in the middle were not."""
        begin, end = 0, len(text)
        if end <= _AT_ONCE:
            return [(0, self._automaton.find_matches_as_indexes(text, overlapping=True))], 0
        parts: list[_Part] = []
        found = 0
        while begin < end and found < FIRST:
            parts.append(self._search_part(text, begin, min(begin + _AT_ONCE, end)))
            found += len(parts[-1][1])
            begin = min(begin + _AT_ONCE, end)
        found, last = 0, len(parts)
        while begin < end and found < LAST:
            parts.insert(last, self._search_part(text, max(begin, end - _AT_ONCE), end))
            found += len(parts[last][1])
            end = max(begin, end - _AT_ONCE)
        return parts, end - begin

    def _search_part(self, text: str, begin: int, end: int) -> _Part:
        """Return the forms that begin in a part of the text."""
        places = self._automaton.find_matches_as_indexes(text[begin : end + self._longest], overlapping=True)
        beyond = bisect_right(places, end - begin, key=_END)
        places[beyond:] = [place for place in places[beyond:] if place[1] < end - begin]
        return begin, places

    def _hits(self, text: str, parts: Iterable[_Part], gaps: Sequence[int]) -> Hits:
        """Return the hits in the parts of a text, none of a kind within another."""
        hits = Hits(list)
        after = claimed = 0
        forms, apart, first_gap = self._forms, self._apart, gaps[0] if gaps else sys.maxsize
        for offset, places in parts:
            places.reverse()  # they come by their ends; now the longest of those that begin together is first
            places.sort(key=_BEGIN)
            for index, begin, finish in places:
                start, end = begin + offset, finish + offset
                if (start < after and start < claimed) or (text[start - 1] in _INSIDE and index not in apart):
                    continue
                others, claims, ends_word, numbered = forms[index]
                if ends_word and text[end] in _GOES_ON and (text[end] not in _JOINTS or text[end + 1] in _LETTERS):
                    continue
                stop = end
                plays: _Parts = ()
                if numbered:
                    if start >= after and (match := self._pattern(numbered).match(text, start)):
                        after = stop = match.end()
                        plays = _parts_of(self._parts, _NUMBERS.sub(" ", match[0]))
                elif others and start >= after:
                    after = end
                    plays = others
                if claims and start >= claimed:
                    claimed = end
                    plays = plays + claims if plays else claims
                first = start
                if stop > first_gap:
                    first, stop = _in_prose(start, stop, gaps)
                for name, roles in plays:
                    hit = _new(Hit, (name, first, stop))
                    for role in roles:
                        hits[role].append(hit)
        return hits

    def _pattern(self, head: str) -> re.Pattern[str]:
        """Return the pattern of the forms with a number behind some words, compiled on first use."""
        if head not in self._patterns:
            forms = sorted(self._numbered[head], key=len, reverse=True)
            self._patterns[head] = pattern("|".join(map(_expression, forms)))
        return self._patterns[head]

    def prescan(self, text: str, spans: Sequence[Span]) -> Sequence[int]:
        """Return places of the strongest phrases in spans of a text in any case; only a few of many."""
        return self._prescan(text, spans)

    @cached_property
    def _prescan(self) -> Prescan:
        """The search for strong phrases; those that are enough by themselves have a rank of their own."""
        strong = {name for name, keyword in self.keywords.items() if keyword.weight == "very_high"}
        ranks: tuple[list[str], list[str]] = ([], [])
        for text, parts in self._parts.items():
            roles = {role for found in parts.values() for role in found}
            if roles & _STRONG or ("keyword" in roles and not strong.isdisjoint(parts)):
                ranks[0].append(text)
            elif "keyword" in roles:
                ranks[1].append(text)
            if "halted" in roles:  # by itself too frequent: "BLOCKED: …"
                ranks[0].append(f"{text}:")
        ranks[0].extend(form.rpartition(" # ")[2] for forms in self._numbered.values() for form in forms)
        return Prescan(*ranks)


def _parts_of(known: _Written, text: str) -> _Parts:
    if text not in known:
        return ()
    return tuple([(name, tuple(roles)) for name, roles in known[text].items()])


def _spaced(prose: str) -> tuple[str, list[int]]:
    """Return the prose with single spaces between words, and the place of each character that was removed."""
    pieces: list[str] = []
    gaps: list[int] = []
    at = 0
    for start, end in _wide_gaps(prose):
        pieces.append(prose[at:start])
        gaps += [start + 1 - len(gaps)] * (end - start - 1)
        at = end
    text = " ".join((*pieces, f"{prose[at:]}  "))
    return text.replace("\n", " ").replace("\t", " ").replace("*", " "), gaps


def _in_prose(start: int, end: int, gaps: Sequence[int]) -> Span:
    """Return the place in the prose for one among single spaces, by the gaps that `_spaced` gives."""
    return start + bisect_right(gaps, start), end + bisect_left(gaps, end)


def _wide_gaps(prose: str) -> list[Span]:
    """Return the gaps of two or three characters between words, in order."""
    spans = [match.span() for match in _WRAPPED.finditer(prose)] if "\n " in prose else []
    if "*" in prose:
        emphasis = (match.span() for match in _EMPHASIS.finditer(prose))
        spans += [(start - (prose[start - 1] in " \n"), end) for start, end in emphasis]
        spans.sort()
    return spans


def _expression(form: str) -> str:
    words = "".join(_NUMBER if word == "#" else f"{re.escape(word)} " for word in form.split(" "))
    return words.removesuffix(" ") + (_AFTER if _is_letter(form[-1]) else "")


def _is_letter(char: str) -> bool:
    return char.isascii() and char.isalnum()


@lru_cache(maxsize=16)
def vocabulary(keywords: tuple[Keyword, ...], languages: tuple[str, ...]) -> Vocabulary:
    """Return the vocabulary of some languages and further keywords."""
    return Vocabulary(keywords, languages)


_REACH = 60
"""The longest reach of a negation or a future, in characters."""
_HIT_END = itemgetter(2)
_CLAUSE_END = pattern(r"[,;:()，、；：]")
_TURNS = ("but", "however", "although", "so", "because", "since")
_TURN = pattern(rf"\b(?:{'|'.join(_TURNS)})\b")
"""Words that end a clause. The expression is tried only if their letters occur."""
_WORD = pattern(r"[a-z0-9']+|[\u3400-\u9fff]{1,2}")


_Taking = tuple[Sequence[Hit], Hit | None]


class Scope:
    """The words of one reading, and how far each of them reaches."""

    def __init__(self, reading: Reading, hits: Hits) -> None:
        self.reading = reading
        self.hits = hits
        self._roles = frozenset(hits)
        self._taking: dict[Span, _Taking] = {}

    def has(self, roles: AbstractSet[Role]) -> bool:
        """Return whether there is a word of any of the roles; detectors that need one can then stop at once."""
        return not self._roles.isdisjoint(roles)

    def of(self, role: Role) -> Sequence[Hit]:
        """Return the words of a role, in order."""
        return self.hits.get(role, ())

    def within(self, role: Role, span: Span) -> Sequence[Hit]:
        """Return the words of a role that end in a span."""
        hits = self.hits.get(role)
        if hits is None:
            return ()
        return hits[bisect_right(hits, span[0], key=_HIT_END) : bisect_right(hits, span[1], key=_HIT_END)]

    def any_within(self, roles: Iterable[Role], span: Span) -> bool:
        """Return whether a word of one of the roles ends in a span."""
        return any(self.within(role, span) for role in roles)

    def before(self, role: Role, hit: Hit, words: int) -> Hit | None:
        """Return the nearest word of a role before another in its clause, at most `words` words away."""
        hits = self.hits.get(role)
        if hits is None:
            return None
        start = hit.start
        index = bisect_right(hits, start, key=_HIT_END) - 1
        if index < 0:
            return None
        found = hits[index]
        return found if start - found.end <= _REACH and self._near(found.end, start, words) else None

    def after(self, role: Role, hit: Hit, words: int) -> Hit | None:
        """Return the nearest word of a role after another in its clause, at most `words` words away."""
        hits = self.hits.get(role)
        if hits is None:
            return None
        end = hit.end
        index = bisect_right(hits, end, key=_HIT_END)
        if index == len(hits):
            return None
        found = hits[index]
        return found if 0 <= found.start - end <= _REACH and self._near(end, found.start, words) else None

    def negated(self, hit: Hit, words: int = 3) -> Hit | None:
        """Return the word that negates another, such as "not" before it."""
        return self.before("negation", hit, words)

    def taken_back(self, hit: Hit) -> Hit | None:
        """Return what takes a word back: "but" or "still" in its sentence, or "However" right after it."""
        sentence = self.reading.sentence(hit.start)
        taking = self._taking.get(sentence)
        if taking is None:
            taking = self._taking[sentence] = self._taking_of(sentence)
        within, behind = taking
        for found in within:
            if not hit.start <= found.start < hit.end:
                return found
        return behind

    def _taking_of(self, sentence: Span) -> _Taking:
        """Return the words of a sentence that take it back, and the one right after it that does."""
        found = (*self.within("contrast", sentence)[:20], *self.within("qualifier", sentence)[:20])
        within = [hit for hit in found if not self.negated(hit, 2)] if found else ()
        following = self.within("contrast", (sentence[1], sentence[1] + 20))
        opening = following[0] if following else None
        if opening and self.reading.prose[sentence[1] : opening.start].strip(" \n*_-"):
            opening = None
        return within, opening

    def _near(self, start: int, end: int, words: int) -> bool:
        """Return whether at most `words` words, and no end of a clause, stand between two places within reach."""
        between = self.reading.prose[start:end]
        if between == " ":
            return True  # most often the words stand side by side
        if self.reading.sentence(start)[1] < end or _CLAUSE_END.search(between) or len(_WORD.findall(between)) > words:
            return False
        return not (any(map(between.__contains__, _TURNS)) and _TURN.search(between))
