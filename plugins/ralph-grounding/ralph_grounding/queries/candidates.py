"""Possible questions about the ground truth: from FAQs, definitions, products and headings."""

import re
from collections.abc import Iterator, Sequence
from itertools import combinations, islice
from typing import NamedTuple

from ralph_grounding.ground_truth.claims import ORDERS
from ralph_grounding.ground_truth.entities import aliases_of
from ralph_grounding.ground_truth.pages import Chunk, GroundTruth, Page, SourceClaim
from ralph_grounding.materials import QueryKind
from ralph_grounding.queries.wordings import Form, Language, kind_of_heading, language_of, stems_of
from ralph_grounding.text.sentences import sentences
from ralph_grounding.text.words import FUNCTION_WORDS

__all__ = ["Candidate", "candidates_of", "on_topics", "task_of"]

_HOW_TO = re.compile(r"^how to ", re.IGNORECASE)
_NO_TASK = re.compile(r"\b(?:us|our|we|me|i|(?:it|your own)$)\b", re.IGNORECASE)
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
    return "" if _NO_TASK.search(task) else task[:1].lower() + task[1:]


def _is_order(verb: str, following: str = "") -> bool:
    if following in _OBJECTS:
        return verb.isalpha() and verb not in _NO_VERBS and not verb.endswith(("s", "ing"))
    return verb in ORDERS and (following in _WAYS or (following != "" and verb not in _NOUNS))


_MOST = 3_000
_MOST_PRODUCTS = 8
_ANSWER = 1_200
_ASKS = re.compile(r"[?？؟]\s*$")
_LENGTHS = range(2, 121)
_NUMBERING = re.compile(r"^(?:\d{1,3}(?:\.\d{1,3}){0,3}[.)]|\d{1,3}(?:\.\d{1,3}){1,3}|0\d{1,4})\s+(?=[^\W\d_])")
_ASKS_WIDE = re.compile("如何|怎么|怎樣|怎样|为什么|為什麼|什么是|什麼是")
_SITE_NAME = re.compile(r"\s[|–—·»:-]\s.*", re.DOTALL)
_ABOUT = re.compile(r"^about\s+(?=\w)", re.IGNORECASE)
_CLAUSE = re.compile(r"(?:how|what|why|when|where|who|which)\b", re.IGNORECASE)
_LEANS = re.compile(r"\b(?:it|its|this|that|these|those|they|them|you|your|we|our|us|i|my|me)\b", re.IGNORECASE)
_Told = tuple[Page, SourceClaim]


class Candidate(NamedTuple):
    """A possible question.

    Attributes:
        wordings: the question, then its variations.
        answer: the ground truth's answer.
        depth: the number of headings above it, its own included.
        wanted: the user requested its topic.
    """

    wordings: tuple[str, ...]
    kind: QueryKind
    topic: str
    answer: str
    claims: tuple[SourceClaim, ...]
    pages: tuple[Page, ...]
    depth: int = 1
    wanted: bool = False


def candidates_of(ground_truth: GroundTruth) -> list[Candidate]:
    """Collect all questions, in the order of the pages, at most 3,000; each has a claim to find in its answer."""
    brand = _brand(ground_truth)
    found = (each for page in ground_truth.pages for each in _of_page(page, brand))
    return list(islice((each for each in (*_of_products(ground_truth), *islice(found, _MOST)) if each.claims), _MOST))


def on_topics(topics: Sequence[str], ground_truth: GroundTruth) -> list[Candidate]:
    """Collect the questions about requested topics, each with the claims that contain all words of the topic."""
    if not topics:
        return []
    language = ground_truth.pages[0].language
    told = [(page, claim, stems_of(claim.statement, language)) for page in ground_truth.pages for claim in page.claims]
    found: list[Candidate] = []
    for topic in (" ".join(topic.split())[:200] for topic in topics):
        if stems := stems_of(topic, language):
            telling = [(page, claim) for page, claim, said in told if stems <= said]
            found.append(_wanted(topic, telling, _brand(ground_truth), language_of(language)))
    return found


def _wanted(topic: str, telling: Sequence[tuple[Page, SourceClaim]], brand: str, language: Language) -> Candidate:
    return Candidate(
        wordings=(topic,) if _ASKS.search(topic) else _worded(language, "of" if brand else "about", topic, brand),
        kind=kind_of_heading(topic, language),
        topic=topic,
        answer=" ".join(claim.statement for _, claim in telling[:5]),
        claims=tuple(claim for _, claim in telling),
        pages=tuple(page for page, _ in telling[:5]),
        wanted=True,
    )


def _brand(ground_truth: GroundTruth) -> str:
    """Return the subject of the questions: a brand without its legal form, else the domain."""
    named = next(iter(ground_truth.brand_names), "")
    return next(iter(aliases_of(named)), named) or ground_truth.domain


