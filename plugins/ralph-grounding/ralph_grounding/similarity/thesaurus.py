"""Words with nearly the same meaning, and with opposite meanings."""

from functools import lru_cache
from importlib import resources

from ralph_grounding.text.language import stem

__all__ = ["opposites", "synonyms"]


def synonyms(root: str, language: str) -> tuple[str, ...]:
    """Return the stems of words that may replace this one, including itself; none for an unlisted word.

    English has a list; in other languages a claim is compared by its own words alone.
    """
    return _groups().get(root, ()) if language == "en" else ()


@lru_cache(maxsize=1)
def _groups() -> dict[str, tuple[str, ...]]:
    related: dict[str, set[str]] = {}
    for line in _lines("english_words.txt"):
        group = {stem(word, "en") for word in line.split()}
        for root in group:
            related.setdefault(root, set()).update(group)
    return {root: tuple(sorted(group)) for root, group in related.items()}


def opposites(root: str, language: str) -> tuple[str, ...]:
    """Return the stems of words with the opposite meaning, in the languages that have a list."""
    return _contraries().get((root, language), ())


@lru_cache(maxsize=1)
def _contraries() -> dict[tuple[str, str], tuple[str, ...]]:
    contraries: dict[tuple[str, str], set[str]] = {}
    language = ""
    for line in _lines("opposites.txt"):
        if line.startswith("["):
            language = line.strip("[]")
            continue
        left, right = ({stem(word.lower(), language) for word in side.split()} for side in line.split("|"))
        for ones, others in ((left, right), (right, left)):
            for root in ones:
                contraries.setdefault((root, language), set()).update(others)
    return {root: tuple(sorted(others)) for root, others in contraries.items()}


def _lines(name: str) -> list[str]:
    written = resources.files("ralph_grounding.similarity").joinpath(name).read_text("utf-8")
    return [line for line in written.splitlines() if line and not line.startswith("#")]
