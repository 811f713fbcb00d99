"""What speaks against a word that seems to claim completion, in its own sentence and around it."""

from ralph.analysis.counting import has_digit
from ralph.analysis.detectors.announcements import announced
from ralph.analysis.detectors.assignment import assignment
from ralph.analysis.detectors.lines import line_start
from ralph.analysis.lexicon import Role
from ralph.analysis.scope import Scope
from ralph.analysis.signals import Reply
from ralph.analysis.text import Span
from ralph.analysis.vocabulary import Hit
from ralph.pattern import pattern

__all__ = ["Objections"]

_TAKEN = 20
"""Words of a sentence that may take a claim back."""
_NEAR = 300
"""Characters of a sentence on either side of a word that are looked at."""
_SHARE = pattern(r"(?<![\d/])(\d{1,6})\s?(?:/|of|out of)\s?(?:the )?(\d{1,6})(?![\d/])")
_PERCENT = pattern(r"(?<![\w.,])\d{1,2}(?:\.\d{1,3})?\s?(?:[%％]|percent\b|per cent\b)")
_PART = pattern(r"\bfirst\s(?:\d{1,4}|one|two|three|four|five|few|half|part|step|phase|batch|of)\b")
_COUNTED = pattern(r"[\s*_]{1,4}\d{1,4}\s(?!of\b|out\b)(?:[a-z-]{1,20}\s){0,2}[a-z]")
_INTERJECTION = (
    r"(?:ok|okay|great|good|well|right|nice|yep|yeah|yes|yup|cool|sure|alright|awesome|perfect|got it|excellent)"
)
_ASIDE = pattern(
    rf"(?:{_INTERJECTION}[\s,!.]{{0,3}})?(?:that's|that is|this is)\s+\w+(?:\s+and\s+\w+)?[.!]?"
    rf"|{_INTERJECTION}[\s,]{{1,3}}(?:it's |it is |all )?\w+(?:\s+and\s+\w+)?[.!]"
)
_BARE = pattern(r"\w+[.!]*")
_BOX = pattern(r"(?:[-*+]|\d{1,3}[.)])\s\[[ x]\]")
_MARKED = pattern(r"(?:\b(?:as|to|into)|[=]|->|→)[\s*_]{1,3}(?:[a-z]{1,12}[\s*_]{1,3}(?:and|or)[\s*_]{1,3})?\Z")
"""What stands before a word that something is marked with: "set to done", "marked as done and complete"."""
_BEHIND = 12
"""Characters behind a word in which it may turn out to be said of one of several."""
_LABEL = 60
"""Characters of a label that says what is wanted."""
_ITEM_STATE = pattern(r"\s{0,8}(?:[-*+•]|\d{1,3}[.)])\s[^\n:：—]{1,80}(?:[:：—]|\s[-–])[\s*_✅✓✔☑️]{0,6}\Z")
"""What stands before the state of an item: "2. Parser: done"."""
_WANTED: frozenset[Role] = frozenset({"wanted"})
_NUMBER = pattern(r"[\s*_#-]{0,4}\d")
_ATTRIBUTES = frozenset({"failing", "blocked", "incomplete", "broken", "partial", "unfinished", "open"})
_NOUN = pattern(r"[\s*_]{1,3}(?!and\b|or\b|on\b|by\b|in\b|for\b|because\b|at\b|with\b|until\b|since\b)[a-z]")
_COPULA = pattern(r"\b(?:is|are|was|were|remains?|still)[\s*_]{1,3}(?:\w{1,12}[\s*_]{1,3})?\Z")
_ONE = pattern(
    r"\b(?:task|step|part|item|milestone|stage|sprint)\s{0,2}#?\d{1,4}\b(?!\s?[-–/]|\sof\b)|[任部][务務分]\s?\d"
)
"""One of several, by its number."""
_FIRST = pattern(r"[\s*_>-]{0,6}(?:the|my|its)\s+first\b")
_UNIT = pattern(r"\b(?:step|phase|part|task|story|milestone|iteration|stage|item|sprint|session)\s{0,2}#?\d{1,4}\b")


