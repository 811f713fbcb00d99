"""The work of a reply in one line: "Modified 3 files, 12 tests passing, 2 errors fixed"."""

import re
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from itertools import chain, islice
from typing import NamedTuple

from ahocorasick_rs import AhoCorasick, MatchKind

from ralph.analysis.result import Reply, Signals
from ralph.analysis.text import COUNT, WindowPattern, ends_with_count, matches_at, parse_count
from ralph.system.text import counted, pattern

_READ = 20_000
"""Characters at the end of a reply that are searched for single files and repairs: replies report there."""
CHANGE_WORDS = (
    "modified",
    "changed",
    "updated",
    "edited",
    "created",
    "added",
    "wrote",
    "implemented",
    "refactored",
    "rewrote",
    "fixed",
)
"""Words before the name of a changed file."""
FIX_WORDS = ("fixed", "resolved", "corrected")
CHINESE_FIX_WORDS = ("修復", "修复", "修正", "解決", "解决")
_WORDS_BY_KIND = (
    ("file", "changes", "文件", "檔案", "档案"),
    CHANGE_WORDS,
    FIX_WORDS,
    ("文件", "檔案", "档案", *CHINESE_FIX_WORDS),
)
_WORDS = tuple(dict.fromkeys(word for words in _WORDS_BY_KIND for word in words))
_KINDS_OF = [tuple(kind for kind, words in enumerate(_WORDS_BY_KIND) if word in words) for word in _WORDS]


class ChangeWords(NamedTuple):
    """Places of some words at the end of a text, each kind in order.

    Attributes:
        tail: the end of the text.
        everywhere: `tail` is the whole text.
        labels: words that every label of a list of files has.
        changed, fixed: the words of `CHANGE_WORDS` and `FIX_WORDS`.
        chinese: files and repairs in Chinese.
    """

    tail: str
    everywhere: bool
    labels: list[int]
    changed: list[int]
    fixed: list[int]
    chinese: list[int]


def find_change_words(lower: str) -> ChangeWords | None:
    """Return the words of files, changes and repairs in a text in lower case; None if there are none."""
    tail = lower[-_READ:]
    found = _words().find_matches_as_indexes(tail)
    everywhere = len(tail) == len(lower)
    if everywhere and not found:
        return None
    places: tuple[list[int], ...] = ([], [], [], [])
    for index, place, _ in found:
        for kind in _KINDS_OF[index]:
            places[kind].append(place)
    return ChangeWords(tail, everywhere, *places)


@cache
def _words() -> AhoCorasick:
    return AhoCorasick(_WORDS, MatchKind.LeftmostLongest, store_patterns=False)


_LISTED_MOST = 100
"""Lines of a list of files that are read."""
_NAMES_KEPT = 200

_CHANGED = {
    "changed": ("changed", "touched", "變更", "变更", "改動", "改动"),
    "modified": ("modified", "updated", "edited", "修改", "更新", "編輯", "编辑"),
    "created": ("created", "added", "wrote", "new", "創建", "创建", "建立", "新增", "新建", "添加"),
    "deleted": ("deleted", "removed", "刪除", "删除"),
}
"""Words by what happened to a file. The first kind includes all others, which add up."""
_KIND_OF = {word: kind for kind, words in _CHANGED.items() for word in words}
_ENGLISH = "|".join(word for word in _KIND_OF if word.isascii())
_CHINESE = "|".join(word for word in _KIND_OF if not word.isascii())
_BEFORE, _NUMBER_BEFORE = 60, 30
"""Characters before "file" within which the whole phrase begins, and the number."""
_HOW = pattern(rf"{_ENGLISH}|changes")
_HOW_BEHIND = pattern(rf"files?\s(?:(?:were|was|have\sbeen|are)\s)?(?:{_ENGLISH})")
_COUNT_BEHIND = pattern(rf"files?\s(?:{_ENGLISH})(?:\s?[/&]\s?(?:{_ENGLISH}))?[*_]{{0,2}} ?[:=(][*_]{{0,2}} ?{COUNT}")


