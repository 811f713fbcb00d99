"""The permissions in a site's robots.txt."""

import math

__all__ = ["AGENT", "USER_AGENT", "Robots"]

AGENT = "ralph-grounding"
USER_AGENT = f"{AGENT}/0.1 (reads pages as ground truth; obeys robots.txt)"

_LONGEST_DELAY = 30.0
_MOST_SITEMAPS = 20


class Robots:
    """The rules of one site.

    Args:
        text: the file; None if the site has none, and so allows everything.
    """

    def __init__(self, text: str | None) -> None:
        from protego import Protego

        self._rules = Protego.parse(text or "")

    def allow(self, url: str) -> bool:
        """Return True if a page may be read."""
        return self._rules.can_fetch(url, AGENT)

    @property
    def delay(self) -> float:
        """The seconds between requests that the site demands, at most 30."""
        asked = self._rules.crawl_delay(AGENT)
        return min(asked, _LONGEST_DELAY) if asked and math.isfinite(asked) and asked > 0 else 0.0

    @property
    def sitemaps(self) -> list[str]:
        """The sitemaps that it names."""
        return [url for url, _ in zip(self._rules.sitemaps, range(_MOST_SITEMAPS), strict=False)]
