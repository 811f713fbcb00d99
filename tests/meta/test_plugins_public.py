"""The shipped plug-ins, the examples and what the pages show are made of what anybody's can be: they import nothing of
Ralph that is not documented.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = sorted(path.parent for path in ROOT.glob("plugins/*/ralph_*/__init__.py"))
EXAMPLES = sorted((ROOT / "examples").rglob("*.py"))
OF_RALPH_ITSELF = ROOT / "docs" / "how-to" / "add-a-language.md"
"""What it shows is written among Ralph's own modules."""

PAGES = sorted(
    {ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *ROOT.glob("plugins/*/README.md")} - {OF_RALPH_ITSELF}
)

_NAMED = re.compile(r"(?:^### ralph(?:\.\w+)*\.|^- `(?=\w+`)|\[`)(\w+)(?=$|`)", re.MULTILINE)
"""A heading, a constant, or a link to a name of another package."""

_SHOWN = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def documented() -> dict[str, set[str]]:
    """The names in the reference, by the package under whose heading they stand; settings have a page of their own."""
    page = (ROOT / "docs" / "reference" / "python-api.md").read_text(encoding="utf-8")
    sections = re.split(r"^## (ralph[\w.]*)$", page, flags=re.MULTILINE)[1:]
    pairs = zip(sections[::2], sections[1::2], strict=True)
    named = {name: set(_NAMED.findall(text)) for name, text in pairs}
    return {**named, "ralph.settings": {"Settings"}}


def imported(code: str) -> Iterator[tuple[str, str]]:
    """From which module and what is imported of Ralph; nothing as the name where it is a whole module."""
    for node in ast.walk(compile(code, "code", "exec", flags=ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)):
        if isinstance(node, ast.ImportFrom) and not node.level and (node.module or "").partition(".")[0] == "ralph":
            yield from ((node.module or "", alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names if alias.name.partition(".")[0] == "ralph")


def undocumented(codes: Iterable[str]) -> list[str]:
    known = documented()
    return [
        f"{module}.{name}"
        for code in codes
        for module, name in imported(code)
        if name not in known.get(module, set()) and f"{module}.{name}".rstrip(".") not in known
    ]


def test_there_are_plugins_and_names() -> None:
    assert len(PACKAGES) >= 5
    assert {"Executor", "PermissionPolicy"} <= documented()["ralph.executors"]
    assert undocumented(["from ralph.loop.runner import new_run_id"]) == ["ralph.loop.runner.new_run_id"]


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_a_plugin_imports_only_what_is_documented(package: Path) -> None:
    assert undocumented(path.read_text(encoding="utf-8") for path in sorted(package.rglob("*.py"))) == []


def test_what_is_shown_imports_only_what_is_documented(subtests: pytest.Subtests) -> None:
    for path in [*EXAMPLES, *PAGES]:
        with subtests.test(path=path):
            text = path.read_text(encoding="utf-8")
            assert undocumented(_SHOWN.findall(text) if path.suffix == ".md" else [text]) == []
