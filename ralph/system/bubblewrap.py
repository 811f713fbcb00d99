"""The options of bubblewrap: what a sandboxed program sees of this machine, and the hosts that it reaches.

It sees the machine read-only, and no Unix socket there leads to a program: see `ralph.system.launch`. The home folder,
the folders for temporary files and `/run` are its own and empty. Git's settings in the workspace, with the programs
that they can name, are read-only, although git itself can write.
"""

import atexit
import ipaddress
import os
import re
import socket
import tempfile
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from fnmatch import translate
from itertools import chain, islice
from pathlib import Path
from typing import Any

from ralph.errors import UsageError
from ralph.system.files import create_file, home_folders, read_regular
from ralph.system.launch import FILTER, VIEW, Way

BWRAP = "bwrap"
APART = (
    *("--die-with-parent", "--new-session", "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts"),
    *("--unshare-cgroup-try", "--cap-drop", "ALL", "--seccomp", str(FILTER)),
    *("--ro-bind", f"{VIEW}/", "/", "--dev", "/dev", "--proc", "/proc"),
    *("--setenv", "GIT_DISCOVERY_ACROSS_FILESYSTEM", "1"),  # a workspace and the view of what is around it are two
)
_KERNEL = ("sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "mtrr", "scsi")
"""The parts of /proc that let the superuser change the kernel, although it has no rights in the sandbox."""

_PORTS = (443, 80)
_SHARE = ".local/share"

_SETTINGS = ("config", "config.worktree", "hooks", "info", "commondir", "gitdir")
"""The parts of a git folder that choose programs, or another folder with such settings."""

_HERE = b".\n"
"""The content of a `commondir` that changes nothing: it stands where the agent could otherwise create another."""


def parse_host(text: str) -> tuple[str, tuple[int, ...]]:
    """Return the host and the ports in "host", "host:port" or "[::1]:port"; without a port, 443 and 80.

    Raises:
        ValueError: it is not a host, or an IPv6 address other than `::1`.
    """
    host, port = text.strip(), ""
    if host.startswith("["):
        host, _, port = host[1:].partition("]")
        port = port.removeprefix(":")
    elif host.count(":") == 1:
        host, port = host.split(":")
    if not host or set(host) & set("/*@ ") or (port and not port.isdecimal()):
        raise ValueError(f"{text!r} is not a host; write it like packages.example.org or 127.0.0.1:8000")
    if ":" in host and host != "::1":
        raise ValueError(f"{text!r}: give a host with an IPv6 address by its name")
    if port and not 0 < int(port) < 65_536:
        raise ValueError(f"{text!r} has no valid port")
    return host.lower(), (int(port),) if port else _PORTS


def ways_to(hosts: Iterable[str]) -> tuple[list[Way], str]:
    """Return the addresses to listen at for hosts, with the ones that they stand for, and the text for /etc/hosts.

    A name gets a loopback address of its own, so that programs reach it without knowing of any proxy.
    """
    ways: dict[tuple[str, int], Way] = {}
    lines = ["127.0.0.1 localhost", "::1 localhost"] if socket.has_ipv6 else ["127.0.0.1 localhost"]
    names: dict[str, str] = {}
    for host, ports in map(parse_host, hosts):
        if host == "localhost":
            inner = ["127.0.0.1", *(["::1"] if Path("/proc/net/if_inet6").exists() else [])]
        elif _is_address(host):
            inner = [host]
        else:
            number = len(names)
            inner = [names.setdefault(host, f"127.0.{1 + number // 250}.{1 + number % 250}")]
        for address in inner:
            ways |= {(address, port): (address, port, host, port) for port in ports}
    lines += [f"{address} {name}" for name, address in names.items()]
    return list(ways.values()), "".join(f"{line}\n" for line in lines) if names else ""


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def hidden() -> list[str]:
    """Return the options for what the sandbox has of its own or must not see, covered folders first."""
    places = _hidden_places()
    options = [part for place in places for part in ("--tmpfs", str(place))]
    kernel = [f"/proc/{name}" for name in _KERNEL if Path("/proc", name).exists()]
    return options + [part for place in kernel for part in ("--ro-bind", place, place)]


def git_settings(number: int) -> Iterator[str]:
    """Yield the options that make a file that is open the settings of git in the sandbox's own home folder."""
    place = str(Path.home().resolve() / ".gitconfig")
    yield from ("--file", str(number), place)
    if "GIT_CONFIG_GLOBAL" in os.environ:
        yield from ("--setenv", "GIT_CONFIG_GLOBAL", place)


def _hidden_places() -> list[Path]:
    """Return the folders that are replaced by empty ones, the outer before the inner."""
    places = {Path(place) for place in (*home_folders(), tempfile.gettempdir(), "/tmp", "/var/tmp", "/run")}  # noqa: S108
    return sorted({place.resolve() for place in places if place.is_dir()} - {Path("/")})


_STAGES = ("/dev/shm", "/mnt", "/media", "/srv")  # noqa: S108
"""Folders where views can be mounted, since they exist on most machines and are seldom needed."""


def views(folders: Iterable[Path], opened: Iterable[Path]) -> dict[str, Any]:
    """Return what `ralph.system.launch` needs for views of folders and of the machine.

    They are mounted where neither what is opened as it is, nor anything around it or below, can be.
    """
    real = [place.expanduser().absolute() for place in opened]
    places = [str(place) for place in (*_hidden_places(), Path("/proc"), Path("/dev"))]
    free = (
        stage
        for stage in _STAGES
        if Path(stage).is_dir()
        and not any(place.is_relative_to(stage) or Path(stage).is_relative_to(place) for place in real)
    )
    return {
        "stage": next(free, ""),
        "folders": ["/", *map(str, folders)],
        "hidden": places,
        "opened": [*map(str, real)],
    }


def surroundings(workspace: Path, folders: Sequence[Path]) -> Iterator[Path]:
    """Yield the repository around a workspace, if it is hidden; `folders` are git's."""
    top = repository_around(workspace) if folders else None
    if top and any(top.is_relative_to(place) for place in _hidden_places()):
        yield top


def repository_around(workspace: Path) -> Path | None:
    """Return the top of the repository that a workspace is a subfolder of, unless that contains the home folder."""
    folders = (workspace, *workspace.parents)
    top = next((folder for folder in folders if os.path.lexists(folder / ".git")), workspace)
    return None if top == workspace or any(place.is_relative_to(top) for place in _hidden_places()) else top


def programs() -> Iterator[Path]:
    """Yield the folders of PATH in hidden places, without which many tools would be missing, and the DNS's settings."""
    places = _hidden_places()
    named = [Path(name) for name in os.environ.get("PATH", "").split(os.pathsep)]
    for folder in (*named, Path("/etc/resolv.conf").resolve()):
        below = folder.is_absolute() and any(folder.is_relative_to(place) for place in places)
        reached = os.path.exists(folder)  # noqa: PTH110 - False where we may not enter
        if below and reached and not any(place.is_relative_to(folder) for place in places):
            yield folder


_TOOLCHAINS: tuple[dict[str, str], ...] = (
    {"CARGO_HOME": ".cargo", "RUSTUP_HOME": ".rustup"},
    {"GOBIN": "go/bin", "GOMODCACHE": "go/pkg/mod"},
    {
        "UV_TOOL_DIR": f"{_SHARE}/uv/tools",
        "UV_PYTHON_INSTALL_DIR": f"{_SHARE}/uv/python",
        "PIPX_HOME": f"{_SHARE}/pipx",
    },
    *({f"{name.upper()}_ROOT": f".{name}"} for name in ("pyenv", "rbenv", "nodenv", "goenv", "jenv")),
    *({variable: f"{_SHARE}/{name}"} for variable, name in (("MISE_DATA_DIR", "mise"), ("FNM_DIR", "fnm"))),
    *({f"{name.upper()}_HOME": f".{name}"} for name in ("volta", "rye", "juliaup", "elan", "proto")),
    *({"ASDF_DATA_DIR": ".asdf"}, {"NVM_DIR": ".nvm"}, {"SDKMAN_DIR": ".sdkman"}, {"BUN_INSTALL": ".bun"}),
    *({"DENO_INSTALL": ".deno"}, {"PNPM_HOME": f"{_SHARE}/pnpm"}, {"OPAMROOT": ".opam"}, {"rvm_path": ".rvm"}),
)
"""The folders of toolchains that belong together, each by the variable that names it and its usual place at home."""

_PREFIXES = ("pyvenv.cfg", "conda-meta")
"""A file that only the folder of an environment of Python's or conda's has."""

_PARTS = ("bin", "env", "git", "registry")
"""The part shown of Cargo's folder, in which settings, records of installations and logins lie side by side."""

_CREDENTIALS = (
    *("/credentials*", "/config.toml*", "*/credentials", "*/credentials.toml", "*/auth.json", "*/auth.toml"),
    *("*/npmrc", "*/.npmrc", "*/.yarnrc*", "*/bunfig.toml", "*/.bunfig.toml", "*/gradle.properties"),
    *("*/pip.conf", "*/.pypirc", "*/pipx_metadata.json", "*/uv-receipt.toml", "*/condarc", "*/.condarc", "pkgs/urls*"),
    *("conda-meta/history", "conda-meta/state", "activate.d/env_vars.sh"),
    *("*/.env", "*/.env.*", "*/.netrc", "*/.git-credentials", ".git/config", ".git/FETCH_HEAD"),
)
"""The files of toolchains that may hold credentials, by folder and name; without a folder, those at the very top."""

_NAMED = re.compile("|".join(map(translate, _CREDENTIALS)))
_OF_PACKAGES = frozenset((
    *("lib", "lib64", "share", "include", "src", "node_modules", "pkgs", "checkouts", "registry", "mod"),
))
"""Folders of what packages bring with them: of their own folders only the direct contents are looked at."""

_REPOSITORIES = ("cache/vcs/*", "registry/index/*/.git")
_DEPTH = 5
_ENTRIES = 20_000
"""The folders below one another, and the names in a toolchain, that are looked at, those at the top first."""


def toolchains(workspace: Path) -> list[Path]:
    """Return the folders of the toolchains in hidden places that PATH, or the Python of the workspace, leads into."""
    used = {path for folder in programs() for path in _led_to(folder)}
    prefixes = {path.parent if path.is_dir() else path.parent.parent for path in used}
    found = [place for place in prefixes if any((place / name).exists() for name in _PREFIXES)]
    used |= {path for name in (".venv", "venv") for path in _led_to(workspace / name / "bin")}
    for group in _TOOLCHAINS:
        roots = [Path.home() / place for place in (*group.values(), *map(os.environ.get, group)) if place]
        real = [root.resolve() for root in roots]
        if any(path.is_relative_to(root) for path in used for root in real):
            found += roots
    hidden = _hidden_places()
    private = (*hidden, *(home / _SHARE for home in home_folders()), workspace)
    return [
        root
        for root in dict.fromkeys(found)
        if root.is_dir()
        and any(root.is_relative_to(place) for place in hidden)
        and not any(place.is_relative_to(root.resolve()) for place in private)
    ]


def _led_to(folder: Path) -> Iterator[Path]:
    """Yield a folder, and what the links in it lead to."""
    yield folder.resolve()
    with suppress(OSError), os.scandir(folder) as entries:
        yield from (Path(entry.path).resolve() for entry in entries if entry.is_symlink())


def parts_shown(roots: Iterable[Path]) -> Iterator[Path]:
    """Yield the folders of toolchains, and of Cargo's only the parts that programs need."""
    cargo = {Path.home() / ".cargo", Path(os.environ.get("CARGO_HOME") or "/")}
    for root in roots:
        yield from ((root / part for part in _PARTS) if root in cargo else (root,))


def credentials(roots: Iterable[Path], opened: Collection[Path]) -> Iterator[str]:
    """Yield the options that cover the credentials in toolchains, but for those that are opened by name."""
    found = chain.from_iterable(_credentials(root) for root in roots)
    for path in dict.fromkeys(path for path in found if path not in opened):
        yield from ("--ro-bind", "/dev/null", str(path))


def _credentials(root: Path) -> Iterator[Path]:
    """Yield the files in a toolchain that may hold credentials, as far as it is looked at."""
    left, top = _ENTRIES, root.resolve()
    waiting = [(root, 0), *((folder, _DEPTH) for place in _REPOSITORIES for folder in root.glob(place))]
    for folder, depth in waiting:
        with suppress(OSError), os.scandir(folder) as listing:
            entries = list(islice(listing, left))
            left -= len(entries)
            git = {"HEAD", "objects"} <= {entry.name for entry in entries}
            above = ".git" if git else folder.name if depth else ""
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    if depth < _DEPTH and not (git or (depth and folder.parent.name in _OF_PACKAGES)):
                        waiting.append((Path(entry.path), depth + 1))
                elif _NAMED.fullmatch(f"{above}/{entry.name}") and entry.is_file():
                    real = Path(entry.path).resolve()
                    if real.is_relative_to(top):
                        yield root / real.relative_to(top)


def bound(option: str, places: Iterable[Path], seen: Collection[Path] = ()) -> Iterator[str]:
    """Yield the options that open places, which may begin with `~`; of those in `seen`, a view."""
    for place in dict.fromkeys(place.expanduser().absolute() for place in places):
        yield from (option, f"{VIEW if place in seen else ''}{place}", str(place))


def git_bounds(workspace: Path, folders: Sequence[Path]) -> Iterator[str]:
    """Yield the options that make git's settings read-only, and keep its folder where it is."""
    own = workspace / ".git"
    if own.is_file() and not own.is_symlink():
        yield from ("--ro-bind", str(own), str(own))
    for folder in _git_folders(workspace, folders):
        yield from ("--bind", str(folder), str(folder))
        for part in (folder, *_inner(folder)):
            for name in _SETTINGS:
                if (place := part / name).exists() and not place.is_symlink():
                    yield from ("--ro-bind", str(place), str(place))


def guard(workspace: Path, folders: Sequence[Path]) -> None:
    """Create git's settings that do not exist, so that the sandbox can make them read-only; they change nothing.

    The `commondir` among them is removed when Ralph ends; one that a killed Ralph has left is harmless, too.

    Raises:
        UsageError: one of them is a symbolic link, in whose place the agent could put anything.
    """
    parts = [part for folder in _git_folders(workspace, folders) for part in (folder, *_inner(folder))]
    for place in (workspace / ".git", *(part / name for part in parts for name in _SETTINGS)):
        if place.is_symlink():
            raise UsageError(
                f"{str(place)!r} is a symbolic link, which a sandbox cannot protect from the agent.",
                "Put what it leads to in its place (for hooks, set core.hooksPath instead), or leave --sandbox out.",
            )
    for folder in (part for part in parts if (part / "HEAD").is_file()):
        for name in ("hooks", "info"):
            with suppress(OSError):
                (folder / name).mkdir()
        place = folder / "commondir"
        for path, content in ((folder / "config.worktree", b""), (place, _HERE)):
            with suppress(OSError):
                create_file(path, content)
        with suppress(OSError):
            if read_regular(place, 100) == _HERE:
                atexit.register(place.unlink, missing_ok=True)


def _git_folders(workspace: Path, folders: Sequence[Path]) -> list[Path]:
    own = workspace / ".git"
    return [*([own] if own.is_dir() and not own.is_symlink() else []), *(each for each in folders if each.is_dir())]


def _inner(folder: Path) -> list[Path]:
    """Return the git folders of submodules, theirs included, and of worktrees, at any depth."""
    found: list[Path] = []
    for kind in ("modules", "worktrees"):
        for place, folders, files in os.walk(folder / kind):
            if {"HEAD", "config"} & set(files):
                found.append(Path(place))
                folders[:] = [name for name in folders if name not in _CONTENTS]
    return found


_CONTENTS = frozenset({"objects", "refs", "logs", "hooks", "info", "lfs"})
"""The folders in a git folder that hold no other; a submodule below one of them is not found."""
