"""The task that a reply is judged against, as far as the words of the reply can be compared with it."""

from collections.abc import Iterable
from functools import lru_cache

from ralph.analysis.text import Span
from ralph.system.text import pattern

__all__ = ["IDENTIFIER", "Assignment", "assignment"]

_READ, _TITLE = 20_000, 200
"""Characters of the task, and of its title, that are looked at."""
_WORD = pattern(r"[a-z0-9']+|[\u3400-\u9fff]")
_CONTENT = pattern(r"[^\W\d_\u3400-\u9fff][^\W_\u3400-\u9fff]{3,40}|[\u3400-\u9fff]{2}")
_ENDING = pattern(r"(?:ing|ed|es|s|e)\Z")
_EMPTY = {
    *("that", "this", "want", "with", "from", "into", "when", "where", "which", "have", "should", "must", "user"),
    *("users", "developer", "maintainer", "every", "each", "them", "they", "their", "there", "para", "como", "quiero"),
}
"""Words that are in any task."""
_TITLE_END = pattern(r"[\n。]|(?<=.{20})(?:：|[:.](?=\s))")
IDENTIFIER = pattern(
    r"(?<![\w-])[a-z]{1,10}-\d{1,6}(?![\w-])|(?<![\w&#])#\d{1,6}(?!\w)|(?<![\w-])[a-z]\d{1,3}(?![\w-])"
    r"|\b(?:task|story|issue|ticket|session|feature|item|bug)\s#?\d{1,4}(?:\.\d{1,3})?(?![\w%])"
)
"""What a task is called, in lower case: US-003, #84, E4, story 15.1."""
_NUMBERED = pattern(r"\b[a-z]{4,12}\s#?\d{1,4}(?:\.\d{1,3})?(?!\w)|[\u3400-\u9fff]{2}\s?\d{1,4}(?!\w)")
_RELEASE = pattern(r"\b(?:to|auf|zu|a|nach) [a-z.]{2,20} \d{1,4}(?:\.\d{1,3})?(?!\w)|(?:升级到|升級到|迁移到|遷移到)")
"""What a task's title has that is a release and no piece of work: "Upgrade to Rails 7"."""
_HALF = 0.5
_GOAL = pattern(
    r"(?:\b(?:to|least|reach|above|over|auf|mindestens|al menos)|>=?|≥|达到|至少|達到)\s{0,2}(\d{1,3})(?:\.\d)? ?[%％]"
)
"""A percentage that the task wants to be reached."""
_RANGE = pattern(r"(?<![\w-])([a-z]{1,10}-)\d{1,3} ?(?:to|through|–|bis|a|到|至) ?(?:[a-z]{1,10}-)?(\d{1,3})(?!\w)")
_PIECE = pattern(r"(?<![\w-])[a-z]{1,10}-(\d{1,3})(?!\w)")
_MANY = pattern(
    r"\b(?:per (?:iteration|loop|run|pass|session|turn)|until (?:all|every)|one at a time|highest[- ]priority|stories:"
    r"|one (?:story|task|item) (?:per|each)|next (?:unchecked|open|undone|unfinished)"
    r"|all (?:the )?(?:tasks|items|stories|steps|boxes) (?:in|of|from)"
    r"|una por (?:iteración|vuelta)|todas las [a-zíó]+ de|todos los [a-zíó]+ de|alle [a-zäöü]+ (?:aus|in|von))"
    r"|每次循[环環]|每[轮輪]|逐[个個]|依次|所有任[务務]|全部任[务務]|所有(?:用[户戶]|使用者)?故事|全部(?:用[户戶]|使用者)?故事"
)
"""What a task says that is done piece by piece, in one pass of the loop after another."""


_SEVERAL = pattern(
    r"\b(?:tasks|items|stories|steps|phases|points|issues|findings|chapters|parts|sections|milestones|modules|all)\b"
    r"|所有|全部|各"
)
"""What a task's title says that is more than one piece of work."""
_ONE = pattern(
    r"\b(?:user story|as an? [a-z ]{3,40} i want|(?:this|the|next|one) (?:story|task|issue|ticket|item|bug))\b"
)
"""What it says that is one piece, besides its name."""
_COUNTS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_COUNTED = pattern(
    rf"(?<![\w.,-])(\d{{1,4}}|{'|'.join(_COUNTS[2:])}) (?:[a-z-]{{3,16}} ){{0,2}}"
    r"(?!seconds|minutes|hours|days|weeks|months|times|users|bytes|percent|loops|iterations)([a-z-]{3,20}s)\b(?!-)"
)
"""How many things a task's title is about."""
_PREPARES = pattern(
    r"\b(?:set up|setup|scaffold|bootstrap|initiali[sz]e|skeleton|foundation|groundwork|prototype|plan|design|draft"
    r"|split|break down|outline|spike)\b|搭建|初始化|规划|規劃|设计|設計"
)
"""What a task's title says that itself comes before other work."""


