"""Addresses in a text: URLs with and without a scheme, hosts, e-mail addresses, paths. Found in linear time."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Literal, NamedTuple

from ralph_grounding.scoring.boundaries import GAPLESS, JOINED

__all__ = ["Address", "find_addresses", "find_paths", "path_of"]

Form = Literal["url", "other_scheme", "email", "page", "host", "path"]

_STOP = (
    "\\s\\x00-\\x20\\x7f<>\"'`{}|\\[\\]^"
    "\u00a0\u00ab\u00bb\u2000-\u200a\u2018-\u201f\u2026\u2028-\u202f\u2039\u203a\u205f"
    "\u3000-\u3004\u3008-\u3020\u3030\u30fb\uff01-\uff0c\uff0e\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65"
)
"""Characters that end an address: white space, quotation marks, brackets, East Asian punctuation."""

_DOT = "[.．]|[。｡](?=[0-9A-Za-z-]{1,63}[.．。｡][0-9A-Za-z])"
"""Separators of labels: also East Asian full stops, as browsers read them, but only where no sentence could begin."""

_LETTER = f"(?:[^\\W{GAPLESS}]|[{JOINED}-])"
_EDGES = "_-" + "".join(map(chr, (0xAD, 0x200B, 0x200C, 0x200D, 0x200E, 0x200F, 0x2060, 0xFEFF, 0xFE0F)))
_TRAILING = ".,;:!?*_~…&"
_WEB = frozenset({"http", "https", "ftp", "ftps"})


class Address(NamedTuple):
    """A stretch of the text that is one address, so that nothing else is searched for within it.

    Attributes:
        form: "url" with a scheme of the web, "other_scheme", "email", "page" (a host and more than "/"), "host" alone,
            "path" from the root of a site or of a disk.
        host: as written, without user, port and trailing dot; empty for a path.
        path: with its "/"; empty if none exists. Query and fragment are left out.
    """

    start: int
    end: int
    form: Form
    host: str = ""
    path: str = ""


def find_addresses(text: str, *, gapless: bool = False, dotless: bool = False) -> Iterator[Address]:
    """Find all addresses, from left to right; they do not overlap.

    Letters of scripts without spaces end a host, because prose continues there, unless `gapless` says that the wanted
    hosts are in such a script. A host has a dot, unless `dotless`.
    """
    for found in _pattern(gapless, dotless).finditer(text):
        if found["scheme"]:
            yield _with_scheme(found)
        elif found["mailbox"]:
            yield Address(found.start(), found.end(), "email", found["mail_host"])
        elif found["root"]:
            end = _trimmed(found, "root")
            yield Address(found.start(), end, "path", path=path_of(text[found.start() : end]))
        elif not found["user"]:
            yield from _without_scheme(found)


def find_paths(text: str) -> Iterator[Address]:
    """Find runs that could be a path of two segments or more, with or without a leading "/", from left to right."""
    for found in _paths().finditer(text):
        end = _trimmed(found, 0)
        yield Address(found.start(), end, "path", path=path_of(text[found.start() : end]))


def path_of(path: str) -> str:
    """Normalise a path for comparison: from the root, decoded, without query, fragment and trailing "/"."""
    from urllib.parse import unquote

    bare = re.split(r"[?#]", path, maxsplit=1)[0].removeprefix("./")
    return "/" + unquote(bare).strip("/")


def _with_scheme(found: re.Match[str]) -> Address:
    end = _trimmed(found, "rest")
    rest = found.string[found.start("rest") : end]
    authority = re.match(r"[^/?#\\]*", rest)
    place = authority.end() if authority else 0
    host, port_or_more = _host_of(rest[:place])
    form: Form = "url" if found["scheme"].lower() in _WEB else "other_scheme"
    if port_or_more:  # prose that went on without a space: the address ends with its host
        return Address(found.start(), found.start("rest") + place - len(port_or_more), form, host)
    return Address(found.start(), end, form, host, re.split(r"[?#]", rest[place:], maxsplit=1)[0])


def _host_of(authority: str) -> tuple[str, str]:
    """Return the host in `user:password@host:port`, and the rest that belongs to neither.

    A rest with a dot could continue the host, which then is not the one that it begins like.
    """
    location = authority.rpartition("@")[2]
    found = re.match(r"((?:[\w.%-]|[^\x00-\x7f])*)(?::\d{0,5}(?!\w))?", location)
    host, rest = (found[1], location[found.end() :]) if found else ("", location)
    return ("", "") if "." in rest.strip(_TRAILING) else (host, rest)


def _without_scheme(found: re.Match[str]) -> Iterator[Address]:
    start, host = found.start(), found["host"]
    if not found["port"] and not found["tail"]:
        host = _without_compound(host)
    start, host = start + len(host) - len(host.lstrip(_EDGES)), host.strip(_EDGES)
    if not host:
        return
    if not found["port"] and not found["tail"]:
        yield Address(start, start + len(host), "host", host)
        return
    end = _trimmed(found, "tail") if found["tail"] else found.end()
    tail = found.string[found.start("tail") : end] if found["tail"] else ""
    path = re.split(r"[?#]", tail, maxsplit=1)[0]
    yield Address(start, end, "page" if tail.startswith("/") and len(tail) > 1 else "host", host, path)


def _without_compound(host: str) -> str:
    """Return `example.com` for "an example.com-based service": no top-level domain has a hyphen, except in Punycode."""
    before, dot, last = host.rpartition(".")
    return host if last.lower().startswith("xn--") else (before + dot + last.partition("-")[0]).rstrip(".")


def _trimmed(found: re.Match[str], group: str | int) -> int:
    """Return the end of a group without the punctuation of the sentence around it."""
    return found.start(group) + len(found[group].rstrip(_TRAILING))


@cache
def _rest() -> str:
    """Return the pattern for the rest of an address.

    It reaches to white space, to a closing bracket that it did not open, or to the next address. A letter of a script
    without spaces right after a Latin one or a digit ends it, too.
    """
    # Here and below, groups repeat in atomic groups: Python before 3.11.5 mismatches possessive repeats of groups.
    plain = f"[^{_STOP}(),;{GAPLESS}]++"
    dot = f"(?:．(?=\\w)|{_DOT})"
    return f"(?>(?:{plain}|{dot}|[,;](?!https?://)|(?<![0-9A-Za-z])[{GAPLESS}]++|\\([^{_STOP}()]*+\\))*)"


@cache
def _pattern(gapless: bool, dotless: bool) -> re.Pattern[str]:  # noqa: FBT001 - cached by its arguments
    letter = f"[\\w{JOINED}-]" if gapless else _LETTER
    label = f"(?:{letter}++|[{GAPLESS}][\\w{JOINED}-]*+)"
    host = f"{letter}++(?>(?:(?:{_DOT}){label}){'*' if dotless else '+'})"
    return re.compile(
        rf"""
        (?<![0-9A-Za-z]) (?P<scheme>[A-Za-z][0-9A-Za-z+.-]{{0,15}}+) :// (?P<rest>{_rest()})
        | (?<![\w.+%-]) (?P<mailbox>[\w.+%-]++) @ (?P<mail_host>{host})
        | (?<! [^\s"'`(\[=<>,;|] ) (?P<root>(?:~|\.{{1,2}})?/(?![/\s]){_rest()})
        | (?<!{letter}) (?P<host>{host}) (?>(?P<port>:\d{{1,5}}(?!\d))?)
          (?>(?P<user>(?>(?::[^\s/?\#@]{{0,64}}+)?)@(?=\w))?) (?>(?P<tail>(?=[/?\#]){_rest()})?)
        """,
        re.VERBOSE,
    )


@cache
def _paths() -> re.Pattern[str]:
    plain = f"[^\\W{GAPLESS}]|[.%~+@-]"
    segment = f"/(?>(?:{plain}|(?<![0-9A-Za-z])[{GAPLESS}])+)"
    return re.compile(f"(?<![^\\W{GAPLESS}])(?<![/.~%@+-])(?:\\.?{segment}|(?>(?:{plain})+))(?>(?:{segment})+)/?")
