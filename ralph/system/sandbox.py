"""Confinement of the agent and the verifiers: their environment variables, and bubblewrap where the kernel allows it.

Variables with secret names, or ones that lead to a secret (SSH_AUTH_SOCK, addresses with a password), are not passed on
unless the program needs them: an unattended agent has no business with
them, and what it prints ends up in a model's context. In a strict list only the named ones are passed on, with what no
program can do without.

A sandboxed program sees the machine read-only, except the workspace and the listed paths. The home folder, the folder
for temporary files and the session's sockets are its own and empty, and go when it ends. It sees no other processes,
and ends with Ralph.
"""

import os
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, Field, field_validator

from ralph.errors import UsageError
from ralph.system.declarations import AGENT, Flag
from ralph.system.secrets import is_secret_name
from ralph.system.text import pattern

ESSENTIAL = (
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "PWD", "TERM", "TZ", "LANG", "LANGUAGE", "LC_*"),
    *("TMPDIR", "TMP", "TEMP", "XDG_*_HOME", "XDG_RUNTIME_DIR"),
    *("SYSTEMROOT", "SYSTEMDRIVE", "COMSPEC", "PATHEXT", "WINDIR", "USERPROFILE", "APPDATA", "LOCALAPPDATA"),
)
"""Given in any case; `*` matches anything."""

_WITHHELD = pattern(r"RALPH_STORE|RALPH_PLUGINS__.*|.*AUTH(?!ORS?(?![A-Z])).*|.*DATABASE_URL|.*ASKPASS")
"""Variables with values that are no secrets themselves, or not always, but lead to one."""

_PASSWORD_WITHIN = pattern(r"://[^/?#\s@]*:[^/?#\s@]+@")
"""An address with a password; only those of proxies are passed on."""


def _require_names(text: str) -> str:
    if "=" in text or "\0" in text:
        raise ValueError("no variable can have this name; give only names, without values, as in CARGO_*")
    return text


Names = Annotated[str, AfterValidator(_require_names)]
"""The name of a variable, or several joined by commas; `*` matches anything."""


def apart(names: Iterable[str]) -> tuple[str, ...]:
    """Split names that are joined by commas."""
    return tuple(name.strip() for each in names for name in each.split(",") if name.strip())


def values_of(environ: Mapping[str, str], names: Collection[str]) -> list[str]:
    """Return the values of the variables with these names, in which `*` matches anything."""
    return [value for name, value in environ.items() if _any(name, names)]


class Variables(BaseModel, frozen=True, extra="forbid", defer_build=True):
    """The rules by which Ralph's own environment variables are passed on.

    Both lists hold names, in which `*` matches anything: `CARGO_*`; several may be joined by commas.
    """

    only: Annotated[tuple[Names, ...] | None, Flag("--env-only", "NAME", AGENT)] = Field(
        default=None, description="Pass on only these variables, and those that every program needs: CARGO_*."
    )
    keep: tuple[Names, ...] = Field(
        default=(), description="Variables passed on although their names look secret: NPM_TOKEN."
    )
    mask: tuple[Names, ...] = Field(
        default=(), description="Variables whose values are masked, besides those whose names look secret: DATABASE_*."
    )

    @field_validator("only", "keep", "mask")
    @classmethod
    def _apart(cls, names: tuple[str, ...] | None) -> tuple[str, ...] | None:
        return None if names is None else apart(names)

    def of(self, environ: Mapping[str, str], needed: Collection[str] = ()) -> dict[str, str]:
        """Return the variables of an environment that are passed on.

        Args:
            environ: the variables.
            needed: the names of those without which the program cannot work, a login's for example.
        """
        return {name: value for name, value in environ.items() if name in needed or self._passes(name, value)}

    def _passes(self, name: str, value: str) -> bool:
        if self.only is not None:
            return _any(name, ESSENTIAL) or _any(name, self.only) or _any(name, self.keep)
        return _any(name, self.keep) or not (is_secret_name(name) or _leads_to_secret(name.upper(), value))


def _leads_to_secret(name: str, value: str) -> bool:
    held = _PASSWORD_WITHIN.search(value) and not name.endswith("_PROXY")
    return bool(held or _WITHHELD.fullmatch(name))


