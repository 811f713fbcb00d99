"""Masking of secrets in text, in one piece or as it streams.

A `Redactor` masks the values that it is given, tokens of a known shape, values of secret names (in settings, flags,
markup, SQL), passwords in commands that take one, credentials of an Authorization header, cookies, passwords within
addresses, and private keys. The shapes are Ralph's own and those of gitleaks (`gitleaks.json`, MIT licence, converted
by `.ci/gitleaks.py`).

What is not seen (escape sequences, control and zero-width characters) is removed first: it would break a secret in two
that a terminal shows whole. A text in pieces is masked as the whole is: what could still become part of a secret waits.
"""

import json
import re
from base64 import b64decode
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from ralph.system.secret_rules import OWN, TAILS, Rule, Rules
from ralph.system.text import CONTEXT, pattern, storable, visible, visible_part

if TYPE_CHECKING:
    from ahocorasick_rs import AhoCorasick

MASK = "***"

_PIECE = 100_000  # characters of a text that are looked at together
_SHORTEST = 6  # a shorter value is not masked: it would eat the text
_CONTEXT = 48  # characters before a text that its first secret is recognised by: the name of a flag
_COMMAND = 300  # the same from the beginning of a command, which may name its password late
_OPEN = 2_000  # the most characters of an assignment, from its name to the end of its value
_REACH = 1_100  # the most characters that tell whether a secret begins here
_BEFORE = 40  # the most characters of a secret before a hint within it

# Every alternative begins with a hint of `shapes.json` and needs a bounded number of characters to be recognised; what
# follows in the same alphabet belongs to the secret, however long. All but `before`, `cookie` and `pem` are one run of
# visible ASCII.
_SHAPES = pattern("".join(OWN["verbose"]["shapes"]), re.VERBOSE)
_NAME = "".join(OWN["verbose"]["name"])
# What stands between a secret name and its value: `DB_PASSWORD=…`, `"password": "…"`, `?token=…`, `<password>…`,
# `--password …`, `PASSWORD '…'`, `name: DB_PASSWORD, value: …` (also on two lines), a block of lines in YAML.
_ASSIGNED = pattern(_NAME + "".join(OWN["verbose"]["assigned"]), re.VERBOSE)
_ASSIGNING = pattern(_NAME + "".join(OWN["verbose"]["assigning"]), re.VERBOSE)
# Values by what opens them (nothing, a tag, a line's end, quotes, quotes within quotes); the parts a text may end with.
_VALUES = {
    "": (
        r"[^\s\"'`,;&|(){}\[\]<>\\=]{3,200}+={0,2}+(?![(\[])",
        r"[^\s\"'`,;&|(){}\[\]<>\\=]{0,200}={0,2}|[a-z]{2,12}(?: [a-z]{0,12}){1,9}[ \t]{0,3}",
    ),
    ">": (r"[^<>\n]{3,200}(?=</)", r"[^<>\n]{0,200}<?"),
    "\n": (
        r"([ \t]{1,20})[^\s][^\n]{5,200}(?:\n\1[^\n]{1,200}){0,8}",
        r"(?:([ \t]{1,20})[^\n]{0,200}(?:\n\1[^\n]{0,200}){0,8}(?:\n[ \t]{0,20})?)?",
    ),
    **{q: (rf"(?:[^{q}\\\n]|\\.){{3,200}}(?={q})", rf"(?:[^{q}\\\n]|\\.){{0,200}}\\?") for q in "\"'`"},
    **{
        rf"\{q}": (rf"(?:{inner}){{3,200}}(?=\\{q})", rf"(?:{inner}){{0,200}}\\{{0,3}}")
        for q, inner in ((q, rf"[^{q}\\\n]|\\\\\\?.|\\[^{q}\\\n]") for q in "\"'`")
    },
}
_VALUE = {opened: pattern(value) for opened, (value, _) in _VALUES.items()}
_VALUE_PART = {opened: pattern(rf"(?:{part})\Z") for opened, (_, part) in _VALUES.items()}
_WORDS = pattern(r"[A-Za-z]*[0-9]{0,4}(?:[-_.:/][A-Za-z]*[0-9]{0,4})*")
_MEMBER = pattern(rf"(?=(?:[^.]*\.)*[A-Za-z_]+(?:\.|\Z)){_WORDS.pattern}")
"""Names, versions and paths: words with a number behind. The member of an object has a name without one."""
_LETTER, _MIXED = pattern(r"[A-Za-z]"), pattern(r"(?=.*[A-Za-z]).*[0-9]")
_PATTERNS = {name: pattern("".join(parts)) for name, parts in OWN["patterns"].items()}
_VISIBLE = "".join(map(chr, range(0x21, 0x7F)))

