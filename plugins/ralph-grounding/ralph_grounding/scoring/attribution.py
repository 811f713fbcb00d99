"""Attribution: credit to the source, by address, by domain or by brand.

These are mentions:

- A URL: an address with a scheme and a host in the domain; `example.com/pricing` without one; and a bare path of two
  segments or more that is a known page's. A known page's full address counts on any host.
- The domain: `example.com`, `www.example.com`, `docs.example.com`, and e-mail addresses there.
- A brand: as a separate word.

Hosts are compared by whole labels: `notexample.com`, `example.com.evil.io` and `example.com@evil.io` belong to others,
and nothing within another site's address counts, whatever its path or query says. Links, code spans and HTML are read
as plain text.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from ralph_grounding.result import AttributionMention, AttributionResult, TextPosition
from ralph_grounding.scoring.addresses import Address, find_addresses, find_paths, path_of
from ralph_grounding.scoring.boundaries import has_gapless
from ralph_grounding.scoring.brands import Brands
from ralph_grounding.scoring.domains import Domain, has_known_suffix, host_labels
from ralph_grounding.scoring.tiers import tier_of
from ralph_grounding.settings import AttributionSettings, TierSettings

__all__ = ["AttributionScorer"]

_Kind = Literal["url", "domain", "brand", "foreign"]
_RANKS: Mapping[_Kind, int] = {"url": 0, "domain": 1, "brand": 2, "foreign": 3}
_CONTEXT = 60
_MOST_LISTED = 1000


class _Candidate(NamedTuple):
    """A possible mention, or "foreign": another site's address, which contains no mention."""

    start: int
    end: int
    kind: _Kind
    target: str


class AttributionScorer:
    """Scorer of the credit that a response gives to its source."""

    def __init__(self, settings: AttributionSettings | None = None, tiers: TierSettings | None = None) -> None:
        self._settings = settings or AttributionSettings()
        self._tiers = tiers or TierSettings()

    def score(
        self, response: str, domain: str, brand_names: Sequence[str], known_urls: Iterable[str] = ()
    ) -> AttributionResult:
        """Return the weight of the best mention, plus the bonus for each further one, up to the maximum.

        If candidates overlap, the longest is the mention, and of equally long ones the kind with the highest weight;
        the others stand in its `implies`, and in the flags. All mentions count; the first 1,000 are listed.

        Args:
            response: the response's text.
            domain: a host, or an address on it; empty if none exists.
            brand_names: names of the source.
            known_urls: of the ground truth's pages: addresses, or paths.
        """
        candidates = list(_source(domain, tuple(brand_names), tuple(known_urls)).candidates(response))
        kept, dropped = _longest(candidates, len(response))
        implied = _implied(kept, dropped)
        found = [(candidate, implied.get(place, set())) for place, candidate in enumerate(kept)]
        found = [(candidate, implies) for candidate, implies in found if candidate.kind != "foreign"]
        kinds: set[_Kind] = {candidate.kind for candidate, _ in found}
        hints = {hint for _, implies in found for hint in implies}
        score = self._points(kinds, len(found))
        return AttributionResult(
            score=score,
            tier=tier_of(score, self._tiers),
            mentions=tuple(_mention(response, *mention) for mention in found[:_MOST_LISTED]),
            has_url_citation="url" in kinds,
            has_domain_mention="domain" in kinds or "domain" in hints,
            has_brand_mention="brand" in kinds or "brand" in hints,
        )

    def _points(self, kinds: set[_Kind], mentions: int) -> float:
        if not mentions:
            return 0.0
        settings = self._settings
        weights = {"url": settings.url_weight, "domain": settings.domain_weight, "brand": settings.brand_weight}
        best = max(weight for kind, weight in weights.items() if kind in kinds)
        return min(settings.max_score, best + settings.multi_mention_bonus * (mentions - 1))


