"""Paths that do not count as work: caches, dependencies, Ralph's own folder."""

import re
from collections.abc import Callable, Collection, Iterable

__all__ = ["NOISE", "Noise", "glob_matcher"]

NOISE = (
    ".ralph",
    ".git/",
    "__pycache__/",
    "*.pyc",
    ".pytest_cache/",
    ".mypy_cache/",
    ".ruff_cache/",
    ".hypothesis/",
    ".coverage",
    ".tox/",
    ".nox/",
    ".venv/",
    "venv/",
    "node_modules/",
    ".gradle/",
    ".DS_Store",
    "Thumbs.db",
    "*.swp",
    "*~",
)
"""The globs that are always ignored. Git's own folder is included for broken repositories."""


class Noise:
    """A predicate on paths: true for those to ignore.

    Args:
        globs: in addition to `NOISE`. `*` and `?` stop at a slash, `**` does not. A glob that ends in a slash matches
            folders and everything in them. One with an earlier slash matches from the workspace on, others at any
            depth.
        paths: exact paths to ignore, relative to the workspace; read anew at each call.
    """

    def __init__(self, globs: Iterable[str] = (), paths: Collection[str] = ()) -> None:
        self._matches = glob_matcher((*NOISE, *globs))
        self._paths = paths

    def __call__(self, path: str) -> bool:
        """Return whether to ignore a path, relative to the workspace; a folder's ends in a slash."""
        return path in self._paths or self._matches(path)


def glob_matcher(globs: Iterable[str]) -> Callable[[str], bool]:
    """Return a function that says whether a path matches one of the globs, as in `Noise`. At least one is required."""
    meant = [glob for glob in globs if glob.strip("/")]
    kinds = (
        ("^", [_expression(glob) for glob in meant if _from_the_top(glob)]),
        ("(?:^|/)", [_expression(glob) for glob in meant if not _from_the_top(glob)]),
    )
    # What they have in common stands in front: each place of a path is looked at once, not once for each glob.
    pattern = re.compile("|".join(f"{start}(?:{'|'.join(kind)})" for start, kind in kinds if kind), re.DOTALL)
    return lambda path: pattern.search(path) is not None


def _from_the_top(glob: str) -> bool:
    return "/" in glob.rstrip("/")


def _expression(glob: str) -> str:
    """Return a glob's regular expression, to be matched from the beginning of a name.

    It never backtracks over a wildcard: the first match of the part behind it is as good as any later one. So no glob
    is slow, whatever the path.
    """
    end = "/" if glob.endswith("/") else r"(?:/|\Z)"
    *first, last = glob.strip("/").split("**")
    if not first:
        return f"{_between_stars(last)}{end}"
    before, *rest = map(_between_stars, first)
    return f"{before}{''.join(f'(?>.*?{part})' for part in rest)}.*?{_between_stars(last)}{end}"


def _between_stars(part: str) -> str:
    """Return the expression of a part of a glob without `**`."""
    first, *rest = (re.escape(text).replace(r"\?", "[^/]") for text in part.split("*"))
    if not rest:
        return first
    *inner, last = rest
    return f"{first}{''.join(f'(?>[^/]*?{text})' for text in inner)}[^/]*?{last}"
