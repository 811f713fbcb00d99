"""Where a statement goes against a claim, and where it only seems to."""

from time import thread_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ralph_grounding.similarity.conflicts import find_conflicts
from ralph_grounding.similarity.lexical import LexicalProvider

AGAINST = [
    ("The plan includes 500 projects.", "The plan includes 50 projects.", "number"),
    ("The trial lasts thirty days.", "The trial lasts 14 days.", "number"),
    ("It costs $20 per month.", "It costs $25 per month.", "number"),
    ("The limit is 1.5 million requests.", "The limit is 2 million requests.", "number"),
    ("Python 3.11 is required.", "Python 3.9 is required.", "number"),
    ("The bridge is 300 metres long and was built by Anna Weber.", "Anna Weber's bridge is 200 metres long.", "number"),
    ("该计划包含500个项目。", "该计划包含50个项目。", "number"),
    ("Acme was founded in 2015.", "Acme was founded in 2018 by two friends.", "date"),
    ("The office opens on Monday.", "The office opens on Tuesday.", "date"),
    ("The release came on 2026-01-30.", "The release came on 2026-02-28.", "date"),
    ("The release came on 30 January 2026.", "The release came on January 31, 2026.", "date"),
    ("The event takes place on May 5, 2024.", "The event will take place on the 15th of May 2024.", "date"),
    ("The first release was in May 2020.", "The first release was in June 2020.", "date"),
    ("The tool supports plugins.", "The tool does not support plugins.", "negation"),
    ("The tool supports plugins.", "The tool doesn't support plugins.", "negation"),
    ("The tool supports plugins.", "Plugins are not supported by the tool.", "negation"),
    ("The tool supports plugins.", "The tool no longer supports plugins.", "negation"),
    ("The tool supports plugins.", "Plugins are not currently supported by the tool.", "negation"),
    ("The tool does not support plugins.", "The tool supports plugins.", "negation"),
    ("The service stores passwords.", "The service never stores passwords.", "negation"),
    ("Accounts can be deleted without approval.", "Accounts cannot be deleted without approval.", "negation"),
    ("It runs on Linux and macOS, and does not support Windows.", "It also runs on Windows!", "negation"),
    ("It runs on Windows.", "It runs on Linux and macOS, and does not support Windows.", "negation"),
    ("The shop ships to France. It does not ship to Italy or Malta.", "The shop delivers to Malta.", "negation"),
    ("The plan includes SSO.", "The plan comes with chat but has no SSO.", "negation"),
    ("Das Werkzeug unterstützt Plugins.", "Das Werkzeug unterstützt keine Plugins.", "negation"),
    ("L'outil fonctionne sous Windows.", "L'outil ne fonctionne pas sous Windows.", "negation"),
    ("La herramienta funciona en Windows.", "La herramienta no funciona en Windows.", "negation"),
    ("该工具支持插件。", "该工具不支持插件。", "negation"),
    ("Acme Cloud supports single sign-on.", "Acme Cloud lacks support for single sign-on.", "negation"),
    ("Acme Cloud supports single sign-on.", "There is no single sign-on in Acme Cloud.", "negation"),
    ("La empresa no ofrece reembolsos.", "La empresa ofrece reembolsos.", "negation"),
    ("この製品は防水です。", "この製品は防水ではありません。", "negation"),
    ("이 제품은 방수입니다.", "이 제품은 방수가 아닙니다.", "negation"),
    ("Der Umsatz stieg 2023.", "Der Umsatz sank 2023.", "antonym"),
    ("La température augmente la nuit.", "La température baisse la nuit.", "antonym"),
    ("Sales increased in 2023.", "In 2023 there was a decrease in sales.", "antonym"),
    ("Revenue increased last year.", "Revenue decreased last year.", "antonym"),
    ("Revenue rose by 5% in March.", "Revenue fell by 5% in March.", "antonym"),
    ("The library is available on Windows.", "The library is unavailable on Windows.", "antonym"),
    ("Backups are enabled by default.", "Backups are disabled by default.", "antonym"),
    ("Delivery is included in the price.", "Delivery is excluded from the price.", "antonym"),
    ("The export runs before the import.", "The export runs after the import.", "antonym"),
    ("A licence is required.", "A licence is optional.", "antonym"),
    ("The headquarters are in Paris.", "The company's headquarters are in Berlin.", "entity"),
    ("Berlin is the capital of Germany.", "Munich is the capital of Germany.", "entity"),
    ("The store ships to Canada.", "The store ships to Mexico.", "entity"),
    ("The battery lasts 12 hours.", "The battery lasts 12 days.", "number"),
    ("The plan costs $12 per month.", "The plan costs $12 a year.", "number"),
    ("The price is 20 euros.", "The price is $20.", "number"),
    ("The tower is 300 m high.", "The tower is 300 ft high.", "number"),
    ("Check-in starts at 3 pm.", "Check-in starts at 3 a.m.", "number"),
    ("Die Rückgabe ist 30 Tage lang möglich.", "Die Rückgabe ist 30 Wochen lang möglich.", "number"),
    ("Delivery takes 3 to 5 days.", "Delivery takes 5 to 7 days.", "number"),
    ("The shop is open from 9 to 17.", "The shop is open from 10–18.", "number"),
    ("Adults pay 12 euros and children pay 6 euros.", "Adults pay 6 euros, and children pay 12 euros.", "number"),
    ("Adults pay 12 and children 6.", "At the door adults pay 6, and children 12.", "number"),
    ("Vitamin D is good for the bones.", "Vitamin C is good for the bones.", "entity"),
    ("Plan A costs 9 euros.", "Plan B costs 9 euros.", "entity"),
    ("The tool is written in C.", "The tool is written in C++.", "entity"),
    ("The tool is written in C++.", "The tool is written in C#.", "entity"),
    ("The S series has a camera.", "The X series has a camera.", "entity"),
    ("It ended World War I.", "It ended World War II.", "entity"),
    ("The train leaves from gate B12.", "The train leaves from gate B13.", "entity"),
    ("Das Vitamin D hilft den Knochen.", "Das Vitamin C hilft den Knochen.", "entity"),
]  # fmt: skip

