"""What says, other than the agent, whether a claim of completion holds."""

from ralph.verifiers.base import Verifier
from ralph.verifiers.checks import judge, preflight
from ralph.verifiers.command import CommandVerifier, parse_command
from ralph.verifiers.detect import Detected, detect_test_command

__all__ = ["CommandVerifier", "Detected", "Verifier", "detect_test_command", "judge", "parse_command", "preflight"]
