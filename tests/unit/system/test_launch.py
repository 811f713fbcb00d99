"""The parts of the sandbox that need no sandbox to be tested: hosts, the filter, cgroups, sizes."""

import errno
import os
import socket
import struct
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from ralph.system import bubblewrap, launch
from ralph.system.bubblewrap import guard, parse_host, ways_to
from ralph.system.sandbox import Confinement, Sandbox
from ralph.system.seccomp import seccomp_filter


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        ("packages.example.org", ("packages.example.org", (443, 80))),
        (" Example.com:8443 ", ("example.com", (8443,))),
        ("127.0.0.1:5432", ("127.0.0.1", (5432,))),
        ("[::1]:80", ("::1", (80,))),
    ],
)
def test_a_host_is_read(text: str, parsed: tuple[str, tuple[int, ...]]) -> None:
    assert parse_host(text) == parsed


@pytest.mark.parametrize("text", ["*.example.com", "https://x", "a:0", "a:99999", "a:b", "", "[2001:db8::1]:80", "a b"])
def test_what_is_no_host_is_a_usage_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"host|port|address"):
        parse_host(text)
    with pytest.raises(ValidationError):
        Sandbox(hosts=("packages.example.org", text or "/"))


def test_names_get_addresses_of_their_own_and_addresses_stay() -> None:
    ways, names = ways_to(["a.example", "10.0.0.5:8000", "b.example:8443", "a.example:22"])
    assert sorted(ways) == [
        ("10.0.0.5", 8000, "10.0.0.5", 8000),
        ("127.0.1.1", 22, "a.example", 22),
        ("127.0.1.1", 80, "a.example", 80),
        ("127.0.1.1", 443, "a.example", 443),
        ("127.0.1.2", 8443, "b.example", 8443),
    ]
    assert names.splitlines()[-2:] == ["127.0.1.1 a.example", "127.0.1.2 b.example"]
    assert ways_to([]) == ([], "")
    assert {way[2] for way in ways_to(["localhost:1"])[0]} == {"localhost"}


def decided(program: bytes, architecture: int, number: int, *arguments: int) -> int:
    """What the kernel would answer: a seccomp filter is run on the data of a system call."""
    data = struct.pack("<IIQ6Q", number, architecture, 0, *(*arguments, 0, 0, 0, 0, 0, 0)[:6])
    steps = list(struct.iter_unpack("<HBBI", program))
    at, value = 0, 0
    while True:
        code, if_true, if_false, constant = steps[at]
        match code:
            case 0x20:
                (value,) = struct.unpack_from("<I", data, constant)
                at += 1
            case 0x06:
                return constant
            case _:
                holds = value == constant if code == 0x15 else value >= constant
                at += 1 + (if_true if holds else if_false)


ALLOWED, REFUSED = 0x7FFF0000, 0x00050000


@pytest.mark.parametrize(
    ("machine", "architecture", "calls"),
    [
        ("x86_64", 0xC000003E, {"read": 0, "ptrace": 101, "keyctl": 250, "ioctl": 16, "socket": 41}),
        ("aarch64", 0xC00000B7, {"read": 63, "ptrace": 117, "keyctl": 219, "ioctl": 29, "socket": 198}),
    ],
)
def test_the_filter_refuses_what_reaches_out(machine: str, architecture: int, calls: dict[str, int]) -> None:
    program = seccomp_filter(machine)

    def answer(call: str, *arguments: int, architecture: int = architecture) -> int:
        return decided(program, architecture, calls[call], *arguments)

    refused = REFUSED | errno.EPERM
    assert (answer("read"), answer("ptrace"), answer("keyctl")) == (ALLOWED, refused, refused)
    assert answer("read", architecture=0x40000003) == refused, "32-bit programs have other numbers"
    assert (answer("ioctl", 0, 0x5401), answer("ioctl", 0, 0x5412)) == (ALLOWED, refused)
    assert answer("ioctl", 0, 0x1_0000_5412) == refused, "the kernel looks at the lower half only"
    assert (answer("socket", socket.AF_INET), answer("socket", 40)) == (ALLOWED, REFUSED | errno.EAFNOSUPPORT)
    if machine == "x86_64":
        assert decided(program, architecture, 0x40000000 | 101) == REFUSED | errno.ENOSYS
    assert seccomp_filter("riscv64") == b""


