"""How many files a reply says that it changed: in numbers, or by their names."""

import re
from collections.abc import Iterator
from itertools import chain

from ralph.analysis.anchored import Anchored, Around
from ralph.analysis.counting import COUNT, counted
from ralph.pattern import pattern

__all__ = ["told_files"]

_READ = 20_000
"""Characters in which names are looked for, from the end: that is where a reply reports."""
_LISTED_MOST = 100
"""Lines of a list of files that are looked at."""
_NAMES_KEPT = 200

_CHANGED = {
    "changed": ("changed", "touched", "變更", "变更", "改動", "改动"),
    "modified": ("modified", "updated", "edited", "修改", "更新", "編輯", "编辑"),
    "created": ("created", "added", "wrote", "new", "創建", "创建", "建立", "新增", "新建", "添加"),
    "deleted": ("deleted", "removed", "刪除", "删除"),
}
"""Words by what they say of a file. The first kind is all that happened, the others add up."""
_KINDS = {word: kind for kind, words in _CHANGED.items() for word in words}
_ENGLISH = "|".join(word for word in _KINDS if word.isascii())
_CHINESE = "|".join(word for word in _KINDS if not word.isascii())
_COUNTED = Around(
    ("file",),
    rf"""\b(?:(?P<how1>{_ENGLISH})\s(?:a\stotal\sof\s)?(?P<n1>{COUNT})\s(?:[\w-]{{1,20}}\s)?files?
        |(?P<n2>{COUNT})\s(?:[\w-]{{1,20}}\s)?files?\s(?:(?:were|was|have\sbeen|are)\s)?(?P<how2>{_ENGLISH})
        |files?\s(?P<how3>{_ENGLISH})(?:\s?[/&]\s?(?:{_ENGLISH}))?[*_]{{0,2}}[ ]?[:=(][*_]{{0,2}}[ ]?(?P<n3>{COUNT})
        |(?P<how4>{_ENGLISH}|changes)\b[^\n(]{{0,20}}\((?P<n4>{COUNT})\sfiles?
    )\b""",
    before=60,
    after=60,
    needed=rf"{COUNT}\s(?:[\w-]{{1,20}}\s)?file|files?\s(?:{_ENGLISH})",
    near=30,
)
_COUNTED_IN_CHINESE = Around(
    ("文件", "檔案", "档案"),
    rf"""(?P<how1>{_CHINESE})了?\s?(?P<n1>\d{{1,6}}|[一二兩两三四五六七八九十])\s?[個个]?\s?新?(?:文件|檔案|档案)
    |(?P<n2>\d{{1,6}}|[一二兩两三四五六七八九十])\s?[個个]\s?(?:文件|檔案|档案)\s?(?:已|被|已被)?(?P<how2>{_CHINESE})""",
    before=60,
    after=60,
    needed=r"[\d一二兩两三四五六七八九十]\s?[個个]?\s?新?(?:文件|檔案|档案)",
    near=12,
)
_NOT_YET = re.compile(r"\b(?:not|no|never|will|would|should|must|to|be|could|can|may|need|needs)\s(?:be\s)?$")

