"""The last step before a confined program: a script that limits itself, prepares its surroundings, and becomes it.

`Confinement.command` puts it in front of a command line. It imports nothing but the standard library, because it runs
as `python -I -S launch.py PLAN PROGRAM …`, whoever starts it. Its process becomes the program, so that signals, the
exit status and the streams are the program's own. If anything in the plan cannot be kept, it exits with `FAILED`, and
the program never runs.

The relay is a second process, outside: it holds the listening sockets that were opened in the sandbox's own network,
and connects each to the one address that it stands for. It ends with the program.

In a view of a folder, no Unix socket leads to a program, whenever it appears: a view is an overlay, where a socket has
another inode than the one by which the kernel finds the program. Where there can be no views, Unix sockets are refused.
"""

import ctypes
import fcntl
import json
import os
import re
import resource
import signal
import socket
import struct
import sys
import threading
from base64 import b64decode, b64encode
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

FILTER, HOSTS, GIT = 200, 201, 202
"""The numbers of the files that bubblewrap reads: the seccomp filter, and the sandbox's /etc/hosts and git settings."""

FAILED = 125
"""The exit status if the plan cannot be kept."""

_LIBC = ctypes.CDLL(None, use_errno=True)

VIEW = "view:"
"""Stands before a folder, in the options of bubblewrap, for the view of it."""

_NEW_USER, _NEW_NET, _NEW_MOUNTS = 0x10000000, 0x40000000, 0x20000
_READ_ONLY, _BIND, _RECURSIVE, _SLAVE, _DETACH = 0x1, 0x1000, 0x4000, 0x80000, 0x2
_DEATH_SIGNAL = 1
_GET_FLAGS, _SET_FLAGS, _SET_ADDRESS, _UP = 0x8913, 0x8914, 0x8916, 0x1
_PROXIES = {"http_proxy", "https_proxy", "all_proxy", "no_proxy"}
"""The variables that the relay goes by; the program reaches no proxy."""

_MOST = 256
"""Connections at a time."""

_FILES = {"memory": ("memory.max", "memory.limit_in_bytes"), "pids": ("pids.max", "pids.max")}
"""The files in which cgroups of version 2 and of version 1 take a limit."""

Way = tuple[str, int, str, int]
"""An address to listen at, inside, and the one that it stands for, outside."""


def main(plan: dict[str, Any], argv: Sequence[str]) -> None:
    """Keep the plan and become the program; return only if that fails, with the reason raised."""
    limits: dict[str, int] = plan.get("limits", {})
    ways: list[Way] | None = plan.get("ways")
    views: dict[str, Any] | None = plan.get("views")
    hand_over = _relay() if ways else None
    own = Path("/proc/self/cgroup")
    shared = {name: limits[name] for name in _FILES if name in limits}
    kept = enter_cgroups(shared, own.read_text(encoding="utf-8")) if shared and own.exists() else set[str]()
    alone = views is not None or ways is not None
    try:
        if alone:
            _leave(_NEW_USER, _NEW_NET * (ways is not None), _NEW_MOUNTS * (views is not None))
    except OSError:
        if ways is not None:
            raise
        views, alone = None, False
    if ways is not None:
        _start_loopback({way[0] for way in ways if not way[0].startswith(("127.", "::"))})
    if hand_over:
        for name in [name for name in os.environ if name.lower() in _PROXIES]:
            del os.environ[name]
        hand_over([(_listener(inner, port), outer, to) for inner, port, outer, to in ways or ()])
    seen = _views(**views) if views else {}
    _set_limits({name: value for name, value in limits.items() if name not in kept}, alone=alone)
    for number, name in ((FILTER, "filter" if seen else "strict"), (HOSTS, "hosts"), (GIT, "git")):
        if name in plan:
            _give(number, b64decode(plan[name]))
    options = argv.index("--") if "views" in plan else 0
    argv = [*(seen.get(part, part.removeprefix(VIEW)) for part in argv[:options]), *argv[options:]]
    os.execvp(argv[0], argv)  # noqa: S606 - there is no text for a shell


def enter_cgroups(limits: dict[str, int], own: str, root: str = "/sys/fs/cgroup") -> set[str]:
    """Move this process into new cgroups with these limits; return those that are now kept.

    `own` is the list of its present ones, as the kernel gives it.

    With version 2, the new cgroup lies beside the present one: one with processes cannot divide its resources. Those
    that earlier programs left empty are removed.
    """
    kept: set[str] = set()
    for line in own.splitlines():
        _, names, path = line.split(":", 2)
        version_1 = bool(names)
        wanted = [name for name in limits if not version_1 or name in names.split(",")]
        base = f"{root}/{names}{path}" if version_1 else f"{root}{os.path.dirname(path)}"  # noqa: PTH120
        for left in Path(base).glob("ralph-*"):
            with suppress(OSError):
                left.rmdir()
        with suppress(OSError):
            cgroup = Path(base, f"ralph-{os.getpid()}")
            if wanted:
                cgroup.mkdir()
                _fill(
                    cgroup, {_FILES[name][version_1]: limits[name] for name in wanted} | {"cgroup.procs": os.getpid()}
                )
                kept.update(wanted)
    return kept


