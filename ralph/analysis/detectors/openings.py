"""How a reply opens: what its first sentence tells as done, or says plainly of how things are now."""

from collections.abc import Iterable, Iterator, Sequence

from ralph.analysis.detectors.announcements import announced
from ralph.analysis.detectors.checks import is_of_check
from ralph.analysis.detectors.objections import Objections
from ralph.analysis.detectors.statements import is_stated
from ralph.analysis.lexicon import Role
from ralph.analysis.scope import Scope
from ralph.analysis.signals import Reply
from ralph.analysis.text import Span
from ralph.analysis.vocabulary import Hit
from ralph.pattern import pattern

__all__ = ["Opening", "is_ahead"]

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
_OPENING = pattern(rf"{_LEAD}\Z")
_PAST = pattern(
    rf"{_LEAD}([a-z][a-z-]{{1,15}}ed|wrote|built|set up|put|made|split|cut|rewrote|took|got rid of|sped up|brought)\b"
    r"(?=[\s*_]{1,3}[^\s:])"
)
_NOT_PLAIN: tuple[Role, ...] = ("ongoing", "verified", "recap", "contrast", "unable", "lack", "fault")
"""What a sentence has that tells of no finished work."""


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


def is_ahead(scope: Scope, span: Span) -> bool:
    """Whether a span tells of what is to come."""
    return any(hit.name not in _WITHOUT_TIME for hit in scope.within("future", span)[:_LOOKED_AT])


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
        return self._unopposed((*self._past(), *self._within("changed", span), *self._news(span), *self._stated(span)))

    def tells(self) -> Hit | None:
        """What the first sentence tells: "Added …", "I've added …", "The page now …", "The error is fixed"."""
        if self.begin >= len(self._prose):
            return None
        span = self._sentence()
        changed = [hit for hit in self._within("changed", span) if self._is_told_of(hit)]
        return next(self._unopposed((*changed, *self._past(), *self._news(span), *self._stated(span))), None)

    def plain(self) -> Hit | None:
        """The first sentence as a whole, where it says how things are, in whatever words."""
        span = self._sentence()
        said, scope = self._reply.reading.text[slice(*span)], self._scope
        if said.isascii() and len(_WORD.findall(said)) < _PLAIN:
            return None
        if is_ahead(scope, span) or any(scope.within(role, span) for role in _NOT_PLAIN):
            return None
        if scope.within("regarded", (self.begin, self.begin + _BARE)):
            return None
        whole = Hit("opening", *span)
        checked = any(is_of_check(self._reply, hit) for hit in self._within("passes", span))
        return None if checked or self._objections.to(whole) else whole

    def _sentence(self) -> Span:
        return self.begin, self._reply.reading.sentence(self.begin)[1]

    def _first(self, begin: int) -> int:
        for _ in range(_PASSED_OVER):
            begin = len(self._prose) - len(self._prose[begin:].lstrip())
            if begin >= len(self._prose) or not (self._reply.reading.in_heading(begin) or self._is_bare(begin)):
                break
            begin = self._reply.reading.sentence(begin)[1]
        return begin

    def _is_bare(self, begin: int) -> bool:
        """Whether a sentence has no more than a word or two; if that says that it is done, it is kept."""
        span = begin, self._reply.reading.sentence(begin)[1]
        if span[1] - begin > _BARE:
            return False
        words = _WORD.findall(self._prose[slice(*span)])
        for hit in (*self._within("keyword", span), *self._within("changed", span)):
            if words == _WORD.findall(self._prose[hit.start : hit.end]):
                self.bare = Hit("opening", hit.start, hit.end)
                return True
        said = self._reply.reading.text[slice(*span)]
        return said.isascii() and len(_WORD.findall(said)) < _PLAIN

    def _is_told_of(self, hit: Hit) -> bool:
        """Whether a verb opens the reply ("Added …", "I've added …"), or is said of something ("… was replaced")."""
        return _OPENING.match(self._prose, self.begin, hit.start) is not None or is_stated(self._prose, hit)

    def _past(self) -> Iterator[Hit]:
        """A verb in the past that opens the reply, whichever it is, unless it is one of looking and trying."""
        if (found := _PAST.match(self._prose, self.begin)) and not self._within("regarded", found.span()):
            yield Hit(found[1], found.start(1), found.end(1))

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

    def _unopposed(self, hits: Iterable[Hit]) -> Iterator[Hit]:
        return (hit for hit in hits if not (self._scope.reading.in_heading(hit.start) or self._objections.to(hit)))
