"""Structured data (JSON-LD with the vocabulary of schema.org): a page's description of itself for programs."""

import html
import json
import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from ralph_grounding.ground_truth.pages import Entity
from ralph_grounding.ground_truth.readable import one_line

__all__ = ["Fact", "Item", "facts_in", "items_in", "questions_in", "things_in", "value"]

Item = Mapping[str, Any]

_MOST_CHARACTERS = 1_000_000
_MOST_ITEMS = 200
_TAG = re.compile(r"<[a-zA-Z/][^<>]{0,1000}>")
_ORGANISATIONS = frozenset({"Corporation", "NGO", "Airline", "Consortium", "Store", "Hotel", "Restaurant", "WebSite"})
_PRODUCTS = frozenset({"Product", "SoftwareApplication", "WebApplication", "MobileApplication", "Service", "Vehicle"})
_PLACES = frozenset({"Place", "City", "Country"})
_MOST_OFFERS = 5
_WORDINGS = {
    "en": {
        "founded": "{} was founded in {}.",
        "founder": "{} was founded by {}.",
        "people": "{} has {} employees.",
        "place": "{} is located in {}.",
        "maker": "{} is made by {}.",
        "price": "{} costs {}.",
    },
    "de": {
        "founded": "{} wurde {} gegründet.",
        "founder": "{} wurde von {} gegründet.",
        "people": "{} hat {} Beschäftigte.",
        "place": "{} hat den Sitz in {}.",
        "maker": "{} ist von {}.",
        "price": "{} kostet {}.",
    },
    "zh": {
        "founded": "{}成立于{}年。",
        "founder": "{}的创始人是{}。",
        "people": "{}有{}名员工。",
        "place": "{}位于{}。",
        "maker": "{}的品牌是{}。",
        "price": "{}的价格是{}。",
    },
}


class Fact(NamedTuple):
    """A statement that structured data makes, and how certain it is."""

    statement: str
    confidence: float


def items_in(scripts: Sequence[str]) -> tuple[Item, ...]:
    """Parse the objects of a page's JSON-LD scripts, nested ones included; at most 200, from 1 MB."""
    items: list[Item] = []
    left = _MOST_CHARACTERS
    for script in scripts:
        left -= len(script)
        if left < 0:
            break
        try:
            waiting: deque[Any] = deque([json.loads(script, parse_float=str)])  # 38.00 stays as it is
        except (ValueError, RecursionError):
            continue  # broken scripts are common, and the page's text is still there
        while waiting and len(items) < _MOST_ITEMS:
            held = waiting.popleft()
            if isinstance(held, Mapping):
                item = cast("Item", held)
                if "@type" in item:
                    items.append(item)
                waiting += item.values()
            elif isinstance(held, list):
                waiting += cast("list[Any]", held)
    return tuple(items)


def value(item: Item, *names: str) -> str:
    """Return the first of the named properties that has a text: its own, or the name of its object."""
    for name in names:
        held: Any = item.get(name)
        if isinstance(held, list):
            held = cast("list[Any]", held)[0] if held else None
        if isinstance(held, Mapping):
            thing = cast("Item", held)
            held = thing.get("name") or thing.get("@value") or thing.get("value")
        if isinstance(held, bool | Mapping | list) or held is None:
            continue
        if text := plain(str(held)[:5_000]):
            return text[:2_000]
    return ""


def plain(text: str) -> str:
    """Strip HTML, escaped or not, from a text of structured data."""
    return one_line(_TAG.sub(" ", html.unescape(_TAG.sub(" ", text))), 5_000)


def things_in(items: Sequence[Item]) -> Iterator[Entity]:
    """Yield the things that have a name: brands, organisations, products, people, places."""
    for item in items:
        kind = _kind(item)
        name = value(item, "name", "legalName")[:120]
        if kind and name:
            others = item.get("alternateName")
            written: list[Any] = (
                cast("list[Any]", others) if isinstance(others, list) else [others, item.get("legalName")]
            )
            aliases = [one_line(other, 120) for other in written[:10] if isinstance(other, str)]
            yield Entity(name=name, kind=kind, aliases=tuple(alias for alias in aliases if alias and alias != name))