def _is_counted(lower: str, place: int) -> bool:
    """Return whether a file may have a number and a word of change around it: a quick check."""
    before = lower[max(0, place - _NUMBER_BEFORE) : place]
    if before[-1:].isspace() and any(map(ends_with_count, before.split()[-2:])):
        changed = _HOW_BEHIND.match(lower, place) or _HOW.search(lower, max(0, place - _BEFORE), place)
        return changed is not None
    return _COUNT_BEHIND.match(lower, place) is not None


_COUNTED = WindowPattern(
    ("file",),
    rf"""\b(?:(?P<how1>{_ENGLISH})\s(?:a\stotal\sof\s)?(?P<n1>{COUNT})\s(?:[\w-]{{1,20}}\s)?files?
        |(?P<n2>{COUNT})\s(?:[\w-]{{1,20}}\s)?files?\s(?:(?:were|was|have\sbeen|are)\s)?(?P<how2>{_ENGLISH})
        |files?\s(?P<how3>{_ENGLISH})(?:\s?[/&]\s?(?:{_ENGLISH}))?[*_]{{0,2}}[ ]?[:=(][*_]{{0,2}}[ ]?(?P<n3>{COUNT})
        |(?P<how4>{_ENGLISH}|changes)\b[^\n(]{{0,20}}\((?P<n4>{COUNT})\sfiles?
    )\b""",
    before=_BEFORE,
    after=60,
    likely=_is_counted,
)
_NUMBER_IN_CHINESE = pattern(r"[\d一二兩两三四五六七八九十]\s?[個个]?\s?新?(?:文件|檔案|档案)")


def _is_counted_in_chinese(lower: str, place: int) -> bool:
    return _NUMBER_IN_CHINESE.search(lower, max(0, place - 12), place + 12) is not None


_COUNTED_IN_CHINESE = WindowPattern(
    ("文件", "檔案", "档案"),
    rf"""(?P<how1>{_CHINESE})了?\s?(?P<n1>\d{{1,6}}|[一二兩两三四五六七八九十])\s?[個个]?\s?新?(?:文件|檔案|档案)
    |(?P<n2>\d{{1,6}}|[一二兩两三四五六七八九十])\s?[個个]\s?(?:文件|檔案|档案)\s?(?:已|被|已被)?(?P<how2>{_CHINESE})""",
    before=60,
    after=60,
    likely=_is_counted_in_chinese,
)
_NOT_YET = re.compile(r"\b(?:not|no|never|will|would|should|must|to|be|could|can|may|need|needs)\s(?:be\s)?$")

_ENDINGS = (
    "md|py|ts|js|json|toml|tsx|go|rs|yml|yaml|sh|txt|html|css|java|rb|jsx|c|h|cpp|sql|cfg|ini|lock|pyi|ipynb|mjs|cjs"
    "|mts|cts|erb|kt|kts|swift|php|cs|fs|cc|hpp|m|mm|scala|ex|exs|erl|hs|ml|mli|dart|lua|r|jl|clj|cljs|zig|nim|sol"
    "|bash|zsh|bats|ps1|scss|less|vue|svelte|astro|jsonc|conf|env|mdx|rst|xml|csv|gradle|properties|proto|graphql"
    "|prisma|tf|svg|png|ico|plist|xcconfig|csproj|sln|gemspec|cmake|mk"
)
"""Of names of files, the most frequent ones first: they are tried in this order."""
_ENDING = rf"\.(?=[a-z])(?:{_ENDINGS})\b(?![/(])"
_ENDS = pattern(_ENDING)
_NAME = rf"/?(?:[\w.@-]{{1,60}}/){{0,12}}[\w.-]{{1,80}}{_ENDING}"
_NAMES = pattern(_NAME)
_NO_FILES = {f"{name}.js" for name in ("node", "next", "nuxt", "vue", "react", "express", "three", "chart", "d3")}
_NAMED = pattern(
    rf"""\b(?:{"|".join(CHANGE_WORDS)})\b(?P<between>[^\n.;`]{{0,40}}?)(?<![\w./-])
        (?P<names>`?{_NAME}`?(?:(?:,?[ ]and|,|[ ]\+)[ ]`?{_NAME}`?){{0,20}})""",
    re.VERBOSE,
)
_BESIDE = frozenset((
    "import",
    "imports",
    "for",
    "from",
    "like",
    "using",
    "with",
    "than",
    "reference",
    "link",
    "because",
))
"""Words between a word of change and a name that is not what was changed."""
_LABEL = pattern(
    rf"""[\s\#>*_-]{{0,12}}(?:\d{{1,2}}\.\s)?(?:(?:all|key|main)\s)?
    (?:(?:{_ENGLISH})(?:\s?(?:/|,|&|and)\s?(?:{_ENGLISH})){{0,2}}\sfiles?
    |files?\s(?:{_ENGLISH})(?:\s?(?:/|,|&|and)\s?(?:{_ENGLISH})){{0,2}}
    |changes(?:\smade)?|files|(?:{_CHINESE})的?(?:文件|檔案|档案))\b[^\n.|]{{0,40}}$""",
    re.VERBOSE,
)
_LABELLED = ("files", "changes", "文件", "檔案")
"""Words of which every label has one."""
_ITEM = pattern(rf"\s{{0,3}}(?:[-*•+]|\d{{1,2}}[.)]|\|)\s{{1,3}}[*_`\[]{{0,4}}({_NAME})")
_LISTED = pattern(r"\s{2,}|\t|\s{0,3}(?:\||(?:[-*•+]|\d{1,2}[.)])\s)")


