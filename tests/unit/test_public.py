"""The public interface: what `import ralph` costs, and what it gives."""

import inspect
import subprocess
import sys
import typing
from types import UnionType
from typing import Any

import pytest

import ralph

HEAVY = ("pydantic", "pydantic_settings", "copilot", "sqlalchemy", "rich", "textual", "typer", "anyio", "tenacity")


def in_a_new_process(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=30).stdout


def loaded_by(code: str) -> set[str]:
    return set(in_a_new_process(f"{code}\nimport sys\nprint(' '.join(sys.modules))").split())


@pytest.mark.parametrize("code", ["import ralph", "import ralph; ralph.__version__; ralph.__all__; dir(ralph)"])
def test_import_ralph_loads_nothing_heavy(code: str) -> None:
    assert loaded_by(code).isdisjoint(HEAVY)


@pytest.mark.parametrize(("word", "needed"), [("--version", {"typer"}), ("--help", {"pydantic", "rich", "typer"})])
def test_the_program_loads_nothing_heavy_to_answer_at_once(word: str, needed: set[str]) -> None:
    code = (
        f"import sys; from ralph.cli import main; sys.argv = ['ralph', '{word}']\ntry: main()\nexcept SystemExit: pass"
    )
    assert loaded_by(code) & (set(HEAVY) - needed) == set()


@pytest.mark.parametrize(
    ("name", "not_needed"),
    [
        ("RalphError", HEAVY),
        ("Usage", ("copilot", "sqlalchemy", "rich", "textual", "typer", "anyio")),
        ("ResponseAnalyzer", ("copilot", "sqlalchemy", "rich", "textual", "typer", "anyio")),
        ("Hooks", ("copilot", "sqlalchemy", "rich", "textual", "typer", "anyio")),
        ("Runner", ("copilot", "sqlalchemy", "rich", "textual", "typer")),
    ],
)
def test_a_name_loads_what_it_needs_and_no_more(name: str, not_needed: tuple[str, ...]) -> None:
    assert loaded_by(f"from ralph import {name}").isdisjoint(not_needed)


def test_the_names_are_sorted_and_each_can_be_imported() -> None:
    assert sorted(ralph.__all__) == ralph.__all__
    assert len(set(ralph.__all__)) == len(ralph.__all__)
    for name in ralph.__all__:
        assert getattr(ralph, name) is not None
        assert name in dir(ralph)


def test_a_star_import_gives_exactly_the_names() -> None:
    shown = in_a_new_process("from ralph import *\nprint(*sorted(name for name in dir() if name[:2] != '__'))")
    assert shown.split() == sorted(ralph.__all__)


def test_another_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'ralph' has no attribute 'runner_'"):
        _ = ralph.runner_  # type: ignore[attr-defined] # pyright: ignore[reportAttributeAccessIssue]


def test_a_public_name_is_documented(subtests: pytest.Subtests) -> None:
    for name in ralph.__all__:
        with subtests.test(name=name):
            if name != "Decision":
                assert inspect.getdoc(getattr(ralph, name))


def callables() -> list[tuple[str, Any]]:
    """Every public function, and every public method of every public class."""
    found: list[tuple[str, Any]] = []
    for name in ralph.__all__:
        thing = getattr(ralph, name)
        if inspect.isfunction(thing):
            found.append((name, thing))
        if not inspect.isclass(thing):
            continue
        for method, value in list(vars(thing).items()):  # a deferred model is built meanwhile
            function = getattr(value, "__func__", value)
            written_here = inspect.isfunction(function) and function.__module__.startswith("ralph")
            if written_here and (not method.startswith("_") or method == "__init__"):
                found.append((f"{name}.{method}", function))
    return found


def test_a_public_name_is_typed(subtests: pytest.Subtests) -> None:
    for name, function in callables():
        with subtests.test(name=name):
            hints = typing.get_type_hints(function)
            parameters = [each for each in inspect.signature(function).parameters if each not in {"self", "cls"}]
            assert set(parameters) <= set(hints)
            assert "return" in hints or name.endswith("__init__")


def test_a_decision_is_one_of_four() -> None:
    union = typing.get_args(ralph.Decision)[0]
    assert isinstance(union, UnionType)
    assert set(typing.get_args(union)) == {ralph.Continue, ralph.Complete, ralph.Halt, ralph.Pause}


def test_the_outcome_of_a_turn_keeps_its_former_name() -> None:
    assert ralph.Completed is ralph.Answered
    assert ralph.Completed().model_dump() == {"kind": "completed"}