def test_cgroups_are_made_where_they_can_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled: list[tuple[str, dict[str, int]]] = []

    def fill(cgroup: Path, values: dict[str, int]) -> None:
        values.pop("cgroup.procs")
        filled.append((str(cgroup.relative_to(tmp_path).parent), values))

    limits = {"memory": 1000, "pids": 50}
    for path in ("memory/a", "pids/b", "user/app.slice/mine.scope", "user/app.slice/ralph-1"):
        (tmp_path / path).mkdir(parents=True)
    listed = "3:memory:/a\n2:cpu,pids:/b\n1:name=systemd:/\n"
    assert launch.enter_cgroups(limits, listed, str(tmp_path)) == set(), "the files of a cgroup are the kernel's"
    assert [*tmp_path.glob("*/*/ralph-*/..")] == [tmp_path / "user/app.slice/ralph-1/.."]

    monkeypatch.setattr(launch, "_fill", fill)
    assert launch.enter_cgroups(limits, "3:memory:/a\n2:pids:/b\n0::/\n", str(tmp_path)) == {"memory", "pids"}
    assert filled[:2] == [("memory/a", {"memory.limit_in_bytes": 1000}), ("pids/b", {"pids.max": 50})]
    filled.clear()
    assert launch.enter_cgroups(limits, "0::/user/app.slice/mine.scope\n", str(tmp_path)) == {"memory", "pids"}
    assert filled == [("user/app.slice", {"memory.max": 1000, "pids.max": 50})]
    assert not (tmp_path / "user/app.slice/ralph-1").exists(), "what an earlier program has left"


def test_sizes_are_read() -> None:
    box = Sandbox.model_validate({"max_memory": "4G", "max_file_size": "512m", "max_processes": 100})
    assert box.limits == {"memory": 4 << 30, "file_size": 512 << 20, "pids": 100}
    assert (box.option, Sandbox().option, Sandbox(kind="bwrap").option) == ("--max-memory", "", "--sandbox bwrap")
    wrong: dict[str, Any]
    for wrong in ({"max_memory": "much"}, {"max_memory": 0}, {"max_processes": 3}):
        with pytest.raises(ValidationError):
            Sandbox.model_validate(wrong)


def test_guards_change_nothing_and_keep_a_worktrees_own(tmp_path: Path) -> None:
    git, linked, other = tmp_path / ".git", tmp_path / "linked", tmp_path / "other"
    for folder in (git, linked, other):
        folder.mkdir()
    for folder in (git, linked):
        (folder / "HEAD").touch()
    (linked / "commondir").write_text("../..\n")
    (git / "info").touch()
    (git / "config.worktree").write_text("theirs")
    guard(tmp_path, [linked, other])
    assert (git / "config.worktree").read_text() == "theirs"
    assert {path.name for path in git.iterdir()} == {"HEAD", "hooks", "info", "config.worktree", "commondir"}
    assert ((git / "commondir").read_text(), (linked / "commondir").read_text()) == (".\n", "../..\n")
    assert [*other.iterdir()] == []


async def test_no_sandbox_and_no_limits_leave_the_command_as_it_is(tmp_path: Path) -> None:
    await Confinement().require(tmp_path)
    assert Confinement().command(["true", "x"], cwd=tmp_path, agent=True) == ["true", "x"]
    limited = Confinement(sandbox=Sandbox(max_processes=100))
    assert limited.command(["true"], cwd=tmp_path) == ["true"], "the limits are the agent's"
    assert limited.command(["true"], cwd=tmp_path, agent=True)[-1:] == ["true"]
    assert limited.command(["no-such-program"], cwd=tmp_path, agent=True) == ["no-such-program"]


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_without_views_the_filter_refuses_unix_sockets_but_no_pairs(machine: str) -> None:
    architecture, number, pair = {"x86_64": (0xC000003E, 41, 53), "aarch64": (0xC00000B7, 198, 199)}[machine]
    program = seccomp_filter(machine, unix=False)
    assert decided(program, architecture, number, socket.AF_UNIX) == REFUSED | errno.EAFNOSUPPORT
    assert decided(program, architecture, number, socket.AF_INET) == ALLOWED
    assert decided(program, architecture, pair, socket.AF_UNIX) == ALLOWED
    assert decided(seccomp_filter(machine), architecture, number, socket.AF_UNIX) == ALLOWED


