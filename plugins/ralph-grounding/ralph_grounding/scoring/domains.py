"""Membership of hosts in a domain, compared label by label in readable form."""

import re
import unicodedata
from functools import cache
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList

__all__ = ["Domain", "has_known_suffix", "host_labels"]

_LONGEST_HOST, _LONGEST_LABEL = 253, 63
_NUMERIC = re.compile(r"\d+")


def host_labels(host: str) -> tuple[str, ...]:
    """Split a host into its labels, in lower case and without Punycode; none if it is not a host.

    `EXAMPLE.com.` and `example.com` are the same, as are `xn--mnchen-3ya.de` and `münchen.de`, or a host with and
    without percent-encoding. Letters that only look alike stay different.
    """
    if not 0 < len(host) <= _LONGEST_HOST:
        return ()
    host = _decoded(host)
    host = unicodedata.normalize("NFKC", host).replace("。", ".").lower().strip(".")
    labels = tuple(_readable(label) for label in host.split("."))
    return labels if all(labels) else ()


class Domain(NamedTuple):
    """A site's domain, without "www."; without labels it is empty, and owns no host."""

    labels: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> "Domain":
        """Return the domain of a host or an address, with or without a scheme, a port, a path."""
        authority = re.split(r"[/?#\\]", text.strip().split("://", 1)[-1], maxsplit=1)[0]
        labels = host_labels(authority.rpartition("@")[2].partition(":")[0])
        return cls(labels[1:] if len(labels) > 1 and labels[0] == "www" else labels)

    def __str__(self) -> str:
        return ".".join(self.labels)

    def owns(self, labels: tuple[str, ...]) -> bool:
        """Return True for the domain and hosts within it: `docs.example.com` is within `example.com`, not the reverse.

        Names within a public suffix such as `github.io` belong to others.
        """
        if not self.labels or labels[-len(self.labels) :] != self.labels:
            return False
        further = labels[: -len(self.labels)]
        return further in {(), ("www",)} or not (self._is_address() or _is_public_suffix(str(self)))

    def _is_address(self) -> bool:
        return all(_NUMERIC.fullmatch(label) for label in self.labels)


def has_known_suffix(host: str) -> bool:
    """Return True if a name ends in an existing top-level domain; `Node.js` does not."""
    labels = host_labels(host)
    return len(labels) > 1 and _suffixes().publicsuffix(_ascii(".".join(labels)), accept_unknown=False) is not None


def _is_public_suffix(name: str) -> bool:
    return _suffixes().is_public(_ascii(name))


@cache
def _suffixes() -> "PublicSuffixList":
    from publicsuffixlist import PublicSuffixList

    return PublicSuffixList(accept_unknown=False)


def _decoded(host: str) -> str:
    """Remove percent-encoding, unless that hides a character that no host has, such as a slash."""
    try:
        decoded = unquote(host, errors="strict")
    except UnicodeError:
        return host
    return host if re.search(r"[\s/\\?#@:%\x00-\x20]", decoded) else decoded


def _readable(label: str) -> str:
    """Decode a label from Punycode, only up to the length that a label may have: decoding is quadratic."""
    if not label.startswith("xn--") or len(label) > _LONGEST_LABEL:
        return label
    try:
        return label[4:].encode("ascii").decode("punycode").lower()
    except UnicodeError:
        return label


def _ascii(name: str) -> str:
    try:
        return ".".join(
            label if label.isascii() else "xn--" + label.encode("punycode").decode("ascii") for label in name.split(".")
        )
    except UnicodeError:
        return ""
