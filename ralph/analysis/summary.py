"""The work of a reply in one line: "Modified 3 files, 12 tests passing, 2 errors fixed"."""

import re
from collections.abc import Iterator, Sequence
from itertools import chain, islice

from ahocorasick_rs import AhoCorasick

from ralph.analysis.result import Reply, Signals
from ralph.analysis.text import NUMBERS, PrefilteredPattern, number_of
from ralph.system.text import counted, pattern

_READ = 20_000
"""Characters at the end of a reply that are searched: replies report there."""
_MOST = 100
"""Places of one word that are looked at, names that are kept, and single repairs that are counted."""
_AROUND_FILE, _AROUND_REPAIR = (45, 45), (45, 70)
"""Characters before and after a word in which a number of files or faults is sought."""

_CHANGED = {
    "changed": ("changed", "touched", "變更", "变更", "改動", "改动"),
    "modified": ("modified", "updated", "edited", "修改", "更新", "編輯", "编辑"),
    "created": ("created", "added", "wrote", "new", "創建", "创建", "建立", "新增", "新建", "添加"),
    "deleted": ("deleted", "removed", "刪除", "删除"),
}
"""Words by what happened to a file. The first kind includes all others, which add up."""
_KIND_OF = {word: kind for kind, words in _CHANGED.items() for word in words}
_ENGLISH = "|".join(word for word in _KIND_OF if word.isascii())
_STEMS = ("chang", "touch", "modif", "updat", "edit", "creat", "added", "wrote", "new", "delet", "remov")
"""Parts of words, one of which is in every match of a number of files."""
_CHINESE = "|".join(word for word in _KIND_OF if not word.isascii())

_TEN = NUMBERS[1:11]
_ANY_NUMBER = (*"0123456789一二兩两三四五六七八九十", *_TEN, "both")
_N = rf"(?:\d{{1,6}}|{'|'.join(_TEN)}|both)"
_N_CHINESE = r"(?:\d{1,6}|[一二兩两三四五六七八九十])"

_FILES, _FILES_CHINESE = ("file",), ("文件", "檔案", "档案")
_COUNTED = pattern(
    rf"""\b(?:(?P<how1>{_ENGLISH})\s(?:a\stotal\sof\s)?(?P<n1>{_N})\s(?:[\w-]{{1,20}}\s)?files?
        |(?P<n2>{_N})\s(?:[\w-]{{1,20}}\s)?files?\s(?:(?:were|was|have\sbeen|are)\s)?(?P<how2>{_ENGLISH})
        |files?\s(?P<how3>{_ENGLISH})(?:\s?[/&]\s?(?:{_ENGLISH}))?[*_]{{0,2}}[ ]?[:=(][*_]{{0,2}}[ ]?(?P<n3>{_N})
        |(?P<how4>{_ENGLISH}|changes)\b[^\n(]{{0,20}}\((?P<n4>{_N})\sfiles?
    )\b""",
    re.VERBOSE,
)
_COUNTED_CHINESE = pattern(
    rf"""(?P<how1>{_CHINESE})了?\s?(?P<n1>{_N_CHINESE})\s?[個个]?\s?新?(?:{"|".join(_FILES_CHINESE)})
    |(?P<n2>{_N_CHINESE})\s?[個个]\s?(?:{"|".join(_FILES_CHINESE)})\s?(?:已|被|已被)?(?P<how2>{_CHINESE})""",
    re.VERBOSE,
)
_NOT_YET = pattern(r"\b(?:not|no|never|will|would|should|must|to|be|could|can|may|need|needs)\s(?:be\s)?$")

