"""The cases of every language: replies of each state, as `languages/CODE.toml` lists them."""

import tomllib
from functools import cache
from pathlib import Path
from typing import get_args

import pytest

from ralph.analysis import ResponseAnalyzer, analyze_text
from ralph.analysis.detectors.wording import KINDS
from ralph.analysis.lexicon import LEXICONS, Keyword, Role, forms, keywords, lexicon, words

FOLDER = Path(__file__).parent / "languages"
BY_WORDS = ("done", "progress", "blocked", "question")


@cache
def cases(language: str) -> dict[str, list[str]]:
    return tomllib.loads((FOLDER / f"{language}.toml").read_text(encoding="utf-8"))


def every_case() -> list[tuple[str, str, str]]:
    return [
        (language, state, text)
        for language in sorted(LEXICONS)
        if (FOLDER / f"{language}.toml").exists()
        for state, texts in cases(language).items()
        for text in texts
    ]


# covers: S4-55, S4-56
def test_a_reply_has_its_state_in_every_language(subtests: pytest.Subtests) -> None:
    for language, state, text in every_case():
        with subtests.test(language=language):
            assert analyze_text(text).state == state


@pytest.mark.parametrize("language", sorted(LEXICONS))
def test_a_language_is_read_and_has_cases_of_each_state_that_words_decide(language: str) -> None:
    assert language in LEXICONS
    assert [state for state in BY_WORDS if len(cases(language)[state]) < 2] == [], "states with too few cases"


@pytest.mark.parametrize("language", sorted(LEXICONS))
def test_its_words_are_what_finds_the_states(language: str) -> None:
    others = ResponseAnalyzer(languages=[other for other in LEXICONS if other != language])
    for state in ("done", "blocked"):
        assert any(signals(text) - signals(text, others) for text in cases(language)[state])


def signals(text: str, analyzer: ResponseAnalyzer | None = None) -> set[str]:
    """The kinds of evidence in a text, without what the learned words say."""
    return {each.signal for each in analyze_text(text, analyzer=analyzer).evidence} - KINDS


@pytest.mark.parametrize("language", sorted(LEXICONS))
def test_its_words_play_known_parts(language: str) -> None:
    found = lexicon(language)

    assert {*found.words, *found.claims} <= set(get_args(Role))


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ("open | still to do", ("open", "still to do")),
        ("\n    open | left |\n    to do\n", ("open", "left", "to do")),
        ("(is|are) (not|never) done", ("is not done", "is never done", "are not done", "are never done")),
        ("(|i'm) still here", ("still here", "i'm still here")),
        ("已(完成|解決)", ("已完成", "已解決")),
        ("no (open (task|box)|\n    more) left", ("no open task left", "no open box left", "no more left")),
        ('open | "error (429)" | "a|b"', ("open", "error (429)", "a|b")),
        ("", ()),
    ],
)
def test_a_table_of_phrases_is_expanded(table: str, expected: tuple[str, ...]) -> None:
    assert forms(table) == expected
    assert words(f"left: {table}").get("left") == {phrase: (phrase,) for phrase in expected}


def test_a_table_of_words_has_entries_of_a_part_or_of_one_name() -> None:
    tables = ("\nleft: open\n    to do:\nfault/not found: lost (|it)\n", "left: later\nfault: a bug")

    assert words(*tables) == {
        "left": {"open": ("open",), "to do:": ("to do:",), "later": ("later",)},
        "fault": {"not found": ("lost", "lost it"), "a bug": ("a bug",)},
    }


def test_phrases_are_found_in_another_spelling_too() -> None:
    simplified = str.maketrans("沒還後", "没还后")
    assert words("negation: 沒有|不\nleft/left: 還沒", spelling=simplified) == {
        "negation": {"沒有": ("沒有",), "不": ("不",), "没有": ("没有",)},
        "left": {"left": ("還沒", "还没")},
    }
    (word,) = keywords("zh", "done/完成後: 做完", simplified)
    assert (word.text, word.forms) == ("完成後", ("做完", "完成后"))


@pytest.mark.parametrize("text", ["我無法繼續，需要資料庫的權限。", "我无法继续，需要数据库的权限。"])
def test_chinese_is_read_in_both_spellings(text: str) -> None:
    assert analyze_text(text).state == "blocked"


def test_a_table_of_keywords_has_an_entry_of_a_group_for_each() -> None:
    assert keywords(
        "fr", "\ndone/fini:\nenough/tout passe: (tout|tous) passe\nno_more_work/rien à faire: plus rien\n"
    ) == (
        Keyword(text="fini", language="fr", group="done"),
        Keyword(text="tout passe", language="fr", weight="very_high", forms=("tout passe", "tous passe"), points=0),
        Keyword(text="rien à faire", language="fr", forms=("plus rien",), group="no_more_work", points=15),
    )
