"""The built-in verifiers."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ralph.plugins.markers import hookimpl

if TYPE_CHECKING:
    from ralph.verifiers.kinds import VerifierKind

__all__ = ["ralph_verifiers"]


@hookimpl
def ralph_verifiers() -> "Iterable[VerifierKind]":
    from ralph.verifiers.registry import VERIFIERS

    return VERIFIERS.values()