_ENDINGS = (
    "md|py|ts|js|json|toml|tsx|go|rs|yml|yaml|sh|txt|html|css|java|rb|jsx|c|h|cpp|sql|cfg|ini|lock|pyi|ipynb|mjs|cjs"
    "|mts|cts|erb|kt|kts|swift|php|cs|fs|cc|hpp|m|mm|scala|ex|exs|erl|hs|ml|mli|dart|lua|r|jl|clj|cljs|zig|nim|sol"
    "|bash|zsh|bats|ps1|scss|less|vue|svelte|astro|jsonc|conf|env|mdx|rst|xml|csv|gradle|properties|proto|graphql"
    "|prisma|tf|svg|png|ico|plist|xcconfig|csproj|sln|gemspec|cmake|mk"
)
"""Of names of files, the most frequent ones first: they are tried in this order."""
_NAME = rf"/?(?:[\w.@-]{{1,60}}/){{0,12}}[\w.-]{{1,80}}\.(?=[a-z])(?:{_ENDINGS})\b(?![/(])"
_NAMES = pattern(_NAME)
_NO_FILES = {f"{name}.js" for name in ("node", "next", "nuxt", "vue", "react", "express", "three", "chart", "d3")}
_VERBS = ("modified", "changed", "updated", "edited", "created", "added", "wrote", "implemented", "refactored")
_NAMED = PrefilteredPattern(
    (*_VERBS, "rewrote", "fixed"),
    rf"""\b(?:{"|".join(_VERBS)}|rewrote|fixed)\b(?=[^.\n;]{{1,150}}\.[a-z])(?P<between>[^\n.;`]{{0,40}}?)(?<![\w./-])
        (?P<names>`?{_NAME}`?(?:(?:,?[ ]and|,|[ ]\+)[ ]`?{_NAME}`?){{0,20}})""",
    needed=(".",),
)
_BESIDE = frozenset((
    *("import", "imports", "for", "from", "like", "using", "with", "than", "reference", "link", "because"),
))
"""Words between a word of change and a name that is not what was changed."""

_SAID = rf"(?:{_ENGLISH})(?:\s?(?:/|,|&|and)\s?(?:{_ENGLISH})){{0,2}}"
# The line above a list of changed files, and the beginning of its items and of other lines within it.
_LABEL = pattern(
    rf"""[\s\#>*_-]{{0,12}}(?:\d{{1,2}}\.\s)?(?:(?:all|key|main)\s)?
    (?:{_SAID}\sfiles?|files?\s{_SAID}|changes(?:\smade)?|files|(?:{_CHINESE})的?(?:{"|".join(_FILES_CHINESE)}))\b
    [^\n.|]{{0,40}}$""",
    re.VERBOSE,
)
_LABELLED = AhoCorasick(("file", "changes", *_FILES_CHINESE), store_patterns=False)
"""Words of which every label has one."""
_ITEM = pattern(rf"\s{{0,3}}(?:[-*•+]|\d{{1,2}}[.)]|\|)\s{{1,3}}[*_`\[]{{0,4}}({_NAME})")
_LISTED = pattern(r"\s{2,}|\t|\s{0,3}(?:\||(?:[-*•+]|\d{1,2}[.)])\s)")

_FIX_WORDS, _FIX_WORDS_CHINESE = ("fixed", "resolved", "corrected"), ("修復", "修复", "修正", "解決", "解决")
_FAULTS = ("error", "bug", "issue", "problem", "failure", "錯誤", "错误", "問題", "问题", "缺陷", "漏洞")
_FIXING, _FAULT = f"(?:{'|'.join(_FIX_WORDS)})", "(?:error|bug|issue|problem|failure)"
_FIXED = pattern(
    rf"""\b(?:{_FIXING}\s(?:(?:all|the|these)\s){{0,2}}(?P<n>{_N})\s(?:(?!\d)[\w-]{{1,20}}\s){{0,2}}?{_FAULT}s?
            |(?P<m>{_N})\s(?:(?!\d)[\w-]{{1,20}}\s)?{_FAULT}s?\s(?:(?:were|was|are|have\sbeen)\s)?{_FIXING}
            |{_FAULT}s?\s{_FIXING}[*_]{{0,2}}[ ]?[:=(][*_]{{0,2}}[ ]?(?P<l>{_N})
        )\b
        |(?:修[復复正]|解[決决])了?\s?(?P<z>{_N_CHINESE})\s?[個个項项]?\s?(?:錯誤|错误|問題|问题|缺陷|bug|漏洞)""",
    re.VERBOSE,
)
_FIXED_ONE = PrefilteredPattern(
    _FIX_WORDS, rf"\b{_FIXING}\s(?:an?|the|this|that)\s(?:[\w-]{{1,20}}\s){{0,4}}?{_FAULT}\b"
)


