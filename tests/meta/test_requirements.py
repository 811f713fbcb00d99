"""Which requirements have tests: every `# covers: S1-34, S1-40..S1-42` beside a test, counted against the list of ids.

`uv run python tests/meta/test_requirements.py` prints the count and the reasons for what has no test;
with ids as arguments it prints their tests.
"""

import ast
import io
import re
import sys
import tokenize
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

PROJECT = Path(__file__).parents[2]
TESTS = (PROJECT / "tests", *sorted(PROJECT.glob("plugins/*/tests")))
TABLE = Path(__file__).with_name("requirements.toml")
_COVERS = re.compile(r"#\s*covers:\s*(.+)")
_RANGE = re.compile(r"(\w+-)(\d+)\.\.(\w+-)(\d+)")


class Requirements(NamedTuple):
    """The table: the ids of every source, and why some of them have no test."""

    ids: dict[str, tuple[str, ...]]
    reasons: dict[str, str]

    @property
    def known(self) -> frozenset[str]:
        return frozenset(name for names in self.ids.values() for name in names)


class Covers(NamedTuple):
    """A comment that names what a test covers; `test` is empty where none stands beside it."""

    place: str
    test: str
    ids: tuple[str, ...]


def requirements() -> Requirements:
    table = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    ids = {
        source: tuple(f"{source}-{number}" for number in (range(1, given + 1) if isinstance(given, int) else given))
        for source, given in table["ids"].items()
    }
    return Requirements(ids, {name: why for names, why in table["untested"].items() for name in expanded(names)})


def expanded(names: str) -> Iterator[str]:
    """The ids of `S1-34, S1-40..S1-42`. Raises ValueError for a range that is none."""
    for name in map(str.strip, names.split(",")):
        if ".." not in name:
            yield name
            continue
        found = _RANGE.fullmatch(name)
        if not found or found[1] != found[3] or int(found[2]) >= int(found[4]):
            raise ValueError(f"{name!r} is no range of ids: write S1-40..S1-42")
        yield from (f"{found[1]}{number}" for number in range(int(found[2]), int(found[4]) + 1))


@cache
def covered(folders: tuple[Path, ...] = TESTS, root: Path = PROJECT) -> list[Covers]:
    """Every comment of every test module, in order; those of the plug-ins count, too."""
    paths = (path for folder in folders for path in sorted(folder.rglob("*.py")))
    return [one for path in paths for one in _comments(path, path.relative_to(root))]


def _comments(path: Path, shown: Path) -> Iterator[Covers]:
    source = path.read_text(encoding="utf-8")
    if "covers:" not in source:
        return
    tests = list(_tests(source)) if path.name.startswith("test_") else []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        found = _COVERS.fullmatch(token.string) if token.type == tokenize.COMMENT else None
        if found:
            line = token.start[0]
            test = next((name for begin, end, name in tests if begin <= line <= end), "")
            yield Covers(f"{shown}:{line}", test, tuple(expanded(found[1])))


def _tests(source: str) -> Iterator[tuple[int, int, str]]:
    """The lines of every test with the decorators and comments above it, and its name."""
    lines = source.splitlines()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            begin = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            while begin > 1 and lines[begin - 2].lstrip().startswith("#"):
                begin -= 1
            yield begin, node.end_lineno or node.lineno, node.name


def unlisted(table: Requirements, covers: Iterable[Covers]) -> list[str]:
    """What is neither covered nor listed with a reason."""
    tested = {name for one in covers for name in one.ids}
    return [name for names in table.ids.values() for name in names if name not in tested | table.reasons.keys()]


def report(table: Requirements, covers: Iterable[Covers]) -> str:
    """One line a source, then the reasons."""
    tested = {name for one in covers for name in one.ids}
    lines: list[str] = []
    for source, names in table.ids.items():
        done, excused = (sum(name in where for name in names) for where in (tested, table.reasons))
        lines.append(f"{source}: {done} of {len(names)} covered, {excused} with a reason")
    grouped: dict[str, list[str]] = {}
    for name, why in table.reasons.items():
        grouped.setdefault(why, []).append(name)
    reasons = (f"{_folded(names)}: {why}" for why, names in grouped.items())
    return "\n".join([*lines, "", "without a test:", *reasons])


def _folded(names: list[str]) -> str:
    """The ids with those that follow each other as a range."""
    runs: list[list[str]] = []
    for name in names:
        source, _, number = name.rpartition("-")
        if runs and number.isdigit() and runs[-1][-1] == f"{source}-{int(number) - 1}":
            runs[-1].append(name)
        else:
            runs.append([name])
    return ", ".join(run[0] if len(run) == 1 else f"{run[0]}..{run[-1]}" for run in runs)


def test_every_requirement_has_a_test_or_a_reason() -> None:
    table, covers = requirements(), covered()
    print(f"\n{report(table, covers)}")
    assert unlisted(table, covers) == []


def test_comments_and_reasons_name_only_known_requirements() -> None:
    table = requirements()
    assert [(one.place, name) for one in covered() for name in one.ids if name not in table.known] == []
    assert table.reasons.keys() - table.known == set()
    assert all(why.strip() for why in table.reasons.values())


def test_nothing_that_has_a_test_is_excused() -> None:
    reasons = requirements().reasons
    assert [(one.place, name) for one in covered() for name in one.ids if name in reasons] == []


def test_every_comment_stands_beside_a_test() -> None:
    assert [one.place for one in covered() if not one.test] == []


def test_the_count_sees_what_is_there_and_what_is_not(tmp_path: Path) -> None:
    beside = (
        "# covers: A-1, A-3..A-4\n@mark\ndef test_it() -> None:\n    pass  # covers: A-6\n\n\n# covers: A-5\nX = 1\n"
    )
    (tmp_path / "test_a.py").write_text(f"text = '# covers: A-2'\n\n\n{beside}", encoding="utf-8")
    covers = covered((tmp_path,), tmp_path)
    assert [(one.test, one.ids) for one in covers] == [
        ("test_it", ("A-1", "A-3", "A-4")),
        ("test_it", ("A-6",)),
        ("", ("A-5",)),
    ]
    table = Requirements({"A": tuple(f"A-{number}" for number in range(1, 9))}, {"A-7": "why", "A-8": "why"})
    assert unlisted(table, covers) == ["A-2"]
    assert report(table, covers).splitlines() == [
        "A: 5 of 8 covered, 2 with a reason",
        "",
        "without a test:",
        "A-7..A-8: why",
    ]


def main(names: list[str]) -> None:
    """Prints the tests of some requirements, or without any the whole count."""
    covers = covered()
    for name in names:
        tests = [f"{one.place.rpartition(':')[0]}::{one.test}" for one in covers if name in one.ids]
        print(f"{name}: {', '.join(dict.fromkeys(tests)) or requirements().reasons.get(name, 'unknown')}")
    if not names:
        print(report(requirements(), covers))


if __name__ == "__main__":
    main(sys.argv[1:])
