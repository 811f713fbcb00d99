"""Which words say nearly the same, and which say the contrary."""

from functools import lru_cache
from importlib import resources

from ralph_grounding.text.stems import stem

__all__ = ["opposites", "synonyms"]


def synonyms(root: str, language: str) -> tuple[str, ...]:
    """The stems of words that may stand for this one, itself among them; none for a word that is not listed.

    English has a list; a claim in another language is held against its own words alone.
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
    """The stems of words that say the contrary of this one, in the languages that have a list."""
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
