"""What both ways to GitHub Copilot have in common: which model answers, what its tools may do, what it can see."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from ralph.errors import UsageError
from ralph.executors.base import Executor, Turn
from ralph.executors.npm import Progress
from ralph.executors.permissions import PermissionPolicy
from ralph.system.sandbox import Confinement

__all__ = ["LOOKING", "NO_KEY", "CopilotExecutor"]

NO_KEY = "ralph-local-no-key"
"""Copilot hides the key wherever it occurs in what it says, so that it must not be a short word."""

LOOKING = ("glob", "grep", "rg", "view")
"""The tools of a turn that only looks. What they may read is the policy's."""

_LOGINS = ("COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN")
"""In the order in which Copilot takes them."""


class CopilotExecutor(Executor):
    """The agent of GitHub Copilot, however it is reached.

    Args:
        program: what runs it; None to find or fetch one.
        model: None for Copilot's default; an endpoint needs one.
        base_url: an OpenAI-compatible endpoint instead of GitHub's; no login is needed then.
        api_key: the endpoint's.
        wire_api, headers: how the endpoint is talked to.
        permissions: what the agent's tools may do.
        confinement: what the agent can see of this machine: variables, and a sandbox.
        home: where sessions are kept, to be taken up by a later run. None for a folder that goes with the executor,
            or with GitHub's models, for the user's own, where their login lies.
        progress: told how the download of a program goes.

    Raises:
        UsageError: an endpoint without a model.
    """

    _program: Path | None

    def __init__(
        self,
        program: Path | None = None,
        *,
        model: str | None = None,
        base_url: str | None = None,
        api_key: str | None = None,
        wire_api: Literal["completions", "responses"] = "completions",
        headers: Mapping[str, str] | None = None,
        permissions: PermissionPolicy | None = None,
        confinement: Confinement | None = None,
        home: Path | None = None,
        progress: Progress | None = None,
    ) -> None:
        if base_url and not model:
            raise UsageError(f"The endpoint {base_url} needs a model's name.", "Give one with --model.")
        self.model, self.base_url, self.permissions = model, base_url, permissions or PermissionPolicy()
        self.confinement = confinement or Confinement()
        self._api_key, self._wire_api, self._headers = api_key or NO_KEY, wire_api, dict(headers or {})
        self._program, self._home, self._progress = program, home, progress
        self._own_home: TemporaryDirectory[str] | None = None
        self.account = base_url or "github"
        self.measures = frozenset({"tokens"}) if base_url else frozenset({"tokens", "premium_requests"})

    async def stop(self) -> None:
        if self._own_home:
            self._own_home.cleanup()
            self._own_home = None

    @property
    def home(self) -> Path | None:
        """Where sessions are kept; None for the user's own folder. One that goes with the executor is made here."""
        if self._home is None and self.base_url and self._own_home is None:
            self._own_home = TemporaryDirectory(prefix="ralph-copilot-", ignore_cleanup_errors=True)
        return Path(self._own_home.name) if self._own_home else self._home

    def policy(self, turn: Turn) -> PermissionPolicy:
        """What the agent's tools may do in a turn."""
        return self.permissions.for_reading() if turn.read_only else self.permissions

    def passed_on(self) -> dict[str, str]:
        """The variables that the agent is given of Ralph's own: no secret but the login, where it needs one."""
        login = () if self.base_url else next(((name,) for name in _LOGINS if os.environ.get(name)), ())
        return self.confinement.environment(login)

    def confined(self, argv: Sequence[str], workspace: Path, *needed: Path) -> list[str]:
        """The command line that runs the agent's program within its bounds.

        Args:
            needed: folders that it has to write to.
        """
        readable = [Path(argv[0]).parent, Path.home() / ".cache" / "copilot"]
        writable = [*needed, self.home or Path.home() / ".copilot"]
        return self.confinement.command(argv, cwd=workspace, agent=True, readable=readable, writable=writable)