class Assignment:
    """The task's words, for comparison with a reply's, both in lower case. Without a task nothing is said of it."""

    def __init__(self, task: str) -> None:
        lower = task[:_READ].lower()
        words = _WORD.findall(lower)
        self._runs = set(zip(words, words[1:], words[2:], words[3:], strict=False))
        self._names = {*IDENTIFIER.findall(lower), *_NUMBERED.findall(lower)}
        title = _TITLE_END.split(lower.strip()[:_TITLE], maxsplit=1)[0]
        self._title = _stems(title)
        self._kinds = set(map(_kind, self._names))
        self.given = bool(words)
        self.goal = max((int(percent) for percent in _GOAL.findall(lower)), default=0)
        found = _RANGE.search(lower)
        self._range = (found[1], int(found[2])) if found else None
        self.of_many = _MANY.search(lower) is not None
        counts = {int(told) if told.isdigit() else _COUNTS.index(told): what for told, what in _COUNTED.findall(title)}
        self.count, self.counted = counts.popitem() if len(counts) == 1 else (0, "")
        self.prepares = _PREPARES.search(title) is not None
        names = any(_RELEASE.search(lower, 0, _TITLE) is None or IDENTIFIER.fullmatch(name) for name in self._names)
        named = names or _ONE.search(lower, 0, _TITLE) is not None
        self.is_piece = named and not (self.of_many or self._range or _SEVERAL.search(title))

    def is_missed(self, text: str) -> bool:
        """Whether a text names pieces of the range that the task is ("S-1 to S-6"), but not the last of them."""
        if self._range is None:
            return False
        kind, last = self._range
        told = [int(piece[1]) for piece in _PIECE.finditer(text) if piece[0].startswith(kind)]
        return bool(told) and max(told) < last

    def is_counted(self, text: str) -> bool:
        """Whether a text speaks of as many things as the task is about as of a whole: "all 60", "60 of 60"."""
        number = self.count
        names = [str(number), *_COUNTS[number : number + 1]]
        return any(
            f"{whole}{name}" in text for whole in ("all ", "all the ", f"{number} of ", f"{number}/") for name in names
        )

    def is_named(self, text: str, *, share: float = _HALF) -> bool:
        """Whether a short text names the task: by a name of it, or by no other name of that kind and a share of the
        words of its title.
        """
        if not self.given:
            return False
        named = {*IDENTIFIER.findall(text), *_NUMBERED.findall(text)}
        if not self._names.isdisjoint(named):
            return True
        if not self._kinds.isdisjoint(map(_kind, named)):
            return False
        return len(self._title & _stems(text)) >= max(1, share * len(self._title))

    def has_word(self, words: Iterable[str]) -> bool:
        """Whether its title has one of some words."""
        return not self._title.isdisjoint(_stems(" ".join(words)))

    def is_echoed(self, prose: str, span: Span) -> bool:
        """Whether four words in a row were copied from the task, some of a span among them."""
        if not self._runs:
            return False
        found = list(_WORD.finditer(prose, max(0, span[0] - 60), span[1] + 60))
        return any(
            run[0].start() < span[1] and run[3].end() > span[0] and tuple(word[0] for word in run) in self._runs
            for run in zip(found, found[1:], found[2:], found[3:], strict=False)
        )


def _stems(text: str) -> frozenset[str]:
    """The words of a text that say what it is about, without their endings."""
    return frozenset(_ENDING.sub("", word) for word in _CONTENT.findall(text) if word not in _EMPTY)


def _kind(name: str) -> str:
    """What a name has before its number: "us-", "phase "."""
    return name.rstrip("0123456789.")


@lru_cache(maxsize=8)
def assignment(task: str) -> Assignment:
    """The assignment of a task; of the tasks of one run each is read once."""
    return Assignment(task)