_KEY_LENGTH = 8_000


class _Secret(NamedTuple):
    """A secret: its span, its replacement, and what of the following text belongs to it."""

    start: int
    end: int
    shown: str
    tail: re.Pattern[str] | None = None


class Redactor:
    """Masks secrets in texts.

    Args:
        values: literal secrets, masked wherever they occur, also in the spelling of JSON and of addresses. Values of
            less than 6 characters are left alone.
    """

    def __init__(self, values: Iterable[str] = ()) -> None:
        from ahocorasick_rs import AhoCorasick

        spellings = {visible(spelling) for value in values for spelling in _spellings(storable(value.strip()))}
        known = [value for value in spellings if len(value) >= _SHORTEST]
        self._known = AhoCorasick(known, store_patterns=False) if known else None
        self._named = True
        self._broken = tuple(value for value in known if value.strip(_VISIBLE))
        self._reach = max([_REACH, *(len(value) for value in known)])

    def __call__(self, text: str) -> str:
        """Return the text without its secrets, in time proportional to its length."""
        stream = self.stream()
        last = len(text) // _PIECE * _PIECE
        shown = [stream.feed(text[at : at + _PIECE]) for at in range(0, last, _PIECE)]
        return "".join((*shown, stream.flush(text[last:])))

    def for_agent(self) -> "Redactor":
        """Return one that masks the given values and shapes alone: a cookie that a test prints is its matter."""
        lenient = copy(self)
        lenient._named = False  # noqa: SLF001 - its own
        return lenient

    def each(self, texts: Sequence[str]) -> tuple[str, ...]:
        """Return short texts, such as the names of files, each masked."""
        joined = "\n".join(texts)
        return tuple(texts) if self(joined) == joined else tuple(map(self, texts))

    def within(self, data: object) -> Any:
        """Return JSON values with every text in them masked; keys, numbers and texts without a secret stay."""
        if isinstance(data, str):
            masked = self(data)
            return data if masked == visible(data) else masked
        if isinstance(data, Mapping):
            return {key: self.within(value) for key, value in cast("Mapping[str, object]", data).items()}
        if isinstance(data, list | tuple):
            return [self.within(value) for value in cast("Sequence[object]", data)]
        return data

    def stream(self) -> "RedactedStream":
        """Return a redactor for one text that comes in pieces."""
        return RedactedStream(self._known, self._broken, self._reach, named=self._named)


