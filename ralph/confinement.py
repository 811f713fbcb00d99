"""What the programs that Ralph runs for a task are confined to: their environment variables, and a sandbox."""

import os
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ralph.environment import Variables
from ralph.errors import UsageError
from ralph.process import ProgramMissingError, run
from ralph.sandbox import Sandbox

__all__ = ["Confinement"]

_TRIED = 20.0
"""Seconds that the sandbox has for a program that does nothing."""


@dataclass(frozen=True, slots=True)
class Confinement:
    """How the agent and the verifiers are confined.

    Attributes:
        workspace: the folder that they work in, the only one that a sandbox lets them write; without one a sandbox
            takes the folder that a program is started in.
        folders: what belongs to the workspace and lies elsewhere: git's own folder, for a worktree.
    """

    variables: Variables = field(default_factory=Variables)
    sandbox: Sandbox = field(default_factory=Sandbox)
    workspace: Path | None = None
    folders: tuple[Path, ...] = ()

    def environment(self, needed: Collection[str] = ()) -> dict[str, str]:
        """The variables that a program is given of Ralph's own; `needed` names those that it cannot do without."""
        return self.variables.of(os.environ, needed)

    def command(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        agent: bool = False,
        readable: Iterable[Path] = (),
        writable: Iterable[Path] = (),
    ) -> list[str]:
        """The command line that starts a program within its bounds; see `Sandbox.command`."""
        return self.sandbox.command(
            argv,
            workspace=self.workspace or cwd,
            agent=agent,
            readable=readable,
            writable=[*self.folders, *writable],
        )

    async def require(self, cwd: Path | None = None) -> None:
        """Makes sure that the sandbox works here, where one is asked for.

        Raises:
            UsageError: it does not, and why.
        """
        if not self.sandbox.used:
            return
        cwd = self.workspace or cwd or Path.cwd()
        remedy = "Install bubblewrap and allow user namespaces, or leave --sandbox out."
        try:
            tried = await run(self.command(["true"], cwd=cwd), cwd=cwd, timeout=_TRIED, max_output=2_000)
        except ProgramMissingError as error:
            raise UsageError(f"The sandbox bwrap cannot be used: {error.why}.", remedy) from error
        if tried.code or tried.timed_out:
            said = " ".join(tried.stderr.split())[:300] or f"it ended with status {tried.code}"
            raise UsageError(f"The sandbox bwrap cannot be used here: {said}.", remedy)
