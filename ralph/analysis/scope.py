"""How far a word reaches: negation, what has not happened yet, and what the same sentence takes back."""

from bisect import bisect_right
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from operator import itemgetter

from ralph.analysis.lexicon import Role
from ralph.analysis.text import Reading, Span
from ralph.analysis.vocabulary import Hit, Hits
from ralph.system.text import pattern

__all__ = ["Scope"]

_REACH = 60
"""Characters that a negation or a future reaches at most."""
_END = itemgetter(2)
"""Where a hit ends."""
_CLAUSE_END = pattern(r"[,;:()，、；：]")
_TURNS = ("but", "however", "although", "so", "because", "since")
_TURN = pattern(rf"\b(?:{'|'.join(_TURNS)})\b")
"""Marks and words that end a clause. The words are looked for as such only where their letters stand."""
_WORD = pattern(r"[a-z0-9']+|[\u3400-\u9fff]{1,2}")


_Taking = tuple[Sequence[Hit], Hit | None]


class Scope:
    """Answers for the words found in one reading."""

    def __init__(self, reading: Reading, hits: Hits) -> None:
        self.reading = reading
        self.hits = hits
        self._roles = frozenset(hits)
        self._taking: dict[Span, _Taking] = {}

    def has(self, roles: AbstractSet[Role]) -> bool:
        """Whether there is a word of any of the roles; for detectors that need one, to be done at once where not."""
        return not self._roles.isdisjoint(roles)

    def of(self, role: Role) -> Sequence[Hit]:
        """The words of a role, in order."""
        return self.hits.get(role, ())

    def within(self, role: Role, span: Span) -> Sequence[Hit]:
        """The words of a role that end in a span."""
        hits = self.hits.get(role)
        if hits is None:
            return ()
        return hits[bisect_right(hits, span[0], key=_END) : bisect_right(hits, span[1], key=_END)]

    def before(self, role: Role, hit: Hit, words: int) -> Hit | None:
        """The nearest word of a role before another one in its clause, at most so many words away."""
        hits = self.hits.get(role)
        if hits is None:
            return None
        start = hit.start
        index = bisect_right(hits, start, key=_END) - 1
        if index < 0:
            return None
        found = hits[index]
        return found if start - found.end <= _REACH and self._near(found.end, start, words) else None

    def after(self, role: Role, hit: Hit, words: int) -> Hit | None:
        """The nearest word of a role after another one in its clause, at most so many words away."""
        hits = self.hits.get(role)
        if hits is None:
            return None
        end = hit.end
        index = bisect_right(hits, end, key=_END)
        if index == len(hits):
            return None
        found = hits[index]
        return found if 0 <= found.start - end <= _REACH and self._near(end, found.start, words) else None

    def negated(self, hit: Hit, words: int = 3) -> Hit | None:
        """What turns a word round, such as "not" in front of it."""
        return self.before("negation", hit, words)

    def taken_back(self, hit: Hit) -> Hit | None:
        """What in its sentence takes a word back, such as "but" or "still", or "However" right after the sentence."""
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
        """The words of a sentence that take back what it says, and the one right after it that does."""
        found = (*self.within("contrast", sentence)[:20], *self.within("qualifier", sentence)[:20])
        within = [hit for hit in found if not self.negated(hit, 2)] if found else ()
        following = self.within("contrast", (sentence[1], sentence[1] + 20))
        opening = following[0] if following else None
        if opening and self.reading.prose[sentence[1] : opening.start].strip(" \n*_-"):
            opening = None
        return within, opening

    def _near(self, start: int, end: int, words: int) -> bool:
        """Whether no more words, and no end of a clause, stand between two places that are within reach."""
        between = self.reading.prose[start:end]
        if between == " ":
            return True  # most often the words stand side by side
        if self.reading.sentence(start)[1] < end or _CLAUSE_END.search(between) or len(_WORD.findall(between)) > words:
            return False
        return not (any(map(between.__contains__, _TURNS)) and _TURN.search(between))