class RedactedStream:
    """One text in pieces: what `feed` and `flush` return is, joined, what the redactor makes of the whole.

    Made by `Redactor.stream`.
    """

    def __init__(self, known: "AhoCorasick | None", broken: tuple[str, ...], reach: int, *, named: bool) -> None:
        self._known, self._broken, self._reach = known, broken, reach
        self._rules = Rules.load(named=named)
        self._unread = ""  # the end of the text as given: an escape sequence that may have begun, and its context
        self._context = 0
        self._text = ""
        self._from = 0  # what stands before is done with, and kept as context of what comes
        self._commands: list[int] = []  # where they begin in the text
        self._tail: re.Pattern[str] | None = None

    def feed(self, chunk: str) -> str:
        """Take the next piece and return what is safe to show by now."""
        self._read(chunk, final=False)
        return self._shown(*self._decided(), final=False)

    def flush(self, last: str = "") -> str:
        """Take the last piece, end the text and return the rest of it."""
        self._read(last, final=True)
        shown = self._shown(len(self._text), len(self._text), final=True)
        self._text, self._from, self._tail = "", 0, None
        return shown

    def _read(self, chunk: str, *, final: bool) -> None:
        """Add what is visible of the next piece; an escape sequence without an end waits for the next one."""
        given = self._unread + storable(chunk)
        seen, end = visible_part(given, self._context, final=final)
        self._text += seen
        self._context = 0 if final else min(end, CONTEXT)
        self._unread = "" if final else given[end - self._context :]

    def _shown(self, decided: int, opened: int, *, final: bool) -> str:
        """Mask and release what comes before `decided`, and secrets that begin there as a whole.

        `opened` is where a given value begins that the text ends within.
        """
        text, position, pieces = self._text, self._from, list[str]()
        if decided <= position and not (self._tail or final):
            return ""
        if self._tail and (tail := self._tail.match(text, position)):
            if opened < tail.end():
                return ""
            position = tail.end()
        if position < len(text):
            self._tail = None
        for start, (value_end, rules) in self._candidates(text):
            if start < position:
                position = max(position, value_end)  # the rest of a given value that a shorter secret begins
                continue
            if start >= decided:
                break
            secret = _secret(text, start, value_end, rules, final=final)
            if secret is None:
                continue
            if secret.start == secret.end or secret.start <= opened < secret.end:
                decided = start  # what ends the secret is not here yet
                break
            pieces += text[position : secret.start], secret.shown
            position = secret.end
            self._tail = secret.tail if position == len(text) else None
        pieces.append(text[position:decided])
        position = max(position, decided)
        command = next((at for at in self._commands if at > position - _COMMAND), position)
        context = max(min(command, position - _CONTEXT), 0)
        self._text, self._from = text[context:], position - context
        return "".join(pieces)

    def _candidates(self, text: str) -> list[tuple[int, tuple[int, list[Rule]]]]:
        """Return where secrets may begin, in order, with the end of the longest given value or 0, and the rules."""
        found, given = dict[int, tuple[int, list[Rule]]](), list[tuple[int, int]]()
        self._commands = []
        inner, commands = self._rules.inner, self._rules.commands
        for index, start, _ in self._rules.sought.find_matches_as_indexes(text, overlapping=True):
            match = None
            if command := commands.get(index):
                self._commands.append(start)
                match = command.match(text, start)
            elif around := inner.get(index):
                match = around.search(text, max(start - _BEFORE, 0), start + 100)
            else:
                found.setdefault(start, (0, []))[1].extend(self._rules.tried[index])
            if match and match.start() <= start < match.end():
                given.append(match.span(match.lastindex or 0))
        if self._known:
            given += [(start, end) for _, start, end in self._known.find_matches_as_indexes(text, overlapping=True)]
        for start, end in given:
            value_end, rules = found.get(start, (0, []))
            found[start] = max(value_end, end), rules
        return sorted(found.items(), key=itemgetter(0))

    def _decided(self) -> tuple[int, int]:
        """Return where text ends that no further character can change, and where an unfinished given value begins."""
        text = self._text
        earliest = max(self._from, len(text) - self._reach)
        decided = earliest + len(text[earliest:].rstrip(_VISIBLE))
        if decided > earliest and (unfinished := _PATTERNS["unfinished"].search(text, max(0, decided - 220), decided)):
            decided = max(self._from, unfinished.start())
        opened = len(text)
        for value in self._broken:
            start = max(self._from, len(text) - len(value) + 1)
            while (start := text.find(value[0], start, opened)) >= 0:
                if value.startswith(text[start:]):
                    decided, opened = min(decided, start), start
                start += 1
        return decided, opened


