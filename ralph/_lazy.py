"""Lazy exports of packages: each public name is imported when it is first used, so that importing Ralph is cheap."""

import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

__all__ = ["lazy_exports"]


def lazy_exports(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the `__getattr__` and `__dir__` of a package that imports its public names only `if TYPE_CHECKING`.

    These imports are the one list of where each name comes from: for type checkers as they stand, and at run time for
    the name that is used. A package has an `__all__` of its own if it imports other names as well; else each imported
    name is public, written `from x import Name as Name`, as type checkers demand.

    Args:
        package: the package's `__name__`.
    """

    def get(name: str) -> Any:
        if name == "__all__":
            return public()
        home = _homes(package).get(name) if name in public() else None
        if home is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(home), name)
        setattr(sys.modules[package], name, value)
        return value

    def public() -> list[str]:
        return vars(sys.modules[package]).get("__all__") or sorted(_homes(package))

    return get, public


@cache
def _homes(package: str) -> dict[str, str]:
    """Return the module of each name that the package imports for type checkers."""
    import ast
    import pkgutil

    source = ast.parse(pkgutil.get_data(package, "__init__.py") or b"")
    blocks = [node for node in source.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    imports = [node for block in blocks for node in block.body if isinstance(node, ast.ImportFrom)]
    return {alias.name: node.module or "" for node in imports for alias in node.names}
