"""Whether a response credits its source."""

import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_grounding.analyzer import GroundingAnalyzer
from ralph_grounding.ground_truth.pages import GroundTruth
from ralph_grounding.materials import AIResponse, Query
from ralph_grounding.scoring.attribution import AttributionScorer
from ralph_grounding.scoring.citations import cited
from ralph_grounding.settings import AttributionSettings, TierSettings

CASES = [
    json.loads(line) for line in (Path(__file__).parent / "cases" / "attribution.jsonl").read_text("utf-8").splitlines()
]
SCORER = AttributionScorer(AttributionSettings(), TierSettings())


# covers: S3-10, S3-50, S3-51, S3-52, S3-53, S3-54, S3-56, S3-57, S3-58, S3-59, S3-60, S3-61, S3-62, S3-63, S3-65, S3-66
# covers: S3-67, S3-68, S3-69, S3-70, S3-138, S3-139, S3-140, S3-141, S3-142, K3-7, K3-8, K3-8b, K3-19
def test_a_response_is_credited_by_the_rules(subtests: pytest.Subtests) -> None:
    for case in CASES:
        with subtests.test(case=case):
            scorer = AttributionScorer(AttributionSettings(**case.get("settings", {})), TierSettings())
            response = case["response"]
            result = scorer.score(
                response, case.get("domain", "example.com"), case.get("brands", ["Acme"]), case.get("known", ())
            )
            assert [[mention.type, mention.matched_text] for mention in result.mentions] == case["mentions"]
            assert result.score == case["score"]
            flags = {"U": result.has_url_citation, "D": result.has_domain_mention, "B": result.has_brand_mention}
            assert "".join(letter for letter, flag in flags.items() if flag) == case.get("flags", "")


def test_the_hand_written_cases_are_at_least_150_and_distinct() -> None:
    assert len(CASES) >= 150
    assert len({case["case"] for case in CASES}) == len(CASES)
    assert len({json.dumps({**case, "case": ""}, sort_keys=True) for case in CASES}) == len(CASES)


# covers: S3-71, S3-72
def test_a_mention_stands_at_its_position_with_the_words_around_it() -> None:
    before, after = "b" * 80 + " ", " " + "a" * 80
    (mention,) = SCORER.score(f"{before}example.com{after}", "example.com", []).mentions
    assert (mention.position.start, mention.position.end) == (81, 92)
    assert mention.context == "b" * 59 + " example.com " + "a" * 59


# covers: S3-55
def test_a_mention_tells_what_it_is_of() -> None:
    result = SCORER.score(
        "ACME: docs.example.com, https://www.example.com/docs/a/, example.com/new",
        "www.example.com",
        ["Acme"],
        ["https://example.com/docs/a"],
    )
    assert [mention.target for mention in result.mentions] == [
        "Acme",
        "example.com",
        "https://example.com/docs/a",
        "example.com",
    ]


@pytest.mark.parametrize(
    ("response", "implies"),
    [
        ("https://acme.com/a", ("domain", "brand")),
        ("https://example.acme.com", ("domain", "brand")),
        ("acme.com", ("brand",)),
        ("/acme/list", ("brand",)),
        ("/list/all", ()),
        ("Acme.com Pro", ("domain",)),
    ],
)
def test_a_mention_tells_what_else_it_names(response: str, implies: tuple[str, ...]) -> None:
    known = ["https://acme.com/acme/list", "https://acme.com/list/all"]
    (mention,) = SCORER.score(response, "acme.com", ["Acme", "Acme.com Pro"], known).mentions
    assert mention.implies == implies


# covers: S3-64
def test_the_score_has_its_tier() -> None:
    assert SCORER.score("https://example.com/a", "example.com", []).tier == "excellent"
    assert SCORER.score("example.com", "example.com", []).tier == "good"
    assert SCORER.score("Acme", "example.com", ["Acme"]).tier == "fair"
    assert SCORER.score("nobody", "example.com", ["Acme"]).tier == "poor"
    strict = AttributionScorer(AttributionSettings(), TierSettings(excellent=100, good=90, fair=80))
    assert strict.score("example.com", "example.com", []).tier == "poor"


