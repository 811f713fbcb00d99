"""Plain statements on the work as a whole, and the opening of a reply.

"The migration is finished.", "Issue #12 is fixed", "The memory leak is gone": the subject names a whole, or a trouble
at the beginning of the reply. "The tests of the feature are complete" has the tests as its subject. One of several by
its number, such as "task 4", is not a whole; an issue is.
"""

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from itertools import chain, islice

from ralph.analysis.detectors.activity import announcement_end
from ralph.analysis.detectors.objections import Objections
from ralph.analysis.lexicon import Role
from ralph.analysis.result import Reply
from ralph.analysis.text import Span
from ralph.analysis.vocabulary import Hit
from ralph.system.text import pattern

__all__ = [
    "Opening",
    "is_check_verdict",
    "is_stated",
    "is_to_come",
    "only_predicate",
    "statements_on_work",
]

_COMMAND = pattern(r"\b(?:build|tests?|lint|tsc|checks?|compile|make|pytest|vet|clippy|mypy|ruff|eslint|verify)\b")
_CALL = pattern(r"[a-z][\w./-]{1,30}\s\S")  # A command with an argument, whatever its name.
_CHECK_REACH = 100
_WORDS = 8


def is_check_verdict(reply: Reply, verdict: Hit) -> bool:
    """Return True if a verdict is one on a check: "the build passes", "Lint: clean", "`npm test` passes"."""
    scope, reading = reply.scope, reply.reading
    if scope.before("check", verdict, _WORDS):
        return True
    begin = max(reading.sentence(verdict.start)[0], verdict.start - _CHECK_REACH)
    for check in scope.within("check", (begin, verdict.start))[-1:]:
        label = reading.prose[check.end : verdict.start].lstrip(" *_")
        return label.startswith((":", "：")) and len(label.split()) <= _WORDS
    code, mark, between = reading.text[begin : verdict.start].rpartition("`")
    if not mark or len(between.split()) > 2:
        return False
    command = code.rpartition("`")[2]
    return bool(_COMMAND.search(command) or _CALL.match(command))


_REACH = 160  # characters between the beginning of a sentence and its predicate
_LINKED = 60  # characters of a copula and its adverbs
_NEAR = 40  # characters before a predicate in which its copula stands
_OPENING = 300  # characters of a reply in which its trouble is named
_SUBJECTS = 6  # nouns of a sentence that are examined, from its beginning
_COPULA = pattern(
    r"(?:\b(?:is|are|has been|have been|está|están|ha sido|han sido|ist|sind|wurde|wurden)|'s)[\s*_]{1,4}"
    r"(?:(?:now|all|also|already|100%|[a-z]{2,12}ly|ya|jetzt|nun)[\s*_]{1,4}){0,2}\Z"
)
_OF_OTHER = pattern(
    r"\b(?:for|of|in|to|with|on|from|by|about|that|which|who|if|when|after|before|until|tests?|is|are|was|were|has|need"
    r"|needs|next|first|each|sure|ensure|check|verify|verified|until|once|hope|assume|whether|think|de|del|para|en|con|que)\b|\d|[第部]|[前下其][一二兩两三中]"
)
_CLAUSE_END = pattern(r"[,;:!?，：；、（(—–•✅🎉✓✔☑️]|\b(?:and|so|y)\b|(?<=\s)-(?=\s)")
_VERB = pattern(r"\b(?:is|are|was|were|but|needs?|will|has|have|que)\b")
# What may follow a noun that is the subject; another noun would be the subject instead.
_BEHIND = pattern(
    r"[\s*_]*(?:\Z|[#\d(]|(?:for|of|to|from|in|on|with|into|itself|as|de|del|a|para|en)\b|[a-z]{1,10}-\d)"
)
_NOUNS: tuple[Role, ...] = ("whole", "piece", "trouble")
_WHERE_LATE = _NOUNS[:2]  # the nouns that count after the beginning of the reply
_SEVERAL: tuple[Role, ...] = ("part", "pieced", "following")
_COPULAS = ("is ", "are ", "está ", "están ")
_MARKS = " *_#0123456789-已经經也先前都"
_NUMBERED = pattern(r"[\s*_]{0,3}#?[a-z]{0,4}-?\d")
_REPORTED = frozenset({"issue", "ticket", "bug", "request", "error", "problem", "regression", "defect"})
_WORD = pattern(r"[^\W\d_]+")
_MOST = 4


