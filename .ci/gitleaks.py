"""Convert gitleaks' rules into the data that Ralph masks secrets by.

Usage: uv run python .ci/gitleaks.py PATH/TO/gitleaks.toml

Writes `ralph/system/gitleaks.json` and prints the rules that it leaves out. A rule is either a shape, which begins with
one of a few known texts (`hints`), or the shape of a value that is assigned to a name with a vendor's word (`names`).
Rules that begin with anything, span lines or need only a name are left out: `ralph.system.secrets` has its own.
"""

import json
import re
import sys
import tomllib
import warnings
from itertools import product
from pathlib import Path
from re import _constants as constants  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

TARGET = Path(__file__).parents[1] / "ralph" / "system" / "gitleaks.json"
BEFORE = re.compile(r"(?:\(\?i\))?\[\\w\.-\]\{0,50\}\?(?:\(\?i:\[\\w\.-\]\{0,50\}\?)?")
BETWEEN = re.compile(r"""\(\?:\[ \\t\\w\.-\]\{0,20\}\)\[\\s'"\]\{0,3\}\)?\(\?:=\|.*?,\)\[\\x60'"\\s=\]\{0,5\}""")
END = r"""(?:[\x60'"\s;]|\\[nr]|$)"""
LEFT_OUT = {
    "curl-auth-header",
    "curl-auth-user",
    "generic-api-key",
    "hashicorp-tf-password",
    "kubernetes-secret-yaml",
    "lob-api-key",
    "lob-pub-api-key",
    "airtable-personnal-access-token",
    "private-key",
    "slack-webhook-url",
}
SHORTEST, MOST = 3, 16
"""Characters of a hint; hints of a rule."""


def main() -> None:
    """Convert the rules."""
    warnings.simplefilter("ignore")
    shapes: list[dict[str, Any]] = []
    named: dict[str, dict[str, Any]] = {}
    for rule in tomllib.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))["rules"]:
        source = python_syntax(rule.get("regex", ""))
        if rule["id"] in LEFT_OUT or not source:
            print("left out:", rule["id"])
        elif BEFORE.match(rule["regex"]):
            names, value = BETWEEN.split(BEFORE.sub("", rule["regex"], count=1))
            names, value = python_syntax(names), python_syntax(value).partition("|\\b(")[0]
            vendor = named.setdefault(names, {"hints": hints(f"(?i){names}"), "names": names, "ids": [], "values": []})
            vendor["ids"].append(rule["id"])
            vendor["values"].append(value)
        elif begins := hints(source):
            shapes.append({"id": rule["id"], "hints": begins, "pattern": source})
        else:
            print("left out:", rule["id"], "(it begins with anything)")
    text = json.dumps({"shapes": shapes, "named": list(named.values())}, indent=1)
    TARGET.write_text(f"{text}\n", encoding="utf-8")
    print(f"{len(shapes)} shapes, {len(named)} named vendors")


def python_syntax(source: str) -> str:
    """Translate a regular expression of Go: flags within it hold to the end of their group; no end is asked for."""
    source = source.replace(END, "").replace("[:alnum:]", "A-Za-z0-9").replace(r"(?:[^\w-]|\z)", "")
    source = re.sub(r"\(\?P<\w+>", "(?:", source).replace(r"\z", r"\Z")
    while (at := source.find("(?i)", 1)) > 0:
        source = f"{source[:at]}(?i:{_closed(source[at + 4 :])}"
    return source


def _closed(rest: str) -> str:
    """Return the rest of an expression with a bracket where the group in which it begins ends."""
    depth, at, in_set = 0, 0, False
    while at < len(rest):
        character = rest[at]
        if character == "\\":
            at += 1
        elif in_set:
            in_set = character != "]"
        elif character == "[":
            in_set = True
        elif character == "(":
            depth += 1
        elif character == ")":
            if depth == 0:
                break
            depth -= 1
        at += 1
    return f"{rest[:at]}){rest[at:]}"


def hints(source: str) -> list[str]:
    """Return the texts with which everything that matches begins; none if they are too many or too short."""
    try:
        parsed = parser.parse(source)
    except re.error as error:
        print("cannot be read:", source, error)
        return []
    whole = _beginnings(list(parsed))
    found = sorted({text for text, _ in whole})
    if not found or len(found) > MOST or min(map(len, found)) < SHORTEST:
        return []
    if parsed.state.flags & re.IGNORECASE:
        found = sorted({form for text in found for form in (text.lower(), text.upper(), text.capitalize())})
    return found


def _beginnings(items: list[Any]) -> list[tuple[str, bool]]:
    """Return the possible first characters of a sequence, and for each whether it is the whole sequence."""
    found: list[tuple[str, bool]] = [("", True)]
    for operation, argument in items:
        if operation == constants.AT or not any(whole for _, whole in found):
            continue
        following = _of_item(operation, argument)
        grown = [
            (left + right, goes_on) if whole else (left, False)
            for (left, whole), (right, goes_on) in product(found, following)
        ]
        if len(set(grown)) > MOST:
            return [(text, False) for text, _ in found]
        found = list(dict.fromkeys(grown))
    return found


def _of_item(operation: Any, argument: Any) -> list[tuple[str, bool]]:
    if operation == constants.LITERAL:
        return [(chr(argument), True)]
    if operation == constants.SUBPATTERN:
        return _beginnings(list(argument[3]))
    if operation == constants.BRANCH:
        return [text for branch in argument[1] for text in _beginnings(list(branch))]
    if operation == constants.IN and len(argument) <= 4 and all(kind == constants.LITERAL for kind, _ in argument):
        return [(chr(value), True) for _, value in argument]
    if operation == constants.MAX_REPEAT and argument[:2] == (0, 1):
        return [("", True), *_beginnings(list(argument[2]))]
    return [("", False)]


if __name__ == "__main__":
    main()
