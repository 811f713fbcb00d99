"""What a verifier is: something other than the agent that says whether a claim of completion holds."""

from pathlib import Path

from ralph.verification import Verdict

__all__ = ["Verifier"]


class Verifier:
    """Says whether a claim of completion holds. Subclass it, give it a `name` and implement `verify`."""

    name: str = ""

    async def verify(self, workspace: Path) -> Verdict:
        """Checks the workspace. A verifier that cannot start raises `VerifierError`."""
        raise NotImplementedError
