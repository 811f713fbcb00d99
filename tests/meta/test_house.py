"""The rules of the house that no linter knows."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = sorted((ROOT / "ralph").rglob("*.py"))
LONGEST_FUNCTION = 80
LONGEST_FILE = 500
FORBIDDEN = {
    "manager",
    "util",
    "utils",
    "helper",
    "helpers",
    "engine",
    "service",
    "core",
    "mixin",
    "enum",
    "abstract",
    "impl",
}


def functions(path: Path) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return (function.end_lineno or function.lineno) - function.lineno + 1


def words(name: str) -> list[str]:
    """`_HTTPImpl` and `http_impl` are http and impl."""
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+", name)]


def test_no_function_is_long() -> None:
    long = [
        f"{path.relative_to(ROOT)}:{function.lineno} {function.name}"
        for path in MODULES
        for function in functions(path)
        if lines(function) > LONGEST_FUNCTION
    ]
    assert long == []


def test_most_functions_are_short() -> None:
    sizes = sorted(lines(function) for path in MODULES for function in functions(path))
    assert sizes[int(len(sizes) * 0.9)] <= 30


def test_no_file_is_long() -> None:
    assert [path.name for path in MODULES if path.read_text(encoding="utf-8").count("\n") > LONGEST_FILE] == []


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_names_are_the_fields_terms(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    named = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    names = [path.stem, *(node.name for node in ast.walk(tree) if isinstance(node, named))]
    assert not [name for name in names if FORBIDDEN & set(words(name))]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_module_says_what_it_is(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))


def test_the_page_on_the_architecture_names_every_layer_in_order() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    (layered,) = [each for each in contracts if each["type"] == "layers" and each["containers"] == ["ralph"]]
    layers = [set(layer.split(" | ")) for layer in reversed(layered["layers"])]
    page = (ROOT / "docs" / "explanation" / "architecture.md").read_text(encoding="utf-8")
    table = page[page.index("| layer |") :].split("\n\n")[0]
    rows = [set(re.findall(r"`(\w+)`", row.split("|")[1])) for row in table.splitlines()[2:]]
    assert rows == layers


def test_the_suite_needs_no_second_process_to_be_begun() -> None:
    asked = [sys.executable, "-m", "pytest", "-p", "no:xdist", "--markers"]
    shown = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False)
    assert shown.returncode == 0, shown.stderr
    assert "alone: measures a time" in shown.stdout
