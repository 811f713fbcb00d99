"""Rules that recognise secrets by their shape or by the command that takes them: Ralph's own and those of gitleaks."""

import json
import re
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ralph.system.text import pattern

if TYPE_CHECKING:
    from ahocorasick_rs import AhoCorasick


def _read(name: str) -> Any:
    return json.loads(Path(__file__).with_name(name).read_text(encoding="utf-8"))


OWN = _read("shapes.json")
_OPERATOR = r"""[ \t\w.-]{0,20}[\s'"]{0,3}(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)[`'"\s=]{0,5}"""
TAILS = {kind: pattern(tail) for kind, tail in OWN["tails"].items()}
"""The alphabet of what follows a secret and belongs to it."""


class Rule(NamedTuple):
    """A rule that is tried where one of its hints begins. If it has groups, the first is the secret."""

    found: re.Pattern[str]
    tail: re.Pattern[str] | None


class Rules(NamedTuple):
    """The rules by the position of their hint in `sought`: those of gitleaks, and Ralph's own (`shapes.json`).

    `inner` has shapes known by what stands within them, `commands` passwords known by what stands before them.
    """

    sought: "AhoCorasick"
    tried: tuple[tuple[Rule, ...], ...]
    inner: dict[int, re.Pattern[str]]
    commands: dict[int, re.Pattern[str]]

    @classmethod
    @lru_cache(maxsize=2)
    def load(cls, *, named: bool) -> "Rules":
        """Read the rules, or only those of shapes; the patterns are compiled when they are first used."""
        from ahocorasick_rs import AhoCorasick, Implementation

        kept = _read("gitleaks.json")
        names = {form for name in OWN["names"] for form in (name, name.upper(), name.title(), name.capitalize())}
        hints = [*OWN["beginnings"], *OWN["places"], *OWN["inner"], *names, *OWN["commands"]]
        if not named:
            hints = [hint for hint in hints if hint not in {*OWN["places"], *names, *OWN["commands"]}]
        tried: dict[str, list[Rule]] = {hint: [] for hint in hints}
        for each in (*OWN["shapes"], *kept["shapes"]):
            rule = Rule(pattern(each["pattern"], re.ASCII), TAILS[each.get("tail", "key")])
            for hint in each["hints"]:
                tried.setdefault(hint, []).append(rule)
        for each in kept["named"] if named else ():
            source = f"(?i:{each['names']}){_OPERATOR}((?i:{'|'.join(each['values'])}))(?![A-Za-z0-9_-])"
            for hint in each["hints"]:
                tried.setdefault(hint, []).append(Rule(pattern(source, re.ASCII), None))
        sought = AhoCorasick(tuple(tried), store_patterns=False, implementation=Implementation.DFA)
        inner, commands = (
            {at: pattern(_filled(OWN[kind][hint]), re.ASCII) for at, hint in enumerate(tried) if hint in OWN[kind]}
            for kind in ("inner", "commands")
        )
        return cls(sought, tuple(map(tuple, tried.values())), inner, commands)


def _filled(command: str) -> str:
    """Return a pattern with `<words>` before a password, `<value>`, and `<after>`, a name before it, filled in."""

    def value(found: re.Match[str]) -> str:
        name, plain = found[1] or "", r"(?![$<{(-]|[0-9.]*:[0-9])"
        ways = [
            rf"{outer}{quote}{inner}{plain}([^{quote}{no}\n]{{3,60}})(?={quote})"
            for quote, no in (('"', "$"), ("'", ""))
            for outer, inner in dict.fromkeys(((name, ""), ("", name)))
        ]
        return f"(?:{'|'.join(ways)}|[\"']?{name}[\"']?{plain}([!#-&(-_a-~]{{3,200}}))"

    words = r"[ \t](?:[^\n]|(?<=\\)\n){0,150}?(?<=\s)"
    return re.sub(r"(?:<after>(.*?))?<value>", value, command.replace("<words>", words))
