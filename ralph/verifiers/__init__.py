"""Verifiers: evidence, other than the agent's word, for or against a claim of completion."""

from typing import TYPE_CHECKING

from ralph._lazy import lazy_exports

if TYPE_CHECKING:
    from ralph.verifiers.base import Subject, Verifier, VerifierContext, VerifierProvider
    from ralph.verifiers.command import CommandVerifier, parse_command
    from ralph.verifiers.detect import Detected, detect_test_command
    from ralph.verifiers.review import ReviewVerifier
    from ralph.verifiers.runner import VerifierRun

__all__ = [
    "CommandVerifier",
    "Detected",
    "ReviewVerifier",
    "Subject",
    "Verifier",
    "VerifierContext",
    "VerifierProvider",
    "VerifierRun",
    "detect_test_command",
    "parse_command",
]

__getattr__, __dir__ = lazy_exports(__name__)