def test_all_mentions_count_and_a_thousand_are_listed() -> None:
    scorer = AttributionScorer(AttributionSettings(brand_weight=0, multi_mention_bonus=0.05), TierSettings())
    result = scorer.score("Acme " * 1500, "", ["Acme"])
    assert len(result.mentions) == 1000
    assert result.score == pytest.approx(0.05 * 1499)


@pytest.mark.alone
def test_ten_thousand_brands_are_all_looked_for_in_little_time() -> None:
    brands = [f"Acme Model{number} Deluxe" for number in range(10_000)]
    response = "The Acme Model9999 Deluxe is one of Acme's. " + "Nothing more is to be said of it. " * 50
    assert [mention.target for mention in SCORER.score(response, "", brands).mentions] == ["Acme Model9999 Deluxe"]
    began = time.thread_time()
    SCORER.score(response, "", brands)
    assert time.thread_time() - began < 0.25


@pytest.mark.parametrize(("length", "score"), [(200, 50), (201, 0)])
def test_a_name_of_more_than_200_characters_is_no_brand(length: int, score: float) -> None:
    assert SCORER.score("a" * length, "", ["a" * length]).score == score


_PIECES = st.sampled_from(
    [
        "example.com", "www.", "docs.", "https://", "http://", "//", "/", "/docs/pricing", "docs/pricing", "?a=1", "#b",
        ":80", "@", "user", "Acme", "acme", "ACME Cloud", "'s", "not", "evil.io", ".", ",", " ", "\n", "(", ")", "[",
        "]", "<", ">", '"', "`", "*", "_", "-", "xn--", "xn--mnchen-3ya.de", "%2e", "%", "\\", "|", "云", "アクメ",
        "가람", "\u200b", "\u0301", "\u0435", "\u202e", "\ud800", "\x00", "．", "。", "，", "İ", "ß", "😀",
    ]
)  # fmt: skip
_HOSTILE = st.lists(_PIECES | st.text(max_size=3), max_size=25).map("".join)


@given(response=_HOSTILE, domain=_HOSTILE | st.just("example.com"), brand=_HOSTILE | st.just("Acme"))
def test_mentions_stand_where_they_say_and_never_overlap(response: str, domain: str, brand: str) -> None:
    known = ["https://example.com/docs/pricing", brand, domain]
    result = SCORER.score(response, domain, [brand, "Acme", "Acme Cloud", "アクメ"], known)
    end = 0
    for mention in result.mentions:
        assert mention.position.start >= end
        end = mention.position.end
        assert end > mention.position.start
        assert response[mention.position.start : end] == mention.matched_text
        assert mention.matched_text in mention.context
        assert len(mention.context) <= len(mention.matched_text) + 120
    assert (result.score > 0) == bool(result.mentions)
    kinds = {mention.type for mention in result.mentions}
    implied = {kind for mention in result.mentions for kind in mention.implies}
    assert result.has_url_citation == ("url" in kinds)
    assert result.has_domain_mention == ("domain" in kinds | implied)
    assert result.has_brand_mention == ("brand" in kinds | implied)


_HOST_LETTERS = st.text("abcdefghijklmnopqrstuvwxyz0123456789-", min_size=1, max_size=8)


@given(prefix=_HOST_LETTERS, suffix=_HOST_LETTERS)
def test_no_letter_beside_the_domain_leaves_it_the_domain(prefix: str, suffix: str) -> None:
    letter = f"x{prefix}x"
    for host in (f"{letter}example.com", f"{letter}-example.com", f"example.comx{suffix}", f"example.com.{letter}"):
        assert SCORER.score(f"see {host} now", "example.com", []).score == 0
        assert SCORER.score(f"see https://{host}/example now", "example.com", []).score == 0


@given(before=_HOSTILE, after=_HOSTILE)
def test_words_around_do_not_hide_a_citation(before: str, after: str) -> None:
    result = SCORER.score(f"{before} \n https://example.com/pricing \n {after}", "example.com", [])
    assert "https://example.com/pricing" in {mention.matched_text for mention in result.mentions}


@pytest.mark.parametrize(
    ("text", "credited"),
    [
        ("https://example.com!evil.io/x", False),
        ("https://example.com;evil.io/", False),
        ("https://example.com:80evil.io/", False),
        ("https://user@example.com$evil.io", False),
        ("https://example.com&evil.io?x", False),
        ("https://example.com=x", True),
        ("https://example.com!", True),
        ("https://example.com, and more", True),
    ],
)
def test_a_host_that_may_continue_behind_a_sign_is_not_the_one_that_it_begins_like(text: str, credited: bool) -> None:
    assert bool(SCORER.score(text, "example.com", []).mentions) == credited