def _secret(text: str, start: int, value_end: int, rules: Sequence[Rule], *, final: bool) -> _Secret | None:
    """Return the longest secret that begins there; one of no length if that depends on what follows."""
    if not final and _is_open(text, start, rules):
        return _Secret(start, start, "")
    found = [_Secret(start, value_end, MASK)] if value_end else []
    if shape := _SHAPES.match(text, start):
        if shape["pem"]:
            return _Secret(start, _key_end(shape, final=final) or start, MASK)
        kind = shape.lastgroup or ""
        found.append(_Secret(start, shape.end(), shape[kind] + MASK, TAILS.get(kind)))
    elif assigned := _assigned(text, start):
        found.append(assigned)
    found += [secret for rule in rules if (secret := _by_rule(rule, text, start))]
    return max(found, key=attrgetter("end"), default=None)


def _is_open(text: str, start: int, rules: Sequence[Rule]) -> bool:
    """Return True if the text ends within what may become an assignment to the name that begins there."""
    if len(text) - start >= _OPEN:
        return False
    if _ASSIGNING.match(text, start) or (rules and _PATTERNS["naming"].match(text, start)):
        return True
    match = _ASSIGNED.match(text, start)
    return bool(match and _VALUE_PART[_opened(match)].match(text, match.end()))


def _by_rule(rule: Rule, text: str, start: int) -> _Secret | None:
    if (match := rule.found.match(text, start)) is None:
        return None
    begin, end = match.span(1 if match.lastindex else 0)
    tail = rule.tail.match(text, match.end()) if rule.tail else None
    return _Secret(start, tail.end() if tail else end, text[start:begin] + MASK, rule.tail)


def _assigned(text: str, start: int) -> _Secret | None:
    """Return the value of a secret name that begins there, unless it is a placeholder or an expression."""
    if (match := _ASSIGNED.match(text, start)) is None or _is("no_secret_name", match["name"].rstrip("_-")):
        return None
    if "pass" in match["name"].lower() and match["between"] in {": ", " = "} and (words := _words(match)):
        return _Secret(start, words, match[0] + MASK)
    opened = _opened(match)
    value = _VALUE[opened].match(text, match.end())
    first = value[0].strip().partition("\n")[0] if value else ""
    if not value or _is("placeholder", first) or not _looks_secret(match, first, opened):
        return None
    tail = None if opened else TAILS["plain"]
    rest = tail.match(text, value.end()) if tail else None
    return _Secret(start, (rest or value).end(), match[0] + MASK, tail)


def _words(match: re.Match[str]) -> int:
    """Return the end of a password of several words without quotes, on a line of its own; 0 without one."""
    before = match.string[max(match.start() - _CONTEXT, 0) : match.start()]
    found = _PATTERNS["line"].match(match.string, match.end()) if _PATTERNS["alone"].search(before) else None
    return found.end() if found and _is("phrase", found[0]) else 0


def _is(name: str, value: str) -> bool:
    return _PATTERNS[name].fullmatch(value) is not None


def _opened(match: re.Match[str]) -> str:
    return match["quote"] or (between if (between := match["between"][-1:]) in {">", "\n"} else "")


