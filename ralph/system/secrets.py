"""Masking of secrets in text, in one piece or as it streams.

A `Redactor` masks the values that it is given, tokens of a known shape, values that are assigned to secret names,
credentials of an Authorization header, passwords within addresses, and private keys. The shapes are Ralph's own and
those of gitleaks (`gitleaks.json`, MIT licence, converted by `.ci/gitleaks.py`).

What is not seen (escape sequences, control and zero-width characters) is removed first: it would break a secret in two
that a terminal shows whole.

A text that comes in pieces is masked to the very same result as the whole. `RedactedStream` holds back what could
still become part of a secret: in prose the current word, after a secret name a few words.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from ralph.system.text import pattern, storable, visible, visible_part

if TYPE_CHECKING:
    from ahocorasick_rs import AhoCorasick

MASK = "***"

_PIECE = 100_000
"""Characters of a text that are looked at together."""

_SHORTEST = 6
"""A shorter value is not masked: it would eat the text."""

_CONTEXT = 12
"""Characters before a text that its first secret is recognised by: the longest look behind has ten."""

_OPEN = 320
"""How many characters an assignment takes at most, from its name to the end of a quoted value."""

_REACH = 1_100
"""How many characters tell at most whether a secret begins here."""

# Every alternative begins with one of `_BEGINNINGS` and needs a bounded number of characters to be recognised; what
# follows in the same alphabet belongs to the secret, however long. All but `before` and `pem` are one run of visible
# ASCII.
_SHAPES = pattern(
    r"""
      (?P<key> gh[pousr]_[A-Za-z0-9]{20} | github_pat_[A-Za-z0-9_]{20}
             | sk-(?<![A-Za-z0-9]sk-)(?:(?:ant|proj|svcacct|admin|or|lf)-[A-Za-z0-9_-]{16} | [A-Za-z0-9]{20})
             | A(?:KIA|SIA)(?<![A-Z0-9]....)[A-Z0-9]{16} | xox[abeoprs]-[A-Za-z0-9-]{10} | xapp-[A-Za-z0-9-]{10}
             | AIza[A-Za-z0-9_-]{35} | gl(?:pat|ptt|dt|rt|cbt|soat)-[A-Za-z0-9_-]{20} | hf_[A-Za-z0-9]{30}
             | npm_[A-Za-z0-9]{30} | pypi-[A-Za-z0-9_-]{50} | [sr]k_(?:live|test)_[A-Za-z0-9]{20}
             | dckr_pat_[A-Za-z0-9_-]{20} | do[opr]_v1_[a-f0-9]{40} | shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}
             | sntrys_[A-Za-z0-9_-]{20} | NR(?:AK|II|JS)-[A-Za-z0-9-]{19}
             | (?<![A-Za-z0-9])SK[0-9a-f]{32}(?![A-Za-z0-9])
             | (?<![A-Za-z0-9_])(?: (?:gsk|sbp|napi|whsec|rnd|r8|fw)_[A-Za-z0-9]{20} | (?:xai|csk)-[A-Za-z0-9]{20}
               | pcsk_[A-Za-z0-9_]{30} | figd_[A-Za-z0-9_-]{30} | nvapi-[A-Za-z0-9_-]{30}
               | tvly-(?:[a-z]{3,4}-)?[A-Za-z0-9]{20} | lsv2_(?:pt|sk)_[a-f0-9]{32} | sb_secret_[A-Za-z0-9_-]{20}
               | GOCSPX-[A-Za-z0-9_-]{20} | CFPAT-[A-Za-z0-9_-]{40} | ATBB[A-Za-z0-9]{28} | ATATT3[A-Za-z0-9_=-]{40} )
             ) [A-Za-z0-9_=-]*
    | (?P<token> eyJ(?<![A-Za-z0-9]eyJ)[A-Za-z0-9_-]{8,500}\.eyJ[A-Za-z0-9_-]{8} | ya29\.[A-Za-z0-9_-]{20}
             | SG\.[A-Za-z0-9_-]{16,40}\.[A-Za-z0-9_-]{16} | hv[sbr]\.[A-Za-z0-9_-]{20}
             | [sp]k\.eyJ[A-Za-z0-9_-]{20} | 1//0[A-Za-z0-9_-]{30} ) [A-Za-z0-9_.-]*
    | (?P<before> [Bb]earer[ \t]{1,4} | [Aa]uthorization:[ \t]{1,4}[Bb]asic[ \t]{1,4} )
      (?: [A-Za-z0-9._~+/-]{16} | (?=[A-Za-z._~+/-]{0,15}[0-9])[A-Za-z0-9._~+/-]{8} ) [A-Za-z0-9._~+/=-]*
    | (?P<address> ://[!-.0-9;-?A-~]{0,256}: ) [!-.0-?A-~]{1,256}(?=@)
    | (?P<hook> (?:hooks\.slack\.com/(?:services|workflows|triggers)|discord(?:app)?\.com/api/webhooks/[0-9]{5,25})/ )
      [A-Za-z0-9/_-]{20,200}
    | (?P<pem> -----BEGIN[ ][A-Z0-9 ]{0,40}PRIVATE[ ]KEY(?:[ ]BLOCK)?----- )
    """,
    re.VERBOSE,
)

_BEGINNINGS = (
    *("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "sk-", "AKIA", "ASIA", "xox", "xapp-", "AIza", "eyJ"),
    *("glpat-", "glptt-", "gldt-", "glrt-", "glcbt-", "glsoat-", "hf_", "npm_", "pypi-", "sk_live_", "sk_test_"),
    *("rk_live_", "rk_test_", "dckr_pat_", "doo_v1_", "dop_v1_", "dor_v1_", "shpat_", "shpca_", "shppa_", "shpss_"),
    *("sntrys_", "ya29.", "SG.", "gsk_", "sbp_", "napi_", "whsec_", "rnd_", "r8_", "fw_", "xai-", "csk-", "pcsk_"),
    *("figd_", "nvapi-", "tvly-", "lsv2_", "sb_secret_", "GOCSPX-", "CFPAT-", "ATBB", "ATATT3", "hvs.", "hvb.", "hvr."),
    *(
        "NRAK-",
        "NRII-",
        "NRJS-",
        "SK",
        "sk.eyJ",
        "pk.eyJ",
        "1//0",
        "hooks.slack.com/",
        "discord.com/api/",
        "discordapp.com/api/",
    ),
    *("Bearer", "bearer", "Authorization:", "authorization:", "://", "-----BEGIN"),
)

_INNER = {
    ":AA": pattern(r"\b[0-9]{8,10}:AA[A-Za-z0-9_-]{33}"),
    "-us": pattern(r"\b[0-9a-f]{32}-us[0-9]{1,2}\b"),
    ".atlasv1.": pattern(r"\b[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,70}"),
    "Q~": pattern(r"(?<![A-Za-z0-9_~.-])[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}"),
    "_mmk": pattern(r"\b[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk\b"),
}
"""Shapes that are known by what stands within them: of Telegram, Mailchimp, Terraform Cloud, Azure and MaxMind."""
_BEFORE = 40
"""How many characters of such a secret stand before its hint at most."""

_NAMES = (
    *("passw", "passphrase", "pwd", "secret", "token", "credential", "api_key", "api-key", "apikey", "_key", "-key"),
    "_auth",
)
_NAME_HINTS = (
    *{form for name in _NAMES for form in (name, name.upper(), name.title(), name.capitalize())},
    *("ApiKey", "apiKey", "AccountKey", "AccessKey", "accessKey", "PrivateKey", "privateKey"),
)
# A value that is assigned to a secret name: `DB_PASSWORD=…`, `"password": "…"`, `_authToken=…`, `?token=…`.
_ASSIGNED = pattern(
    r"""
    (?P<before>
      (?P<name> (?i: passw(?:or)?d | passphrase | pwd | secret | token | api[_-]?key | (?:account|access|private)key
                   | (?:(?<=access)|(?<=account)|(?<=admin)|(?<=auth)|(?<=client)|(?<=deploy)|(?<=encryption)|(?<=jwt)
                       |(?<=license)|(?<=master)|(?<=private)|(?<=service)|(?<=signing)|(?<=storage)) [_-]key
                   | _auth(?:token)? | credential ) [\w-]{0,40} )
      \\?["'`]?\]? [ \t]{0,3} (?: => | := | [:=] ) [ \t]{0,3}
    )
    (?: (?P<quote>\\?["'`]) (?P<quoted>[^"'`\n\\]{6,200}) (?=\\?["'`])
      | (?P<plain>[^\s"'`,;&|(){}\[\]<>\\=]{6,200}+={0,2}+) (?![(\[]) )
    """,
    re.VERBOSE,
)
_ASSIGNING = pattern(
    r"""(?i:passw(?:or)?d|passphrase|pwd|secret|token|api[_-]?key|(?:account|access|private)key|[_-]key"""
    r"""|_auth(?:token)?|credential)[\w-]{0,40}\\?["'`]?\]?[ \t]{0,3}(?:(?:=>?|:=?)[ \t]{0,3}"""
    r"""(?:\\?["'`]?[^"'`\n\\]{0,200}\\?)?)?\Z"""
)
_OPERATOR = r"""[ \t\w.-]{0,20}[\s'"]{0,3}(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)[`'"\s=]{0,5}"""
_NAMING = pattern(r"""[\w.-]{2,60}[ \t\w.-]{0,20}[\s'"]{0,3}(?:[=>:|?,]{1,4}[`'"\s=]{0,5}[\w./+=:%-]{0,120})?\Z""")
_NO_SECRET_NAME = pattern(
    r"(?i).*(?:file|path|dir|folder|name|type|kind|count|limits?|length|size|max|min|age|ttl|url|uri|id|ids|format|hash"
    r"|policy|field|label|prefix|error|endpoint|source|usage|used|index|version|hint|tokens|budget|rate|per_\w+|window)"
)
_PLACEHOLDER = pattern(
    r"(?i)[$<%*{\[(].*|x+|\.{3}.*|…+|(?:your|my|the|some|new|old|a|an|example|test|dummy|fake)[-_ ].*"
    r"|.*(?:\$\{|\{\{|<[a-z]).*"
    r"|(?:string|password|passwd|secret|token|none|null|true|false|undefined|required|optional|redacted|hidden|masked"
    r"|bearer|basic|object|number|integer|boolean|default|unknown|invalid|missing|changed|expired|enabled|disabled)s?[.!?]?"
)
_WORDS = pattern(r"[A-Za-z]*[0-9]{0,4}(?:[-_.:/][A-Za-z]*[0-9]{0,4})*")
"""Names, versions and paths: words with a number behind."""
_DIGIT, _LETTER = pattern(r"[0-9]"), pattern(r"[A-Za-z]")
_STRONG = pattern(r"(?i)passw|passphrase|pwd|secret")

_TAILS = {
    "key": pattern(r"[A-Za-z0-9_=-]*"),
    "token": pattern(r"[A-Za-z0-9_.-]*"),
    "before": pattern(r"[A-Za-z0-9._~+/=-]*"),
    "hook": pattern(r"[A-Za-z0-9/_-]*"),
    "plain": pattern(r"[^\s\"'`,;&|(){}\[\]<>\\=]*={0,2}"),
}
_UNFINISHED = pattern(
    r"(?:-----BEGIN[A-Z0-9 ]{0,70}|(?:[Bb]earer|[Aa]uthorization:(?:[ \t]{1,4}[Bb]asic)?)[ \t]{0,4})\Z"
)
_VISIBLE = "".join(map(chr, range(0x21, 0x7F)))

_KEY_LENGTH = 8_000
_KEY_END = pattern(r"-----END [A-Z0-9 ]{0,60}-----")
_KEY_LINES = pattern(r"(?:(?:\s|\\[nr])*(?:Proc-Type|DEK-Info):[^\n\\]{0,100})*(?:(?:\s|\\[nr])*[A-Za-z0-9+/=]{16,})*")

_SECRET_PART = pattern(
    r"(?:.*(?:TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|APIKEY)|PASS|PWD|KEY|PAT|SECRETS|PASSWORDS)"
)


class _Secret(NamedTuple):
    """A secret in a text: its span, its replacement, and what of the following text belongs to it as well."""

    start: int
    end: int
    shown: str
    tail: re.Pattern[str] | None = None


class _Rule(NamedTuple):
    """A rule that is tried where one of its hints begins. If it has groups, the first is the secret."""

    found: re.Pattern[str]
    tail: re.Pattern[str] | None


class _Rules(NamedTuple):
    """The hints at secrets; by their position in `sought`, the rules to try there, or the shape around it."""

    sought: "AhoCorasick"
    tried: tuple[tuple[_Rule, ...], ...]
    inner: tuple[re.Pattern[str] | None, ...]

    @classmethod
    @lru_cache(maxsize=1)
    def load(cls) -> "_Rules":
        """Read the rules; the patterns are compiled when they are first used."""
        from ahocorasick_rs import AhoCorasick, Implementation

        data = json.loads(Path(__file__).with_name("gitleaks.json").read_text(encoding="utf-8"))
        tried: dict[str, list[_Rule]] = {hint: [] for hint in (*_BEGINNINGS, *_NAME_HINTS, *_INNER)}
        for each in data["shapes"]:
            for hint in each["hints"]:
                tried.setdefault(hint, []).append(_Rule(pattern(each["pattern"], re.ASCII), _TAILS["key"]))
        for each in data["named"]:
            source = f"(?i:{each['names']}){_OPERATOR}((?i:{'|'.join(each['values'])}))(?![A-Za-z0-9_-])"
            for hint in each["hints"]:
                tried.setdefault(hint, []).append(_Rule(pattern(source, re.ASCII), None))
        sought = AhoCorasick(tuple(tried), store_patterns=False, implementation=Implementation.DFA)
        return cls(sought, tuple(map(tuple, tried.values())), tuple(_INNER.get(hint) for hint in tried))


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
        self._broken = tuple(value for value in known if value.strip(_VISIBLE))
        self._reach = max([_REACH, *(len(value) for value in known)])

    def __call__(self, text: str) -> str:
        """Return the text without its secrets, in time proportional to its length."""
        stream = self.stream()
        last = len(text) // _PIECE * _PIECE
        shown = [stream.feed(text[at : at + _PIECE]) for at in range(0, last, _PIECE)]
        return "".join((*shown, stream.flush(text[last:])))

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
        return RedactedStream(self._known, self._broken, self._reach)


class RedactedStream:
    """One text in pieces: what `feed` and `flush` return is, joined, what the redactor makes of the whole.

    Made by `Redactor.stream`.
    """

    def __init__(self, known: "AhoCorasick | None", broken: tuple[str, ...], reach: int) -> None:
        self._known, self._broken, self._reach = known, broken, reach
        self._rules = _Rules.load()
        self._unread = ""  # the end of the text as given: an escape sequence that may have begun, and its context
        self._context = 0
        self._text = ""
        self._from = 0  # what stands before is done with, and kept as context of what comes
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
        self._context = 0 if final else min(end, 2)
        self._unread = "" if final else given[end - self._context :]

    def _shown(self, decided: int, opened: int, *, final: bool) -> str:
        """Mask and release what comes before `decided`, and secrets that begin there as a whole.

        `opened` is where a given value begins that the text ends within.
        """
        text, position, pieces = self._text, self._from, list[str]()
        if self._tail and (tail := self._tail.match(text, position)):
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
            if (
                secret.start == secret.end or secret.start <= opened < secret.end
            ):  # what ends the secret is not here yet
                decided = start
                break
            pieces += text[position : secret.start], secret.shown
            position = secret.end
            self._tail = secret.tail if position == len(text) else None
        pieces.append(text[position:decided])
        position = max(position, decided)
        context = max(position - _CONTEXT, 0)
        self._text, self._from = text[context:], position - context
        return "".join(pieces)

    def _candidates(self, text: str) -> list[tuple[int, tuple[int, list[_Rule]]]]:
        """Return where secrets may begin, in order, with the end of the longest given value or 0, and the rules."""
        found: dict[int, tuple[int, list[_Rule]]] = {}
        for index, start, _ in self._rules.sought.find_matches_as_indexes(text, overlapping=True):
            if inner := self._rules.inner[index]:
                match = inner.search(text, max(start - _BEFORE, 0), start + 100)
                if match and match.start() < start < match.end():
                    found.setdefault(match.start(), (0, []))[1].append(_Rule(inner, None))
            else:
                found.setdefault(start, (0, []))[1].extend(self._rules.tried[index])
        if self._known:
            for _, start, end in self._known.find_matches_as_indexes(text, overlapping=True):
                value_end, rules = found.get(start, (0, []))
                found[start] = max(value_end, end), rules
        return sorted(found.items(), key=itemgetter(0))

    def _decided(self) -> tuple[int, int]:
        """Return where text ends that no further character can change, and where an unfinished given value begins."""
        text = self._text
        earliest = max(self._from, len(text) - self._reach)
        decided = earliest + len(text[earliest:].rstrip(_VISIBLE))
        if decided > earliest and (unfinished := _UNFINISHED.search(text, max(self._from, decided - 100), decided)):
            decided = unfinished.start()
        opened = len(text)
        for value in self._broken:
            start = max(self._from, len(text) - len(value) + 1)
            while (start := text.find(value[0], start, decided)) >= 0:
                if value.startswith(text[start:]):
                    decided = opened = start
                start += 1
        return decided, opened


def _secret(text: str, start: int, value_end: int, rules: Sequence[_Rule], *, final: bool) -> _Secret | None:
    """Return the longest secret that begins there; one of no length if that depends on what follows."""
    if not final and _is_open(text, start, rules):
        return _Secret(start, start, "")
    found = [_Secret(start, value_end, MASK)] if value_end else []
    if shape := _SHAPES.match(text, start):
        kind = shape.lastgroup or ""
        if kind == "pem":
            return _Secret(start, _key_end(shape, final=final) or start, MASK)
        before = shape[kind] if kind in {"before", "address", "hook"} else ""
        found.append(_Secret(start, shape.end(), before + MASK, _TAILS.get(kind)))
    elif assigned := _assigned(text, start):
        found.append(assigned)
    found += [secret for rule in rules if (secret := _by_rule(rule, text, start))]
    return max(found, key=attrgetter("end"), default=None)


def _is_open(text: str, start: int, rules: Sequence[_Rule]) -> bool:
    """Return True if the text ends within what may become an assignment to the name that begins there."""
    if len(text) - start >= _OPEN:
        return False
    return bool(_ASSIGNING.match(text, start) or (rules and _NAMING.match(text, start)))


def _by_rule(rule: _Rule, text: str, start: int) -> _Secret | None:
    match = rule.found.match(text, start)
    if match is None:
        return None
    group = 1 if match.lastindex else 0
    end = match.end(group)
    if rule.tail and (tail := rule.tail.match(text, match.end())):
        end = tail.end()
    return _Secret(start, end, text[start : match.start(group)] + MASK, rule.tail)


def _assigned(text: str, start: int) -> _Secret | None:
    """Return the value that is assigned to a secret name there, unless it is a placeholder or an expression."""
    match = _ASSIGNED.match(text, start)
    if match is None or _NO_SECRET_NAME.fullmatch(match["name"].rstrip("_-")):
        return None
    looks_secret = _looks_secret_in_quotes if match["quote"] else _looks_secret
    if not looks_secret(match) or _PLACEHOLDER.fullmatch(match["quoted"] or match["plain"]):
        return None
    if match["quote"]:
        return _Secret(start, match.end(), match["before"] + match["quote"] + MASK)
    tail = _TAILS["plain"]
    rest = tail.match(text, match.end())
    return _Secret(start, rest.end() if rest else match.end(), match["before"] + MASK, tail)


def _looks_secret_in_quotes(match: re.Match[str]) -> bool:
    """Return True for any word after the name of a password or secret, else for what is no word."""
    value = match["quoted"]
    if _STRONG.match(match["name"]) and " " not in value:
        return bool(_LETTER.search(value)) or len(value) >= 8
    return _is_mixed(value) and not _WORDS.fullmatch(value)


def _is_mixed(value: str) -> bool:
    return bool(_LETTER.search(value) and _DIGIT.search(value))


def _looks_secret(match: re.Match[str]) -> bool:
    """Return True for letters and digits that are no word with a number, as names in code are.

    A password right behind its "=" may be a word with a number; behind a name in capitals, any word.
    """
    value, name, strong = match["plain"], match["name"], _STRONG.match(match["name"])
    if not _is_mixed(value):
        return bool(strong) and name.isupper() and match["before"].endswith("=")
    if strong and match["before"].endswith("="):
        return True
    mixed_case = not (value.islower() or value.isupper())
    if _WORDS.fullmatch(value) and not (strong and len(value) >= 12 and mixed_case):
        return False
    return value.isascii() and len(value) >= (8 if strong else 12)


def secret_values(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the values of variables with secret names, such as GH_TOKEN and AWS_SECRET_ACCESS_KEY."""
    return tuple(value for name, value in environ.items() if value and is_secret_name(name))


def is_secret_name(name: str) -> bool:
    """Return True if a variable's name says that its value is secret."""
    parts = name.upper().split("_")
    names_a_place = parts == ["PWD"] or parts[-1] in {"FILE", "PATH", "DIR"} or parts[:2] == ["GIT", "CONFIG"]
    return not names_a_place and any(_SECRET_PART.fullmatch(part) for part in parts)


def _spellings(value: str) -> set[str]:
    from urllib.parse import quote

    return {value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1], quote(value, safe="")}


def _key_end(begin: re.Match[str], *, final: bool) -> int | None:
    """Return the end of a private key: its END line, or where the text stops looking like a key; None: not here yet."""
    text, start = begin.string, begin.end()
    whole = final or len(text) >= start + _KEY_LENGTH + 80
    last = text.find("-----END", start, start + _KEY_LENGTH)
    if last >= 0 and (closing := _KEY_END.match(text, last)):
        return closing.end()
    if not whole:
        return None
    if last >= 0:
        return last
    lines = _KEY_LINES.match(text, start, start + _KEY_LENGTH)
    return lines.end() if lines else start
