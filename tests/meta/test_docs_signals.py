"""Every signal has its place in the documents, and every example there gives the signal that it stands under."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from ralph.analysis import AnalysisContext, Evidence, ResponseAnalyzer, Signal
from ralph.analysis.result import State
from ralph.status import parse_status
from ralph.types.output import Output
from ralph.types.plan import parse_plan

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "explanation" / "signals.md"
ANALYSIS = ROOT / "ralph" / "analysis"

_SECTION = re.compile(r"^### `(\w+)`\n(.*?)(?=^#{2,3} [`\w]|\Z)", re.DOTALL | re.MULTILINE)
_BLOCK = re.compile(r"^(`{3,})(\w+)(?: kind=(\w+))?\n(.*?)\n\1$", re.DOTALL | re.MULTILINE)
_RULE = re.compile(r"\s*Weight ([^.;]+)(?:; state `(\w+)`([^.]*))?\.")
_NUMBER = re.compile(r"−?\d+")
_RANGE = re.compile(r"\d+ to \d+")


class Example(NamedTuple):
    """A reply of the page, with what stands before it.

    Attributes:
        section: the kind that it stands under.
        gives: whether it gives a signal of `kind`, or is one that does not.
        marked: the span that is set off; None where none is.
    """

    section: str
    kind: str
    text: str
    gives: bool
    marked: tuple[int, int] | None
    task: str
    plan: str

    def __str__(self) -> str:
        return f"{self.kind}: {' '.join(self.text.split())[:40]}"


@cache
def sections() -> dict[str, str]:
    return dict(_SECTION.findall(PAGE.read_text(encoding="utf-8")))


def examples() -> Iterator[Example]:
    for section, body in sections().items():
        given = {"task": "", "plan": ""}
        for _, language, kind, text in _BLOCK.findall(body):
            if language in given:
                given[language] = text
            elif language in {"reply", "counterexample"}:
                yield example(section, kind, text, gives=language == "reply", **given)


def example(section: str, kind: str, text: str, *, gives: bool, task: str, plan: str) -> Example:
    begin, end = text.find("⟦"), text.find("⟧") - 1
    marked = (begin, end) if begin >= 0 else None
    return Example(section, kind, text.replace("⟦", "").replace("⟧", ""), gives, marked, task, plan)


EXAMPLES = tuple(examples())


def found(one: Example) -> tuple[list[Evidence], list[Signal]]:
    """The evidence and the signals of its kind that an example gives."""
    output, status = Output(text=one.text), parse_status(one.text)
    context = AnalysisContext(task=one.task, plan=parse_plan(one.plan) if one.plan else None)
    analyzer = ResponseAnalyzer()
    evidence = [piece for piece in analyzer.analyze(output, status, context).evidence if piece.signal == one.kind]
    return evidence, list(analyzer.detect(output, status, context)[0].signals.of(one.kind))


def test_an_example_gives_its_signal_where_it_is_marked(subtests: pytest.Subtests) -> None:
    for one in [one for one in EXAMPLES if one.gives]:
        with subtests.test(one=one):
            evidence, signals = found(one)
            assert evidence, "the reply gives no such signal"
            spans = {(piece.start, piece.end) for piece in evidence}
            assert (one.marked or (0, 0)) in spans
            rule = _RULE.match(sections()[one.section])
            assert rule, "a section begins with its weight"
            weights = {signal.weight for signal in signals}
            assert weights <= stated(rule[1]), "the page gives another weight"
            states: set[State | None] = {signal.state for signal in signals}
            assert states <= {rule[2], None if rule[3] or not rule[2] else rule[2]}, "the page gives another state"


def stated(rule: str) -> set[float]:
    """The weights that a sentence names: numbers, or a range of them."""
    numbers = [int(number.replace("−", "-")) for number in _NUMBER.findall(rule)]
    return set(map(float, range(numbers[0], numbers[1] + 1) if _RANGE.search(rule) else numbers))


def test_a_counterexample_gives_no_such_signal(subtests: pytest.Subtests) -> None:
    for one in [one for one in EXAMPLES if not one.gives]:
        with subtests.test(one=one):
            assert found(one)[0] == []


def test_every_section_has_an_example_of_its_kind() -> None:
    assert all(one.kind == one.section for one in EXAMPLES)
    assert {one.section for one in EXAMPLES if one.gives} == set(sections())


def test_every_kind_of_signal_is_explained() -> None:
    kinds = {kind for path in sorted(ANALYSIS.rglob("*.py")) if path.name != "analyzer.py" for kind in kinds_of(path)}
    assert kinds == set(sections())


def kinds_of(path: Path) -> Iterator[str]:
    """The kinds of the signals that a module makes, from its source."""
    module = ast.parse(path.read_text(encoding="utf-8"))
    for call in ast.walk(module):
        if isinstance(call, ast.Call) and (kind := kind_in(call)) is not None:
            told = list(constants(kind, module))
            assert told, f"{path.name}:{call.lineno}: it cannot be seen of which kind the signal is"
            yield from told


def kind_in(call: ast.Call) -> ast.expr | None:
    """What says the kind of the signal that a call makes; None where it makes none."""
    name = ast.unparse(call.func)
    for keyword in call.keywords:
        if keyword.arg == "kind" and (name == "Signal" or name.endswith("._replace")):
            return keyword.value
    place = {"Signal": 0, "Signal.at": 1}.get(name)
    return call.args[place] if place is not None else None


def constants(kind: ast.expr, module: ast.Module) -> Iterator[str]:
    """The texts that an expression may be: itself, or what its name is given in the calls and loops of the module."""
    if isinstance(kind, ast.Constant):
        yield str(kind.value)
    if not isinstance(kind, ast.Name):
        return
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef):
            names = [argument.arg for argument in node.args.args]
            if kind.id in names and any(inner is kind for inner in ast.walk(node)):
                yield from passed(module, node.name, names.index(kind.id))
        elif isinstance(node, ast.For) and isinstance(node.target, ast.Tuple):
            names = [ast.unparse(target) for target in node.target.elts]
            if kind.id in names and any(inner is kind for inner in ast.walk(node)):
                yield from listed(module, len(names), names.index(kind.id))


def passed(module: ast.Module, function: str, place: int) -> Iterator[str]:
    """The texts that are passed to a function at one place."""
    for node in ast.walk(module):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == function and len(node.args) > place:
            yield from constants(node.args[place], module)


def listed(module: ast.Module, size: int, place: int) -> Iterator[str]:
    """The texts at one place of the tuples of a size that a list holds or is given."""
    for node in ast.walk(module):
        given = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "append"
        held = node.elts if isinstance(node, ast.List) else node.args if isinstance(node, ast.Call) and given else ()
        for row in held:
            if isinstance(row, ast.Tuple) and len(row.elts) == size:
                yield from constants(row.elts[place], module)
