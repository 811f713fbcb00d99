"""The shipped plug-ins are made of what anybody's can be: they import nothing of Ralph that is not documented."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = sorted(path.parent for path in ROOT.glob("plugins/*/ralph_*/__init__.py"))


def documented() -> dict[str, set[str]]:
    """The names in the reference, by the package under whose heading they stand."""
    page = (ROOT / "docs" / "reference" / "python-api.md").read_text(encoding="utf-8")
    sections = re.split(r"^## (ralph[\w.]*)$", page, flags=re.MULTILINE)[1:]
    pairs = zip(sections[::2], sections[1::2], strict=True)
    return {name: set(re.findall(r"^\| `(\w+)` ", text, re.MULTILINE)) for name, text in pairs}


def imported(package: Path) -> Iterator[tuple[str, str, str]]:
    """Where, from which module and what a package imports of Ralph; nothing as the name where it is a whole module."""
    for path in sorted(package.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            place = f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}"
            if isinstance(node, ast.ImportFrom) and not node.level and (node.module or "").partition(".")[0] == "ralph":
                yield from ((place, node.module or "", alias.name) for alias in node.names)
            elif isinstance(node, ast.Import):
                yield from ((place, alias.name, "") for alias in node.names if alias.name.partition(".")[0] == "ralph")


def test_there_are_plugins_and_names() -> None:
    assert len(PACKAGES) >= 5
    assert {"Executor", "PermissionPolicy"} <= documented()["ralph.executors"]


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_a_plugin_imports_only_what_is_documented(package: Path) -> None:
    known = documented()
    assert [
        f"{place}: {module}.{name}"
        for place, module, name in imported(package)
        if name not in known.get(module, set()) and f"{module}.{name}" not in known
    ] == []