def _fill(cgroup: Path, values: dict[str, int]) -> None:
    """Write the files of a new cgroup, or remove it: a missing file must not be created where none can be."""
    try:
        for name, value in values.items():
            with os.fdopen(os.open(cgroup / name, os.O_WRONLY), "w") as file:
                file.write(str(value))
    except OSError:
        cgroup.rmdir()
        raise


def _set_limits(limits: dict[str, int], *, alone: bool) -> None:
    """Set the limits of this process and its children; `alone` says that no other process of the user counts."""
    if "pids" in limits and os.getuid() == 0:
        raise OSError("the superuser's processes are limited only by cgroups, and none can be made here")
    kinds = {"memory": resource.RLIMIT_DATA, "pids": resource.RLIMIT_NPROC, "file_size": resource.RLIMIT_FSIZE}
    for name, value in limits.items():
        most = value + (0 if alone or name != "pids" else _own_tasks())
        _, hard = resource.getrlimit(kinds[name])
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kinds[name], (most, most))


def _own_tasks() -> int:
    found = 0
    for folder in Path("/proc").glob("[0-9]*/task"):
        with suppress(OSError):
            if folder.stat().st_uid == os.getuid():
                found += len([*folder.iterdir()])
    return found


def _leave(*namespaces: int) -> None:
    """Enter namespaces of its own, as the same user."""
    user, group = os.getuid(), os.getgid()
    if _LIBC.unshare(sum(namespaces)):
        raise OSError(f"a namespace of its own is not allowed: {os.strerror(ctypes.get_errno())}")
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        Path(f"/proc/self/{name}").write_text(text, encoding="ascii")


def _start_loopback(addresses: Collection[str]) -> None:
    """Start the loopback interface, and give it the addresses that endpoints are known by."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        request = struct.pack("16sh14x", b"lo", 0)
        (flags,) = struct.unpack_from("h", fcntl.ioctl(control, _GET_FLAGS, request), 16)
        fcntl.ioctl(control, _SET_FLAGS, struct.pack("16sh14x", b"lo", flags | _UP))
        for number, address in enumerate(addresses):
            own = struct.pack("16sHH4s8x", b"lo:%d" % number, socket.AF_INET, 0, socket.inet_aton(address))
            fcntl.ioctl(control, _SET_ADDRESS, own)


def _listener(address: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    return socket.create_server((address, port), family=family, backlog=_MOST)


def _views(stage: str, folders: Sequence[str], hidden: Collection[str], opened: Sequence[str]) -> dict[str, str]:
    """Mount a view of each folder below `stage`; return their places by name, or nothing if the kernel refuses.

    The hidden folders are empty in a view of a folder around them. What is opened as it is must be there, to mount it.
    """
    lines = Path("/proc/self/mountinfo").read_bytes().decode(errors="surrogateescape").splitlines()
    mounts = [re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), line.split()[4]) for line in lines]
    above = {str(parent) for mount in mounts for parent in Path(mount).parents}
    places = {folder: f"{stage}/{number}" for number, folder in enumerate(folders) if Path(folder).is_dir()}
    option = f"lowerdir={stage}/empty:"
    try:
        _mount("none", "/", "", _RECURSIVE | _SLAVE)
        _mount("tmpfs", stage, "tmpfs")
        Path(stage, "empty").mkdir()
        for folder, place in places.items():
            source = os.path.realpath(folder)
            _show(source, place, option, above=above, hidden={*hidden} - {source}, opened=opened)
    except OSError:
        _LIBC.umount2(os.fsencode(stage), _DETACH)
        return {}
    return {f"{VIEW}{folder}": place for folder, place in places.items()}


def _show(
    source: str, place: str, option: str, *, above: Collection[str], hidden: Collection[str], opened: Sequence[str]
) -> None:
    """Mount an overlay of a folder; put one with mounts below it together from its parts, as the kernel wants it.

    Raises:
        OSError: it cannot be shown, although it is not just another file system, or something below it is opened.
    """
    around = any(name.startswith(f"{source}/") or name == source for name in opened)
    if Path(source).is_symlink():
        Path(place).symlink_to(os.readlink(source))  # noqa: PTH115
    elif Path(source).is_file():
        Path(place).touch()
        _mount(source, place, "", _BIND)
    elif Path(source).is_dir():
        Path(place).mkdir()
        if source == "/sys":
            _mount(source, place, "", _BIND | _RECURSIVE)
        elif source in above and source not in hidden:
            for name in os.listdir(source) if around or os.access(source, os.R_OK | os.X_OK) else ():  # noqa: PTH208
                inner = os.path.join(source, name)  # noqa: PTH118
                _show(inner, f"{place}/{name}", option, above=above, hidden=hidden, opened=opened)
        elif source not in hidden:
            try:
                _mount("overlay", place, "overlay", _READ_ONLY, option + re.sub(r"([\\:,])", r"\\\1", source))
            except OSError:
                if around or (os.access(source, os.R_OK) and not Path(source).is_mount()):
                    raise


def _mount(source: str, place: str, kind: str, flags: int = 0, options: str = "") -> None:
    texts = map(os.fsencode, (source, place, kind))
    if _LIBC.mount(*texts, ctypes.c_ulong(flags), os.fsencode(options)):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), place)


def _relay() -> Callable[[list[tuple[socket.socket, str, int]]], None]:
    """Start the relay's process, outside; return what hands the sockets over to it."""
    ours, theirs = socket.socketpair()
    parent = os.getpid()
    if os.fork() == 0:
        ours.close()
        ctypes.CDLL(None).prctl(_DEATH_SIGNAL, signal.SIGKILL)
        nothing = os.open(os.devnull, os.O_RDWR)
        for number in range(3):
            os.dup2(nothing, number)
        if os.getppid() == parent:
            with theirs:
                _receive(theirs)
        os._exit(0)
    theirs.close()

    def hand_over(sockets: list[tuple[socket.socket, str, int]]) -> None:
        with ours:
            for inner, host, port in sockets:
                socket.send_fds(ours, [json.dumps([host, port]).encode()], [inner.fileno()])
                ours.recv(1)
                inner.close()

    return hand_over