def statements_on_work(reply: Reply, predicates: Iterable[Hit]) -> Iterator[tuple[Hit, bool]]:
    """Yield the statements that predicates make of a whole, a piece or a trouble.

    Each is the span from the subject on, with True if it may be one of several that the reply speaks of.
    """
    objections = Objections.of(reply)
    rest = objections.start, len(reply.reading.prose)
    for predicate in predicates:
        begin = max(reply.reading.sentence(predicate.start)[0], predicate.start - _REACH)
        if not reply.scope.any_within(_NOUNS, (begin, predicate.start)):
            continue  # most predicates have no noun before them
        clause = predicate.start - len(_CLAUSE_END.split(reply.reading.prose[begin : predicate.start])[-1])
        roles = _NOUNS if predicate.start < objections.start + _OPENING else _WHERE_LATE
        for role, subject in _subjects(reply, predicate, (begin, clause), roles):
            several = role != "whole" and not objections.task.given and reply.scope.any_within(_SEVERAL, rest)
            yield Hit(predicate.name, subject.start, predicate.end), several
            break


def is_stated(prose: str, predicate: Hit) -> bool:
    """Return True if a copula precedes a predicate: "is fixed", "has been merged"."""
    if prose.startswith(_COPULAS, predicate.start):
        return True
    return _copula(prose, max(0, predicate.start - _NEAR), predicate.start) is not None


def _copula(prose: str, begin: int, end: int) -> int | None:
    """Return where the copula begins with which a span ends, adverbs included."""
    found = _COPULA.search(prose, begin, end)
    return found.start() if found else None


def only_predicate(reply: Reply, predicates: Iterable[Hit]) -> Hit | None:
    """Return the predicate that is the whole reply: "Done."."""
    words = _WORD.findall(reply.reading.lower)
    words = words[1:] if words[:1] == ["all"] else words
    return next((hit for hit in predicates if words == _WORD.findall(reply.reading.prose[hit.start : hit.end])), None)


def _subjects(reply: Reply, predicate: Hit, begins: Span, roles: Sequence[Role]) -> Iterator[tuple[Role, Hit]]:
    """Yield the subjects of a predicate, right before it or before its copula.

    `begins` says where its sentence begins, as far as it is read, and where its clause begins.
    """
    scope, prose = reply.scope, reply.reading.prose
    begin, clause = begins
    copula = _copula(prose, max(begin, predicate.start - _LINKED), predicate.start)
    end = predicate.start if copula is None else copula
    joined = copula is not None or prose.startswith(_COPULAS, predicate.start)
    for role in roles:
        for subject in scope.within(role, (clause, end))[:_SUBJECTS]:
            between = prose[subject.end : end]
            lead = prose[clause : subject.start]  # "the tests of the" feature make it no subject
            other = subject.start < clause or len(_WORD.findall(lead)) > _MOST or _OF_OTHER.search(lead)
            if other or _is_one_of_several(reply, subject):
                continue
            if joined:
                if _BEHIND.match(between) and not _VERB.search(between):
                    yield role, subject
            elif not between.strip(_MARKS) and (predicate.name in reply.words.keywords or not predicate.name.isascii()):
                yield role, subject


def _is_one_of_several(reply: Reply, subject: Hit) -> bool:
    """Return True if a number makes a noun a part, unless the task has the same name."""
    if subject.name in _REPORTED or not _NUMBERED.match(reply.reading.prose, subject.end):
        return False
    task = Objections.of(reply).task
    return not task.is_named(reply.reading.prose[slice(*reply.reading.sentence(subject.start))][:_REACH])


