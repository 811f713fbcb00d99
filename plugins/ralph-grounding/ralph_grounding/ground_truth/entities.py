"""The subjects of the pages: the names that an answer may credit, and their other spellings."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from ralph.types import evolve
from ralph_grounding.ground_truth.documents import Document
from ralph_grounding.ground_truth.linked_data import things_in
from ralph_grounding.ground_truth.pages import Entity, Page

__all__ = ["aliases_of", "brands_of", "domain_label", "entities_of"]

_LEGAL_FORMS_WORDS = (
    "inc ltd llc llp plc corp corporation co company gmbh ag kg ohg ug se sa sas sarl srl spa bv nv ab oy as aps "
    "limited incorporated pty kk"
)
_LEGAL_FORMS = frozenset(_LEGAL_FORMS_WORDS.split())
_LEGAL_FORMS_WIDE = re.compile("^(?:株式会社|㈜)|(?:股份|集团|集團)?有限(?:责任|責任)?公司$|(?:株式会社|주식회사)$")
_DIVIDES = re.compile(r"\s[|–—·»:-]\s")
_GENERIC = frozenset({
    "docs",
    "documentation",
    "reference",
    "api reference",
    "guide",
    "user guide",
    "manual",
    "blog",
    "help",
    "home",
    "faq",
})
_OF_A_SITE = re.compile(r"(?<=\w) (?:docs|documentation|blog|wiki|manual|help)$", re.IGNORECASE)
_MOST_NAMES = 200
_SHORTEST_LABEL = 4


def entities_of(document: Document) -> tuple[Entity, ...]:
    """List what a page names in its structured data and its tags, each once."""
    found: dict[str, Entity] = {}
    named = list(things_in(document.items))
    if document.site_name:
        named.append(Entity(name=document.site_name, kind="brand"))
    for entity in named[:_MOST_NAMES]:
        before = found.get(entity.name.casefold())
        aliases = (*(before.aliases if before else ()), *entity.aliases, *aliases_of(entity.name))
        others = tuple(dict.fromkeys(alias for alias in aliases if alias != entity.name))
        found[entity.name.casefold()] = evolve(before or entity, aliases=others)
    return tuple(found.values())


def aliases_of(name: str) -> tuple[str, ...]:
    """Return other spellings of a company's name: without its legal form."""
    words = _LEGAL_FORMS_WIDE.sub("", name).split() or [name]
    while len(words) > 1 and words[-1].strip(".,()").replace(".", "").lower() in _LEGAL_FORMS:
        words.pop()
    short = " ".join(words).rstrip(",")
    return (short,) if short and short != name else ()


def brands_of(pages: Sequence[Page], domain: str) -> tuple[str, ...]:
    """Find the brands of a site: the common endings of its titles, else the name of its domain.

    A part of a title is a brand if it equals the domain's label, or if most of several titles end with it.
    """
    label = domain_label(domain)
    known = [name for page in pages for entity in page.entities for name in (entity.name, *entity.aliases)]
    parts = [_divided(page.title) for page in pages]
    last = Counter(divided[-1] for divided in parts if len(divided) > 1)
    found = [part for divided in parts for part in reversed(divided) if label and _squeezed(part) == label][:1]
    found += [
        _OF_A_SITE.sub("", end)
        for end, count in last.most_common(3)
        if count >= 3 and count * 2 > len(pages) and 2 <= len(end) <= 40 and end.casefold() not in _GENERIC
    ]
    if label and len(label) >= _SHORTEST_LABEL and not _is_named(label, [*known, *found]):
        found.append(label)
    return tuple(dict.fromkeys(found))


def _is_named(label: str, names: Iterable[str]) -> bool:
    return any(label in _squeezed(name) or _squeezed(name) in label for name in names if _squeezed(name))


def _divided(title: str) -> list[str]:
    """Split a title into its parts."""
    return [part.strip() for part in _DIVIDES.split(title[:300])]


def domain_label(domain: str) -> str:
    """Return the name in a domain: "acme" of docs.acme.co.uk; empty for an IP address or a machine's name."""
    from publicsuffixlist import PublicSuffixList

    host = domain.partition(":")[0].strip(".").lower()
    if "." not in host or host.replace(".", "").isdigit():
        return ""
    registered: str | None = PublicSuffixList().privatesuffix(host)
    return registered.split(".")[0] if registered else ""


def _squeezed(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum())