def _receive(channel: socket.socket) -> None:
    """Take the listening sockets, and serve them until the program ends."""
    room = threading.BoundedSemaphore(_MOST)
    serving: list[threading.Thread] = []
    while True:
        target, descriptors, _, _ = socket.recv_fds(channel, 1024, 1)
        if not target:
            break
        listener = socket.socket(fileno=descriptors[0])
        serving.append(threading.Thread(target=_accept, args=(listener, *json.loads(target), room)))
        serving[-1].start()
        channel.sendall(b".")
    for each in serving:
        each.join()


def _accept(listener: socket.socket, host: str, port: int, room: threading.BoundedSemaphore) -> None:
    while True:
        room.acquire()
        inner, _ = listener.accept()
        threading.Thread(target=_serve, args=(inner, host, port, room), daemon=True).start()


def _serve(inner: socket.socket, host: str, port: int, room: threading.BoundedSemaphore) -> None:
    with inner, suppress(OSError):
        outer = _connected(host, port)
        with outer:
            back = threading.Thread(target=_pump, args=(outer, inner), daemon=True)
            back.start()
            _pump(inner, outer)
            back.join()
    room.release()


def _pump(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65_536):
            sink.sendall(data)
    with suppress(OSError):
        sink.shutdown(socket.SHUT_WR)


def _connected(host: str, port: int) -> socket.socket:
    """Return a connection to an address, through the user's proxy if there is one for it."""
    own = host == "localhost" or host.startswith(("127.", "::"))
    if own or not any(name.lower() == "https_proxy" for name in os.environ):
        return socket.create_connection((host, port), timeout=None)
    from urllib.parse import unquote, urlsplit
    from urllib.request import getproxies, proxy_bypass

    proxy = urlsplit(getproxies().get("https", ""))
    if not proxy.hostname or proxy_bypass(host):
        return socket.create_connection((host, port), timeout=None)
    login = f"{unquote(proxy.username or '')}:{unquote(proxy.password or '')}".encode()
    authorization = f"Proxy-Authorization: Basic {b64encode(login).decode()}\r\n" if proxy.username else ""
    outer = socket.create_connection((proxy.hostname, proxy.port or 80), timeout=None)
    outer.sendall(f"CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n{authorization}\r\n".encode())
    answer = b""
    while not answer.endswith(b"\r\n\r\n") and (byte := outer.recv(1)) and len(answer) < 65_536:
        answer += byte
    if b" 200" not in answer.partition(b"\r\n")[0]:
        outer.close()
        raise ConnectionRefusedError("the proxy refuses the connection")
    return outer


def _give(number: int, content: bytes) -> None:
    """Put a text where the program finds it, as an open file with that number."""
    file = os.memfd_create("ralph")
    os.write(file, content)
    os.lseek(file, 0, os.SEEK_SET)
    os.dup2(file, number, inheritable=True)


if __name__ == "__main__":
    try:
        main(json.loads(sys.argv[1]), sys.argv[2:])
    except (OSError, ValueError) as error:
        print(f"ralph: {error}", file=sys.stderr)  # noqa: T201 - it is a program
        sys.exit(FAILED)
