"""Who the pages are about: the names that an answer may credit, and their other spellings."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from ralph_grounding.ground_truth.documents import Document
from ralph_grounding.ground_truth.linked_data import things_in
from ralph_grounding.ground_truth.pages import Entity, Page

__all__ = ["aliases_of", "brands_of", "domain_label", "entities_of"]

_LEGAL_FORMS_WORDS = (
    "inc ltd llc llp plc corp corporation co company gmbh ag kg ohg ug se sa sas sarl srl spa bv nv ab oy as aps "
    "limited incorporated pty kk"
)
_LEGAL_FORMS = frozenset(_LEGAL_FORMS_WORDS.split())
_SUFFIX = re.compile(r"\s[|–—·»:-]\s")
_MOST_NAMES = 200
_SHORTEST_LABEL = 4


def entities_of(document: Document) -> tuple[Entity, ...]:
    """What a page names in its structured data and its tags, each once."""
    found: dict[str, Entity] = {}
    named = list(things_in(document.items))
    if document.site_name:
        named.append(Entity(name=document.site_name, kind="brand"))
    for entity in named[:_MOST_NAMES]:
        before = found.get(entity.name.casefold())
        aliases = (*(before.aliases if before else ()), *entity.aliases, *aliases_of(entity.name))
        others = tuple(dict.fromkeys(alias for alias in aliases if alias != entity.name))
        found[entity.name.casefold()] = (before or entity).model_copy(update={"aliases": others})
    return tuple(found.values())


def aliases_of(name: str) -> tuple[str, ...]:
    """Other ways to write a company's name: without its legal form."""
    words = name.split()
    while len(words) > 1 and words[-1].strip(".,()").replace(".", "").lower() in _LEGAL_FORMS:
        words.pop()
    short = " ".join(words).rstrip(",")
    return (short,) if short and short != name else ()


def brands_of(pages: Sequence[Page], domain: str) -> tuple[str, ...]:
    """The brands of a site: what its titles end with, and the name of its domain where nothing else names it.

    A title's end is a brand where it is the same as the domain's label, or where most of several titles have it.
    """
    label = domain_label(domain)
    known = [name for page in pages for entity in page.entities for name in (entity.name, *entity.aliases)]
    ends = Counter(end for page in pages for end in _title_ends(page.title))
    found = [
        end for end, count in ends.most_common(20) if _squeezed(end) == label or (count >= 3 and count * 2 > len(pages))
    ]
    if label and len(label) >= _SHORTEST_LABEL and not _is_named(label, [*known, *found]):
        found.append(label)
    return tuple(dict.fromkeys(found))


def _is_named(label: str, names: Iterable[str]) -> bool:
    return any(label in _squeezed(name) or _squeezed(name) in label for name in names if _squeezed(name))


def _title_ends(title: str) -> tuple[str, ...]:
    """What stands before the first and after the last mark that divides a title."""
    parts = [part.strip() for part in _SUFFIX.split(title[:300])]
    ends = (parts[0], parts[-1]) if len(parts) > 1 else ()
    return tuple(dict.fromkeys(end for end in ends if 2 <= len(end) <= 40))


def domain_label(domain: str) -> str:
    """The name in a domain: "acme" of docs.acme.co.uk; empty for an address of numbers, and for a machine's name."""
    from publicsuffixlist import PublicSuffixList

    host = domain.partition(":")[0].strip(".").lower()
    if "." not in host or host.replace(".", "").isdigit():
        return ""
    registered: str | None = PublicSuffixList().privatesuffix(host)
    return registered.split(".")[0] if registered else ""


def _squeezed(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum())
