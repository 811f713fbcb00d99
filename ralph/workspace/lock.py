"""The workspace's lock: one run at a time. It lies out of the agent's reach and ends with its process."""

import hashlib
import json
import os
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from ralph.errors import WorkspaceBusyError, WorkspaceError
from ralph.system.files import lock, take_from_others


class WorkspaceLock:
    """A lock on a workspace for one run. The system releases it when the process ends.

    Args:
        workspace: the folder; its other names, such as through a link, mean the same lock.
        state_dir: the folder for the lock; None for the user's state folder.
    """

    def __init__(self, workspace: Path, state_dir: Path | None = None) -> None:
        self._workspace = workspace
        self._state_dir = state_dir
        self._handle: int | None = None

    @property
    def path(self) -> Path:
        """The lock's file. It stays after a release; only the lock on it counts."""
        return (self._state_dir or state_folder()) / "held" / f"{folder_key(self._workspace)}.json"

    def acquire(self, run_id: str) -> None:
        """Lock the workspace for a run.

        Raises:
            WorkspaceBusyError: another run has locked it, in this or another process.
            WorkspaceError: the lock cannot be taken, for example without write permission.
        """
        path = self.path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
            free = lock(handle)
        except OSError as error:
            raise WorkspaceError(
                f"The lock {str(path)!r} cannot be taken: {error.strerror}.",
                "Make that folder writable, or name another one in XDG_STATE_HOME.",
            ) from error
        if not free:
            owner, pid = _owner(handle)
            os.close(handle)
            raise WorkspaceBusyError(str(self._workspace), owner, pid)
        note = {"run_id": run_id, "pid": os.getpid(), "workspace": str(self._workspace)}
        _write(handle, json.dumps({**note, "started": datetime.now(UTC).isoformat()}))
        self._handle = handle

    def release(self) -> None:
        if self._handle is None:
            return
        handle, self._handle = self._handle, None
        with suppress(OSError):
            _write(handle, "")
        os.close(handle)


def folder_key(workspace: Path) -> str:
    """Return a name for files about a workspace, the same for all of the folder's names."""
    return hashlib.sha256(os.fsencode(workspace.resolve())).hexdigest()[:32]


def state_folder() -> Path:
    """Return the user's state folder for Ralph, which is for the user alone."""
    import platformdirs

    folder = platformdirs.user_state_path("ralph", appauthor=False)
    with suppress(OSError):  # whoever writes there reports it
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        take_from_others(folder)
    return folder


def _write(handle: int, text: str) -> None:
    os.ftruncate(handle, 0)
    os.lseek(handle, 0, os.SEEK_SET)
    os.write(handle, text.encode("utf-8", "replace"))


def _owner(handle: int) -> tuple[str, int]:
    """Return the run and the process that have the lock; the owner may not have written them yet."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        note = json.loads(os.read(handle, 65_536))
        return str(note["run_id"]), int(note["pid"])
    return "unknown", 0
