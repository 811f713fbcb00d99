"""What can go wrong that a person can mend."""

from typing import Literal

from ralph import RalphError
from ralph.errors import UsageError

__all__ = ["NoGroundTruthError", "ProviderError", "Trouble"]

Trouble = Literal[
    "unreachable", "timeout", "rate_limit", "server", "key", "refused", "too_long", "filtered", "model", "protocol"
]


class ProviderError(RalphError):
    """A provider of similarity or of answers does not do its work.

    Attributes:
        kind: what is told apart in the counts.
        again: whether another try may help: of a timeout, a rate limit, a server's trouble.
        retry_after: in seconds from the failure, where the provider named a time.
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
