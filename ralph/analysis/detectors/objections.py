"""Objections to a word that seems to claim completion: its own sentence, what surrounds it, and the task.

A task says what is a part and what is the whole, and which words of a reply only repeat it. `Objections.shares` are the
percentages, fractions and counts that measure the work, and not, say, its tests' coverage or the page of a document.
"""

from functools import cached_property, lru_cache

from ralph.analysis.detectors.activity import announcement_end, ends_of, line_start
from ralph.analysis.lexicon import Role
from ralph.analysis.result import Reply
from ralph.analysis.text import MOST_QUANTITIES, NUMBERS, Quantity, Span, has_digit, number_of, read_ends
from ralph.analysis.vocabulary import Hit, Scope
from ralph.system.text import pattern

_READ, _TITLE = 20_000, 200  # characters of the task, and of its title, that are read
_WORD = pattern(r"[a-z0-9']+|[\u3400-\u9fff]")
_CONTENT = pattern(r"[^\W\d_\u3400-\u9fff][^\W_\u3400-\u9fff]{3,40}|[\u3400-\u9fff]{2}")
_ENDING = pattern(r"(?:ing|ed|es|s|e)\Z")
# words of any task
_EMPTY = {
    *("that", "this", "want", "with", "from", "into", "when", "where", "which", "have", "should", "must", "user"),
    *("users", "developer", "maintainer", "every", "each", "them", "they", "their", "there", "para", "como", "quiero"),
}
_TITLE_END = pattern(r"[\n。]|(?<=.{20})(?:：|[:.](?=\s))")
# Names of tasks in lower case: US-003, #84, E4, story 15.1.
IDENTIFIER = pattern(
    r"(?<![\w-])[a-z]{1,10}-\d{1,6}(?![\w-])|(?<![\w&#])#\d{1,6}(?!\w)|(?<![\w-])[a-z]\d{1,3}(?![\w-])"
    r"|\b(?:task|story|issue|ticket|session|feature|item|bug)\s#?\d{1,4}(?:\.\d{1,3})?(?![\w%])"
)
_NUMBERED = pattern(r"\b[a-z]{4,12}\s#?\d{1,4}(?:\.\d{1,3})?(?!\w)|[\u3400-\u9fff]{2}\s?\d{1,4}(?!\w)")
# A release in a title, which names no item of work: "Upgrade to Rails 7".
_RELEASE = pattern(r"\b(?:to|auf|zu|a|nach) [a-z.]{2,20} \d{1,4}(?:\.\d{1,3})?(?!\w)|(?:升级到|升級到|迁移到|遷移到)")
_HALF = 0.5
_RANGE = pattern(r"(?<![\w-])[a-z]{1,10}-\d{1,3} ?(?:to|through|–|bis|a|到|至) ?(?:[a-z]{1,10}-)?\d{1,3}(?!\w)")
# Work that is done item by item, one in each iteration.
_MANY = pattern(
    r"\b(?:per (?:iteration|loop|run|pass|session|turn)|until (?:all|every)|one at a time|highest[- ]priority|stories:"
    r"|one (?:story|task|item) (?:per|each)|next (?:unchecked|open|undone|unfinished)"
    r"|all (?:the )?(?:tasks|items|stories|steps|boxes) (?:in|of|from)"
    r"|una por (?:iteración|vuelta)|todas las [a-zíó]+ de|todos los [a-zíó]+ de|alle [a-zäöü]+ (?:aus|in|von))"
    r"|每次循[环環]|每[轮輪]|逐[个個]|依次|所有任[务務]|全部任[务務]|所有(?:用[户戶]|使用者)?故事|全部(?:用[户戶]|使用者)?故事"
)
# More than one item of work in a title.
_SEVERAL = pattern(
    r"\b(?:tasks|items|stories|steps|phases|points|issues|findings|chapters|parts|sections|milestones|modules|all)\b"
    r"|所有|全部|各"
)
# A single item of work that has no name.
_SINGLE = pattern(
    r"\b(?:user story|as an? [a-z ]{3,40} i want|(?:this|the|next|one) (?:story|task|issue|ticket|item|bug))\b"
)
# The number of things that a title is about.
_ITEMS = pattern(
    rf"(?<![\w.,-])(\d{{1,4}}|{'|'.join(NUMBERS[2:])}) (?:[a-z-]{{3,16}} ){{0,2}}"
    r"(?!seconds|minutes|hours|days|weeks|months|times|users|bytes|percent|loops|iterations)([a-z-]{3,20}s)\b(?!-)"
)
# A task that itself prepares other work.
_PREPARES = pattern(
    r"\b(?:set up|setup|scaffold|bootstrap|initiali[sz]e|skeleton|foundation|groundwork|prototype|plan|design|draft"
    r"|split|break down|outline|spike)\b|搭建|初始化|规划|規劃|设计|設計"
)


