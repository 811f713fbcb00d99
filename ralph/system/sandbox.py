"""Confinement of the agent and the verifiers: their environment variables, and bubblewrap where the kernel allows it.

Variables with secret names, or ones that lead to a secret (SSH_AUTH_SOCK), or values with one, are not passed on
unless the program needs them: an unattended agent has no business with them, and what it prints ends up in a model's
context. In a strict list only the named ones are passed on, with what no program can do without.

A sandboxed program sees the machine read-only, except the workspace and the listed paths. The home folder, the folder
for temporary files and `/run` are its own and empty, and go when it ends. It sees no other processes, cannot reach this
machine's servers, and ends with Ralph.
"""

import json
import os
import sys
from base64 import b64encode
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict, Unpack

from pydantic import AfterValidator, BaseModel, Field, field_validator

from ralph.errors import UsageError
from ralph.system.declarations import AGENT, Flag, Size, Tighter
from ralph.system.files import find_program
from ralph.system.secrets import Redactor, is_secret_name
from ralph.system.text import pattern, plain

ESSENTIAL = (
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "PWD", "TERM", "TZ", "LANG", "LANGUAGE", "LC_*"),
    *("TMPDIR", "TMP", "TEMP", "XDG_*_HOME", "XDG_RUNTIME_DIR"),
    *("SYSTEMROOT", "SYSTEMDRIVE", "COMSPEC", "PATHEXT", "WINDIR", "USERPROFILE", "APPDATA", "LOCALAPPDATA"),
)
"""Given in any case; `*` matches anything."""

_WITHHELD = pattern(
    r"RALPH_STORE|RALPH_PLUGINS__.*|OTEL_(.*_HEADERS|.*_CAPTURE_.*)|.*AUTH(?!ORS?(?![A-Z])).*|.*DATABASE_URL|.*ASKPASS"
    r"|(BW|BITWARDEN|OP)_SESSION.*"
)
"""Variables with values that are no secrets themselves, or not always, but lead to one."""


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
        """Return the variables that are passed on, with those `needed` by the program, a login's for example."""
        return {name: value for name, value in environ.items() if name in needed or self._passes(name, value)}

    def withheld(self, environ: Mapping[str, str]) -> str:
        """Return sentences on the variables that are not passed on; empty if the user named those that are."""
        passed = environ if self.only is not None else self.of(environ)
        names = sorted(name for name in environ if name not in passed and not name.startswith("RALPH_"))
        which = f"Withheld from the agent and the checks, as they may lead to secrets: {', '.join(names)}."
        return f"{which} To pass one on, name it in environment.keep." if names else ""

    def _passes(self, name: str, value: str) -> bool:
        if self.only is not None:
            return _any(name, ESSENTIAL) or _any(name, self.only) or _any(name, self.keep)
        if _any(name, self.keep) or is_secret_name(name) or _WITHHELD.fullmatch(name.upper()):
            return _any(name, self.keep)
        return name.upper().endswith("_PROXY") or Redactor()(value) == plain(value)


