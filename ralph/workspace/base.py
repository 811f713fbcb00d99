"""What a workspace is: the folder that the agent works in, and how to see what became of it."""

from pathlib import Path
from types import TracebackType
from typing import Self

from pydantic import BaseModel

from ralph.changes import Changes

__all__ = ["Snapshot", "Workspace"]


class Snapshot(BaseModel, frozen=True):
    """The state of a workspace at one moment.

    Attributes:
        fingerprint: equal for equal states; None where the workspace could not be read.
        head: the commit that is checked out; None in a plain folder or before the first commit.
        files: content marks by path, of the files that differ from `head` (of all files in a plain folder);
            what two snapshots have to be compared by.
        problem: why it could not be read, where it could not.
    """

    fingerprint: str | None = None
    head: str | None = None
    files: dict[str, str] = {}
    problem: str = ""


class Workspace:
    """The folder that the agent works in. Used in `async with`, which holds it for one run.

    Attributes:
        path: the folder; absolute.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    async def snapshot(self) -> Snapshot:
        """The state as it is now. It never raises on what an agent may have done to the folder."""
        raise NotImplementedError

    async def changes(self, before: Snapshot, after: Snapshot) -> Changes:
        """What happened between two snapshots."""
        raise NotImplementedError

    def hold(self, run_id: str) -> None:
        """Marks the workspace as taken by a run. Raises `WorkspaceBusyError` where another run has it."""
        raise NotImplementedError

    def release(self) -> None:
        """Gives the workspace back; safe to call when it is not held."""

    def keep_response(self, text: str) -> str:
        """Writes the agent's last answer to `.ralph/last-response.md`, by rename and never through a link.

        Returns why it could not be written, or the empty string.
        """
        raise NotImplementedError

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()