class Objections:
    """Answers for the claims of one reply."""

    def __init__(self, reply: Reply) -> None:
        self.scope: Scope = reply.scope
        self.task = assignment(reply.context.task)
        self._since = announced(reply)

    def to(self, hit: Hit, *, parts: bool = True) -> str:
        """Why a word, or the span of a whole claim, does not count; empty where it does.

        Args:
            parts: whether it matters that it is said of a part.
        """
        scope = self.scope
        if hit.start < self._since:
            return "The agent says after it that it goes on."
        if negation := scope.negated(hit, 5):
            return f"“{negation.name}” turns it round."
        if future := scope.before("future", hit, 6):
            return f"It has not happened yet: “{future.name}”."
        span = self.sentence(hit)
        if condition := self._condition(hit, span[0]):
            return f"It depends on something: “{condition.name}”."
        if taken := self._taken_back(hit):
            return f"“{taken.name}” takes it back."
        return self._misplaced(span) or (self._partial(hit, span) if parts else "") or self._echoed(hit)

    def to_word(self, hit: Hit) -> str:
        """The same of a single word, which may also be said of what comes before the work."""
        if objection := self.to(hit):
            return objection
        if _MARKED.search(self.scope.reading.prose, max(0, hit.start - 40), hit.start):
            return "It is what something is marked with."
        if _ITEM_STATE.match(self.scope.reading.prose[line_start(self.scope.reading.prose, hit.start) : hit.start]):
            return "It is said of one item of a list."
        preparation = self._preparation(hit)
        if preparation is None or self.task.is_named(self._text(hit)):
            return ""
        return f"It is said of what comes before the work: “{preparation.name}”."

    def sentence(self, hit: Hit) -> Span:
        """The sentence around a word, as far as it is looked at."""
        begin, end = self.scope.reading.sentence(hit.start)
        return max(begin, hit.start - _NEAR), min(end, hit.end + _NEAR)

    def is_partial(self, hit: Hit) -> bool:
        """Whether a word, which may stand in a heading, is said of a part of the whole."""
        return hit.start >= self._since and bool(self._partial(hit, self.sentence(hit)))

    def _text(self, hit: Hit) -> str:
        return self.scope.reading.prose[slice(*self.sentence(hit))]

    def _condition(self, hit: Hit, begin: int) -> Hit | None:
        """A proviso that its sentence begins with ("Once approved, …"), or that follows it ("… once approved")."""
        for found in self.scope.within("proviso", (begin, hit.start))[:1]:
            if not self.scope.reading.prose[begin : found.start].strip(" \n*_-"):
                return found
        return self.scope.after("proviso", hit, 2) or self.scope.before("reported", hit, 12) or self._wanted(hit, begin)

    def _wanted(self, hit: Hit, begin: int) -> Hit | None:
        """What says in a label before a word that it is wanted: "Goal: …", "The task said: …"."""
        if not self.scope.has(_WANTED):
            return None
        label, colon, _ = self.scope.reading.prose[begin : hit.start].rpartition(":")
        if not colon or len(label) > _LABEL or self.scope.within("closed", (begin, begin + len(label))):
            return None
        return next((found for found in self.scope.within("wanted", (begin, begin + len(label)))), None)

    def _taken_back(self, hit: Hit) -> Hit | None:
        """What in its sentence takes it back, but no word of what the work does: "shows how many are left"."""
        taken = self.scope.taken_back(hit)
        if taken is None:
            return None
        if self.scope.within("beyond", (taken.end, self.scope.reading.sentence(taken.start)[1])):
            return None
        if not self.is_described(taken):
            return taken
        sentence = self.scope.reading.sentence(hit.start)
        words = (*self.scope.within("contrast", sentence)[:_TAKEN], *self.scope.within("qualifier", sentence)[:_TAKEN])
        for found in words:
            if not (hit.start <= found.start < hit.end or self.scope.negated(found, 2) or self.is_described(found)):
                return found
        return None

    def is_described(self, hit: Hit) -> bool:
        """Whether a word tells of what the work does, behind a word that says so."""
        begin, _ = self.sentence(hit)
        if hit.name in _ATTRIBUTES and _NOUN.match(self.scope.reading.prose, hit.end):
            return _COPULA.search(self.scope.reading.prose, max(begin, hit.start - _LABEL), hit.start) is None
        found = self.scope.within("described", (begin, hit.start))[-1:]
        return bool(found) and found[0].start > begin

    def _misplaced(self, span: Span) -> str:
        """What the shape of its sentence says against a word."""
        begin, end = span
        sentence = self.scope.reading.prose[begin:end].strip()
        if sentence.endswith(("?", "？")):
            return "It is asked, not said."
        if _ASIDE.fullmatch(sentence) or self._goes_on_aside(sentence, begin):
            return "It is said in passing, not in a report of work."
        if _BOX.match(sentence):
            return "It stands in a checklist, whose boxes count by themselves."
        return ""

    def _goes_on_aside(self, sentence: str, begin: int) -> bool:
        """Whether a bare word follows an aside: "Yep, done! Finished!"."""
        if not begin or not _BARE.fullmatch(sentence):
            return False
        first, _ = self.scope.reading.sentence(begin - 1)
        return _ASIDE.fullmatch(self.scope.reading.prose[max(first, begin - _NEAR) : begin].strip()) is not None

    def _partial(self, hit: Hit, span: Span) -> str:
        """Whether it is said of a part of the whole. A part that the task itself names is the whole."""
        begin, end = span
        sentence = self.scope.reading.prose[begin:end]
        counts = "first" in sentence or has_digit(sentence)
        if counts and self._is_share(sentence, hit, begin, end):
            return "It is said of a part of the whole."
        if self.task.is_named(sentence):
            return ""
        if part := self._named_part(span):
            return f"It is said of a part of the whole: “{part}”."
        if not counts:
            return ""
        if (one := _ONE.search(sentence)) and begin + one.start() <= hit.end + _BEHIND:
            return f"It is said of one of several: “{one[0]}”."
        if _FIRST.match(sentence):
            return "It is said of the first of several."
        if self.scope.of("following") and _UNIT.search(sentence):
            return "It is said of one part, and more is to come."
        return ""

    def _is_share(self, sentence: str, hit: Hit, begin: int, end: int) -> bool:
        """ "8 of 15", "60 %", "the first two", "completed 3 items"."""
        prose = self.scope.reading.prose
        if any(int(part) < int(whole) for part, whole in _SHARE.findall(sentence)):
            return True
        near = prose[max(begin, hit.start - 30) : min(end, hit.end + 30)]
        return bool(_PERCENT.search(near) or _PART.search(near) or _COUNTED.match(prose, hit.end))

    def _named_part(self, span: Span) -> str:
        prose = self.scope.reading.prose
        for hit in self._within("part", span):
            return hit.name
        for hit in self._within("stage", span):
            if number := _NUMBER.match(prose, hit.end):
                return prose[hit.start : number.end()]
        return ""

    def _preparation(self, hit: Hit) -> Hit | None:
        """ "The analysis is complete", "finished reading"; but "every item of the plan is complete"."""
        found = self.scope.before("preparation", hit, 3)
        if found and not (self.scope.before("all", found, 6) or self.scope.before("everything", found, 3)):
            return found
        return self.scope.after("preparation", hit, 1)

    def _within(self, role: Role, span: Span) -> list[Hit]:
        return [hit for hit in self.scope.within(role, span)[:10] if hit.start >= span[0]]

    def _echoed(self, hit: Hit) -> str:
        if self.task.given and self.task.is_echoed(self.scope.reading.prose, (hit.start, hit.end)):
            return "It repeats the task's own words."
        return ""
