"""Patterns of paths, with the meaning that they have in `.gitignore`: one matcher for whatever has patterns.

`*` and `?` stop at a slash, and `**` does not. A pattern with a slash before its end starts from the folder; any
other one matches at any depth; so `./x` and `/x` are the one at the top. One that ends in a slash matches folders.
What matches a folder matches everything in it. A later pattern that begins with `!` takes paths out again.
"""

import os
import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path
from typing import AnyStr

from pathspec import GitIgnoreSpec
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from ralph.errors import UsageError

_FROM_TOP = re.compile(r"^(!?)\./")
_REMEMBERED = 65_536
_PARTS = {"\1": "[^/]*", "\2": "[^/]", "\3": "(?:.+/)?", "\4": "(?:/.+)?", "\5": "(?P<ps_d>/)"}
"""One character for each part of pathspec's expressions that has a slash in it."""


def path_matcher(patterns: Iterable[str]) -> Callable[[str], bool]:
    """Return a function that says whether a path matches; a folder's path ends in a slash."""
    lines = (_FROM_TOP.sub(r"\1/", pattern) for pattern in patterns)
    return lru_cache(_REMEMBERED)(GitIgnoreSpec.from_lines(lines, _Linear, backend="simple").match_file)


def takes(pattern: str) -> bool | None:
    """Return True if a pattern takes paths in, False if it takes them out, None if it can match nothing, as in git."""
    return next((each.include for each in GitIgnoreSpec.from_lines([pattern], _Linear).patterns), None)


def is_literal(pattern: str) -> bool:
    """Return whether a pattern has nothing but the names of one path."""
    return not set(pattern) & set("*?[\\!#")


def relative_patterns(patterns: Iterable[str], folder: Path) -> tuple[str, ...]:
    """Return patterns with an absolute path in the folder written from the folder on, as in `./docs/*.md`.

    Any other pattern is returned as it is. A leading slash otherwise stands for the folder itself.

    Raises:
        UsageError: an absolute path leads outside.
    """
    return tuple(_relative(pattern, folder) for pattern in patterns)


def _relative(pattern: str, folder: Path) -> str:
    path = pattern.removeprefix("!")
    if not path.startswith("/"):
        return pattern
    inside = next((each for each in Path(path).parents if os.path.realpath(each) == str(folder)), None)
    if inside is not None and inside != inside.parent:
        end = "/" if path.endswith("/") else ""
        return f"{'!' * pattern.startswith('!')}./{Path(path).relative_to(inside).as_posix()}{end}"
    first = path.split("/")[1]
    if is_literal(first) and os.path.lexists(f"/{first}") and not os.path.lexists(folder / first):
        problem = f"{pattern!r} leads out of the workspace {folder}, so no path in it matches."
        raise UsageError(problem, f"Write a pattern from the workspace on, as in docs/*.md or .{path[:80]}.")
    return pattern


class _Linear(GitIgnoreSpecPattern):
    """Pattern that is never slow, whatever the path, and that knows of names with line breaks."""

    @classmethod
    def pattern_to_regex(cls, pattern: AnyStr) -> tuple[AnyStr | None, bool | None]:
        try:
            regex, include = super().pattern_to_regex(pattern)
            if isinstance(regex, str):
                return (None, None) if set(regex) & set(_PARTS) else (re.compile(_atomic(regex)).pattern, include)
        except (ValueError, re.error):
            return None, None
        return regex, include


def _atomic(regex: str) -> str:
    """Return the expression without backtracking over more than its last wildcard.

    For a wildcard before another one, the first match of the part between them is as good as any later one.
    """
    for short, part in _PARTS.items():
        regex = regex.replace(part, short)
    regex = "/".join(map(_atomic_stars, regex.split("/")))
    *before, last = regex.replace("\4", "\0\4").split("\0")
    lazy = [part.replace("\3", "(?:.+?/)??").replace("\4", "(?:/.+?)??") for part in before]
    regex = "".join((*(f"(?>{part}(?=/))" for part in lazy), last))
    for short, part in _PARTS.items():
        regex = regex.replace(short, part)
    return f"(?s){regex}".replace("|$)", r"|\Z)")


def _atomic_stars(segment: str) -> str:
    first, *rest = segment.split("\1")
    if not rest:
        return first
    return "".join((first, *(f"(?>\1?{part})" for part in rest[:-1]), "\1", rest[-1]))