def _looks_secret(match: re.Match[str], value: str, opened: str) -> bool:
    """Return True for what no name in a program looks like, or where no program's source stands.

    Behind the name of a password, words may be secret: in quotes, right behind a "=" with a number, in capitals, and
    where data stands.
    """
    name, between = match["name"], "=" if match["pair"] else match["between"]
    begin = match.start() + (name[0] in "_-")
    strong, in_capitals = bool(_PATTERNS["strong"].match(name)), name.isupper()
    before, command = match.string[max(begin - 40, 0) : begin], match.string.rfind("vault ", max(begin - 200, 0), begin)
    is_vault = command >= 0 and _PATTERNS["vault"].match(match.string, command, begin)
    is_data = bool(is_vault or _PATTERNS["data"].search(before))
    is_pwd = name.lower() == "pwd" and before[-1:] != "_"
    if not between.strip("( \t,\\\"'is"):
        alone = strong and "," not in between
        by_name = alone and (in_capitals or (is_data and between != "("))
        if opened:
            return by_name or ((alone or is_data) and _is_random(value, 6 if strong else 12))
        is_word = (
            _PATTERNS["mention"].search(before) or _is("mentioned", value) or not (strong or len(value) >= _SHORTEST)
        )
        is_argument = is_data and not is_word and value[0] not in "/~.-" and _is("ends_secret", name)
        is_mixed = strong and _MIXED.match(value) and not _is("type", value)
        return bool(is_mixed) or _is_random(value, 12) if between == " is " else bool(is_argument)
    if len(value) < _SHORTEST:  # masked only where a value must stand
        names_it = is_data or (in_capitals and not is_pwd)
        return strong and (opened not in {"", "\n"} or (between == "=" and names_it)) and bool(_LETTER.search(value))
    if _is_login(name, value):
        return True
    is_folder = is_pwd and value.lstrip("~.").startswith("/")
    is_phrase = " " not in value or (in_capitals and between == "=" and opened != "`") or _is("phrase", value)
    if opened and strong and not is_folder and is_phrase:
        return bool(_LETTER.search(value)) or len(value) >= 8
    is_member = not (opened or in_capitals or is_data) and "." in value and _MEMBER.fullmatch(value)
    if opened or not strong or is_folder or is_member:
        is_flag = (is_vault or (is_data and before[-1:] == "-")) and between == "=" and _is("ends_secret", name)
        return bool(is_flag and value.isalpha()) or _is_random(value, 1 if opened else 12)
    if not _MIXED.match(value):
        return (in_capitals and between.endswith("=")) or (is_data and between == "=")
    mixed_case = not (value.islower() or value.isupper())
    is_line = between.endswith("=") or (":" in between and value.islower() and not _is("type", value))
    is_long = len(value) >= 12 and mixed_case and value.isascii()
    return is_line or is_long or _is_random(value, 8) or bool(_is("dotted", value))


def _is_random(value: str, least: int) -> bool:
    """Return True for letters and digits that are no word with a number, as names in code are."""
    return bool(_MIXED.match(value)) and value.isascii() and len(value) >= least and not _WORDS.fullmatch(value)


def _is_login(name: str, value: str) -> bool:
    """Return True for a name and a password in base64, behind "auth" or "Authorization"."""
    try:
        login = b64decode(value.rstrip("=") + "==") if name.lower().startswith("auth") else b""
    except ValueError:
        return False
    return b":" in login and login.isascii()


def secret_values(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the values of variables with secret names, such as GH_TOKEN and AWS_SECRET_ACCESS_KEY."""
    return tuple(value for name, value in environ.items() if value and is_secret_name(name))


def is_secret_name(name: str) -> bool:
    """Return True if a variable's name says that its value is secret."""
    parts = name.upper().split("_")
    names_a_place = parts == ["PWD"] or parts[-1] in {"FILE", "PATH", "DIR"} or parts[:2] == ["GIT", "CONFIG"]
    return not names_a_place and (parts[-1] == "PW" or any(_is("secret_part", part) for part in parts))


def _spellings(value: str) -> set[str]:
    from urllib.parse import quote

    return {value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1], quote(value, safe="")}


def _key_end(begin: re.Match[str], *, final: bool) -> int | None:
    """Return the end of a private key: its END line, or where the text stops looking like a key; None: not here yet."""
    text, start = begin.string, begin.end()
    whole = final or len(text) >= start + _KEY_LENGTH + 80
    ends = "Private-MAC:" if begin[0][0] == "P" else f"{begin[0].partition('BEGIN')[0]}END"
    last = text.find(ends, start, start + _KEY_LENGTH)
    if last >= 0 and (closing := _PATTERNS["key_end"].match(text, last)):
        return closing.end()
    if not whole:
        return None
    if last >= 0:
        return last
    lines = _PATTERNS["key_lines"].match(text, start, start + _KEY_LENGTH)
    return lines.end() if lines else start
