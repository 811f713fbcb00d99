"""What says, other than the agent, whether a claim of completion holds."""

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