def _any(name: str, patterns: Collection[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


_LAUNCH = str(Path(__file__).with_name("launch.py"))


class Sandbox(BaseModel, frozen=True, extra="forbid", defer_build=True):
    """The paths, the hosts and the resources that confined programs may use; every path may begin with `~`."""

    kind: Annotated[Literal["none", "bwrap"], Tighter(("bwrap", "none")), Flag("--sandbox", "KIND", AGENT)] = Field(
        default="none",
        description="none, or bwrap (Linux): the agent and the verifiers can write only to the workspace.",
    )
    network: Annotated[Literal["hosts", "agent", "all", "none"], Tighter(("none", "hosts", "agent", "all"))] = Field(
        default="hosts",
        description="The network in the sandbox: hosts (only the agent's model, and `sandbox.hosts`), agent "
        "(everything, but nothing for the verifiers), all, or none.",
    )
    hosts: Annotated[tuple[str, ...], Tighter("less")] = Field(
        default=(),
        description="Hosts that sandboxed programs may reach, at the ports 443 and 80 or at a given one: "
        "packages.example.org, 127.0.0.1:5432.",
    )
    readable: Annotated[tuple[Path, ...], Tighter("less")] = Field(
        default=(), description="Paths in the home folder that may be read, such as ~/.nvm."
    )
    writable: Annotated[tuple[Path, ...], Tighter("less")] = Field(
        default=(), description="Paths besides the workspace that may be written."
    )
    max_memory: Annotated[Size | None, Tighter("less"), Flag("--max-memory", "SIZE", AGENT)] = Field(
        default=None,
        description="Memory for the agent and its programs: 512M, 4G; where there are no cgroups, for each.",
    )
    max_processes: Annotated[int | None, Tighter("less"), Flag("--max-processes", "N", AGENT)] = Field(
        default=None, ge=16, description="Processes and threads that the agent and its programs may have at a time."
    )
    max_file_size: Annotated[Size | None, Tighter("less"), Flag("--max-file-size", "SIZE", AGENT)] = Field(
        default=None, description="Size of the largest file that the agent and its programs may write."
    )

    @property
    def summary(self) -> str:
        """The kind and its network in a few words; "off" without a sandbox."""
        return f"{self.kind}, network: {self.network}" if self.used else "off"

    @field_validator("hosts")
    @classmethod
    def _readable_hosts(cls, hosts: tuple[str, ...]) -> tuple[str, ...]:
        from ralph.system.bubblewrap import parse_host

        return tuple(host for host in apart(hosts) if parse_host(host))

    @property
    def used(self) -> bool:
        """True if programs are in a sandbox at all."""
        return self.kind != "none"

    @property
    def option(self) -> str:
        """The first option by which the user asks for a sandbox or a limit; empty if for none."""
        limits = {"memory": "--max-memory", "pids": "--max-processes", "file_size": "--max-file-size"}
        return f"--sandbox {self.kind}" if self.used else next((limits[name] for name in self.limits), "")

    @property
    def limits(self) -> dict[str, int]:
        """The limits of the agent's resources, as `ralph.system.launch` names them."""
        limits = {"memory": self.max_memory, "pids": self.max_processes, "file_size": self.max_file_size}
        return {name: value for name, value in limits.items() if value is not None}


class Needs(TypedDict, total=False):
    """The needs of one program in the sandbox, besides the settings' paths and hosts.

    Attributes:
        readable: files and folders to read; no Unix socket in such a folder can be reached.
        writable: files and folders to write.
        hosts: those to reach, as in the setting `sandbox.hosts`.
        read_only: not even the workspace may be written.
    """

    readable: Iterable[Path]
    writable: Iterable[Path]
    hosts: Iterable[str]
    read_only: bool


_TRIED = 20.0
"""Seconds that the sandbox has for a program that does nothing."""


@dataclass(frozen=True, slots=True)
class Confinement:
    """The confinement of the agent and the verifiers.

    Attributes:
        workspace: the folder that they work in, the only one that a sandbox lets them write; None for the folder that
            a program is started in.
        folders: what belongs to the workspace and lies elsewhere, such as git's own folder for a worktree.
        git: the text of git's settings in the home folder of a sandbox, where the user's own are hidden.
    """

    variables: Variables = field(default_factory=Variables)
    sandbox: Sandbox = field(default_factory=Sandbox)
    workspace: Path | None = None
    folders: tuple[Path, ...] = ()
    git: str = ""

    @property
    def asks(self) -> bool:
        """True if the user asks for bounds other than the default ones."""
        return bool(self.sandbox.option) or self.variables != Variables()

    def environment(self, needed: Collection[str] = ()) -> dict[str, str]:
        """Return the variables for a program; `needed` names those that it cannot do without."""
        return self.variables.of(os.environ, needed)

    def command(self, argv: Sequence[str], *, cwd: Path, agent: bool = False, **needs: Unpack[Needs]) -> list[str]:
        """Return the command line that starts a program within its bounds; unchanged without any.

        Args:
            cwd: the folder that it runs in and may write, unless `workspace` is set.
            agent: it is the agent, and not a verifier, which matters for the network and the limits.
        """
        box = self.sandbox
        plan: dict[str, Any] = {"limits": box.limits} if agent and box.limits else {}
        if not box.used:
            return _launched(plan, argv) if plan and find_program(argv[0]) else list(argv)
        from ralph.system import bubblewrap
        from ralph.system.launch import GIT, HOSTS
        from ralph.system.seccomp import seccomp_filter

        plan["filter"] = b64encode(seccomp_filter()).decode()
        plan["strict"] = b64encode(seccomp_filter(unix=False)).decode()
        workspace = self.workspace or cwd
        ways, names = bubblewrap.ways_to([*box.hosts, *needs.get("hosts", ())]) if box.network == "hosts" else ([], "")
        if ways:
            plan["ways"] = ways
        if names:
            plan["hosts"] = b64encode(names.encode()).decode()
        if self.git:
            plan["git"] = b64encode(self.git.encode("utf-8", "surrogateescape")).decode()
        connected = ways or box.network == "all" or (agent and box.network == "agent")
        read_only, writable = needs.get("read_only", False), [*box.writable, *needs.get("writable", ())]
        place = "--ro-bind" if read_only else "--bind"
        folders = (place, str(workspace), str(workspace))
        chains = bubblewrap.toolchains(workspace)
        shown = [
            *bubblewrap.parts_shown(chains),
            *bubblewrap.programs(),
            *bubblewrap.surroundings(workspace, self.folders),
        ]
        shown += needs.get("readable", ())
        opened = [*box.readable, *writable, *self.folders, workspace]
        seen = [each for each in dict.fromkeys(each.absolute() for each in shown) if each.is_dir()]
        plan["views"] = bubblewrap.views(seen, opened)
        return _launched(
            plan,
            [
                *(find_program(bubblewrap.BWRAP) or bubblewrap.BWRAP, *bubblewrap.APART),
                *(() if connected else ("--unshare-net",)),
                *bubblewrap.hidden(),
                *(bubblewrap.git_settings(GIT) if self.git else ()),
                *(("--ro-bind-data", str(HOSTS), os.path.realpath("/etc/hosts")) if names else ()),
                *bubblewrap.bound("--ro-bind-try", shown, seen),
                *bubblewrap.bound("--ro-bind-try", box.readable),
                *bubblewrap.credentials(chains, {each.expanduser() for each in box.readable}),
                *bubblewrap.bound("--bind-try", writable),
                *bubblewrap.bound(f"{place}-try", self.folders),
                *folders,
                *(() if read_only else bubblewrap.git_bounds(workspace, self.folders)),
                *("--chdir", str(workspace), "--", *argv),
            ],
        )

    async def require(self, cwd: Path | None = None) -> None:
        """Prepare the workspace for the sandbox and the limits, if any. Raises `UsageError` if they do not work."""
        box = self.sandbox
        if not box.option:
            return
        from ralph.system.bubblewrap import BWRAP, guard
        from ralph.system.process import run
        from ralph.system.seccomp import seccomp_filter

        cwd = self.workspace or cwd or Path.cwd()
        if (self, cwd) in _WORKING:
            return
        called = "The sandbox bwrap" if box.used else "A limit of the agent's resources"
        remedy = "Install bubblewrap and allow user namespaces, or leave --sandbox out." if box.used else _UNLIMITED
        if box.used and not find_program(BWRAP):
            raise UsageError(f"{called} cannot be used: there is no such program.", remedy)
        if box.used and not seccomp_filter():
            raise UsageError(f"{called} cannot be used on this machine's architecture.", "Use a container.")
        if box.used:
            guard(cwd, self.folders)
        tried = await run(
            self.command(["true"], cwd=cwd, agent=True, hosts=["127.0.0.1:9"]),
            cwd=cwd,
            timeout=_TRIED,
            max_output=2_000,
        )
        if tried.code or tried.timed_out:
            said = " ".join(tried.stderr.split())[:300] or f"it ended with status {tried.code}"
            raise UsageError(f"{called} cannot be used here: {said}.", remedy)
        _WORKING.add((self, cwd))


_WORKING: "set[tuple[Confinement, Path]]" = set()
"""Those that were seen to work, each in its folder: once is enough for a program."""


_UNLIMITED = "Leave out --max-memory, --max-processes and --max-file-size, or run Ralph where cgroups can be made."


def _launched(plan: Mapping[str, Any], argv: Sequence[str]) -> list[str]:
    return [sys.executable, "-I", "-S", _LAUNCH, json.dumps(plan), *argv]
