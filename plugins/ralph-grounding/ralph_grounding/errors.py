"""Failures that the user can fix."""

from typing import Literal

from ralph import RalphError
from ralph.errors import UsageError

__all__ = ["NoGroundTruthError", "ProviderError", "Trouble"]

Trouble = Literal[
    "unreachable", "timeout", "rate_limit", "server", "key", "refused", "too_long", "filtered", "model", "protocol"
]


class ProviderError(RalphError):
    """A provider of similarity or of answers failed.

    Attributes:
        kind: the category in the metrics.
        again: True if a retry may help: after a timeout, a rate limit or a server failure.
        retry_after: seconds from the failure, if the provider named a time.
    """

    def __init__(
        self, problem: str, remedy: str = "", *, kind: Trouble, again: bool = False, retry_after: float | None = None
    ) -> None:
        super().__init__(problem, remedy)
        self.kind: Trouble = kind
        self.again = again
        self.retry_after = retry_after


class NoGroundTruthError(UsageError):
    """There is nothing to hold a response against."""
