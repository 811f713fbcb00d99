"""The command line that runs a program in a sandbox: bubblewrap, where the kernel allows it.

What runs in it sees the machine read-only, but for the workspace and what is listed; the home folder, the folder for
temporary files and sockets of the session are its own and empty, and go when it ends. It sees no other processes, and
ends with Ralph.
"""

import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field

__all__ = ["Sandbox"]

_BWRAP = "bwrap"
_APART = (
    *("--die-with-parent", "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--cap-drop", "ALL"),
    *("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"),
)
_SOCKETS = ("/run/docker.sock", "/run/podman/podman.sock", "/run/containerd/containerd.sock")
"""Who reaches one of these can be anybody on this machine."""


class Sandbox(BaseModel, frozen=True, extra="forbid"):
    """What programs in it may write, see and reach; every path may begin with `~`."""

    kind: Literal["none", "bwrap"] = Field(default="none", description="none, or bwrap: bubblewrap, on Linux.")
    network: Literal["all", "agent", "none"] = Field(
        default="all", description="Who may use the network: all, agent (but not the verifiers), or none."
    )
    readable: tuple[Path, ...] = Field(
        default=(), description="Paths in the home folder that may be read, such as ~/.nvm."
    )
    writable: tuple[Path, ...] = Field(default=(), description="Paths besides the workspace that may be written.")

    @property
    def used(self) -> bool:
        """Whether programs are confined at all."""
        return self.kind != "none"

    def command(
        self,
        argv: Sequence[str],
        *,
        workspace: Path,
        agent: bool = False,
        readable: Iterable[Path] = (),
        writable: Iterable[Path] = (),
    ) -> list[str]:
        """The command line that runs a program in the sandbox; as it was given where there is none.

        Args:
            agent: whether it is the agent, for the network's sake; else it is a verifier.
            readable, writable: what this program needs beside the settings'.
        """
        if not self.used:
            return list(argv)
        connected = self.network == "all" or (agent and self.network == "agent")
        return [
            _BWRAP,
            *_APART,
            *(() if connected else ("--unshare-net",)),
            *_hidden(),
            *_bound("--ro-bind-try", [*_programs(), *self.readable, *readable]),
            *_bound("--bind-try", [*self.writable, *writable]),
            *("--bind", str(workspace), str(workspace), "--chdir", str(workspace)),
            "--",
            *argv,
        ]


def _hidden() -> Iterator[str]:
    """Folders that are the sandbox's own, in an order in which none covers another that was wanted."""
    places = {Path.home(), Path(tempfile.gettempdir()), Path("/tmp"), Path("/var/tmp"), Path("/run/user")}  # noqa: S108
    for place in sorted({place.resolve() for place in places if place.is_dir()} - {Path("/")}):
        yield from ("--tmpfs", str(place))
    for socket in _SOCKETS:
        if os.path.exists(socket):  # noqa: PTH110 - of a folder that we may not enter, False is the answer
            yield from ("--ro-bind", "/dev/null", socket)


def _programs() -> Iterator[Path]:
    """The folders of PATH that lie in the home folder; without them many a tool would be gone."""
    home = Path.home().resolve()
    for name in os.environ.get("PATH", "").split(os.pathsep):
        place = Path(name)
        if place.is_absolute() and place.is_relative_to(home) and place != home:
            yield place


def _bound(option: str, places: Iterable[Path]) -> Iterator[str]:
    for place in dict.fromkeys(place.expanduser().absolute() for place in places):
        yield from (option, str(place), str(place))
