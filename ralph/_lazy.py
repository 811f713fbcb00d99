"""Lazy exports of packages: each public name is imported when it is first used, so that importing Ralph is cheap."""

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

__all__ = ["lazy_exports"]


def lazy_exports(
    package: str, homes: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the `__getattr__` and `__dir__` of a package that exports names of other modules.

    Args:
        package: the package's `__name__`.
        homes: the exported names by the full name of the module that defines them.
    """
    home = {name: module for module, names in homes.items() for name in names}

    def get(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(home[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    def public() -> list[str]:
        return sorted(getattr(sys.modules[package], "__all__", home))

    return get, public