def _numbers(lower: str) -> int:
    """Return the largest number of each kind; those of different kinds add up, unless one is of all."""
    most: dict[str, int] = {}
    matches = _COUNTED.finditer(lower)
    for match in matches if lower.isascii() else chain(matches, _COUNTED_IN_CHINESE.finditer(lower)):
        said = {name.rstrip("1234"): text for name, text in match.groupdict().items() if text}
        if not _NOT_YET.search(lower, max(0, match.start() - 20), match.start()):
            kind = _KIND_OF.get(said["how"], "changed")
            most[kind] = max(most.get(kind, 0), parse_count(said["n"]))
    return most.get("changed") or sum(most.values())


def _named(mentioned: ChangeWords) -> set[str]:
    """Return the names beside words of change, and at the beginning of items in lists of changed files."""
    text, labels = mentioned.tail, mentioned.labels
    names = _beside(text, mentioned.changed)
    if labels and len(names) < _NAMES_KEPT and any(map(text.__contains__, _LABELLED)):
        names.update(_in_lists(text[text.rfind("\n", 0, labels[0]) + 1 :]))
    return names


def _beside(text: str, places: Iterable[int]) -> set[str]:
    """Return the names beside words of change at ascending places."""
    names: set[str] = set()
    after = ending = -1
    for place in places:
        if place < after:
            continue
        if ending < place:
            if (found := _ENDS.search(text, place)) is None:
                break
            ending = found.start()
        if text.find("\n", place, ending) >= 0 or (match := _NAMED.match(text, place)) is None:
            continue
        after = match.end()
        between, said = match.groups()
        if _BESIDE.isdisjoint(between.split()):
            names.update(_NAMES.findall(said) if " " in said else (said.strip("`"),))
            if len(names) >= _NAMES_KEPT:
                break
    return names


def _in_lists(text: str) -> Iterator[str]:
    """Yield the names at the beginning of list items under a label."""
    lines = text.split("\n")
    inside = 0
    for line in lines:
        if ("file" in line or "changes" in line or not line.isascii()) and _LABEL.match(line):
            inside = _LISTED_MOST
        elif inside and (item := _ITEM.match(line)):
            inside -= 1
            yield item[1]
        elif inside and line.strip() and not _LISTED.match(line):
            inside = 0


def _count(names: set[str]) -> int:
    """Return how many names there are, each once, without those that are the end of another."""
    kept: Collection[str] = names - _NO_FILES
    if len(kept) < 2:
        return len(kept)
    if len(kept) > _NAMES_KEPT:
        kept = sorted(kept, key=len, reverse=True)[:_NAMES_KEPT]
    ends = "\n".join(kept) + "\n"
    return sum(f"/{name}\n" not in ends for name in kept)


