import pytest

from ralph.analysis import Keyword
from ralph.analysis.scope import Scope
from ralph.analysis.text import read
from ralph.analysis.vocabulary import Hit, Vocabulary

WORDS = Vocabulary((Keyword(text="shipped"), Keyword(text="sent")), ("en",))


def scope_of(text: str) -> tuple[Scope, list[Hit]]:
    reading = read(text)
    scope = Scope(reading, WORDS.find(reading.prose))
    return scope, [hit for hit in scope.of("keyword") if hit.name in {"shipped", "sent"}]


@pytest.mark.parametrize(
    ("text", "negated"),
    [
        ("it is not shipped", True),
        ("it is not quite what I had shipped", False),
        ("not this, it shipped", False),
        ("not it. shipped", False),
        ("not but shipped", False),
        ("it shipped, not sent", False),
    ],
)
def test_a_negation_reaches_a_few_words_of_its_clause(text: str, negated: bool) -> None:
    scope, hits = scope_of(text)

    assert bool(scope.negated(hits[0])) is negated


def test_a_word_is_looked_for_before_and_behind_another() -> None:
    scope, (first, second) = scope_of("we shipped it and sent it")

    assert scope.after("keyword", first, 3) == second
    assert scope.before("keyword", second, 3) == first
    assert scope.before("keyword", first, 3) is None
    assert scope.after("keyword", second, 3) is None
    assert scope.before("keyword", second, 1) is None


@pytest.mark.parametrize(
    ("text", "taken_back"),
    [
        ("It shipped but is broken.", True),
        ("It shipped. However, it is broken.", True),
        ("It shipped. It works, however small.", False),
        ("It shipped.", False),
    ],
)
def test_a_word_is_taken_back_by_its_sentence_or_by_how_the_next_begins(text: str, taken_back: bool) -> None:
    scope, hits = scope_of(text)

    assert bool(scope.taken_back(hits[0])) is taken_back


def test_a_role_that_nobody_plays_is_found_nowhere() -> None:
    scope, hits = scope_of("shipped")

    assert scope.of("blocked") == ()
    assert not scope.within("blocked", (0, 7))
    assert scope.before("blocked", hits[0], 5) is None
    assert scope.after("blocked", hits[0], 5) is None