_LONG = {
    "one letter": "a",
    "dots": ".",
    "labels": "a.",
    "hosts": "example.com.",
    "domains": "example.com ",
    "citations": "https://example.com/a ",
    "addresses in addresses": "https://",
    "addresses with brackets": "https://example.com/a)",
    "open brackets": "https://example.com/(",
    "path": "/a",
    "known paths": "/docs/pricing",
    "users": "a@",
    "mailboxes": "a+",
    "passwords": "a:",
    "passwords and users": "a.b:c@",
    "brands": "Acme ",
    "brands with nothing between": "Acme",
    "half of a brand": "Acme  ",
    "Punycode": "xn--a",
    "Punycode labels": "xn--a.",
    "percent signs": "%2e",
    "a host of percent signs": "https://%2e%2e",
    "Chinese": "云",
    "Chinese hosts": "云.a",
    "invisible letters": "\u200b",
    "accents": "\u0301",
    "surrogates": "\ud800.a",
    "dotted capitals": "İ",
    "NULs": "\x00",
    "commas": "https://example.com,",
    "trailing": "https://example.com/a....",
    "underscores": "_Acme_",
    "hyphens": "a-",
    "hyphened domains": "example.com-",
    "East Asian full stops": "a。b.",
    "full-width full stops": "a．",
    "East Asian full stops in addresses": "https://a。b。",
}


def _seconds(piece: str, size: int) -> float:
    response = (piece * (size // len(piece) + 1))[:size]
    began = time.thread_time()
    SCORER.score(response, "example.com", ["Acme", "Acme Cloud", "云"], ["https://example.com/docs/pricing"])
    return time.thread_time() - began


@pytest.mark.alone
def test_time_grows_with_the_length(subtests: pytest.Subtests) -> None:
    for piece in _LONG.values():
        with subtests.test(piece=piece):
            small = max(0.005, min(_seconds(piece, 4_000) for _ in range(3)))
            assert min(_seconds(piece, 40_000) for _ in range(2)) < 10 * small * 4


@pytest.mark.alone
@pytest.mark.parametrize("name", ["one letter", "dots", "known paths", "addresses in addresses"])
def test_ten_megabytes_in_one_line_are_read(name: str) -> None:
    assert _seconds(_LONG[name], 10_000_000) < 40


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (("https://a.example/x", {"url": "https://b.example"}), ("https://a.example/x", "https://b.example")),
        (({"title": "no address"}, 3, None, ["x"]), ()),
        (({"source": {"url": "deep"}, "link": "https://c.example"},), ("https://c.example",)),
        (("a\nb",), ("a b",)),
    ],
)
def test_citations_are_read_in_any_usual_form(given: tuple[object, ...], found: tuple[str, ...]) -> None:
    assert cited(given, {}) == found
    assert cited((), {"citations": list(given)}) == found
    assert cited((), {"citations": "nothing usable"}) == ()


async def test_a_source_that_is_cited_beside_the_answer_counts() -> None:
    query = Query(id="q", text="When?", domain="lantern.example")
    answers = [
        AIResponse(query_id="q", response="At nine.", citations=("https://lantern.example/visit",)),
        AIResponse(
            query_id="q", response="At nine.", metadata={"citations": [{"url": "https://lantern.example/visit"}]}
        ),
        AIResponse(query_id="q", response="At nine."),
    ]
    async with GroundingAnalyzer() as analyzer:
        beside, within, none = [await analyzer.analyze(one, query, GroundTruth()) for one in answers]
    assert beside.scores.attribution
    assert beside.scores == within.scores
    assert beside.scores.attribution.has_url_citation
    (mention,) = beside.scores.attribution.mentions
    assert (mention.position.start, mention.position.end, mention.context) == (8, 8, "cited beside the answer")
    assert beside.response == "At nine."
    assert beside.metadata["citations"] == ["https://lantern.example/visit"]
    assert none.scores.attribution
    assert none.scores.attribution.score == 0