class _Source:
    """The names and addresses to search for."""

    def __init__(self, domain: str, brands: Sequence[str], known_urls: Iterable[str]) -> None:
        self._domain = Domain.of(domain)
        self._brands = Brands(brands)
        self._pages: dict[tuple[tuple[str, ...], str], str] = {}
        self._paths: dict[str, str] = {}
        for url in known_urls:
            self._add_page(url)

    def candidates(self, response: str) -> Iterator[_Candidate]:
        brands = sorted(
            _Candidate(found.start, found.end, "brand", found.brand) for found in self._brands.find(response)
        )
        yield from brands
        if self._domain.labels or self._pages or self._paths or brands:
            name = str(self._domain)
            for address in find_addresses(response, gapless=has_gapless(name), dotless=bool(name) and "." not in name):
                yield from self._of_address(response, address, brands)
        if self._paths:
            for path in find_paths(response):
                if path.path in self._paths:
                    yield _Candidate(path.start, path.end, "url", self._paths[path.path])

    def _of_address(self, response: str, address: Address, brands: list[_Candidate]) -> Iterator[_Candidate]:
        kind, target = self._meaning(address)
        if kind == "url" and address.host and self._domain.owns(host_labels(address.host)):
            yield _Candidate(address.start, address.end, "domain", str(self._domain))
        if kind != "foreign" or (_touches(brands, address) and _is_certain(response, address)):
            yield _Candidate(address.start, address.end, kind, target)

    def _meaning(self, address: Address) -> tuple[_Kind, str]:
        if address.form == "path":
            known = self._paths.get(address.path)
            return ("foreign", "") if known is None else ("url", known)
        labels = host_labels(address.host)
        known = self._pages.get((_without_www(labels), path_of(address.path)))
        owned = self._domain.owns(labels)
        if address.form in {"url", "page"} and (owned or known is not None):
            return "url", str(self._domain) if known is None else known
        return ("domain", str(self._domain)) if owned else ("foreign", "")

    def _add_page(self, url: str) -> None:
        scheme, _, rest = url.strip().rpartition("://")
        host, slash, path = rest.partition("/") if scheme else ("", "", rest)
        path = path_of(slash + path)
        if host:
            self._pages.setdefault((Domain.of(host).labels, path), url)
        if path.count("/") > 1:
            self._paths.setdefault(path, url)


@lru_cache(maxsize=8)
def _source(domain: str, brands: tuple[str, ...], known_urls: tuple[str, ...]) -> _Source:
    """Make the source, cached because many responses are held against the same ground truth."""
    return _Source(domain, brands, known_urls)


def _without_www(labels: tuple[str, ...]) -> tuple[str, ...]:
    return labels[1:] if len(labels) > 1 and labels[0] == "www" else labels


def _touches(brands: list[_Candidate], address: Address) -> bool:
    """Return True if a brand begins in the address; only then its owner matters."""
    place = bisect_right(brands, (address.start,))
    return any(brand.start < address.end for brand in brands[place : place + 1])


def _is_certain(response: str, address: Address) -> bool:
    """Return True for a real address: `Node.js`, `and/or` and a missing space after a full stop are not."""
    if address.form == "path":
        return address.path.count("/") > 1
    return address.form not in {"host", "page"} or has_known_suffix(address.host)


def _longest(candidates: list[_Candidate], length: int) -> tuple[list[_Candidate], list[_Candidate]]:
    """Split the candidates into the kept ones, in order and without overlap, and the others."""
    covered = bytearray(length)
    kept: list[_Candidate] = []
    dropped: list[_Candidate] = []
    for candidate in sorted(candidates, key=lambda one: (one.start - one.end, _RANKS[one.kind], one.start)):
        if covered.find(1, candidate.start, candidate.end) >= 0:
            dropped.append(candidate)
        else:
            covered[candidate.start : candidate.end] = b"\1" * (candidate.end - candidate.start)
            kept.append(candidate)
    return sorted(kept), dropped


def _implied(kept: list[_Candidate], dropped: list[_Candidate]) -> dict[int, set[Literal["domain", "brand"]]]:
    """Collect, by place, what else each kept candidate names: other kinds that lie wholly within it."""
    starts = [candidate.start for candidate in kept]
    implied: dict[int, set[Literal["domain", "brand"]]] = {}
    for candidate in dropped:
        place = bisect_right(starts, candidate.start) - 1
        if place < 0 or candidate.end > kept[place].end:
            continue
        owner = kept[place].kind
        if candidate.kind == "brand" and owner != "brand":
            implied.setdefault(place, set()).add("brand")
        elif candidate.kind == "domain" or (candidate.kind == "url" and owner == "brand"):
            implied.setdefault(place, set()).add("domain")
    return implied


def _mention(response: str, found: _Candidate, implies: set[Literal["domain", "brand"]]) -> AttributionMention:
    assert found.kind != "foreign"
    return AttributionMention(
        type=found.kind,
        matched_text=response[found.start : found.end],
        target=found.target,
        position=TextPosition(start=found.start, end=found.end),
        context=response[max(0, found.start - _CONTEXT) : found.end + _CONTEXT],
        implies=tuple(kind for kind in ("domain", "brand") if kind in implies),
    )
