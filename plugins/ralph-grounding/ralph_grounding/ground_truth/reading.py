"""Ground truth from the places that the user names: files, folders, sites, lists of addresses."""

import os
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ralph_grounding.errors import NoGroundTruthError
from ralph_grounding.ground_truth.chunks import chunks_of
from ralph_grounding.ground_truth.claims import claims_of
from ralph_grounding.ground_truth.documents import Document, text_of
from ralph_grounding.ground_truth.entities import brands_of, entities_of
from ralph_grounding.ground_truth.fetching import is_address, without_www
from ralph_grounding.ground_truth.files import FoundFile, files_in, kind_of, read_bytes, read_file
from ralph_grounding.ground_truth.linked_data import questions_in
from ralph_grounding.ground_truth.pages import GroundTruth, Page, ReadingLimits
from ralph_grounding.ground_truth.pdf_document import UnreadableError
from ralph_grounding.ground_truth.readable import decoded
from ralph_grounding.ground_truth.site import group_by_site, read_site
from ralph_grounding.text.language import detect_language

__all__ = ["page_of", "read_ground_truth"]

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


_MOST_PROBLEMS = 200
_LIST_BYTES = 2_000_000


async def read_ground_truth(
    places: Sequence[str], *, domain: str = "", brands: Sequence[str] = (), limits: ReadingLimits | None = None
) -> GroundTruth:
    """Read the pages at the named places.

    Args:
        places: each is a file (Markdown, HTML, text, PDF); a folder, with all files in it; the address of a page; an
            address that ends in a slash, or is only a host: the pages below it; or a text file that holds only
            addresses, one per line: those pages.
        domain: of the site; by default that of the addresses, or the one that the pages declare.
        brands: in addition to those that are found.
        limits: how much to read; the defaults if not given.

    Raises:
        NoGroundTruthError: no place has a readable page; it names the places and the reasons.
        UsageError: an address is not valid.
    """
    reading = _Reading(limits or ReadingLimits(), without_www(_host(domain)))
    for place in dict.fromkeys(places):
        await reading.read(place)
    if not reading.pages:
        raise _nothing(places, reading.problems)
    return reading.result(brands)