def test_views_are_mounted_beside_what_is_opened(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / name / "inner").mkdir(parents=True)
    monkeypatch.setattr(bubblewrap, "_STAGES", [str(tmp_path / name) for name in ("none", "a", "b", "c")])
    around, below = tmp_path / "a", tmp_path / "b/inner"
    assert bubblewrap.views([around], [around, below])["stage"] == str(tmp_path / "c")
    assert bubblewrap.views([around], [])["folders"] == ["/", str(around)]
    assert bubblewrap.views([], [tmp_path])["stage"] == ""


V2 = """
import os, sys
from pathlib import Path
text, root = Path(sys.argv[1]).read_text(), sys.argv[2]
launch = {"__name__": "launch"}
exec(text, launch)
launch["_FILES"]["pids"] = ("cgroup.max.descendants", "")
print(sorted(launch["enter_cgroups"]({"pids": 7, "memory": 1}, "0::/present\\n", root)))
(own,) = [line for line in Path("/proc/self/cgroup").read_text().splitlines() if line.startswith("0::")]
print(own.rpartition("/")[2] == f"ralph-{os.getpid()}", *Path(root).glob("ralph-*/cgroup.max.descendants"))
"""


def test_the_kernel_takes_a_cgroup_of_version_2_and_removes_what_is_left() -> None:
    """With a limit that needs no controller, as those of memory and processes may be of version 1 here."""
    lines = [line.split() for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    roots = [Path(words[4]) for words in lines if words[words.index("-") + 1] == "cgroup2"]
    top = next((root / f"ralph-test-{os.getpid()}" for root in roots if os.access(root, os.W_OK)), None)
    if top is None:
        pytest.skip("no hierarchy of cgroups of version 2 may be written here")
    try:
        (top / "present").mkdir(parents=True)
        for _ in range(2):
            ran = subprocess.run(
                [sys.executable, "-I", "-S", "-c", V2, launch.__file__, str(top)],
                capture_output=True,
                text=True,
                timeout=30,
                check=True,
            )
            assert ran.stdout.splitlines()[0] == "[]", "there is no file for memory: nothing is half kept"
            assert ran.stdout.splitlines()[1].split()[0] == "False"
        ran = subprocess.run(
            [sys.executable, "-I", "-S", "-c", V2.replace(', "memory": 1', ""), launch.__file__, str(top)],
            capture_output=True,
            text=True,
            timeout=30,
            check=True,
        )
        kept, moved = ran.stdout.splitlines()
        assert kept == "['pids']"
        assert moved.split()[0] == "True"
        assert len([*top.glob("ralph-*")]) == 1
        launch.enter_cgroups({}, "0::/present\n", str(top))
        assert [*top.glob("ralph-*")] == [], "what an earlier program has left"
    finally:
        for folder in (*top.glob("*/"), top):
            folder.rmdir()


@pytest.mark.parametrize("opened", ["", "usb/work", "usb"])
def test_a_file_system_of_which_there_is_no_view_is_left_out_unless_something_in_it_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opened: str
) -> None:
    """As one for Windows is, on a stick: what is opened could not be mounted in an empty folder."""
    machine, place = tmp_path / "machine", tmp_path / "place"
    for name in ("usb/work", "usr", "disk", "secret"):
        (machine / name).mkdir(parents=True)
    mounted: list[str] = []

    def mount(source: str, at: str, kind: str, *_: object) -> None:
        mounted.append(str(Path(at).relative_to(place)))
        if at.endswith("usb"):
            raise OSError(errno.EINVAL, "its names are not compared as bytes")

    def is_mount(path: Path) -> bool:
        return path.name == "usb"

    monkeypatch.setattr(launch, "_mount", mount)
    monkeypatch.setattr(Path, "is_mount", is_mount)
    show = partial(
        launch._show,
        str(machine),
        str(place),
        "lowerdir=:",
        above={str(machine)},
        hidden={str(machine / "secret")},
        opened=[str(machine / opened)] if opened else [],
    )
    if opened:
        with pytest.raises(OSError, match="not compared"):
            show()
    else:
        show()
        assert sorted(mounted) == ["disk", "usb", "usr"]
        assert {path.name for path in place.iterdir()} == {"disk", "usb", "usr", "secret"}