_SKIPPED = 3  # headings and bare words that are skipped at the beginning
_LOOKED_AT = 12  # words of one role that are examined
_BARE = 30  # characters of a sentence of a word or two
_PLAIN = 3  # fewest words of a plain sentence
_OF_ITSELF = pattern(r"[\s*_#>-]{0,6}i(?:'ve|'m)?\s")
_LEAD = r"(?:[\s*_#>✅✓🎉☑️:-]|\b(?:i|we|and|yes|so|now|then|also|successfully|i've|i have|we've|we have)\b)*"
# openings of a sentence about a finding, not about an action
_FINDINGS = ("i see", "i found", "i've found", "i looked", "looks like")
_OPENS = pattern(rf"{_LEAD}\Z")
_PAST = pattern(
    rf"{_LEAD}([a-z][a-z-]{{1,15}}ed|wrote|built|set up|put|made|split|cut|rewrote|took|got rid of|sped up|brought)\b"
    r"(?=[\s*_]{1,3}[^\s:])"
)
# A sentence with one of these does not report finished work.
_NOT_PLAIN: tuple[Role, ...] = ("ongoing", "verified", "recap", "contrast", "unable", "lack", "fault")
_ANY_NOT_PLAIN: frozenset[Role] = frozenset(_NOT_PLAIN)
# These may follow a colon, as proof of what precedes it: "All is typed: mypy finds 0 errors".
_PROOFS: frozenset[Role] = frozenset({"verified", "fault"})
# The clause up to a colon that says how things are.
_STATE_CLAUSE = pattern(r"[^:;\n]{0,120}\b(?:is|are|has|have|can|ist|sind|hat|está|están|tiene)\b[^:;\n]{0,120}[:;]\s")
# These words of the future may also stand in a sentence about the present.
_WITHOUT_TIME = frozenset((
    *("once", "when", "if", "until", "till", "unless", "before", "after", "whether", "as soon as", "can be"),
    *("could be",),
    *("considered", "reply", "say", "cuando", "si", "una vez", "hasta que", "antes de", "después de", "para que"),
))
# The same with words for what happens regularly: "danach werden alle Sitzungen beendet".
_OR_HABITUAL = _WITHOUT_TIME | {"wird", "werden", "会", "會"}


def is_to_come(future: Hit, *, apart: AbstractSet[str] = _WITHOUT_TIME) -> bool:
    """Return True if a word speaks of the future, with some exceptions."""
    return future.name not in apart