class Task:
    """The words of a task, for comparison with those of a reply, all in lower case.

    Attributes:
        given: False if there is no task, or none with a word.
        item_count, item_noun: of what, and how many, the title speaks; 0 and empty if it does not.
        is_preparation: the task itself prepares other work.
        has_many_items: the work is done item by item, over several iterations.
        is_single_item: the task is one item of work by its name.
    """

    def __init__(self, task: str) -> None:
        lower = task[:_READ].lower()
        words = _WORD.findall(lower)
        self._runs = set(zip(words, words[1:], words[2:], words[3:], strict=False))
        self._names = {*IDENTIFIER.findall(lower), *_NUMBERED.findall(lower)}
        title = _TITLE_END.split(lower.strip()[:_TITLE], maxsplit=1)[0]
        self._title = _stems(title)
        self._kinds = set(map(_kind, self._names))
        self.given = bool(words)
        self.has_many_items = _MANY.search(lower) is not None
        counts = {number_of(count): noun for count, noun in _ITEMS.findall(title)}
        self.item_count, self.item_noun = counts.popitem() if len(counts) == 1 else (0, "")
        self.is_preparation = _PREPARES.search(title) is not None
        names = any(_RELEASE.search(lower, 0, _TITLE) is None or IDENTIFIER.fullmatch(name) for name in self._names)
        named = names or _SINGLE.search(lower, 0, _TITLE) is not None
        self.is_single_item = named and not (self.has_many_items or _RANGE.search(lower) or _SEVERAL.search(title))

    def covers_all_items(self, text: str) -> bool:
        """Return True if a text speaks of all the things that the task counts: "all 60", "60 of 60"."""
        number = self.item_count
        names = [str(number), *NUMBERS[number : number + 1]]
        return any(
            f"{whole}{name}" in text for whole in ("all ", "all the ", f"{number} of ", f"{number}/") for name in names
        )

    def is_named(self, text: str, *, share: float = _HALF) -> bool:
        """Return True if a short text names the task.

        It does so by a name of the task; or, if it has no other name of that kind, by a share of the words of the
        title.
        """
        if not self.given:
            return False
        named = {*IDENTIFIER.findall(text), *_NUMBERED.findall(text)}
        if not self._names.isdisjoint(named):
            return True
        if not self._kinds.isdisjoint(map(_kind, named)):
            return False
        return len(self._title & _stems(text)) >= max(1, share * len(self._title))

    def is_echoed(self, prose: str, span: Span) -> bool:
        """Return True if four words in a row that touch a span were copied from the task."""
        found = list(_WORD.finditer(prose, max(0, span[0] - 60), span[1] + 60))
        return any(
            run[0].start() < span[1] and run[3].end() > span[0] and tuple(word[0] for word in run) in self._runs
            for run in zip(found, found[1:], found[2:], found[3:], strict=False)
        )


def _stems(text: str) -> frozenset[str]:
    """Return the content words of a text without their endings."""
    return frozenset(_ENDING.sub("", word) for word in _CONTENT.findall(text) if word not in _EMPTY)


def _kind(name: str) -> str:
    """Return what precedes the number in a name: "us-", "phase "."""
    return name.rstrip("0123456789.")


@lru_cache(maxsize=8)
def task_of(task: str) -> Task:
    """Return the task behind a text; the last few are cached."""
    return Task(task)