IN_LINE = [
    ("The plan includes 500 projects.", "The plan includes 500 projects and 3 users."),
    ("The limit is 1.5 million requests.", "The limit is 1,500,000 requests."),
    ("The trial lasts 30 days.", "The trial lasts thirty days."),
    ("The tower is 300 metres high.", "The tower is almost 301 metres high."),
    ("Acme was founded in 2015.", "Founded in 2015, Acme opened a second office in 2018."),
    ("The release came on 30 January 2026.", "The release came on 2026-01-30."),
    ("The release came in January.", "The release came on January 30, 2026."),
    ("The tool supports plugins.", "The tool not only supports plugins but also themes."),
    ("The tool supports plugins.", "Plugins are supported. The tool does not support themes."),
    ("The tool supports plugins.", "Does the tool not support plugins?"),
    ("The service never stores passwords.", "Passwords are not stored by the service."),
    ("The service does not store passwords.", "The service stores no passwords."),
    ("Revenue increased last year.", "Revenue increased last year, after a decrease in 2019."),
    ("The library is unavailable on Windows.", "The library is not available on Windows."),
    ("The feature is enabled.", "The feature is not disabled."),
    ("Users can export data.", "Users can import and export data."),
    ("The API is free.", "The API is free, but support is paid."),
    ("The headquarters are in Paris.", "The headquarters are in Paris, and the factory is in Berlin."),
    ("The plan includes 500 projects.", "The zoo has 50 animals."),
    ("It runs on Linux, and does not support Windows.", "Windows is not supported."),
    ("It runs on Linux, and does not support Windows.", "It runs on Linux, except Windows."),
    ("It runs anywhere and does not require Windows.", "It runs on Windows."),
    ("It runs on Linux, and does not support Windows in the free plan.", "It runs on Windows."),
    ("It runs on Linux, and does not support Windows Phone.", "It runs on Windows."),
    ("It is cheap, but not as quick as Windows.", "It is cheap on Windows."),
    ("The plan costs $12 per month.", "The plan costs 12 dollars a month."),
    ("The battery lasts 12 hours.", "The battery lasts 12 h and 12 minutes."),
    ("Delivery takes 3 to 5 days.", "Delivery takes 3–5 days."),
    ("Delivery takes 3 to 5 days.", "Delivery takes from three to five days."),
    ("Adults pay 12 and children 6.", "Children pay 6 and adults 12."),
    ("It is sold in sizes 9, 12 and 15.", "It is sold in sizes 12, 15 and 9."),
    ("The ride takes 2 hours.", "The ride takes 120 minutes."),
    ("Check-in starts at 3 pm.", "Check-in starts at 3 p.m. on all days."),
    ("Plan A costs 9 euros.", "Plan A costs 9 euros, and plan B costs 19."),
    ("Plan B costs 9 euros.", "I think that plan B costs 9 euros."),
    ("Vitamin D is good for the bones.", "A vitamin is good for the bones."),
    ("A tool that I know supports plugins.", "The tool supports plugins."),
]