_ENDINGS = (
    "py|pyi|ipynb|js|jsx|mjs|cjs|ts|tsx|mts|cts|go|rs|rb|erb|java|kt|kts|swift|php|cs|fs|c|h|cc|cpp|hpp|m|mm|scala|ex|exs"
    "|erl|hs|ml|mli|dart|lua|r|jl|clj|cljs|zig|nim|sol|sh|bash|zsh|bats|ps1|sql|html|css|scss|less|vue|svelte|astro|json|jsonc"
    "|yaml|yml|toml|ini|cfg|conf|env|md|mdx|rst|txt|xml|csv|lock|gradle|properties|proto|graphql|prisma|tf|svg|png|ico|plist"
    "|xcconfig|csproj|sln|gemspec|cmake|mk"
)
_ENDING = rf"\.(?=[a-z])(?:{_ENDINGS})\b(?![/(])"
_ENDS = pattern(_ENDING)
_NAME = rf"/?(?:[\w.@-]{{1,60}}/){{0,12}}[\w.-]{{1,80}}{_ENDING}"
_NAMES = pattern(_NAME)
_NO_FILES = {f"{name}.js" for name in ("node", "next", "nuxt", "vue", "react", "express", "three", "chart", "d3")}
_DONE = (
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
_NAMED = Anchored(
    _DONE,
    rf"""\b(?:{"|".join(_DONE)})\b(?P<between>[^\n.;`]{{0,40}}?)(?<![\w./-])
        (?P<names>`?{_NAME}`?(?:(?:,?[ ]and|,|[ ]\+)[ ]`?{_NAME}`?){{0,20}})""",
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
"""Between a word of change and a name: the name is not what was changed."""
_LABEL = pattern(
    rf"""[\s\#>*_-]{{0,12}}(?:\d{{1,2}}\.\s)?(?:(?:all|key|main)\s)?
    (?:(?:{_ENGLISH})(?:\s?(?:/|,|&|and)\s?(?:{_ENGLISH})){{0,2}}\sfiles?
    |files?\s(?:{_ENGLISH})(?:\s?(?:/|,|&|and)\s?(?:{_ENGLISH})){{0,2}}
    |changes(?:\smade)?|files|(?:{_CHINESE})的?(?:文件|檔案|档案))\b[^\n.|]{{0,40}}$""",
    re.VERBOSE,
)
_LABELLED = ("files", "changes", "文件", "檔案")
"""What the labels of lists have one of."""
_ITEM = pattern(rf"\s{{0,3}}(?:[-*•+]|\d{{1,2}}[.)]|\|)\s{{1,3}}[*_`\[]{{0,4}}({_NAME})")
_LISTED = pattern(r"\s{2,}|\t|\s{0,3}(?:\||(?:[-*•+]|\d{1,2}[.)])\s)")


def told_files(lower: str) -> int:
    """How many files a text, which is in lower case, says were changed. Where it gives no number, how many it names
    beside a word of change or in a list of changed files, each once.
    """
    return _numbers(lower) or len(_distinct(_named(lower[-_READ:])))


def _numbers(lower: str) -> int:
    """The largest number of each kind; those of different kinds add up, unless one is of all."""
    most: dict[str, int] = {}
    for match in chain(_COUNTED.finditer(lower), _COUNTED_IN_CHINESE.finditer(lower)):
        said = {name.rstrip("1234"): text for name, text in match.groupdict().items() if text}
        if not _NOT_YET.search(lower, max(0, match.start() - 20), match.start()):
            kind = _KINDS.get(said["how"], "changed")
            most[kind] = max(most.get(kind, 0), counted(said["n"]))
    return most.get("changed") or sum(most.values())


def _named(text: str) -> set[str]:
    """The names beside words of change, and those that lists of changed files begin their items with."""
    lines = _lines_with_names(text)
    names: set[str] = set()
    for match in _NAMED.finditer("\n".join(lines)) if lines else ():
        if _BESIDE.isdisjoint(match["between"].split()):
            names.update(_NAMES.findall(match["names"]))
        if len(names) >= _NAMES_KEPT:
            return names
    if lines and any(map(text.__contains__, _LABELLED)):
        names.update(_in_lists(text))
    return names


def _lines_with_names(text: str) -> list[str]:
    """The lines in which a name ends, each up to the end of its last one."""
    ends: dict[int, int] = {}
    begin = after = 0
    for ending in _ENDS.finditer(text):
        place, end = ending.span()
        if place >= after:
            begin, after = text.rfind("\n", after, place) + 1 or after, text.find("\n", end)
            after = after if after >= 0 else len(text)
        ends[begin] = end
    return [text[begin:end] for begin, end in ends.items()]


def _in_lists(text: str) -> Iterator[str]:
    """What the items of lists begin with that stand under a label."""
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


def _distinct(names: set[str]) -> set[str]:
    """The names without those that are the end of another one."""
    kept = sorted(names - _NO_FILES, key=len, reverse=True)[:_NAMES_KEPT]
    return {name for index, name in enumerate(kept) if not any(one.endswith(f"/{name}") for one in kept[:index])}
