"""English headings that tell how to do something: "Install from PyPI", "Return an item", "How to pay"."""

import re

from ralph_grounding.ground_truth.claims import ORDERS
from ralph_grounding.text.function_words import FUNCTION_WORDS

__all__ = ["task_of"]

_HOW_TO = re.compile(r"^how to ", re.IGNORECASE)
_LEANS = re.compile(r"\b(?:us|our|we|me|i|(?:it|your own)$)\b", re.IGNORECASE)
_OBJECTS = frozenset({"a", "an", "the", "your", "another"})
_WAYS = frozenset({"with", "from", "to", "in", "on", "into", "by", "for", "without", "up", "out", "back", "it", "all"})
_NOUNS_WORDS = (
    "build call change contact copy download export import increase launch leave log look mark measure move name note "
    "open order press prefer read register request reset restart retry return review run schedule scan search set "
    "share shop sign start stop switch talk tap treat turn type update upgrade use view visit watch"
)
_NOUNS = frozenset(_NOUNS_WORDS.split())
"""Imperatives that may also be a noun before another one, as in "return policy"."""
_PREPOSITIONS = frozenset({"inside", "behind", "beyond", "within", "across", "along", "around", "unlike", "outside"})
_NO_VERBS = FUNCTION_WORDS["en"] | _PREPOSITIONS
_OF_THE_WHOLE = frozenset({"install", "configure", "deploy", "uninstall", "update", "upgrade"})


def task_of(heading: str, brand: str) -> str:
    """Return the task of a heading, such as "return an item"; empty if it has none.

    Args:
        heading: the heading.
        brand: the object of "Install" by itself; empty for none.
    """
    if brand and heading.lower() in _OF_THE_WHOLE:
        return f"{heading.lower()} {brand}"
    task = _HOW_TO.sub("", heading)
    if task == heading and not _is_order(*task.lower().split(" ")[:2]):
        return ""
    return "" if _LEANS.search(task) else task[:1].lower() + task[1:]


def _is_order(verb: str, following: str = "") -> bool:
    if following in _OBJECTS:
        return verb.isalpha() and verb not in _NO_VERBS and not verb.endswith(("s", "ing"))
    return verb in ORDERS and (following in _WAYS or (following != "" and verb not in _NOUNS))