class Opening:
    """The opening of a reply, after its last announcement.

    Attributes:
        begin: where the first sentence begins that is neither a heading nor bare.
        bare: a word before it that is a sentence and says that the work is done: "Done.", "Deployed.", "搞定了".
    """

    def __init__(self, reply: Reply, objections: Objections) -> None:
        self._reply, self._scope, self._prose = reply, reply.scope, reply.reading.prose
        self._objections = objections
        self.bare: Hit | None = None
        self.begin = self._first(announcement_end(reply))

    def reports_in(self, span: Span) -> Iterator[Hit]:
        """Yield what a span reports as done, or as the state now."""
        changed = self._within("changed", span)
        return filter(self._counts, chain(self._past, changed, self._news(span), self._stated(span)))

    @cached_property
    def report(self) -> Hit | None:
        """The report in the first sentence: "Added …", "I've added …", "The page now …", "The error is fixed"."""
        span = self.sentence
        if any(hit.name.startswith(_FINDINGS) for hit in self._within("ongoing", (self.begin, self.begin + _BARE))):
            return None
        changed = (
            hit
            for hit in self._within("changed", span)
            if _OPENS.match(self._prose, self.begin, hit.start) or is_stated(self._prose, hit)
        )
        return next(filter(self._counts, chain(changed, self._past, self._news(span), self._stated(span))), None)

    def plain_statement(self) -> Hit | None:
        """Return the first sentence if it says how things are, in whatever words.

        It may use the words of the task, unless it says what is wanted.
        """
        span = self.sentence
        said, scope = self._reply.reading.text[slice(*span)], self._scope
        if _is_short(said):
            return None
        if any(is_to_come(hit, apart=_OR_HABITUAL) for hit in scope.within("future", span)[:_LOOKED_AT]):
            return None
        if scope.has(_ANY_NOT_PLAIN):
            saying = self._state_clause(span)
            if any(scope.within(role, saying if role in _PROOFS else span) for role in _NOT_PLAIN):
                return None
        if scope.within("regarded", (self.begin, self.begin + _BARE)):
            return None
        if any(is_check_verdict(self._reply, hit) for hit in self._within("passes", span)):
            return None
        proviso = next(iter(scope.within("proviso", span)), None)  # "Until …"
        if proviso and proviso.name != "if" and not self._prose[span[0] : proviso.start].strip(" *_#>-"):
            return None
        whole, wanted = Hit("opening", *span), bool(scope.within("wanted", span))
        return None if self._objections.against(whole, echoes=wanted) else whole

    def _state_clause(self, span: Span) -> Span:
        """Return the part of a sentence that says how things are: up to the colon before its proof."""
        proofs = self._scope.within("verified", span)
        clause = _STATE_CLAUSE.match(self._prose, *span) if proofs else None
        return clause.span() if clause and clause.end() <= proofs[0].start else span

    @property
    def sentence(self) -> Span:
        """The span of the first sentence."""
        return self.begin, self._reply.reading.sentence(self.begin)[1]

    def _first(self, begin: int) -> int:
        for _ in range(_SKIPPED):
            begin = len(self._prose) - len(self._prose[begin:].lstrip())
            if begin >= len(self._prose):
                break
            end = self._reply.reading.sentence(begin)[1]
            if not (self._reply.reading.in_heading(begin) or self._is_bare(begin, end)):
                break
            begin = end
        return begin

    def _is_bare(self, begin: int, end: int) -> bool:
        """Return True if a sentence has a word or two; keep it if it says that the work is done."""
        if end - begin > _BARE:
            return False
        span = begin, end
        words = _WORD.findall(self._prose[slice(*span)])
        for hit in (*self._within("keyword", span), *self._within("changed", span)):
            if words == _WORD.findall(self._prose[hit.start : hit.end]):
                self.bare = Hit("opening", hit.start, hit.end)
                return True
        return _is_short(self._reply.reading.text[slice(*span)])

    @cached_property
    def _past(self) -> Sequence[Hit]:
        """The verb in the past that opens the reply, unless it means looking or trying."""
        found = _PAST.match(self._prose, self.begin)
        if found is None or self._within("regarded", found.span()):
            return ()
        return (Hit(found[1], found.start(1), found.end(1)),)

    def _stated(self, span: Span) -> Iterator[Hit]:
        """Yield states: "is fixed", "is gone"."""
        hits = (*self._within("closed", span), *self._within("stands", span))
        return (hit for hit in hits if is_stated(self._prose, hit))

    def _news(self, span: Span) -> Iterator[Hit]:
        """Yield what is so now, except passing checks."""
        for hit in self._within("news", span):
            sentence = self._objections.sentence(hit)
            if not (self._scope.within("verified", sentence) or _OF_ITSELF.match(self._prose, sentence[0])):
                yield hit

    def _within(self, role: Role, span: Span) -> Sequence[Hit]:
        return self._scope.within(role, span)[:_LOOKED_AT]

    def _counts(self, hit: Hit) -> bool:
        return not (self._reply.reading.in_heading(hit.start) or self._objections.against(hit))


def _is_short(said: str) -> bool:
    """Return True if a sentence has a word or two."""
    return said.isascii() and len(list(islice(_WORD.finditer(said), _PLAIN))) < _PLAIN
