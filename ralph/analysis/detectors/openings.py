"""How a reply opens: what its first sentence tells as done, or says plainly of how things are now."""

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from itertools import chain, islice

from ralph.analysis.detectors.announcements import announced
from ralph.analysis.detectors.checks import is_of_check
from ralph.analysis.detectors.objections import Objections
from ralph.analysis.detectors.statements import is_stated
from ralph.analysis.lexicon import Role
from ralph.analysis.signals import Reply
from ralph.analysis.text import Span
from ralph.analysis.vocabulary import Hit
from ralph.system.text import pattern

__all__ = ["Opening", "is_to_come"]

_PASSED_OVER = 3
"""Headings and bare words that are passed over at the beginning."""
_LOOKED_AT = 12
"""Words of one role that are looked at."""
_BARE = 30
"""Characters of a sentence of a word or two."""
_PLAIN = 3
"""Words of a plain sentence at least."""
_WORD = pattern(r"[^\W\d_]+")
_OF_ITSELF = pattern(r"[\s*_#>-]{0,6}i(?:'ve|'m)?\s")
_LEAD = r"(?:[\s*_#>✅✓🎉☑️:-]|\b(?:i|we|and|yes|so|now|then|also|successfully|i've|i have|we've|we have)\b)*"
_FINDS = ("i see", "i found", "i've found", "i looked", "looks like")
"""What opens a sentence on what the agent found, and not on what it did."""
_OPENING = pattern(rf"{_LEAD}\Z")
_PAST = pattern(
    rf"{_LEAD}([a-z][a-z-]{{1,15}}ed|wrote|built|set up|put|made|split|cut|rewrote|took|got rid of|sped up|brought)\b"
    r"(?=[\s*_]{1,3}[^\s:])"
)
_NOT_PLAIN: tuple[Role, ...] = ("ongoing", "verified", "recap", "contrast", "unable", "lack", "fault")
"""What a sentence has that tells of no finished work."""
_ANY_NOT_PLAIN: frozenset[Role] = frozenset(_NOT_PLAIN)
_PROOFS: frozenset[Role] = frozenset({"verified", "fault"})
"""What such a sentence may have behind a colon, which proves what it says: "All is typed: mypy finds 0 errors"."""
_SAYS = pattern(r"[^:;\n]{0,120}\b(?:is|are|has|have|can|ist|sind|hat|está|están|tiene)\b[^:;\n]{0,120}[:;]\s")
"""The clause up to a colon that says how things are."""
_TELLING: frozenset[Role] = frozenset({"changed", "news", "closed", "stands"})
"""Words without which a sentence tells of nothing but by a verb in the past."""

_WITHOUT_TIME = frozenset((
    *(
        "once",
        "when",
        "if",
        "until",
        "till",
        "unless",
        "before",
        "after",
        "whether",
        "as soon as",
        "can be",
        "could be",
    ),
    *("considered", "reply", "say", "cuando", "si", "una vez", "hasta que", "antes de", "después de", "para que"),
))
"""What a sentence may have that tells of how things are as well as of what is to come."""


_OR_HABITUAL = _WITHOUT_TIME | {"wird", "werden", "会", "會"}
"""The same with what also tells of what is done again and again: "danach werden alle Sitzungen beendet"."""


def is_to_come(future: Hit, *, apart: AbstractSet[str] = _WITHOUT_TIME) -> bool:
    """Whether a word tells of what is to come, and is none of some others."""
    return future.name not in apart