_TAKEN = 20  # words of a sentence that may retract a claim
_PARTS = 10  # words of a sentence that may name a part
_NEAR = 300  # characters of a sentence that are read on either side of a word
_CLAUSE_MARKS = ",;，；、（(—–|"
_CLAUSE = 80  # characters of a clause that are read on either side of a quantity
# These may stand beside a quantity that is a whole clause: "al 50 %", "about 8 of 15 so far".
_BY_ITSELF = pattern(
    r"(?:\b(?:about|around|roughly|almost|nearly|only|just|so far|now|already|at|al|un|ya|zu|bei|etwa|erst|bisher|a|by"
    r"|to|i'm|we're|we are|i am|it is|it's|that's|that is|this is|va|vamos|ca)\b|[约約]|大[约約概]"
    r"|目前|已|[达達]到|[^\w])*"
)
_NEXT = 4  # characters between a share and the word after it, emphasis included
_RIGHT_BEHIND = _NEXT + len("completed")
# The things of which a share is the subject: "Half of the pages are converted".
_OF_THINGS = pattern(
    r"\s?(?:(?:of |de )?(?:the|all|its|our|these|las|los)|der) "
    r"(?!code\b|branch|lines?\b|time\b|memory\b|traffic\b|requests?\b)"
    r"[a-zäöüßáéíóúñ -]{2,40} (?:is|are|has|have|ist|sind|está|están)\b"
)
# Numbers that are named as all, such as "all 8 stories", but not "3 of all 8".
_ALL_OF = pattern(r"(?:(?<!of )\ball (?:the )?|\balle |\btod[ao]s l[ao]s |全部|所有)(\d{1,5})(?![a-z\d]|[.,]\d)")
_ENDS = 6_000  # characters in which they are sought, at the beginning and at the end
_SKIPPED = pattern(
    r"[^.;\n\d]{0,30}\b(\d{1,5}) (?:tests? )?(?:(?:are|were) )?(?:skipped|xfailed|ignored|omitid[ao]s|übersprungen)\b"
)
_EARLIER = pattern(
    r"\b(?:previously|before|earlier|formerly|had|(?:up|down) from|antes|anteriormente|vorher|zuvor)\b|\bwas\s\Z"
    r"|此前|之前|先前"
)
_PAST = pattern(r"[\w ]{0,40} (?:was|were)\b")  # "80% of the work was in the parser"
_TICKED = pattern(r"[\s*_]{0,3}[✅✔✓☑]")
# A thing by its measure: "1/2 cup", "3/4 waltz"; a plural is counted.
_SINGULAR = pattern(r"\s[a-z]{2,20}(?<![sn])(?![\w-])")
_OPEN: tuple[Role, ...] = ("open", "left", "failing", "trouble", "following", "qualifier")
_HUNDRED = 100
# What is counted with these is a place or a try, and not work: "page 3 of 8", "iteration 3/10".
_PLACES = pattern(
    r"(?:\b(?:page|commit|line|chapter|attempt|iteration|loop|round|run|try|pass|day|week|session|slide|figure|version"
    r"|página|intento|iteración|línea|seite|versuch|zeile|durchlauf|score|rated|rating)\s?#?|第\s?)\Z"
)
_COUNTED_WORK: tuple[Role, ...] = ("goal", "member", "piece", "stage")
_LINKS: tuple[Role, ...] = (
    *("progress", "finished", "work", "keyword", "passes", "closed", "verified", "achieve", "open"),
)
_PART = pattern(r"\bfirst\s(?:\d{1,4}|one|two|three|four|five|few|half|part|step|phase|batch|of)\b")
# endings of words for some of a number of things
_OF_SEVERAL = (" of the", "some of", "most of", "half of", " de los", " de las")
_COUNTED = pattern(r"[\s*_]{1,4}\d{1,4}\s(?!of\b|out\b)(?:[a-z-]{1,20}\s){0,2}[a-z]")
_INTERJECTIONS = (
    *("ok", "okay", "great", "good", "well", "right", "nice", "yep", "yeah", "yes", "yup", "cool", "sure", "alright"),
    *("awesome", "perfect", "got it", "excellent"),
)
_INTERJECTION = rf"(?:{'|'.join(_INTERJECTIONS)})"
_ASIDE = pattern(
    rf"(?:{_INTERJECTION}[\s,!.]{{0,3}})?(?:that's|that is|this is)\s+\w+(?:\s+and\s+\w+)?[.!]?"
    rf"|{_INTERJECTION}[\s,]{{1,3}}(?:it's |it is |all )?\w+(?:\s+and\s+\w+)?[.!]"
)
# beginnings of `_ASIDE`, which is tried only where one of them stands
_ASIDES_BEGIN = (*_INTERJECTIONS, "that", "this is")
_BOX = pattern(r"(?:[-*+]|\d{1,3}[.)])\s\[[ x]\]")
# What precedes a word that something is marked with: "set to done", "marked as done and complete".
_MARKED = pattern(r"(?:\b(?:as|to|into)|[=]|->|→)[\s*_]{1,3}(?:[a-z]{1,12}[\s*_]{1,3}(?:and|or)[\s*_]{1,3})?\Z")
# endings of what `_MARKED` and `_ITEM_STATE` match, without white space
_MARKS_END = ("as", "to", "=", "->", "→", "and", "or", "*", "_")
_STATE_ENDS = tuple(":：—–-*_✅✓✔☑️")
_MARK = 40  # characters in which it stands
_BEHIND = 12  # characters after a word in which a number may make it one of several
_LABEL = 60  # characters of a label that says what is wanted
# What precedes the state of an item: "2. Parser: done".
_ITEM_STATE = pattern(r"\s{0,8}(?:[-*+•]|\d{1,3}[.)])\s[^\n:：—]{1,80}(?:[:：—]|\s[-–])[\s*_✅✓✔☑️]{0,6}\Z")
_NUMBER = pattern(r"[\s*_#-]{0,4}\d")
_ATTRIBUTES = frozenset({"failing", "blocked", "incomplete", "broken", "partial", "unfinished", "open"})
_NOUN = pattern(
    r"[\s*_]{1,3}(?!of\b|the\b|de\b|der\b|and\b|or\b|on\b|by\b|in\b|for\b|because\b|at\b|with\b|until\b|since\b)[a-z]"
)
_COPULA = pattern(r"\b(?:is|are|was|were|remains?|still)[\s*_]{1,3}(?:\w{1,12}[\s*_]{1,3})?\Z")
_ONES = ("task", "step", "part", "item", "milestone", "stage", "sprint")
# One of several, by its number.
_ONE = pattern(rf"\b(?:{'|'.join(_ONES)})s?\s{{0,2}}#?\d{{1,4}}\b(?!\s?[-–/]|\sof\s\d)|[任部][务務分]\s?\d")
_FIRST = pattern(
    r"[\s*_>-]{0,6}(?:(?:the|my|its)\s+first|(?:der|die|das)\s+erste|(?:el\s+primer|la\s+primera))\b|[\s*_>-]{0,6}第一"
)
_FIRSTS = ("first", "erste", "primer", "第一")
# A label that names which of several is finished: "Task completed: the form". What follows "all" is no name.
_LABELLED = pattern(
    r"[^\w\n]*(?:task|story|item|feature|step|tarea|historia|aufgabe|任[务務]|故事)\s?#?[\d.]*\s?(?:is |now )?"
    r"(?:completed?|done|finished|completada|terminada|erledigt|abgeschlossen|已?完成)[ *_]{0,4}[:：][ *_]{0,4}"
    r"(?![ *_]|all\b|every|the whole|nothing|todas?\b|todo\b|alles?\b|全部|所有|[已将將我])([^\n]*\w)"
)
_UNIT = pattern(r"\b(?:step|phase|part|task|story|milestone|iteration|stage|item|sprint|session)\s{0,2}#?\d{1,4}\b")


