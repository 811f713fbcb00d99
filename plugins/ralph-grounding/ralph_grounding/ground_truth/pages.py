"""Ground truth: the pages that answers are held against, and the limits on reading them."""

from collections.abc import Mapping
from functools import cached_property
from hashlib import sha256
from typing import Any, Literal

from pydantic import BaseModel, Field

__all__ = ["Chunk", "Entity", "GroundTruth", "Page", "ReadingLimits", "SourceClaim"]


class ReadingLimits(BaseModel, frozen=True, extra="forbid"):
    """The maximum to read. Whatever the limits leave out is listed among the problems."""

    pages: int = Field(default=500, ge=1, le=100_000, description="The maximum number of pages, from files and sites.")
    file_bytes: int = Field(
        default=5_000_000, ge=1, description="The maximum size of a text file, or of a site's page."
    )
    pdf_bytes: int = Field(default=50_000_000, ge=1, description="The maximum size of a PDF.")
    pdf_seconds: float = Field(default=30, gt=0, description="The time limit for a PDF.")
    concurrency: int = Field(
        default=4, ge=1, le=32, description="The maximum number of simultaneous requests to a site."
    )
    request_seconds: float = Field(default=20, gt=0, description="The time limit of a request, redirects included.")
    site_seconds: float = Field(
        default=600, gt=0, description="The time limit for a site; pages read before it are kept."
    )
    tries: int = Field(default=3, ge=1, le=10, description="The attempts on a page if the site is too busy.")
    wait_seconds: float = Field(default=60, gt=0, description="The longest wait that a busy site may demand.")


class Chunk(BaseModel, frozen=True):
    """A passage of a page.

    Attributes:
        id: unique in the ground truth; derived from the page's address and the text, so that it is stable.
        heading: the headings above it, outermost first, joined by " › ".
        depth: the number of those headings.
        tokens: the estimated number of tokens for a language model.
    """

    id: str
    text: str
    heading: str = ""
    depth: int = 0
    tokens: int = 0


class Entity(BaseModel, frozen=True):
    """A thing that the pages name, such as the company or a product. Answers are searched for brands."""

    name: str
    kind: Literal["brand", "organisation", "product", "person", "place", "other"] = "other"
    aliases: tuple[str, ...] = ()


class SourceClaim(BaseModel, frozen=True):
    """A statement of the ground truth.

    Attributes:
        confidence: 0–1, that the text says so: 1 if the user gave it, 0.85–0.95 for structured data, 0.8 for an agent's
            quote, 0.5 for a sentence.
        source: the origin: "given", "rules", "structured" or "agent".
    """

    id: str
    statement: str
    chunk_id: str = ""
    confidence: float = Field(default=0.5, ge=0, le=1)
    source: Literal["given", "rules", "structured", "agent"] = "rules"


class Page(BaseModel, frozen=True):
    """A page: its text in passages, and what was found in it.

    Attributes:
        url: an address, or a path relative to the folder that it was read from.
        language: an ISO 639-1 code; empty if unknown.
        metadata: further declarations of the page: structured data, tags.
    """

    url: str
    title: str = ""
    domain: str = ""
    text: str
    language: str = ""
    chunks: tuple[Chunk, ...] = ()
    entities: tuple[Entity, ...] = ()
    claims: tuple[SourceClaim, ...] = ()
    metadata: Mapping[str, Any] = {}


class GroundTruth(BaseModel, frozen=True):
    """All pages, and what holds for them together.

    Attributes:
        domain: of the site, without "www."; empty if none exists.
        brands: in addition to those among the pages' entities.
        problems: what could not be read, a sentence each.
    """

    pages: tuple[Page, ...] = ()
    domain: str = ""
    brands: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()

    @cached_property
    def version(self) -> str:
        """A hash of the contents: the same for the same pages in any order."""
        pages = sorted(f"{page.url}\0{page.text}" for page in self.pages)
        return sha256("\0\0".join(pages).encode("utf-8", "surrogatepass")).hexdigest()[:16]

    @cached_property
    def chunks(self) -> tuple[tuple[Chunk, Page], ...]:
        """All passages, each with its page."""
        return tuple((chunk, page) for page in self.pages for chunk in page.chunks)

    @cached_property
    def brand_names(self) -> tuple[str, ...]:
        """All names and aliases of brands, without repetition."""
        named = [
            name
            for page in self.pages
            for entity in page.entities
            if entity.kind in {"brand", "organisation", "product"}
            for name in (entity.name, *entity.aliases)
        ]
        return tuple(dict.fromkeys([*self.brands, *named]))
