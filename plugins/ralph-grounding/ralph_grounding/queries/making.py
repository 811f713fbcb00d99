"""Queries made by rules from the ground truth: its FAQs, definitions, headings and products.

The expected answer of each is the passage that it was made from, with the claims of that passage.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise
from typing import NamedTuple

from ralph.errors import UsageError
from ralph_grounding.errors import NoGroundTruthError
from ralph_grounding.ground_truth.claims import ORDERS, cells_in, statement_of, uncapitalised
from ralph_grounding.ground_truth.entities import aliases_of
from ralph_grounding.ground_truth.pages import Chunk, GroundTruth, Page, SourceClaim
from ralph_grounding.materials import ExpectedAnswer, ExpectedClaim, Query, QueryKind
from ralph_grounding.queries.wordings import Form, Language, is_near, kind_of_heading, language_of, query_id, stems_of
from ralph_grounding.text.sentences import sentences
from ralph_grounding.text.words import FUNCTION_WORDS

__all__ = ["VARIATIONS", "Candidate", "candidates_of", "make_queries", "on_topics", "task_of"]

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
_MOST_CELLS = 20
_ANSWERS = re.compile(r"(?<=[?？])\s+(?=(?:A|Answer|Antwort|答)[.:：])")
_MARKED = re.compile(r"^(?:[-*•] +)?(?:(?:Q|A|F|Question|Answer|Frage|Antwort|问|答)[.:：] *)?")
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
    """Return the subject of the questions: a brand without its legal form, else the domain; never a product."""
    products = {entity.name for page in ground_truth.pages for entity in page.entities if entity.kind == "product"}
    products.difference_update(ground_truth.brands)
    named = next((name for name in ground_truth.brand_names if name not in products), "")
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
            yield from _of_answers(page, chunk, own, language)
            yield from _of_cells(page, chunk, own, language)
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


def _of_answers(page: Page, chunk: Chunk, claims: tuple[SourceClaim, ...], language: Language) -> Iterator[Candidate]:
    """Yield the questions that stand on a line of their own, above their answer."""
    lines = [line.strip() for line in _ANSWERS.sub("\n", chunk.text).split("\n") if line.strip()]
    for line, below in pairwise(lines):
        question = _MARKED.sub("", line)
        if not _ASKS.search(question) or _ASKS.search(below) or len(question) not in _LENGTHS:
            continue
        answer = _MARKED.sub("", below)
        own = tuple(claim for claim in claims if claim.statement.casefold() in answer.casefold())
        kind = kind_of_heading(question, language)
        yield Candidate((question,), kind, page.title, answer[:_ANSWER], own, (page,), max(1, chunk.depth))


def _of_cells(page: Page, chunk: Chunk, claims: tuple[SourceClaim, ...], language: Language) -> Iterator[Candidate]:
    """Yield what a table says of each thing."""
    known = {claim.statement: claim for claim in claims}
    for cell in islice(cells_in(chunk.text), _MOST_CELLS):
        statement = statement_of(cell, page.language)
        if statement in known:
            wordings = _worded(language, "cell", uncapitalised(cell.header, page.language), cell.key)
            kind = kind_of_heading(cell.header, language)
            yield Candidate(wordings, kind, cell.key, statement, (known[statement],), (page,), max(1, chunk.depth))


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
    """Yield what each product is and costs, and how it differs from the next one."""
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
    for (name, told), (other, others) in pairwise(each for each in known if each[1]):
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


VARIATIONS = 3
_MOST_CLAIMS = 5
_USUAL_PRIORITY = 0.5
_BY_KIND: dict[QueryKind, float] = {
    "transactional": 1.0,
    "comparison": 1.0,
    "informational": 0.7,
    "navigational": 0.4,
}


def make_queries(
    ground_truth: GroundTruth, *, limit: int = 50, topics: Sequence[str] = (), variations: int = VARIATIONS
) -> tuple[Query, ...]:
    """Make the questions that the ground truth answers, the most important first.

    The priority is 0.4 × the page's in its sitemap (by default 0.5) + 0.2 × that of the kind (transactional and
    comparison 1, informational 0.7, navigational 0.4) + 0.2 × that of the topic (1 for a requested one, else 1 divided
    by the depth of its heading) + 0.2 for a requested topic. The difficulty is 1 for a comparison, 0.7 with more than
    two expected claims, else 0.4. The same ground truth always makes the same queries with the same ids.

    Args:
        ground_truth: the pages.
        limit: the maximum, shared by the pages; of those that share 85 % of their words only the first is taken.
        topics: subjects of the questions. If the ground truth makes no claims, there are no other questions.
        variations: other wordings of each, at most three.

    Raises:
        NoGroundTruthError: there are no pages.
        UsageError: the pages give no questions.
    """
    if not ground_truth.pages:
        raise NoGroundTruthError("There is no ground truth to make queries from.", "Name files, a folder or a site.")
    wanted = on_topics(topics, ground_truth)
    has_claims = any(page.claims for page in ground_truth.pages)
    found = [*wanted, *(candidates_of(ground_truth) if has_claims else ())]
    ranked = sorted((_query(each, ground_truth, variations) for each in found), key=_rank)
    queries = tuple(sorted(_distinct(_in_turn(ranked), limit), key=_rank))
    if not queries:
        raise UsageError(
            f"No query can be made from the {len(ground_truth.pages)} pages: "
            + (
                "no heading or title says what their claims are about."
                if has_claims
                else "they make no claims that rules can find."
            ),
            "Name topics, write the queries down in a file, or let an agent find the claims.",
        )
    return queries


def _rank(query: Query) -> tuple[float, str]:
    return -query.priority, query.id


def _in_turn(queries: Sequence[Query]) -> list[Query]:
    """Return the best of each page before the second ones, so that a site is asked about as a whole."""
    turns = Counter[tuple[str, ...]]()
    ordered: list[tuple[int, Query]] = []
    for query in queries:
        ordered.append((turns[query.source_urls[:1]], query))
        turns[query.source_urls[:1]] += 1
    return [query for _, query in sorted(ordered, key=lambda entry: entry[0])]


def _distinct(queries: Iterable[Query], limit: int) -> tuple[Query, ...]:
    kept: list[Query] = []
    stems: list[frozenset[str]] = []
    for query in queries:
        if len(kept) >= limit:
            break
        own = stems_of(query.text)
        if not is_near(own, stems):
            kept.append(query)
            stems.append(own)
    return tuple(kept)


def _query(candidate: Candidate, ground_truth: GroundTruth, variations: int) -> Query:
    claims = tuple(
        ExpectedClaim(statement=claim.statement, source_claim_id=claim.id) for claim in candidate.claims[:_MOST_CLAIMS]
    )
    return Query(
        id=query_id(candidate.wordings[0]),
        text=candidate.wordings[0],
        domain=ground_truth.domain,
        expected=ExpectedAnswer(text=candidate.answer, claims=claims or None),
        variations=candidate.wordings[1 : 1 + max(0, min(variations, VARIATIONS))],
        kind=candidate.kind,
        topic=candidate.topic,
        difficulty=1.0 if candidate.kind == "comparison" else 0.7 if len(claims) > 2 else 0.4,
        priority=_priority(candidate),
        source_urls=tuple(dict.fromkeys(page.url for page in candidate.pages)),
        ground_truth_version=ground_truth.version,
    )


def _priority(candidate: Candidate) -> float:
    listed = [page.metadata.get("priority", _USUAL_PRIORITY) for page in candidate.pages] or [_USUAL_PRIORITY]
    topic = 1.0 if candidate.wanted else 1 / max(1, candidate.depth)
    weighed = 0.4 * max(listed) + 0.2 * _BY_KIND[candidate.kind] + 0.2 * topic + 0.2 * candidate.wanted
    return round(weighed, 4)
