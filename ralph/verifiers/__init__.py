"""Verifiers: evidence, other than the agent's word, for or against a claim of completion."""

from typing import TYPE_CHECKING

from ralph._lazy import lazy_exports

if TYPE_CHECKING:
    from ralph.verifiers.base import Subject as Subject
    from ralph.verifiers.base import Verifier as Verifier
    from ralph.verifiers.base import VerifierContext as VerifierContext
    from ralph.verifiers.base import VerifierProvider as VerifierProvider
    from ralph.verifiers.command import CommandVerifier as CommandVerifier
    from ralph.verifiers.command import parse_command as parse_command
    from ralph.verifiers.detect import Detected as Detected
    from ralph.verifiers.detect import detect_test_command as detect_test_command
    from ralph.verifiers.review import ReviewVerifier as ReviewVerifier
    from ralph.verifiers.runner import VerifierRun as VerifierRun

__getattr__, __dir__ = lazy_exports(__name__)
