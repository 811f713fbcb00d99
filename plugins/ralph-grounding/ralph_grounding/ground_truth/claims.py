"""Statements that the ground truth makes, found by rules.

A claim is a declarative sentence that stands by itself and states something verifiable: a number, a name, or what
something is. These are not claims: questions, menus, orders to the reader, code, sentences that say "it" of something
named before, statements about the text itself, and the first person without a number. Structured data is more certain
than prose.
"""

import re
from collections.abc import Iterator, Sequence
from hashlib import sha256

from ralph_grounding.ground_truth.documents import Document
from ralph_grounding.ground_truth.linked_data import facts_in, plain, questions_in
from ralph_grounding.ground_truth.pages import Chunk, SourceClaim
from ralph_grounding.text.sentences import sentences
from ralph_grounding.text.structure import Cell, stated

__all__ = [
    "MOST_CLAIMS",
    "ORDERS",
    "cells_in",
    "claim_id",
    "claims_of",
    "is_claim",
    "statement_of",
    "statements_in",
    "uncapitalised",
]

MOST_CLAIMS = 300
"""The maximum for one page."""

_SENTENCE = 0.5
_ANSWER = 0.95
_DESCRIPTION = 0.85
_CELL = 0.4
_LENGTHS = range(15, 401)
_SHORT_LENGTHS = range(8, 201)
_BULLET = re.compile(r"^(?:(?:[-*•]|\d{1,3}[.)])\s+|(?:A|Answer|Antwort|答)[:：]\s*)")
_WORD = re.compile(r"[^\W\d_][\w'’-]*")
_OF_THE_TEXT = re.compile(
    r"\b(?:(?:above|below)(?=[.,;:)]| (?:is|are|has|shows?|lists?|explains?)\b)|"
    r"(?:this|next|last|previous|following) (?:chapter|section|page|article|post|example|paragraph)|"
    r"(?:listing|figure|chapter|section|appendix) \d|mentioned|discussed|as follows|(?:like|as) (?:this|these))\b|"
    r"\bthen[.;,]|[:;] -|^the (?:default|rest|latter|former|others?|same|call|result)\s(?:is|are|has|takes?)\b",
    re.IGNORECASE,
)
_ONE_PERSON = re.compile(r"\b(?:I|my|My|me)\b")
_CELLS = {"en": "For {}, the {} is {}.", "de": "Bei {} gilt für {}: {}.", "zh": "{}的{}是{}。"}
_FIRST_PERSON = re.compile(r"\b(?:[Ww]e|[Oo]ur|us|[Ll]et['’]?s)\b|我们|我們|您")
_REPLIES = re.compile(r"^(?:yes|no|ja|nein|oui|non|sí)[,.!:;] +(?=\w)", re.IGNORECASE)
_OF_SEVERAL = re.compile(
    r"(?:each|one|some|others|most|another|none|neither|either) (?:that|which|who|of (?:\d|them|these|those))|"
    r"(?:each|one|another|none|neither|either) \w{1,20}[^\Ws]s\b",
    re.IGNORECASE,
)
_WIDE = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_END = re.compile(r"[.!。！]['\"”’»)」』]{0,3}$")
_ASKS = re.compile(r"[?？؟]|[吗呢][。.]?$")
_CODE = re.compile(r"[{}\\|]|==| = |=>|->|::|\(\)|</|\w=\w|^\s*[$>#]\s")
_NUMBER = re.compile(r"\d")
_DEFINES = re.compile(
    r"\b(?:is|are|was|were|means|ist|sind|est|sont|es|son|è|sono|é|são)\s+(?:an?|the|one|ein\w{0,2}|der|die|das|un\w?|una|le|la|el|il|o|a)\b",
    re.IGNORECASE,
)
_DEFINES_WIDE = re.compile("是|为|成立|位于|属于|包括|支持|提供|です|である|ます|입니다|한다")
_STATES = re.compile(
    r"\b(?:is|are|was|were|has|have|had|can|does|do|will|costs?|includes?|supports?|offers?|runs?|takes?|lasts?|holds?|"
    r"weighs?|works?|needs?|requires?|provides?|contains?|ist|sind|hat|haben|kostet|est|sont|es|tiene|cuesta)\b",
    re.IGNORECASE,
)
_ORDERS_WORDS = (
    "add adjust apply ask assign avoid be browse build buy call cancel change check choose clear click close "
    "combine compare complete configure connect consider contact convert copy create declare define delete "
    "deploy discover do don't don’t download drag edit enable ensure enter exclude expect explore export extend "
    "fill find follow get give go hold ignore imagine implement import increase inspect install join keep launch "
    "learn leave let let's let’s log look make mark measure meet mount move name navigate note observe open "
    "order override paste pick please prefer press protect provide put read reduce refer register remember "
    "remove rename replace request reset restart resume retry return review run save say scan schedule scroll "
    "search see select send set share shop sign skip specify start stay stop subclass submit subscribe switch "
    "take talk tap tell treat try tune turn type uninstall unsubscribe update upgrade upload use verify view "
    "visit wait watch wrap write bitte klicken lesen veuillez cliquez haga"
)
ORDERS = frozenset(_ORDERS_WORDS.split())
"""Verbs at the beginning of an instruction to the reader, in lower case."""