# The text of a sentence, the objection that its shape makes against any word in it, what it calls a part, whether it
# has a number or "first", and whether it names the task. A plain tuple takes a third of the time.
_Sentence = tuple[str, str, str, bool, bool]


class Objections:
    """The objections to the claims of one reply.

    Attributes:
        scope: the words of the reply.
        task: the task of the reply.
        start: the end of the last announcement; claims before it do not count.
    """

    def __init__(self, reply: Reply) -> None:
        self.scope: Scope = reply.scope
        self.task = task_of(reply.context.task)
        self.start = announcement_end(reply)
        self._prose = reply.reading.prose
        self._sentences: dict[Span, _Sentence] = {}
        has = self.scope.hits.__contains__
        self._conditions = has("proviso") or has("reported") or has("wanted")
        self._takes = has("contrast") or has("qualifier")
        self._pieces = has("part") or has("stage")
        self._prepares = has("preparation")

    @classmethod
    def of(cls, reply: Reply) -> "Objections":
        """Return the objections of a reply; detectors share them."""
        found = reply.kept.get(cls)
        if found is None:
            found = reply.kept[cls] = cls(reply)
        return found

    def against(self, hit: Hit, *, parts: bool = True, echoes: bool = True) -> str:
        """Return why a word, or the span of a whole claim, does not count; empty if it does.

        `parts` objects to what is said of a part, `echoes` to what repeats the task's own words.
        """
        scope = self.scope
        if hit.start < self.start:
            return "The agent announces further work after it."
        if negation := scope.before("negation", hit, 5):
            return f"“{negation.name}” negates it."
        if future := scope.before("future", hit, 6):
            return f"It has not happened yet: “{future.name}”."
        span = self.sentence(hit)
        if self._conditions and (condition := self._condition(hit, span[0])):
            return f"It is conditional: “{condition.name}”."
        if self._takes and (taken := self._retraction(hit)):
            return f"“{taken.name}” retracts it."
        if shape := self._analysed(span)[1]:
            return shape
        if parts and (partial := self.partial(hit, span)):
            return partial
        return "It repeats the task's own words." if echoes and self.is_echoed(hit) else ""

    def against_word(self, hit: Hit) -> str:
        """Return the same for a single word, which may also be a mark or be said of preparations."""
        if objection := self.against(hit):
            return objection
        begin = max(0, hit.start - _MARK)
        lead = self._prose[begin : hit.start].rstrip()
        if lead.endswith(_MARKS_END) and _MARKED.search(self._prose, begin, hit.start):
            return "Something is marked with it."
        line = self._prose[line_start(self._prose, hit.start) : hit.start]
        if lead.endswith(_STATE_ENDS) and _ITEM_STATE.match(line):
            return "It is about one item of a list."
        preparation = self._preparation(hit) if self._prepares else None
        if preparation is None or self.task.is_named(self._text(hit)):
            return ""
        return f"It is about preparations: “{preparation.name}”."

    def sentence(self, hit: Hit) -> Span:
        """Return the sentence around a word, as far as it is read."""
        _, start, stop = hit
        begin, end = self.scope.reading.sentence(start)
        return (begin if start - begin <= _NEAR else start - _NEAR), (end if end - stop <= _NEAR else stop + _NEAR)

    def is_of_several(self, part: Hit) -> bool:
        """Return True if a part is some of a number of things that the task names."""
        return part.name.endswith(_OF_SEVERAL) and self.task.is_named(self._text(part))

    def is_echoed(self, hit: Hit) -> bool:
        """Return True if a word stands among words that repeat the task's own."""
        return self.task.given and self.task.is_echoed(self._prose, (hit.start, hit.end))

    def _text(self, hit: Hit) -> str:
        return self._prose[slice(*self.sentence(hit))]

    def _analysed(self, span: Span) -> _Sentence:
        """Return the analysis of a sentence, which is cached for its other words."""
        if span in self._sentences:
            return self._sentences[span]
        text = self._prose[slice(*span)]
        named = self.task.given and self.task.is_named(text)
        part = self._named_part(span, named=named) if self._pieces else ""
        counts = has_digit(text) or any(map(text.__contains__, _FIRSTS))
        found = self._sentences[span] = text, _misplaced(text.strip()), part, counts, named
        return found

    def _condition(self, hit: Hit, begin: int) -> Hit | None:
        """Return a proviso that opens the sentence ("Once approved, …") or follows the word ("… once approved")."""
        for found in self.scope.within("proviso", (begin, hit.start))[:1]:
            if not self._prose[begin : found.start].strip(" \n*_-"):
                return found
        return self.scope.after("proviso", hit, 2) or self.scope.before("reported", hit, 12) or self._wanted(hit, begin)

    def _wanted(self, hit: Hit, begin: int) -> Hit | None:
        """Return the word in a label that makes what follows a wish: "Goal: …", "The task said: …"."""
        found = self.scope.within("wanted", (begin, hit.start))[:1]
        return found[0] if found and ":" in self._prose[found[0].end - 1 : hit.start] else None

    def _retraction(self, hit: Hit) -> Hit | None:
        """Return what retracts a word in its sentence, except in a description: "shows how many are left"."""
        taken = self.scope.taken_back(hit)
        if taken is None:
            return None
        sentence = self.scope.reading.sentence(taken.start)
        if self.scope.within("beyond", (taken.end, sentence[1])):
            return None
        words = (*self.scope.within("contrast", sentence)[:_TAKEN], *self.scope.within("qualifier", sentence)[:_TAKEN])
        return next((word for word in words if not (self.scope.negated(word, 2) or self.is_described(word))), None)

    def is_described(self, hit: Hit) -> bool:
        """Return True if a word describes what the work does, after a word that says so."""
        attribute = hit.name in _ATTRIBUTES and _NOUN.match(self._prose, hit.end)
        if not (attribute or self.scope.of("described")):
            return False
        begin, _ = self.sentence(hit)
        if attribute:
            return _COPULA.search(self._prose, max(begin, hit.start - _LABEL), hit.start) is None
        found = self.scope.within("described", (begin, hit.start))
        return bool(found) and found[-1].start > begin

    def partial(self, hit: Hit, span: Span) -> str:
        """Return the objection that it is said of a part of its sentence; a part that the task names is the whole."""
        text, _, part, counts, named = self._analysed(span)
        if counts and self._is_share(hit, *span):
            return "It is about a part of the work."
        if part:
            return f"It is about a part of the work: “{part}”."
        if counts and _FIRST.match(text):
            return "It is about the first of several."
        label = None if named else _LABELLED.match(self._prose, span[0])
        if label and not (self.task.given and self.task.is_named(label[1][:_NEAR])):
            return f"It is about one of several: “{label[1][:_LABEL]}”."
        if not counts or named:
            return ""
        one = _ONE.search(text) if not text.isascii() or any(map(text.__contains__, _ONES)) else None
        if one and span[0] + one.start() <= hit.end + _BEHIND:
            return f"It is about one of several: “{one[0]}”."
        return "It is about one part, and more follows." if self.scope.of("following") and _UNIT.search(text) else ""

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        """The quantities of the reply in order; of very many the first and the last."""
        hits = ends_of(self.scope.of("fraction"), MOST_QUANTITIES)
        words = (Quantity(hit.start, hit.end, int(hit.name), 100) for hit in hits)
        found = sorted({*read_ends(self._prose), *words})
        return tuple(found if len(found) <= 2 * MOST_QUANTITIES else found[:MOST_QUANTITIES] + found[-MOST_QUANTITIES:])

    @cached_property
    def shares(self) -> tuple[Quantity, ...]:
        """The quantities that measure the work, in order; not those that a later one or "all 8" completes."""
        wholes = {each.whole: each.start for each in self.quantities if not each.is_partial}
        ends = self._prose[:_ENDS] + "\n" + self._prose[_ENDS:][-_ENDS:]
        if any(each.is_partial for each in self.quantities):  # reading on costs a fifth of the time of an analysis
            wholes |= {number_of(found[1]): len(self._prose) for found in _ALL_OF.finditer(ends)}
        return tuple(
            each
            for each in self.quantities
            if not (each.is_partial and self._is_completed(each, wholes.get(each.whole, 0)))
            and self._measures_work(each)
        )

    def _is_completed(self, quantity: Quantity, whole: int) -> bool:
        """Return True if the whole follows: anywhere for a count, in the sentence for a percentage."""
        behind = whole > quantity.start
        if quantity.whole == _HUNDRED:
            return behind and whole < self.sentence(Hit("", quantity.start, quantity.end))[1]
        skipped = _SKIPPED.match(self._prose, quantity.end)
        return behind or (skipped is not None and quantity.part + number_of(skipped[1]) == quantity.whole)

    def _measures_work(self, quantity: Quantity) -> bool:
        """Return True for "8 of 15 stories", "50% complete", or a clause of its own; not for another measure."""
        hit = Hit("", quantity.start, quantity.end)
        begin, end = self.sentence(hit)
        ends = (self._prose.find(mark, hit.end, min(end, hit.end + _CLAUSE)) for mark in _CLAUSE_MARKS)
        stop = min((place for place in ends if place >= 0), default=end)
        first = 1 + max(self._prose.rfind(mark, max(begin, hit.start - _CLAUSE), hit.start) for mark in _CLAUSE_MARKS)
        clause, within = (max(begin, first), stop), self.scope.any_within
        lead, rest = self._prose[clause[0] : hit.start], self._prose[hit.end : stop]
        past, label = _PAST.match(rest), self._prose.find(":", begin, hit.start)
        if (
            (label >= 0 and within(("unrelated",), (begin, label)))
            or (not quantity.part and within(_OPEN, clause))
            or (_EARLIER.search(lead) or _EARLIER.search(rest))
            or (past and not within(_LINKS, (hit.end + past.end(), stop)))
        ):
            return False
        behind = self.scope.within("progress", (hit.end, min(stop, hit.end + _RIGHT_BEHIND)))
        if quantity.is_stated or (behind and behind[0].start <= hit.end + _NEXT) or _TICKED.match(rest):
            return True  # "30% complete" is one, whatever else its sentence measures
        if _PLACES.search(lead) or self.is_described(hit) or within(("optional",), (begin, end)):
            return False
        subject, things = _BY_ITSELF.fullmatch(lead), _OF_THINGS.match(rest)
        if subject and things:
            return within((*_LINKS, "unrelated"), (hit.end + things.end(), stop))
        alone = subject is not None and _BY_ITSELF.fullmatch(rest) is not None
        if within(("unrelated",), (begin, end) if alone else clause):
            return False
        return alone or self._is_of_work(quantity, clause)

    def _is_of_work(self, quantity: Quantity, clause: Span) -> bool:
        """Return True if the words of its clause make a quantity one of work, and it does not qualify a noun."""
        within, begin, (start, stop) = self.scope.any_within, quantity.end, clause
        if quantity.whole == _HUNDRED:  # not "20% discount", nor "Quality is set to 80%"
            before = (link.end for role in _LINKS for link in self.scope.within(role, (start, quantity.start))[-1:])
            if any(_BY_ITSELF.fullmatch(self._prose, end, quantity.start) for end in before):
                return not _NOUN.match(self._prose, begin, stop)
            counted = (each for role in _COUNTED_WORK for each in self.scope.within(role, (begin, stop))[:1])
            return any(each.start <= begin + 1 for each in counted) and within(_LINKS, (begin, stop))
        noun = _SINGULAR.match(self._prose, begin) if "/" in self._prose[quantity.start : begin] else None
        if noun and not within((*_LINKS, *_COUNTED_WORK), (begin, noun.end())):
            return False
        return within(_LINKS, clause) or within(_COUNTED_WORK, (begin, stop))

    def _is_share(self, hit: Hit, begin: int, end: int) -> bool:
        """Return True for "8 of 15", "60 %", "the first two", "completed 3 items"."""
        if any(share.is_partial and begin <= share.start < end for share in self.shares):
            return True
        near = self._prose[max(begin, hit.start - 30) : min(end, hit.end + 30)]
        return ("first" in near and _PART.search(near) is not None) or _COUNTED.match(self._prose, hit.end) is not None

    def _named_part(self, span: Span, *, named: bool) -> str:
        """Return what a sentence calls a part; if it names the task, only some of a number of things."""
        for hit in self.scope.within("part", span)[:_PARTS]:
            if not named or hit.name.endswith(_OF_SEVERAL):
                return hit.name
        for hit in () if named else self.scope.within("stage", span)[:_PARTS]:
            if number := _NUMBER.match(self._prose, hit.end):
                return self._prose[hit.start : number.end()]
        return ""

    def _preparation(self, hit: Hit) -> Hit | None:
        """Return the word for preparations: "The analysis is complete"."""
        return self.scope.before("preparation", hit, 3) or self.scope.after("preparation", hit, 1)


def _misplaced(sentence: str) -> str:
    """Return the objection that the shape of a sentence makes against its words."""
    if sentence.endswith(("?", "？")):
        return "It is a question."
    if sentence.startswith(_ASIDES_BEGIN) and _ASIDE.fullmatch(sentence):
        return "It is an aside, not a report of work."
    return "It is in a checklist, whose boxes are counted separately." if _BOX.match(sentence) else ""