# covers: S3-180, K3-20
async def test_a_contradiction_is_seen_and_the_claim_is_not_found(subtests: pytest.Subtests) -> None:
    for claim, said, kind in AGAINST:
        with subtests.test(claim=claim):
            before, after = "Zut. ", " 12:00."
            response = f"{before}{said}{after}"
            (support,) = await LexicalProvider().supports([claim], response)

            assert kind in {conflict.kind for conflict in find_conflicts(claim, said)}
            assert support.conflicts
            assert support.similarity.value <= 0.75
            for conflict in support.conflicts:
                assert response[conflict.position.start : conflict.position.end] == conflict.said
                assert conflict.expected in claim


def test_what_only_seems_to_contradict_does_not(subtests: pytest.Subtests) -> None:
    for claim, said in IN_LINE:
        with subtests.test(claim=claim):
            assert find_conflicts(claim, said) == ()


def test_nothing_goes_against_itself(subtests: pytest.Subtests) -> None:
    for claim, said, _kind in AGAINST:
        with subtests.test(claim=claim):
            assert find_conflicts(claim, claim) == ()
            assert find_conflicts(said, said) == ()


def test_a_conflict_says_what_is_expected_and_what_stands_there() -> None:
    (conflict,) = find_conflicts("The plan includes 500 projects.", "The plan includes 50 projects.", 100)

    assert (conflict.kind, conflict.expected, conflict.said) == ("number", "500", "50")
    assert (conflict.position.start, conflict.position.end) == (118, 120)


def test_a_negation_is_shown_with_what_it_negates() -> None:
    (conflict,) = find_conflicts("The tool supports plugins.", "The tool does not support plugins.")

    assert (conflict.expected, conflict.said) == ("supports", "not support")


WORDS = (
    "the tool not supports no never 5 50 2015 may May 31 Monday in on $ % 1e9 1.1.1 2026-13-99 Paris before after "
    "不支持 支持 n't , . ? increase decrease \ud800 \x00 9999999999999999999999999999999999999999"
)
SENTENCES = st.lists(st.sampled_from(WORDS.split()), max_size=20).map(" ".join)


@settings(deadline=None)
@given(SENTENCES, SENTENCES, st.integers(0, 100))
def test_whatever_is_said_positions_are_those_of_the_words(claim: str, said: str, start: int) -> None:
    for conflict in find_conflicts(claim, said, start):
        assert said[conflict.position.start - start : conflict.position.end - start] == conflict.said
        assert conflict.expected in claim


@settings(deadline=None)
@given(st.text(max_size=80), st.text(max_size=80))
def test_any_text_will_do(claim: str, said: str) -> None:
    find_conflicts(claim, said)


HOSTILE = [
    ("in at Ab ", "in at Cd "),
    ("the 5 cats ", "the 6 cats "),
    ("not a cat ", "a cat "),
    ("on May 5 ", "on June 6 "),
    ("increase x ", "decrease x "),
    ("for 5 days ", "for 5 weeks "),
    ("plan D ", "plan C D a plan E "),
    ("不支持插", "支持插件"),
    ("a" * 4_000, "b" * 4_000),
]


@pytest.mark.alone
@pytest.mark.parametrize(("claim", "said"), HOSTILE)
def test_hostile_statements_are_done_with_soon(claim: str, said: str) -> None:
    began = thread_time()
    found = find_conflicts(claim * 500, said * 100_000)

    assert thread_time() - began < 5
    assert len(found) <= 20