_LEANS_WORDS = (
    "it this that these those they he she its their his her here there such both either neither and but or so then "
    "however therefore thus also instead otherwise moreover furthermore because dies diese dieser er sie es ce "
    "cette ils elles il elle esto este esta"
)
_LEANS = frozenset(_LEANS_WORDS.split())
_ASKING = frozenset(("who", "what", "why", "which", "whose", "how"))
_ORDERS_WIDE = (
    "请",
    "點擊",
    "点击",
    "查看",
    "了解更多",
    "欢迎",
    "立即",
    "だから",
    "しかし",
    "它",
    "这",
    "那",
    "他",
    "她",
    "これ",
    "それ",
    "あれ",
)


def claim_id(url: str, statement: str) -> str:
    """Return the id of a claim of a page; it depends on nothing but the two."""
    return sha256(f"{url}\0{statement}".encode("utf-8", "surrogatepass")).hexdigest()[:16]


def claims_of(document: Document, chunks: Sequence[Chunk], url: str, language: str = "") -> tuple[SourceClaim, ...]:
    """Find the claims of a page, the most certain first, at most 300; each statement once."""
    found: dict[str, SourceClaim] = {}

    def take(statement: str, confidence: float, chunk: str = "", *, structured: bool = True) -> None:
        key = " ".join(statement.casefold().split())
        if key not in found and len(found) < MOST_CLAIMS:
            found[key] = SourceClaim(
                id=claim_id(url, statement),
                statement=statement,
                chunk_id=chunk,
                confidence=confidence,
                source="structured" if structured else "rules",
            )

    for fact in facts_in(document.items, language):
        take(fact.statement, fact.confidence)
    told = [(answer, _ANSWER) for _, answer in questions_in(document.items)]
    told += [(described, _DESCRIPTION) for described in _descriptions(document)]
    for text, confidence in told:
        for statement in statements_in(text):
            take(statement, confidence)
    code = {line for block in document.blocks if block.kind == "code" for line in _sentences(block.text)}
    for chunk in chunks:
        for sentence in _sentences(chunk.text):
            if sentence not in code and (statement := _statement(sentence)):
                take(statement, _SENTENCE, chunk.id, structured=False)
    cells = [(each.id, cell) for each in chunks for cell in cells_in(each.text)]
    for place, cell in cells:
        take(statement_of(cell, language), _CELL, place, structured=False)
    return tuple(sorted(found.values(), key=lambda claim: -claim.confidence))