class _Reading:
    """The pages read so far."""

    def __init__(self, limits: ReadingLimits, domain: str) -> None:
        self._limits, self._domain = limits, domain
        self._hosts: list[str] = []
        self._left_out = 0
        self.pages: dict[str, Page] = {}
        self.problems: list[str] = []

    async def read(self, place: str) -> None:
        """Read one place, and note its problems."""
        from anyio import to_thread

        if is_address(place):
            await self._read_site([place], follow=place.endswith("/") or urlsplit(place).path == "")
            return
        path = Path(place)
        if await to_thread.run_sync(os.path.isdir, place):
            found = await to_thread.run_sync(lambda: list(files_in(path)))
            if not found:
                self.problems.append(f"{place}: this folder has no Markdown, HTML, text or PDF file.")
            for file in found:
                await self._read_file(file, place)
        elif not await to_thread.run_sync(os.path.exists, place):
            self.problems.append(f"{place[:300]}: there is no such file or folder.")
        elif (addresses := await to_thread.run_sync(_addresses_in, path)) is not None:
            for urls in group_by_site(addresses).values():
                await self._read_site(urls, follow=False)
        else:
            await self._read_file(FoundFile(path, path.name), place, named=True)

    async def _read_file(self, file: FoundFile, place: str, *, named: bool = False) -> None:
        if file.problem or self._is_full():
            self.problems += [f"{file.name}: {file.problem}."] if file.problem else []
            return
        try:
            document, note = await read_file(file.path, self._limits, kind="text" if named else "", follow=named)
        except UnreadableError as error:
            self.problems.append(f"{file.name}: it {error}.")
            return
        if note:
            self.problems.append(f"{file.name}: it {note}.")
        await self._add(document, self._unused(file.name, place), self._domain)

    async def _read_site(self, urls: Sequence[str], *, follow: bool) -> None:
        room = self._limits.pages - len(self.pages)
        if room <= 0:
            self._left_out += len(urls)
            return
        found = await read_site(urls, self._limits, most=room, follow=follow)
        self.problems += found.problems
        self._hosts.append(found.site.host)
        for page in found.pages:
            metadata = {} if page.priority is None else {"priority": page.priority}
            await self._add(page.document, self._unused(page.url, ""), found.site.host, metadata)

    async def _add(self, document: Document, url: str, domain: str, metadata: dict[str, float] | None = None) -> None:
        from anyio import to_thread

        if not document.blocks:
            self.problems.append(f"{url}: it has no text.")
            return
        self.pages[url] = await to_thread.run_sync(
            partial(page_of, document, url=url, domain=domain, metadata=dict(metadata or {}))
        )

    def _is_full(self) -> bool:
        full = len(self.pages) >= self._limits.pages
        self._left_out += full
        return full

    def _unused(self, url: str, place: str) -> str:
        """Return the page's address, made distinct from a file of the same name in another place."""
        if url in self.pages and place:
            url = f"{Path(place).absolute().parent.name if Path(place).name == url else Path(place).name}/{url}"
        number, unused = 2, url
        while unused in self.pages:
            unused, number = f"{url} ({number})", number + 1
        return unused

    def result(self, brands: Sequence[str]) -> GroundTruth:
        """Assemble all that was read."""
        pages = tuple(self.pages.values())
        domain = self._domain or next(iter(self._hosts), "") or _own_domain(pages)
        problems = self.problems[:_MOST_PROBLEMS]
        if hidden := len(self.problems) - len(problems):
            problems.append(f"There are {hidden} further problems.")
        if self._left_out:
            problems.append(
                f"{self._left_out} files or addresses were left out: at most {self._limits.pages} pages are read."
            )
        named = tuple(dict.fromkeys([*brands, *brands_of(pages, domain)]))
        return GroundTruth(pages=pages, domain=domain, brands=named, problems=tuple(problems))


def _own_domain(pages: Sequence[Page]) -> str:
    """Return the host in most pages' canonical addresses; empty if only few pages have one."""
    named: Counter[str] = Counter()
    for page in pages:
        graph: dict[str, str] = page.metadata.get("open_graph", {})
        named[without_www(_host(str(page.metadata.get("canonical") or graph.get("url") or "")))] += 1
    host, count = named.most_common(1)[0]
    return host if host and count * 2 >= len(pages) else ""


def _host(address: str) -> str:
    """Return the host of an address, with or without a scheme."""
    try:
        parts = urlsplit(address if "//" in address else f"//{address}" if not address.startswith("/") else "")
        return parts.hostname or ""
    except ValueError:
        return ""


def _addresses_in(path: Path) -> list[str] | None:
    """Return the addresses of a file that holds only addresses and comments; None for any other file."""
    if kind_of(path) not in {"", "text"}:
        return None
    try:
        content = read_bytes(path, _LIST_BYTES, follow=True)
    except OSError:
        return None
    text = decoded(content)
    lines = [line.strip() for line in text.text.split("\n")] if text else []
    addresses = [line for line in lines if line and not line.startswith("#")]
    return addresses if addresses and all(is_address(line) and " " not in line for line in addresses) else None


def _nothing(places: Sequence[str], problems: Sequence[str]) -> NoGroundTruthError:
    if not places:
        return NoGroundTruthError("No ground truth is given.", "Name files, a folder or the address of a site.")
    named = ", ".join(place[:200] for place in places[:10])
    why = " ".join(problems[:5])
    return NoGroundTruthError(
        f"There is no readable page in: {named}. {why}".strip(),
        "Name Markdown, HTML, text or PDF files, a folder of them, or the address of a site.",
    )
