"""The task as a reply can be compared with it: its names, how much it covers, and the number that it asks for."""

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from ralph.analysis.text import Span
from ralph.system.text import pattern

__all__ = ["IDENTIFIER", "NUMBERS", "ORDINALS", "Bound", "Task", "bound_of", "number_of", "task_of"]

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
# A percentage to reach.
_GOAL = pattern(
    r"(?:\b(?:to|least|reach|above|over|auf|mindestens|al menos)|>=?|≥|达到|至少|達到)\s{0,2}(\d{1,3})(?:\.\d)? ?[%％]"
)
_RANGE = pattern(r"(?<![\w-])([a-z]{1,10}-)\d{1,3} ?(?:to|through|–|bis|a|到|至) ?(?:[a-z]{1,10}-)?(\d{1,3})(?!\w)")
_PIECE = pattern(r"(?<![\w-])[a-z]{1,10}-(\d{1,3})(?!\w)")
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
_ONE = pattern(
    r"\b(?:user story|as an? [a-z ]{3,40} i want|(?:this|the|next|one) (?:story|task|issue|ticket|item|bug))\b"
)
NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh")
# The number of things that a title is about.
_COUNTED = pattern(
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
        target_percent: the percentage to reach; 0 if the task names none.
        has_many_items: the work is done item by item, over several iterations.
        item_count, item_noun: of what, and how many, the title speaks; 0 and empty if it does not.
        is_preparation: the task itself prepares other work.
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
        self.target_percent = max((int(percent) for percent in _GOAL.findall(lower)), default=0)
        found = _RANGE.search(lower)
        self._range = (found[1], int(found[2])) if found else None
        self.has_many_items = _MANY.search(lower) is not None
        counts = {number_of(count): noun for count, noun in _COUNTED.findall(title)}
        self.item_count, self.item_noun = counts.popitem() if len(counts) == 1 else (0, "")
        self.is_preparation = _PREPARES.search(title) is not None
        names = any(_RELEASE.search(lower, 0, _TITLE) is None or IDENTIFIER.fullmatch(name) for name in self._names)
        named = names or _ONE.search(lower, 0, _TITLE) is not None
        self.is_single_item = named and not (self.has_many_items or self._range or _SEVERAL.search(title))

    def misses_last_item(self, text: str) -> bool:
        """Return True if a text names items of the task's range ("S-1 to S-6"), but not the last one."""
        if self._range is None:
            return False
        kind, last = self._range
        numbers = [int(piece[1]) for piece in _PIECE.finditer(text) if piece[0].startswith(kind)]
        return bool(numbers) and max(numbers) < last

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

    def title_has(self, words: Iterable[str]) -> bool:
        """Return True if the title has one of the words."""
        return not self._title.isdisjoint(_stems(" ".join(words)))

    def is_echoed(self, prose: str, span: Span) -> bool:
        """Return True if four words in a row that touch a span were copied from the task."""
        if not self._runs:
            return False
        found = list(_WORD.finditer(prose, max(0, span[0] - 60), span[1] + 60))
        return any(
            run[0].start() < span[1] and run[3].end() > span[0] and tuple(word[0] for word in run) in self._runs
            for run in zip(found, found[1:], found[2:], found[3:], strict=False)
        )


def number_of(written: str) -> int:
    """Return the value of digits, a word, or an ordinal ("third")."""
    if written.isdigit():
        return int(written)
    return NUMBERS.index(written) if written in NUMBERS else ORDINALS.index(written) + 1


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


# The base unit of each unit, and the factor.
_UNITS = {
    **dict.fromkeys(("%", "％", "percent", "prozent"), ("%", 1.0)),
    **dict.fromkeys(("ms", "milliseconds", "毫秒"), ("s", 0.001)),
    **dict.fromkeys(("s", "sec", "second", "seconds", "segundos", "sekunden", "秒"), ("s", 1.0)),
    **dict.fromkeys(("min", "minute", "minutes", "minutos", "minuten", "分钟", "分鐘"), ("s", 60.0)),
    **dict.fromkeys(("kb", "kib"), ("kB", 1.0)),
    **dict.fromkeys(("mb", "mib"), ("kB", 1000.0)),
    **dict.fromkeys(("gb", "gib"), ("kB", 1_000_000.0)),
}
_NAMES = "|".join(sorted(_UNITS, key=len, reverse=True))
_AMOUNT = rf"(\d(?<![\w.,]\d)\d{{0,8}}(?:[.,]\d{{1,3}})?) ?({_NAMES})(?![a-z])"
_AMOUNTS = pattern(_AMOUNT)
_LEAST = pattern(
    r"(?:\b(?:at least|above|over|more than|reach(?:es)?|mindestens|über|al menos|más de)|>=?|≥"
    rf"|至少|达到|達到|超过|超過) {{0,2}}{_AMOUNT}"
)
_MOST = pattern(
    r"(?:\b(?:below|under|less than|at most|within|no more than|unter|höchstens|weniger als|menos de|por debajo de)"
    rf"|<=?|≤|不超过|不超過|低于|低於|小于|小於|少于|少於) {{0,2}}{_AMOUNT}"
)
# These follow a number and say which way it is meant.
_MORE, _LESS = (
    pattern(r" (?:or (?:more|higher|better)|o más|oder mehr)|以上"),
    pattern(r" or (?:less|lower)|以[内內下]"),
)


class Bound(NamedTuple):
    """A number to reach, or to stay below, such as "at least 90 %" or "under 300 kB".

    Attributes:
        unit: "%", "s" or "kB".
        least: the number is to be reached.
    """

    amount: float
    unit: str
    least: bool

    def find_in(self, text: str, span: Span) -> tuple[Span, bool] | None:
        """Find the first number of this unit in a span of a text in lower case.

        Returns:
            Its span, and whether it meets the bound.
        """
        for found in _AMOUNTS.finditer(text, *span):
            unit, amount = _measured(found[1], found[2])
            if unit == self.unit:
                return found.span(), amount >= self.amount if self.least else amount <= self.amount
        return None


@lru_cache(maxsize=8)
def bound_of(task: str) -> Bound | None:
    """Return the bound that the beginning of a task sets; None if it sets none or several."""
    title = task[:_TITLE].lower()
    bounds: set[Bound] = set()
    for least, before, behind in ((True, _LEAST, _MORE), (False, _MOST, _LESS)):
        amounts = (each for each in _AMOUNTS.finditer(title) if behind.match(title, each.end()))
        for found in (*before.finditer(title), *amounts):
            unit, amount = _measured(found[1], found[2])
            bounds.add(Bound(amount, unit, least))
    return bounds.pop() if len(bounds) == 1 else None


def _measured(number: str, name: str) -> tuple[str, float]:
    """Convert to the base unit. A comma before three digits separates thousands."""
    unit, factor = _UNITS[name]
    whole, mark, rest = number.replace(",", ".").partition(".")
    thousands = "," in number and len(rest) == 3
    return unit, float(whole + rest if thousands else whole + mark + rest) * factor
