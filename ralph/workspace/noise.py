"""Paths that say nothing of an agent's work: caches, dependencies, Ralph's own folder."""

import re
from collections.abc import Callable, Iterable

__all__ = ["NOISE", "Noise", "matching"]

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
    """

    def __init__(self, globs: Iterable[str] = ()) -> None:
        self._matches = matching((*NOISE, *globs))

    def __call__(self, path: str) -> bool:
        """Whether to pass over a path, relative to the workspace; a folder's ends in a slash."""
        return self._matches(path)


def matching(globs: Iterable[str]) -> Callable[[str], bool]:
    """Says of a path whether one of the globs means it, as `Noise` describes them; there must be one."""
    pattern = re.compile("|".join(_expression(glob) for glob in globs if glob.strip("/")))
    return lambda path: pattern.search(path) is not None


def _expression(glob: str) -> str:
    body = glob.strip("/")
    start = "^" if "/" in glob.rstrip("/") else "(?:^|/)"
    parts = (_WILD.get(part) or re.escape(part) for part in re.split(r"(\*\*|\*|\?)", body))
    return f"{start}{''.join(parts)}{'/' if glob.endswith('/') else '(?:/|$)'}"


_WILD = {"**": ".*", "*": "[^/]*", "?": "[^/]"}