def _kind(item: Item) -> Any:
    for name in _types(item):
        if name == "Brand":
            return "brand"
        if name in _ORGANISATIONS or name.endswith(("Organization", "Business")):
            return "organisation"
        if name in _PRODUCTS:
            return "product"
        if name == "Person":
            return "person"
        if name in _PLACES:
            return "place"
    return None


def _types(item: Item) -> list[str]:
    held: Any = item.get("@type")
    named: list[Any] = cast("list[Any]", held) if isinstance(held, list) else [held]
    return [name.rsplit("/", 1)[-1] for name in named[:10] if isinstance(name, str)]


def questions_in(items: Sequence[Item]) -> tuple[tuple[str, str], ...]:
    """Return the questions of an FAQ page, each with its answer."""
    found: list[tuple[str, str]] = []
    for item in items:
        accepted: Any = item.get("acceptedAnswer")
        if isinstance(accepted, list):
            accepted = cast("list[Any]", accepted)[0] if accepted else None
        if "Question" in _types(item) and isinstance(accepted, Mapping):
            question, answer = value(item, "name", "text")[:300], value(cast("Item", accepted), "text")
            if question and answer:
                found.append((question, answer))
    return tuple(found)


def facts_in(items: Sequence[Item], language: str = "") -> Iterator[Fact]:
    """Yield the properties of organisations and products as statements.

    They are sentences in English, German and Chinese; in any other language they read "name: value".
    """
    wordings = _WORDINGS.get(language or "en", {})
    for item in items:
        name = value(item, "name")[:120]
        if name:
            for kind, thing, said, confidence in (*_of_organisation(item, name), *_of_product(item, name)):
                if said:
                    yield Fact(wordings.get(kind, "{}: {}").format(thing, said)[:500], confidence)


def _of_organisation(item: Item, name: str) -> Iterator[tuple[str, str, str, float]]:
    if _kind(item) != "organisation":
        return
    yield "founded", name, value(item, "foundingDate")[:4], 0.9
    yield "founder", name, value(item, "founder", "founders"), 0.9
    yield "people", name, value(item, "numberOfEmployees"), 0.85
    held: Any = item.get("address")
    if isinstance(held, Mapping):
        address = cast("Item", held)
        places = (value(address, "addressLocality"), value(address, "addressCountry"))
        yield "place", name, ", ".join(filter(None, places)), 0.9


def _of_product(item: Item, name: str) -> Iterator[tuple[str, str, str, float]]:
    if _kind(item) != "product":
        return
    yield "maker", name, value(item, "brand", "manufacturer"), 0.9
    held: Any = item.get("offers")
    listed: list[Any] = cast("list[Any]", held) if isinstance(held, list) else [held]
    offers = [cast("Item", offer) for offer in listed[:_MOST_OFFERS] if isinstance(offer, Mapping)]
    prices = [price for offer in offers if (price := _price(offer))]
    variants = [value(offer, "name")[:120] for offer in offers]
    if len(set(prices)) > 1 and len(prices) == len(offers) and all(each not in {"", name} for each in variants):
        for variant, price in zip(variants, prices, strict=True):
            yield "price", f"{name} ({variant})", price, 0.95
    else:
        yield "price", name, " / ".join(dict.fromkeys(prices)), 0.95


def _price(offer: Item) -> str:
    """Format a price, such as "38.00 GBP" or "64.00–89.00 GBP"; empty if only the lowest of several prices is given."""
    price, low, high = (value(offer, key) for key in ("price", "lowPrice", "highPrice"))
    if low and high:
        price = low if low == high else f"{low}–{high}"
    return f"{price} {value(offer, 'priceCurrency')}".strip() if price else ""
