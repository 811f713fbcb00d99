"""Paths that say nothing of an agent's work: caches, dependencies, Ralph's own folder."""

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
"""What is always passed over. Git's own folder is here for what is no repository of ours, such as a broken one."""


class Noise:
    """Says of a path whether it is passed over.

    Args:
        globs: in addition to `NOISE`. `*` and `?` stop at a slash, `**` does not. A glob that ends in a slash means
            folders and all that is in them; one with a slash before that is meant from the workspace on, the others
            at any depth.
        paths: files to be passed over, relative to the workspace, by their very names; looked at anew each time.
    """

    def __init__(self, globs: Iterable[str] = (), paths: Collection[str] = ()) -> None:
        self._matches = glob_matcher((*NOISE, *globs))
        self._paths = paths

    def __call__(self, path: str) -> bool:
        """Whether to pass over a path, relative to the workspace; a folder's ends in a slash."""
        return path in self._paths or self._matches(path)


def glob_matcher(globs: Iterable[str]) -> Callable[[str], bool]:
    """Says of a path whether one of the globs means it, as `Noise` describes them; there must be one."""
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
    """The regular expression of a glob, from where a name begins. It takes no wildcard back: the first place where
    there is what follows one, up to the next, does as well as any later place. So no glob takes long, whatever
    the path.
    """
    end = "/" if glob.endswith("/") else r"(?:/|\Z)"
    *first, last = glob.strip("/").split("**")
    if not first:
        return f"{_between_stars(last)}{end}"
    before, *rest = map(_between_stars, first)
    return f"{before}{''.join(f'(?>.*?{part})' for part in rest)}.*?{_between_stars(last)}{end}"


def _between_stars(part: str) -> str:
    """The expression of a part of a glob without `**`."""
    first, *rest = (re.escape(text).replace(r"\?", "[^/]") for text in part.split("*"))
    if not rest:
        return first
    *inner, last = rest
    return f"{first}{''.join(f'(?>[^/]*?{text})' for text in inner)}[^/]*?{last}"
