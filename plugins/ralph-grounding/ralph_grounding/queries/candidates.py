"""What may be asked of the ground truth."""

import re
from collections.abc import Iterator, Sequence
from itertools import combinations, islice
from typing import NamedTuple

from ralph_grounding.ground_truth.claims import ORDERS
from ralph_grounding.ground_truth.pages import Chunk, GroundTruth, Page, SourceClaim
from ralph_grounding.materials import QueryKind
from ralph_grounding.queries.identity import stems_of
from ralph_grounding.queries.wordings import Form, Language, kind_of_heading, language_of
from ralph_grounding.text.sentences import sentences

__all__ = ["Candidate", "candidates_of", "on_topics"]

_MOST = 3_000
_MOST_PRODUCTS = 8
_ANSWER = 1_200
_ASKS = re.compile(r"[?？؟]\s*$")
_LENGTHS = range(2, 121)


class Candidate(NamedTuple):
    """A question that could be asked.

    Attributes:
        wordings: the question, then its variations.
        answer: what the ground truth says.
        depth: how many headings stand above it, its own included.
        wanted: a person asked for its topic.
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
    """All questions, in the order of the pages, 3,000 at most; each has a claim to be found in its answer."""
    brand = _brand(ground_truth)
    found = (each for page in ground_truth.pages for each in _of_page(page, brand))
    return list(islice((each for each in (*_of_products(ground_truth), *islice(found, _MOST)) if each.claims), _MOST))


def on_topics(topics: Sequence[str], ground_truth: GroundTruth) -> list[Candidate]:
    """The questions about topics that a person named, each with the claims that have all of its words."""
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
    return next(iter(ground_truth.brand_names), "") or ground_truth.domain


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
    """What the structured data of an FAQ asks."""
    questions: list[dict[str, str]] = page.metadata.get("questions", [])
    for asked in questions:
        question, answer = asked["question"], asked["answer"]
        own = tuple(claim for claim in page.claims if claim.source == "structured" and claim.statement in answer)
        kind = kind_of_heading(question, language)
        yield Candidate((question,), kind, page.title, answer[:_ANSWER], own, (page,))


def _of_heading(
    page: Page, chunk: Chunk, claims: tuple[SourceClaim, ...], brand: str, language: Language
) -> Iterator[Candidate]:
    heading = chunk.heading.rpartition(" › ")[2].strip()
    if len(heading) not in _LENGTHS or heading.casefold() in language.generic:
        return
    kind = kind_of_heading(heading, language)
    if _ASKS.search(heading):
        wordings: tuple[str, ...] = (heading,)
    elif (task := _task(heading)) and "how_to" in language.wordings:
        wordings = _worded(language, "how_to", task)
    elif brand and heading.casefold() in language.prices:
        wordings = _worded(language, "price", heading, brand)
    elif brand and kind == "navigational":
        wordings = _worded(language, "navigational", heading, brand)
    else:
        wordings = _worded(language, "of" if brand else "about", heading, brand)
    yield Candidate(wordings, kind, heading, _answer(chunk.text), claims, (page,), chunk.depth)


def _task(heading: str) -> str:
    """What a heading such as "How to install it" or "Install it" tells how to do; empty for any other."""
    task = re.sub(r"^how to ", "", heading, flags=re.IGNORECASE)
    first = task.partition(" ")[0]
    is_task = task != heading or (first.lower() in ORDERS and " " in task)
    return task[:1].lower() + task[1:] if is_task else ""


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
    """What each product is, and how each two of them differ."""
    named = {entity.name: page for page in ground_truth.pages for entity in page.entities if entity.kind == "product"}
    known: list[tuple[str, list[tuple[Page, SourceClaim]]]] = []
    for name in islice(named, _MOST_PRODUCTS):
        whole = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE)
        told = [(page, claim) for page in ground_truth.pages for claim in page.claims if whole.search(claim.statement)]
        known.append((name, told))
        yield _told(("definition", name), told, named[name])
    for (name, told), (other, others) in combinations([each for each in known if each[1]], 2):
        yield _told(("comparison", name, other), [*told[:3], *others[:3]], named[name])


def _told(
    asked: tuple[Form, str] | tuple[Form, str, str], told: list[tuple[Page, SourceClaim]], page: Page
) -> Candidate:
    form, name, *other = asked
    claims = tuple({claim.statement: claim for _, claim in told}.values())
    return Candidate(
        wordings=_worded(language_of(page.language), form, name, *other),
        kind="comparison" if form == "comparison" else "informational",
        topic=name,
        answer=" ".join(claim.statement for claim in claims[:6])[:_ANSWER],
        claims=claims,
        pages=tuple({page.url: page for page, _ in told}.values()),
    )


def _worded(language: Language, form: Form, *names: str) -> tuple[str, ...]:
    return tuple(wording.format(*names) for wording in language.wordings[form])


def _answer(text: str) -> str:
    """The beginning of a passage, in whole sentences."""
    if len(text) <= _ANSWER:
        return text
    ends = [span.end for span in sentences(text, 0, _ANSWER)]
    return text[: ends[-2] if len(ends) > 1 else _ANSWER].rstrip()