class Opening:
    """The opening of a reply, behind its last announcement.

    Attributes:
        begin: where the first sentence begins that is neither a heading nor bare.
        bare: the word that was a sentence before it and says that it is done: "Done.", "Deployed.", "搞定了".
    """

    def __init__(self, reply: Reply, objections: Objections) -> None:
        self._reply, self._scope, self._prose = reply, reply.scope, reply.reading.prose
        self._objections = objections
        self.bare: Hit | None = None
        self.begin = self._first(announced(reply))

    def told(self, span: Span) -> Iterator[Hit]:
        """What is told in a span as done, or as being so now."""
        changed = self._within("changed", span)
        return filter(self._counts, chain(self._past, changed, self._news(span), self._stated(span)))

    @cached_property
    def tells(self) -> Hit | None:
        """What the first sentence tells: "Added …", "I've added …", "The page now …", "The error is fixed"."""
        if self.begin >= len(self._prose):
            return None
        if not self._scope.has(_TELLING):
            return next(filter(self._counts, self._past), None)
        span = self.sentence
        if any(hit.name.startswith(_FINDS) for hit in self._within("ongoing", (self.begin, self.begin + _BARE))):
            return None
        changed = filter(self._is_told_of, self._within("changed", span))
        return next(filter(self._counts, chain(changed, self._past, self._news(span), self._stated(span))), None)

    def plain(self) -> Hit | None:
        """The first sentence as a whole, where it says how things are, in whatever words: also in those of the task,
        unless it tells what is wanted.
        """
        span = self.sentence
        said, scope = self._reply.reading.text[slice(*span)], self._scope
        if _is_short(said):
            return None
        if any(is_to_come(hit, apart=_OR_HABITUAL) for hit in scope.within("future", span)[:_LOOKED_AT]):
            return None
        if scope.has(_ANY_NOT_PLAIN):
            saying = self._saying(span)
            if any(scope.within(role, saying if role in _PROOFS else span) for role in _NOT_PLAIN):
                return None
        if scope.within("regarded", (self.begin, self.begin + _BARE)):
            return None
        passes = self._within("passes", span)
        if passes and any(is_of_check(self._reply, hit) for hit in passes):
            return None
        if any(hit.name != "if" for hit in self._provisos(span)):
            return None
        whole, wanted = Hit("opening", *span), bool(scope.within("wanted", span))
        return None if self._objections.to(whole, echoes=wanted) else whole

    def _saying(self, span: Span) -> Span:
        """What of a sentence says how things are: up to the colon behind which that is proven."""
        proofs = self._scope.within("verified", span)
        clause = _SAYS.match(self._prose, *span) if proofs else None
        return clause.span() if clause and clause.end() <= proofs[0].start else span

    def _provisos(self, span: Span) -> Sequence[Hit]:
        """What a sentence begins with that tells when something is to be so: "Until …"."""
        first = self._scope.within("proviso", span)[:1]
        return first if first and not self._prose[span[0] : first[0].start].strip(" *_#>-") else ()

    @property
    def sentence(self) -> Span:
        """The first sentence."""
        return self.begin, self._reply.reading.sentence(self.begin)[1]

    def _first(self, begin: int) -> int:
        for _ in range(_PASSED_OVER):
            begin = len(self._prose) - len(self._prose[begin:].lstrip())
            if begin >= len(self._prose):
                break
            end = self._reply.reading.sentence(begin)[1]
            if not (self._reply.reading.in_heading(begin) or self._is_bare(begin, end)):
                break
            begin = end
        return begin

    def _is_bare(self, begin: int, end: int) -> bool:
        """Whether a sentence has no more than a word or two; if that says that it is done, it is kept."""
        if end - begin > _BARE:
            return False
        span = begin, end
        words = _WORD.findall(self._prose[slice(*span)])
        for hit in (*self._within("keyword", span), *self._within("changed", span)):
            if words == _WORD.findall(self._prose[hit.start : hit.end]):
                self.bare = Hit("opening", hit.start, hit.end)
                return True
        said = self._reply.reading.text[slice(*span)]
        return _is_short(said)

    def _is_told_of(self, hit: Hit) -> bool:
        """Whether a verb opens the reply ("Added …", "I've added …"), or is said of something ("… was replaced")."""
        return _OPENING.match(self._prose, self.begin, hit.start) is not None or is_stated(self._prose, hit)

    @cached_property
    def _past(self) -> Sequence[Hit]:
        """A verb in the past that opens the reply, whichever it is, unless it is one of looking and trying."""
        found = _PAST.match(self._prose, self.begin)
        if found is None or self._within("regarded", found.span()):
            return ()
        return (Hit(found[1], found.start(1), found.end(1)),)

    def _stated(self, span: Span) -> Iterator[Hit]:
        """What is stated to be so: "is fixed", "is gone"."""
        hits = (*self._within("closed", span), *self._within("stands", span))
        return (hit for hit in hits if is_stated(self._prose, hit))

    def _news(self, span: Span) -> Iterator[Hit]:
        """What is so now, other than that the check passes."""
        for hit in self._within("news", span):
            sentence = self._objections.sentence(hit)
            if not (self._scope.within("verified", sentence) or _OF_ITSELF.match(self._prose, sentence[0])):
                yield hit

    def _within(self, role: Role, span: Span) -> Sequence[Hit]:
        return self._scope.within(role, span)[:_LOOKED_AT]

    def _counts(self, hit: Hit) -> bool:
        """Whether nothing speaks against what a word tells."""
        return not (self._reply.reading.in_heading(hit.start) or self._objections.to(hit))


def _is_short(said: str) -> bool:
    """Whether a sentence in letters has a word or two."""
    return said.isascii() and len(list(islice(_WORD.finditer(said), _PLAIN))) < _PLAIN