def _any(name: str, patterns: Collection[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


_BWRAP = "bwrap"
_APART = (
    *("--die-with-parent", "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--cap-drop", "ALL"),
    *("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"),
)
_SOCKETS = ("/run/docker.sock", "/run/podman/podman.sock", "/run/containerd/containerd.sock")
"""A program that reaches one of these can become any user of this machine."""


class Sandbox(BaseModel, frozen=True, extra="forbid", defer_build=True):
    """The paths and the network that sandboxed programs may use; every path may begin with `~`."""

    kind: Annotated[Literal["none", "bwrap"], Flag("--sandbox", "KIND", AGENT)] = Field(
        default="none",
        description="none, or bwrap (Linux): the agent and the verifiers can write only to the workspace.",
    )
    network: Literal["all", "agent", "none"] = Field(
        default="all", description="Who may use the network: all, agent (but not the verifiers), or none."
    )
    readable: tuple[Path, ...] = Field(
        default=(), description="Paths in the home folder that may be read, such as ~/.nvm."
    )
    writable: tuple[Path, ...] = Field(default=(), description="Paths besides the workspace that may be written.")

    @property
    def used(self) -> bool:
        """True if programs are confined at all."""
        return self.kind != "none"


def _hidden() -> Iterator[str]:
    """Yield the options for the sandbox's own folders, in an order in which none covers one that was wanted."""
    places = {Path.home(), Path(tempfile.gettempdir()), Path("/tmp"), Path("/var/tmp"), Path("/run/user")}  # noqa: S108
    for place in sorted({place.resolve() for place in places if place.is_dir()} - {Path("/")}):
        yield from ("--tmpfs", str(place))
    for socket in _SOCKETS:
        if os.path.exists(socket):  # noqa: PTH110 - of a folder that we may not enter, False is the answer
            yield from ("--ro-bind", "/dev/null", socket)


def _programs() -> Iterator[Path]:
    """Yield the folders of PATH in the home folder; without them many tools would be missing."""
    home = Path.home().resolve()
    for name in os.environ.get("PATH", "").split(os.pathsep):
        place = Path(name)
        if place.is_absolute() and place.is_relative_to(home) and place != home:
            yield place


def _bound(option: str, places: Iterable[Path]) -> Iterator[str]:
    for place in dict.fromkeys(place.expanduser().absolute() for place in places):
        yield from (option, str(place), str(place))


_TRIED = 20.0
"""Seconds that the sandbox has for a program that does nothing."""


@dataclass(frozen=True, slots=True)
class Confinement:
    """The confinement of the agent and the verifiers.

    Attributes:
        workspace: the folder that they work in, the only one that a sandbox lets them write; None for the folder that
            a program is started in.
        folders: what belongs to the workspace and lies elsewhere, such as git's own folder for a worktree.
    """

    variables: Variables = field(default_factory=Variables)
    sandbox: Sandbox = field(default_factory=Sandbox)
    workspace: Path | None = None
    folders: tuple[Path, ...] = ()

    def environment(self, needed: Collection[str] = ()) -> dict[str, str]:
        """Return the variables for a program; `needed` names those that it cannot do without."""
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
        """Return the command line that starts a program within its bounds; unchanged without a sandbox.

        Args:
            argv: the program and its arguments.
            cwd: the folder that it runs in and may write, unless `workspace` is set.
            agent: it is the agent, and not a verifier, which matters for the network.
            readable: what this program needs to read besides the settings' paths.
            writable: what it needs to write besides them.
        """
        box = self.sandbox
        if not box.used:
            return list(argv)
        workspace = str(self.workspace or cwd)
        connected = box.network == "all" or (agent and box.network == "agent")
        return [
            _BWRAP,
            *_APART,
            *(() if connected else ("--unshare-net",)),
            *_hidden(),
            *_bound("--ro-bind-try", [*_programs(), *box.readable, *readable]),
            *_bound("--bind-try", [*box.writable, *self.folders, *writable]),
            *("--bind", workspace, workspace, "--chdir", workspace),
            "--",
            *argv,
        ]

    async def require(self, cwd: Path | None = None) -> None:
        """Check that the sandbox works here, if one is requested.

        Raises:
            UsageError: it does not, and why.
        """
        if not self.sandbox.used:
            return
        from ralph.system.process import ProgramMissingError, run

        cwd = self.workspace or cwd or Path.cwd()
        remedy = "Install bubblewrap and allow user namespaces, or leave --sandbox out."
        try:
            tried = await run(self.command(["true"], cwd=cwd), cwd=cwd, timeout=_TRIED, max_output=2_000)
        except ProgramMissingError as error:
            raise UsageError(f"The sandbox bwrap cannot be used: {error.why}.", remedy) from error
        if tried.code or tried.timed_out:
            said = " ".join(tried.stderr.split())[:300] or f"it ended with status {tried.code}"
            raise UsageError(f"The sandbox bwrap cannot be used here: {said}.", remedy)
