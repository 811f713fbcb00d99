"""What says, other than the agent, whether a claim of completion holds. Each name is imported when it is first used."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ralph.verifiers.base import Subject, Verifier
    from ralph.verifiers.command import CommandVerifier, parse_command
    from ralph.verifiers.detect import Detected, detect_test_command
    from ralph.verifiers.hearing import Hearing
    from ralph.verifiers.review import ReviewVerifier

__all__ = [
    "CommandVerifier",
    "Detected",
    "Hearing",
    "ReviewVerifier",
    "Subject",
    "Verifier",
    "detect_test_command",
    "parse_command",
]

_HOMES = {
    "base": ("Subject", "Verifier"),
    "command": ("CommandVerifier", "parse_command"),
    "detect": ("Detected", "detect_test_command"),
    "hearing": ("Hearing",),
    "review": ("ReviewVerifier",),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