_FIXING = f"(?:{'|'.join(FIX_WORDS)})"
_FAULTS = ("error", "bug", "issue", "problem", "failure")
_FAULTS_IN_CHINESE = ("錯誤", "错误", "問題", "问题", "缺陷", "bug", "漏洞")
_FAULT = f"(?:{'|'.join(_FAULTS)})"
_FAULT_BEFORE = 22
"""Characters before a word of `FIX_WORDS` within which its fault begins."""
_FIX_COUNT_BEHIND = pattern(
    rf"{_FIXING}\s(?:(?:all|the|these)\s){{0,2}}{COUNT}\s|[修解]\w了?\s?[\d一二兩两三四五六七八九十]"
)


def _may_be_of_faults(lower: str, place: int) -> bool:
    """Return whether a word of repair may have a number behind it, or a fault before it: a quick check."""
    before = lower[max(0, place - _FAULT_BEFORE) : place]
    if before[-1:].isspace() and any(map(before.__contains__, _FAULTS)):
        return True
    return _FIX_COUNT_BEHIND.match(lower, place) is not None


_FIXED = WindowPattern(
    (*FIX_WORDS, *CHINESE_FIX_WORDS),
    rf"""\b(?:{_FIXING}\s(?:(?:all|the|these)\s){{0,2}}(?P<n>{COUNT})\s(?:(?!\d)[\w-]{{1,20}}\s){{0,2}}?{_FAULT}s?
            |(?P<m>{COUNT})\s(?:(?!\d)[\w-]{{1,20}}\s)?{_FAULT}s?\s(?:(?:were|was|are|have\sbeen)\s)?{_FIXING}
            |{_FAULT}s?\s{_FIXING}[*_]{{0,2}}[ ]?[:=(][*_]{{0,2}}[ ]?(?P<l>{COUNT})
        )\b
        |(?:修[復复正]|解[決决])了?\s?(?P<z>\d{{1,6}}|[一二兩两三四五六七八九十])\s?[個个項项]?\s?
            (?:{"|".join(_FAULTS_IN_CHINESE)})""",
    before=60,
    after=80,
    likely=_may_be_of_faults,
)
_FIXED_ONE = pattern(rf"\b{_FIXING}\s(?:an?|the|this|that)\s(?:[\w-]{{1,20}}\s){{0,4}}?{_FAULT}\b")
_MOST = 100


def summarize_work(reply: Reply) -> str:
    """Return the files changed, tests run and errors fixed in one line; empty if none are reported.

    If the workspace's changes are known, they decide how many files changed, not the reply.
    """
    changes, lower = reply.context.changes, reply.reading.lower
    mentioned = find_change_words(lower)
    told = (_numbers(lower) or _count(_named(mentioned))) if mentioned and not changes.known else 0
    files = changes.files_changed if changes.known else told
    parts = [f"Modified {counted(files, 'file')}"] if files else []
    if passed := _amount(reply.signals, "tests_passed"):
        parts.append(f"{counted(passed, 'test')} passing")
    if failed := _amount(reply.signals, "tests_failed"):
        parts.append(f"{counted(failed, 'test')} failing")
    if mentioned and (fixed := _errors_fixed(lower, mentioned)):
        parts.append(f"{counted(fixed, 'error')} fixed")
    return ", ".join(parts)


def _amount(signals: Signals, kind: str) -> int:
    signal = signals.first(kind)
    return signal.amount if signal else 0


def _errors_fixed(lower: str, mentioned: ChangeWords) -> int:
    """Return how many errors were fixed, by a number in the text or else one by one."""
    places = mentioned.fixed
    may_count = places or mentioned.chinese or not mentioned.everywhere
    if may_count and (match := _FIXED.search(lower)):
        return parse_count(match["n"] or match["m"] or match["l"] or match["z"])
    return sum(1 for _ in islice(matches_at(_FIXED_ONE, mentioned.tail, places), _MOST)) if places else 0