def summarize_work(reply: Reply) -> str:
    """Return the files changed, tests run and errors fixed in one line; empty if none are reported.

    If the workspace's changes are known, they decide how many files changed, not the reply.
    """
    changes, lower = reply.context.changes, reply.reading.lower[-_READ:]
    files = changes.files_changed if changes.known else _count_files(lower) or _count_names(lower)
    parts = [f"{'Changed' if changes.known else 'Modified'} {counted(files, 'file')}"] if files else []
    if passed := _amount(reply.signals, "tests_passed"):
        parts.append(f"{counted(passed, 'test')} passing")
    if failed := _amount(reply.signals, "tests_failed"):
        parts.append(f"{counted(failed, 'test')} failing")
    if fixed := _count_repairs(lower):
        parts.append(f"{counted(fixed, 'error')} fixed")
    return ", ".join(parts)


def _amount(signals: Signals, kind: str) -> int:
    signal = signals.first(kind)
    return signal.amount if signal else 0


def _around(
    text: str, words: Sequence[str], expression: re.Pattern[str], reach: tuple[int, int], needed: Sequence[str]
) -> Iterator[re.Match[str]]:
    """Yield the matches of an expression around some words; a match near two words comes twice.

    Every match has a number and one of the needed texts: looking for them takes a tenth of the time of the expression.
    """
    for word in words:
        place = text.find(word)
        for _ in range(_MOST):
            if place < 0:
                break
            begin, end = max(0, place - reach[0]), place + reach[1]
            holds = text[begin:end].__contains__
            if any(map(holds, needed)) and any(map(holds, _ANY_NUMBER)):
                yield from expression.finditer(text, begin, end)
            place = text.find(word, place + 1)


def _count_files(lower: str) -> int:
    """Return the largest number of each kind; those of different kinds add up, unless one is of all."""
    most: dict[str, int] = {}
    chinese = () if lower.isascii() else _around(lower, _FILES_CHINESE, _COUNTED_CHINESE, _AROUND_FILE, tuple(_KIND_OF))
    for match in chain(_around(lower, _FILES, _COUNTED, _AROUND_FILE, _STEMS), chinese):
        said = {name.rstrip("1234"): text for name, text in match.groupdict().items() if text}
        if not _NOT_YET.search(lower, max(0, match.start() - 20), match.start()):
            kind = _KIND_OF.get(said["how"], "changed")
            most[kind] = max(most.get(kind, 0), number_of(said["n"]))
    return most.get("changed") or sum(most.values())


def _count_names(lower: str) -> int:
    """Return how many names are listed or stand beside words of change, without those that are the end of another."""
    names = set(islice(_in_lists(lower), _MOST))
    for match in islice(_NAMED.finditer(lower), _MOST):
        if _BESIDE.isdisjoint(match["between"].split()):
            said = match["names"]
            names.update(_NAMES.findall(said) if " " in said else (said.strip("`"),))
    kept = sorted(names - _NO_FILES)[:_MOST]
    if len(kept) < 2:
        return len(kept)
    return sum(not any(other.endswith(f"/{name}") for other in kept) for name in kept)


def _in_lists(lower: str) -> Iterator[str]:
    """Yield the names at the beginning of list items under a label."""
    at = 0
    for _, place, _ in _LABELLED.find_matches_as_indexes(lower):
        if place < at:
            continue
        line, at = _line(lower, lower.rfind("\n", max(0, at - 1), place) + 1)
        inside = _LABEL.match(line)
        while inside and at < len(lower):
            line, at = _line(lower, at)
            if item := _ITEM.match(line):
                yield item[1]
            elif line.strip():
                inside = _LISTED.match(line) or _LABEL.match(line)


def _line(text: str, begin: int) -> tuple[str, int]:
    """Return the line that begins at a place, and where the next one begins."""
    end = text.find("\n", begin)
    return (text[begin:end], end + 1) if end >= 0 else (text[begin:], len(text))


def _count_repairs(lower: str) -> int:
    """Return how many errors were fixed, by a number in the text or else one by one."""
    words = [word for word in (*_FIX_WORDS, *(() if lower.isascii() else _FIX_WORDS_CHINESE)) if word in lower]
    if not words:
        return 0
    if match := min(_around(lower, words, _FIXED, _AROUND_REPAIR, _FAULTS), key=re.Match[str].start, default=None):
        return number_of(match["n"] or match["m"] or match["l"] or match["z"])
    return sum(1 for _ in islice(_FIXED_ONE.finditer(lower), _MOST))