def cells_in(text: str) -> Iterator[Cell]:
    """Yield the cells of the tables in a text that give a thing a value; not those that only say yes or no."""
    for each in stated(text) if "|" in text else ():
        cell = each.cell
        if cell and cell.header and cell.key and (len(cell.value) > 3 or _has_number(cell.value)):
            yield cell


def statement_of(cell: Cell, language: str = "") -> str:
    """Return a cell of a table as a sentence."""
    wording = _CELLS.get(language or "en", "{}, {}: {}.")
    return wording.format(cell.key, uncapitalised(cell.header, language), cell.value)[: _LENGTHS.stop]


def uncapitalised(header: str, language: str) -> str:
    """Return the header of a column as it stands within a sentence: German nouns and abbreviations stay."""
    return header if language == "de" or header[1:2].isupper() else header[:1].lower() + header[1:]


def _descriptions(document: Document) -> Iterator[str]:
    for item in document.items:
        described = item.get("description")
        if isinstance(described, str):
            yield plain(described[:5_000])


def statements_in(text: str) -> Iterator[str]:
    """Yield the sentences of a text that are claims, in order, without list markers."""
    return filter(None, map(_statement, _sentences(text)))


def _sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text, each on one line; skip those that are far too long for a claim."""
    for span in sentences(text):
        if span.end - span.start <= 2 * _LENGTHS.stop:
            yield " ".join(text[span.start : span.end].split())


def _statement(sentence: str) -> str:
    """Return the claim that a sentence makes; empty if it makes none."""
    item = _BULLET.sub("", sentence)
    statement = _REPLIES.sub("", item)
    if statement != item:
        statement = statement[0].upper() + statement[1:]
    return statement if is_claim(statement, item=item != sentence) else ""


def is_claim(sentence: str, *, item: bool = False) -> bool:
    """Return True if a sentence states something verifiable.

    Args:
        sentence: the sentence, on one line.
        item: it is a list item, which may end without a full stop if it has a verb.
    """
    wide = _WIDE.search(sentence) is not None
    if len(sentence) not in (_SHORT_LENGTHS if wide else _LENGTHS) or _ASKS.search(sentence) or _CODE.search(sentence):
        return False
    if not _is_whole(sentence) or _ONE_PERSON.search(sentence):
        return False
    if _FIRST_PERSON.search(sentence) and not _has_number(sentence):
        return False
    ends = _END.search(sentence) is not None
    if wide:
        stated = _DEFINES_WIDE.search(sentence) is not None
        stands = (ends or (item and stated)) and not sentence.startswith(_ORDERS_WIDE)
        return stands and (stated or _has_number(sentence))
    words = _WORD.findall(sentence)
    if len(words) < 3 or not (ends or (item and _STATES.search(sentence))) or _needs_context(sentence, words):
        return False
    return _has_number(sentence) or _DEFINES.search(sentence) is not None or _has_name(words)


def _is_whole(sentence: str) -> bool:
    """Return True if every opened bracket is closed: a full stop inside may have been taken for the end."""
    return all(sentence.count(opened) == sentence.count(closed) for opened, closed in ("()", "（）", "[]"))


def _needs_context(sentence: str, words: Sequence[str]) -> bool:
    """Return True if a sentence is an order, a clause, or depends on those around it."""
    if sentence[0].islower() and words[0].islower():
        return True  # the rest of a sentence, or a name of code
    first = words[0].lower().replace("’", "'")
    if first in ORDERS or first in _LEANS or first in _ASKING:
        return True
    if first in {"when", "where"} and _STATES.match(words[1]):
        return True
    return _OF_THE_TEXT.search(sentence) is not None or _OF_SEVERAL.match(sentence) is not None


def _has_number(sentence: str) -> bool:
    return _NUMBER.search(sentence) is not None


def _has_name(words: Sequence[str]) -> bool:
    """Return True if a word after the first is capitalised like a name, among words that are not."""
    capital = sum(word[0].isupper() and word.lower() not in {"i", "i'm"} for word in words[1:])
    return 0 < capital < len(words) - 1
