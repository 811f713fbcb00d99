"""Conversion of a document into a page of the ground truth."""

from typing import Any

from ralph_grounding.ground_truth.chunks import chunks_of
from ralph_grounding.ground_truth.claims import claims_of
from ralph_grounding.ground_truth.documents import Document, text_of
from ralph_grounding.ground_truth.entities import entities_of
from ralph_grounding.ground_truth.linked_data import questions_in
from ralph_grounding.ground_truth.pages import Page
from ralph_grounding.text.language import detect_language

__all__ = ["page_of"]

_MOST_QUESTIONS = 100


def page_of(document: Document, *, url: str, domain: str = "", metadata: dict[str, Any] | None = None) -> Page:
    """Convert a document into a page: passages, names, claims. Takes linear time.

    The metadata may hold "canonical", "open_graph", "meta", "front_matter" and, for an FAQ, "questions": the questions
    of the structured data, each with its answer.
    """
    text = text_of(document.blocks)
    language = detect_language(text) or document.language
    chunks = chunks_of(document.blocks, url)
    questions = [{"question": asked, "answer": answer} for asked, answer in questions_in(document.items)]
    said: dict[str, Any] = {"questions": questions[:_MOST_QUESTIONS]} if questions else {}
    return Page(
        url=url,
        title=document.heading,
        domain=domain,
        text=text,
        language=language,
        chunks=chunks,
        entities=entities_of(document),
        claims=claims_of(document, chunks, url, language),
        metadata={**document.metadata, **said, **(metadata or {})},
    )
