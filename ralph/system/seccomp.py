"""The system calls that a sandboxed program may not make, as a BPF program for the kernel's seccomp filter.

They reach what no namespace separates: other programs' memory and terminals, the kernel's keyrings, the host of a
virtual machine. The program is made from tables, so that no library is needed.
"""

import errno
import os
import platform
import struct
from functools import cache

_X86_64, _AARCH64 = 0xC000003E, 0xC00000B7

_DENIED: dict[str, tuple[int, int]] = {
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "pidfd_getfd": (438, 438),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "userfaultfd": (323, 282),
    "perf_event_open": (298, 241),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "open_by_handle_at": (304, 265),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
}
"""By name, the numbers on x86-64 and on 64-bit ARM."""

_IOCTL, _SOCKET = (16, 29), (41, 198)
_TERMINAL_INPUT = (0x5412, 0x541C)
"""TIOCSTI and TIOCLINUX, which type into a terminal."""

_UNIX = 1
_FAMILIES = (_UNIX, 2, 10, 16)
"""AF_UNIX, AF_INET, AF_INET6 and AF_NETLINK. AF_VSOCK, for one, reaches a virtual machine's host past any namespace."""

_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER, _ARCHITECTURE, _FIRST, _SECOND = 0, 4, 16, 24
_ALLOWED, _ERROR = (_RETURN, 0, 0, 0x7FFF0000), 0x00050000
_X32 = 0x40000000

_Step = tuple[int, int, int, int]
"""An instruction: its code, how many follow that it skips if true and if false, and its value."""


def seccomp_filter(machine: str = "", *, unix: bool = True) -> bytes:
    """Return the filter for a machine's architecture, by default this one's; empty if there is none for it.

    Without `unix`, it refuses Unix sockets other than pairs.
    """
    column = {"x86_64": 0, "aarch64": 1}.get(machine or platform.machine())
    if column is None:
        return b""
    denied = _refused(errno.EPERM)
    steps = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, (_X86_64, _AARCH64)[column]),
        denied,
        (_LOAD, 0, 0, _NUMBER),
        *([(_AT_LEAST, 0, 1, _X32), _refused(errno.ENOSYS)] if column == 0 else []),
        *(step for numbers in _DENIED.values() for step in ((_EQUAL, 0, 1, numbers[column]), denied)),
        *_by_argument(_IOCTL[column], _SECOND, [(value, denied) for value in _TERMINAL_INPUT], _ALLOWED),
        *_by_argument(
            _SOCKET[column],
            _FIRST,
            [(family, _ALLOWED) for family in _FAMILIES if unix or family != _UNIX],
            _refused(errno.EAFNOSUPPORT),
        ),
        _ALLOWED,
    ]
    return b"".join(struct.pack("<HBBI", *step) for step in steps)


@cache
def filter_file() -> str:
    """Return the path of a file, open as long as this process lives, with the filter that refuses Unix sockets."""
    file = os.memfd_create("ralph")
    os.write(file, seccomp_filter(unix=False))
    return f"/proc/{os.getpid()}/fd/{file}"


def _by_argument(number: int, argument: int, cases: list[tuple[int, _Step]], otherwise: _Step) -> list[_Step]:
    """Return the steps for one system call, which depend on the lower half of an argument."""
    inner = [(_LOAD, 0, 0, argument)]
    for value, result in cases:
        inner += [(_EQUAL, 0, 1, value), result]
    return [(_EQUAL, 0, len(inner) + 1, number), *inner, otherwise]


def _refused(error: int) -> _Step:
    return (_RETURN, 0, 0, _ERROR | error)