def _of_page(page: Page, brand: str) -> Iterator[Candidate]:
    language = language_of(page.language)
    claims: dict[str, list[SourceClaim]] = {}
    for claim in page.claims:
        claims.setdefault(claim.chunk_id, []).append(claim)
    yield from _of_questions(page, language)
    for chunk in page.chunks:
        own = tuple(claims.get(chunk.id, ()))
        if own:
            yield from _of_heading(page, chunk, own, brand, language)
            yield from _of_definitions(page, chunk, own, language)


def _of_questions(page: Page, language: Language) -> Iterator[Candidate]:
    """Yield the questions in the structured data of an FAQ."""
    questions: list[dict[str, str]] = page.metadata.get("questions", [])
    for asked in questions:
        question, answer = asked["question"], asked["answer"]
        own = tuple(claim for claim in page.claims if claim.source == "structured" and claim.statement in answer)
        kind = kind_of_heading(question, language)
        yield Candidate((question,), kind, page.title, answer[:_ANSWER], own, (page,))


def _of_heading(
    page: Page, chunk: Chunk, claims: tuple[SourceClaim, ...], brand: str, language: Language
) -> Iterator[Candidate]:
    title = _SITE_NAME.sub("", page.title)
    *above, heading = (_NUMBERING.sub("", part.strip()) for part in (chunk.heading or title).split(" › "))
    if len(heading) not in _LENGTHS or heading.casefold() in language.generic:
        return
    kind = kind_of_heading(heading, language)
    if wordings := _asking(heading, above[-1] if above else "", brand, kind, language):
        yield Candidate(wordings, kind, heading, _answer(chunk.text), claims, (page,), chunk.depth)


def _asking(heading: str, above: str, brand: str, kind: QueryKind, language: Language) -> tuple[str, ...]:
    """Turn a heading into a question in several wordings; none if its subject is not clear."""
    lower = heading.casefold()
    if _ASKS.search(heading):
        return (heading,)
    if _ASKS_WIDE.match(heading):
        return (f"{heading}？",)
    if lower in language.prices or lower in language.contacts:
        form = "price" if lower in language.prices else "contact"
        return _worded(language, form, heading, brand) if brand else ()
    if "how_to" in language.wordings and (task := task_of(heading, brand)):
        return _worded(language, "how_to", task)
    if _CLAUSE.match(heading):
        if _LEANS.search(heading):
            return ()
        heading = heading[0].lower() + heading[1:]
    heading = _ABOUT.sub("", heading)
    if brand and heading.casefold() != brand.casefold():
        return _worded(language, "navigational" if kind == "navigational" else "of", heading, brand)
    return _worded(language, "about", f"{above}: {heading}" if above else heading)


def _of_definitions(
    page: Page, chunk: Chunk, claims: tuple[SourceClaim, ...], language: Language
) -> Iterator[Candidate]:
    for claim in claims:
        defined = language.defines.match(claim.statement)
        if defined and len(defined[1].split()) <= 6:
            thing = re.sub(r"^An? (?=[a-z])", lambda article: article[0].lower(), defined[1])
            wordings = _worded(language, "definition", thing)
            yield Candidate(wordings, "informational", thing, claim.statement, (claim,), (page,), max(1, chunk.depth))


def _of_products(ground_truth: GroundTruth) -> Iterator[Candidate]:
    """Yield what each product is and costs, and how each two of them differ."""
    named = {entity.name: page for page in ground_truth.pages for entity in page.entities if entity.kind == "product"}
    known: list[tuple[str, list[_Told]]] = []
    for name in islice(named, _MOST_PRODUCTS):
        whole = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE)
        told = [(page, claim) for page in ground_truth.pages for claim in page.claims if whole.search(claim.statement)]
        known.append((name, told))
        language = language_of(named[name].language)
        prices = [each for each in told if kind_of_heading(each[1].statement, language) == "transactional"]
        others = [each for each in told if each not in prices]
        yield _candidate(_worded(language, "definition", name), "informational", name, others)
        yield _candidate(_worded(language, "price", "", name), "transactional", name, prices)
    for (name, told), (other, others) in combinations([each for each in known if each[1]], 2):
        wordings = _worded(language_of(named[name].language), "comparison", name, other)
        yield _candidate(wordings, "comparison", name, [*told[:3], *others[:3]])


def _candidate(wordings: tuple[str, ...], kind: QueryKind, topic: str, told: Sequence[_Told]) -> Candidate:
    claims = tuple({claim.statement: claim for _, claim in told}.values())
    answer = " ".join(claim.statement for claim in claims[:6])[:_ANSWER]
    return Candidate(wordings, kind, topic, answer, claims, tuple({page.url: page for page, _ in told}.values()))


def _worded(language: Language, form: Form, *names: str) -> tuple[str, ...]:
    return tuple(wording.format(*names) for wording in language.wordings[form])


def _answer(text: str) -> str:
    """Return the beginning of a passage, in whole sentences."""
    if len(text) <= _ANSWER:
        return text
    ends = [span.end for span in sentences(text, 0, _ANSWER)]
    return text[: ends[-2] if len(ends) > 1 else _ANSWER].rstrip()
