"""Attempts to get out of the sandbox: each is first shown to work without it, from the same program.

The attempts of `ATTEMPTS` are one program, which says of each whether it reached its aim; what is outside is looked at
from outside, too. The last tests let a real agent make its attempts in a run.
"""

import array
import fcntl
import json
import os
import shutil
import socket
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import anyio
import psutil
import pytest

from ralph.errors import UsageError
from ralph.executors.base import Turn
from ralph.executors.copilot.base import CopilotExecutor
from ralph.executors.copilot.cli import CopilotCLIExecutor
from ralph.executors.copilot.sdk import CopilotSDKExecutor
from ralph.executors.permissions import PermissionPolicy
from ralph.prompt import Prompt
from ralph.system import bubblewrap, launch
from ralph.system.process import run
from ralph.system.sandbox import Confinement, Sandbox
from ralph.testing import ModelServer, Say, Shell
from ralph.types.output import Answered
from ralph.workspace import git_folders
from ralph.workspace.gate import in_sandbox

pytestmark = [pytest.mark.attack, pytest.mark.timeout(120)]

PYTHON = os.path.realpath(sys.executable)

ATTEMPTS = r"""
import ctypes, fcntl, json, os, pathlib, pty, socket, subprocess, sys, time

given = json.loads(sys.argv[1])
libc = ctypes.CDLL(None, use_errno=True)
X86 = os.uname().machine == "x86_64"
attempts = []

def attempt(function):
    attempts.append(function)

def call(x86, arm, *arguments):
    result = libc.syscall(x86 if X86 else arm, *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result

def sh(text):
    done = subprocess.run(["/bin/sh", "-c", text], capture_output=True, text=True, timeout=20)
    if done.returncode:
        raise OSError(done.stderr[-200:])

@attempt
def write_outside():
    pathlib.Path(given["outside"], "written").write_text("x")

@attempt
def write_through_the_root_of_a_process():
    pathlib.Path(f"/proc/self/root{given['outside']}", "root").write_text("x")

@attempt
def write_through_a_link():
    os.symlink(given["outside"], "link")
    pathlib.Path("link", "linked").write_text("x")

@attempt
def make_a_device():
    os.mknod("disk", 0o060600, os.makedev(8, 0))

@attempt
def type_into_the_terminal():
    child, main = pty.fork()
    if child == 0:
        try:
            fcntl.ioctl(0, 0x5412, b"x")
        except OSError:
            os._exit(1)
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        raise OSError("refused")

@attempt
def trace_a_process():
    call(101, 117, 16, given["pid"], 0, 0)
    os.waitpid(given["pid"], 0x40000000)
    call(101, 117, 17, given["pid"], 0, 0)

@attempt
def let_oneself_be_traced():
    if os.fork() == 0:
        try:
            call(101, 117, 0, 0, 0, 0)
        except OSError:
            os._exit(1)
        os._exit(0)
    if os.wait()[1]:
        raise OSError("refused")

@attempt
def read_the_environment_of_a_process():
    if b"OUTSIDE" not in pathlib.Path(f"/proc/{given['pid']}/environ").read_bytes():
        raise OSError("it is another process")

@attempt
def signal_a_process():
    os.kill(given["pid"], 0)
    if b"OUTSIDE" not in pathlib.Path(f"/proc/{given['pid']}/environ").read_bytes():
        raise OSError("it is another process")

@attempt
def add_a_key():
    call(248, 217, b"user", b"ralph-attack", b"x", 1, -2)

@attempt
def read_the_keyrings():
    call(250, 219, 0, -3, 1)

@attempt
def load_a_bpf_program():
    attributes = ctypes.create_string_buffer(b"\x02\0\0\0\x04\0\0\0\x04\0\0\0\x01\0\0\0", 64)
    call(321, 280, 0, attributes, 64)

@attempt
def handle_page_faults():
    call(323, 282, 0x1)

@attempt
def count_events():
    of_users_alone = b"\x60"
    attributes = ctypes.create_string_buffer(b"\x01\0\0\0\x70\0\0\0" + bytes(32) + of_users_alone, 112)
    call(298, 241, attributes, 0, -1, -1, 0)

@attempt
def make_a_ring():
    call(425, 425, 4, ctypes.create_string_buffer(120))

@attempt
def open_a_socket_to_the_host_of_a_virtual_machine():
    socket.socket(40, socket.SOCK_STREAM)

def connect_unix(path):
    with socket.socket(socket.AF_UNIX) as one:
        one.settimeout(5)
        one.connect(path)

@attempt
def reach_a_socket_in_the_folder_for_temporary_files():
    connect_unix(given["sockets"][0])

@attempt
def reach_a_socket_elsewhere():
    connect_unix(given["sockets"][1])

@attempt
def reach_the_ssh_agent():
    connect_unix(given["ssh_agent"])

@attempt
def reach_an_abstract_socket():
    connect_unix("\0" + given["abstract"])

@attempt
def reach_a_server_on_loopback():
    socket.create_connection(("127.0.0.1", given["port"]), 5).close()

@attempt
def reach_a_server_on_loopback_by_its_name():
    socket.create_connection((socket.gethostname(), given["port"]), 5).close()

@attempt
def see_the_machines_interfaces():
    if [name for _, name in socket.if_nameindex() if name != "lo"] == []:
        raise OSError("there is only lo")

@attempt
def share_memory():
    if not os.path.exists(f"/dev/shm/{given['shared']}"):
        raise OSError("it is not there")

@attempt
def write_gits_config():
    sh("git config core.fsmonitor /bin/true")

@attempt
def replace_gits_config():
    sh("cp .git/config c && mv c .git/config")

@attempt
def write_a_hook():
    sh("echo x > .git/hooks/pre-commit")

@attempt
def replace_the_hooks():
    sh("mv .git/hooks .git/h && cp -r .git/h .git/hooks")

@attempt
def write_gits_attributes():
    sh("echo '* filter=x' > .git/info/attributes")

@attempt
def name_another_common_folder():
    sh("mkdir -p evil && rm -f .git/commondir && echo ../evil > .git/commondir")
    os.unlink(".git/commondir")

@attempt
def write_the_config_of_a_worktree():
    sh("echo x > .git/config.worktree")

@attempt
def write_the_config_of_a_submodule():
    sh("echo x > .git/modules/sub/config")

@attempt
def write_the_config_of_a_submodule_in_a_folder():
    sh("echo x > .git/modules/libs/foo/config")

@attempt
def write_the_config_of_a_submodule_of_a_submodule():
    sh("echo x > .git/modules/libs/foo/modules/inner/config")

@attempt
def name_another_common_folder_of_a_submodule():
    sh("rm -f .git/modules/libs/foo/commondir && echo ../evil > .git/modules/libs/foo/commondir")

@attempt
def move_gits_folder():
    sh("mv .git g && mv g .git")

@attempt
def uncover_gits_config():
    sh("unshare -Urm sh -c 'umount .git/hooks; touch .git/hooks/uncovered'")

@attempt
def remount_the_root():
    sh("unshare -Urm sh -c 'mount -o remount,rw,bind / / && touch " + given["outside"] + "/remounted'")

@attempt
def change_a_kernel_setting():
    os.close(os.open("/proc/sys/kernel/core_pattern", os.O_WRONLY))

results = {}
for function in attempts:
    try:
        function()
        results[function.__name__] = ""
    except BaseException as error:
        results[function.__name__] = f"{type(error).__name__}: {error}"
print(json.dumps(results))
"""

ADMIN, MKNOD, PTRACE, PERFMON, BPF = 21, 27, 19, 38, 39


def kernel(name: str) -> int:
    """Return a setting of the kernel; -1 if it has none of this name."""
    place = Path("/proc/sys", name)
    return int(place.read_text()) if place.exists() else -1


def capable(*capabilities: int) -> bool:
    """Return whether this process has one of these rights over the whole machine."""
    mask = int(Path("/proc/self/status").read_text().partition("CapEff:\t")[2].split()[0], 16)
    alone = Path("/proc/self/uid_map").read_text().split() == ["0", "0", "4294967295"]
    return alone and any(mask >> number & 1 for number in capabilities)


def works(*argv: str) -> bool:
    return subprocess.run(argv, capture_output=True, check=False).returncode == 0


FILTERED = "Seccomp:\t2" in Path("/proc/self/status").read_text()
KEYS, NAMESPACE = not FILTERED and Path("/proc/keys").exists(), works("unshare", "-Urm", "true")

UNTRIED: dict[str, tuple[str, bool]] = {
    "make_a_device": ("only CAP_MKNOD makes a device", not capable(MKNOD)),
    "type_into_the_terminal": (
        "the kernel lets only CAP_SYS_ADMIN type into a terminal (dev.tty.legacy_tiocsti is 0)",
        kernel("dev/tty/legacy_tiocsti") == 0 and not capable(ADMIN),
    ),
    "trace_a_process": (
        "Yama lets a process trace only its children (kernel.yama.ptrace_scope)",
        kernel("kernel/yama/ptrace_scope") > 0 and not capable(PTRACE),
    ),
    "add_a_key": ("the kernel has no keyrings, or a container's filter refuses them", not KEYS),
    "read_the_keyrings": ("the kernel has no keyrings, or a container's filter refuses them", not KEYS),
    "load_a_bpf_program": (
        "only CAP_BPF may load programs (kernel.unprivileged_bpf_disabled)",
        FILTERED or (kernel("kernel/unprivileged_bpf_disabled") != 0 and not capable(ADMIN, BPF)),
    ),
    "handle_page_faults": (
        "the kernel has no userfaultfd, or a container's filter refuses it",
        FILTERED or kernel("vm/unprivileged_userfaultfd") < 0,
    ),
    "count_events": (
        "only CAP_PERFMON may count events (kernel.perf_event_paranoid is over 2)",
        FILTERED or (not -1 <= kernel("kernel/perf_event_paranoid") <= 2 and not capable(ADMIN, PERFMON)),
    ),
    "make_a_ring": (
        "io_uring is disabled, or a container's filter refuses it",
        FILTERED or (kernel("kernel/io_uring_disabled") > 0 and not capable(ADMIN)),
    ),
    "open_a_socket_to_the_host_of_a_virtual_machine": (
        "the kernel has no AF_VSOCK",
        FILTERED or "AF_VSOCK" not in Path("/proc/net/protocols").read_text(),
    ),
    "reach_a_server_on_loopback_by_its_name": (
        "the machine's name has no address",
        not works("getent", "hosts", socket.gethostname()),
    ),
    "see_the_machines_interfaces": ("there is only lo", [name for _, name in socket.if_nameindex()] == ["lo"]),
    "uncover_gits_config": ("this user may make no namespaces with unshare", not NAMESPACE),
    "remount_the_root": (
        "the kernel refuses to remount in a namespace here",
        not NAMESPACE or not works("unshare", "-Urm", "mount", "-o", "remount,rw,bind", "/", "/"),
    ),
    "change_a_kernel_setting": (
        "this user may change no setting",
        not os.access("/proc/sys/kernel/core_pattern", os.W_OK),
    ),
}
"""The attempts that some machines refuse even without a sandbox: why, and whether this machine is one of them."""


@pytest.fixture(scope="module", autouse=True)
def bwrap(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Bubblewrap works here."""
    try:
        anyio.run(Confinement(sandbox=Sandbox(kind="bwrap")).require, tmp_path_factory.mktemp("tried"))
    except UsageError as error:
        pytest.skip(str(error))


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A git repository with modules."""
    folder = tmp_path / "work"
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    for name in ("sub", "libs/foo", "libs/foo/modules/inner"):
        module = folder / ".git" / "modules" / name
        module.mkdir(parents=True, exist_ok=True)
        (module / "HEAD").write_text("ref: refs/heads/main\n")
        (module / "config").write_text("[core]\n")
    (tmp_path / "outside").mkdir()
    return folder


def confined(workspace: Path, **more: object) -> Confinement:
    return Confinement(sandbox=Sandbox.model_validate({"kind": "bwrap", **more}), workspace=workspace)


@pytest.fixture
def targets(tmp_path: Path) -> Iterator[dict[str, Any]]:
    """What is outside: a process, sockets of every kind, an ssh-agent."""
    with ExitStack() as stack:
        other = subprocess.Popen(["sleep", "100"], env={"OUTSIDE": "yes"})
        stack.callback(other.wait)
        stack.callback(other.kill)
        elsewhere = Path("/var/lib") if os.access("/var/lib", os.W_OK) else tmp_path
        paths = [tmp_path / "s", elsewhere / f"ralph-attack-{os.getpid()}.sock"]
        abstract = f"ralph-attack-{os.getpid()}"
        addresses: list[tuple[int, Any]] = [(socket.AF_UNIX, str(path)) for path in paths]
        addresses += [(socket.AF_UNIX, f"\0{abstract}"), (socket.AF_INET, ("", 0))]
        servers: list[socket.socket] = []
        for family, address in addresses:
            server = stack.enter_context(socket.socket(family))
            server.bind(address)
            server.listen(50)
            servers.append(server)
        for path in paths:
            stack.callback(path.unlink, missing_ok=True)
        shared = Path("/dev/shm", f"ralph-attack-{os.getpid()}")
        shared.touch()
        stack.callback(shared.unlink)
        agent = subprocess.Popen(["ssh-agent", "-D", "-a", str(tmp_path / "agent")], stdout=subprocess.DEVNULL)
        stack.callback(agent.wait)
        stack.callback(agent.kill)
        while not (tmp_path / "agent").exists():
            time.sleep(0.02)
        yield {
            "outside": str(tmp_path / "outside"),
            "pid": other.pid,
            "sockets": [str(path) for path in paths],
            "ssh_agent": str(tmp_path / "agent"),
            "abstract": abstract,
            "port": servers[-1].getsockname()[1],
            "shared": shared.name,
        }


async def attempts(workspace: Path, targets: Mapping[str, Any], confinement: Confinement) -> dict[str, str]:
    (workspace / "attempts.py").write_text(ATTEMPTS)
    argv = [PYTHON, "-I", str(workspace / "attempts.py"), json.dumps(targets)]
    command = confinement.command(argv, cwd=workspace, agent=True, readable=[Path(sys.base_prefix)])
    done = await run(command, cwd=workspace, timeout=60, end_leftovers=True)
    assert done.code == 0, done.stderr
    return json.loads(done.stdout)


async def test_no_attempt_gets_out(
    workspace: Path, tmp_path: Path, targets: dict[str, Any], subtests: pytest.Subtests
) -> None:
    within = confined(workspace)
    await within.require()
    boxed = await attempts(workspace, targets, within)
    changed = [path.name for path in (tmp_path / "outside").iterdir()]
    hooks = [path.name for path in (workspace / ".git" / "hooks").glob("*") if path.suffix != ".sample"]
    (workspace / "link").unlink(missing_ok=True)
    bare = await attempts(workspace, targets, Confinement())

    print("\nin the sandbox:", json.dumps(boxed, indent=1))
    assert {name for name, why in boxed.items() if not why} == set()
    assert (changed, hooks) == ([], [])
    assert bare.keys() == boxed.keys() > UNTRIED.keys()
    for name, refused in bare.items():
        with subtests.test(name):
            reason, untried = UNTRIED.get(name, ("", False))
            if refused and untried:
                pytest.skip(f"not tried here, as it fails without the sandbox, too: {reason}")
            assert not refused, "it fails without the sandbox, too, so that it proves nothing"
    assert len([why for why in bare.values() if not why]) >= 20


@pytest.mark.parametrize("name", ["hooks", "config", "info", "config.worktree", "commondir", "modules/libs/foo/config"])
@pytest.mark.parametrize("dangling", [False, True])
async def test_links_in_the_place_of_gits_settings_are_refused(workspace: Path, name: str, dangling: bool) -> None:
    place, elsewhere = workspace / ".git" / name, workspace.parent / "outside" / "target"
    if place.is_dir():
        shutil.rmtree(place)
    place.unlink(missing_ok=True)
    if not dangling:
        elsewhere.mkdir() if name in {"hooks", "info"} else elsewhere.write_text("[core]\n")
    place.symlink_to(elsewhere)
    with pytest.raises(UsageError, match=f"{name}' is a symbolic link"):
        await confined(workspace).require()
    assert elsewhere.exists() is not dangling, "nothing is written through a link"


async def test_a_link_in_the_place_of_gits_folder_is_refused(workspace: Path) -> None:
    (workspace / ".git").rename(workspace / "git")
    (workspace / ".git").symlink_to("git")
    with pytest.raises(UsageError, match="symbolic link"):
        await confined(workspace).require()


@pytest.mark.parametrize("linked", [False, True])
async def test_git_works_in_a_subfolder_and_nothing_else_can_be_changed(workspace: Path, linked: bool) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    (workspace / "part").mkdir()
    for name in ("other", "part/file"):
        (workspace / name).write_text("first\n")
    for words in (("add", "-A"), (*who, "commit", "-qm", "one"), ("worktree", "add", "-q", "../tree")):
        assert (await run(["git", *words], cwd=workspace, timeout=20)).code == 0
    top = workspace.parent / "tree" if linked else workspace
    part = top / "part"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(top / "s"))
        server.listen()
        within = Confinement(sandbox=Sandbox(kind="bwrap"), workspace=part, folders=git_folders(part))
        await within.require()
        commit = f"git {' '.join(who)} commit -qm two"
        asked = "import socket; socket.socket(socket.AF_UNIX).connect('../s')"
        text = f'echo 2 >> file; echo 2 >> ../other; rm -f ../.git; git add -A && {commit}; {PYTHON} -c "{asked}"'
        done = await run(within.command(["/bin/sh", "-c", text], cwd=part), cwd=part, timeout=30)
    said = await run(["git", "show", "--format=%s", "--name-status"], cwd=top, timeout=20)
    assert said.stdout.split() == ["two", "M", "part/file"], done.stderr
    assert (top / "other").read_text() == "first\n"
    assert "ConnectionRefusedError" in done.stderr


async def test_git_works_in_the_sandbox(workspace: Path) -> None:
    within = confined(workspace)
    await within.require()
    text = (
        "touch a && git add a && git -c user.name=a -c user.email=a@b.c commit -qm x && git branch b && git stash list"
        " && git checkout -q b && git -c user.name=a -c user.email=a@b.c tag -am x v1 && git gc -q && git log --oneline"
    )
    done = await run(within.command(["/bin/sh", "-c", text], cwd=workspace), cwd=workspace, timeout=30)
    assert done.code == 0, done.stderr
    assert (workspace / ".git" / "commondir").read_text() == ".\n"
    outside = await run(["git", "log", "--oneline"], cwd=workspace, timeout=20)
    assert outside.stdout == done.stdout


LATER = """
import json, socket, sys, time
from pathlib import Path
print("ready", flush=True)
while not Path("go").exists():
    time.sleep(0.02)
left, right = socket.socketpair()
left.send(b"paired")
said = {"pair": right.recv(9).decode()}
for path in sys.argv[1:]:
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
        try:
            socket.socket(socket.AF_UNIX, kind).connect(f"{path}.{int(kind)}")
            said[f"{path}.{int(kind)}"] = "reached"
        except OSError as error:
            said[f"{path}.{int(kind)}"] = type(error).__name__
print(json.dumps(said))
"""


@pytest.mark.parametrize("views", [True, False], ids=["views", "no views possible"])
def test_a_socket_that_appears_later_leads_nowhere(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, views: bool
) -> None:
    """Everywhere that is shown: in the machine's folders, in one of PATH, in the repository around the workspace."""
    if not views:
        monkeypatch.setattr(bubblewrap, "_STAGES", ())
    part = workspace / "part"
    part.mkdir()
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    machines = [Path(name) for name in ("/var/lib", "/usr/local", "/etc", "/opt", "/srv") if os.access(name, os.W_OK)]
    paths = [folder / f"ralph-later-{os.getpid()}" for folder in (*machines, tmp_path / "bin", workspace)]
    kinds = [socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET]
    within = Confinement(sandbox=Sandbox(kind="bwrap", network="all"), workspace=part, folders=git_folders(part))
    reached: dict[str, dict[str, str]] = {}
    for name, confinement in (("boxed", within), ("bare", Confinement())):
        argv = [PYTHON, "-I", "-c", LATER, *map(str, paths)]
        command = confinement.command(argv, cwd=part, readable=[Path(sys.base_prefix)])
        with (
            subprocess.Popen(command, cwd=part, stdout=subprocess.PIPE, text=True) as asking,
            ExitStack() as stack,
        ):
            assert asking.stdout
            assert asking.stdout.readline() == "ready\n"
            for path in paths:
                for kind in kinds:
                    server = stack.enter_context(socket.socket(socket.AF_UNIX, kind))
                    stack.callback(Path(f"{path}.{int(kind)}").unlink)
                    server.bind(f"{path}.{int(kind)}")
                    if kind != socket.SOCK_DGRAM:
                        server.listen()
            (part / "go").touch()
            reached[name] = json.loads(asking.stdout.readline())
            stack.callback((part / "go").unlink)
    assert reached["bare"].pop("pair") == reached["boxed"].pop("pair") == "paired"
    print(f"\n{len(reached['boxed'])} sockets in {len(paths)} folders")
    assert set(reached["bare"].values()) == {"reached"}
    assert set(reached["boxed"].values()) <= {"ConnectionRefusedError" if views else "OSError"}


async def test_ralphs_own_git_reaches_no_socket(tmp_path: Path) -> None:
    """Its sandbox shows the machine as it is; so it may open no socket at all, but for pairs."""
    text = "import socket; socket.socketpair(); print('paired', flush=True); socket.socket(socket.AF_UNIX)"
    argv = in_sandbox([PYTHON, "-I", "-c", text], [tmp_path], readable=[Path(sys.base_prefix)])
    done = await run(argv, cwd=tmp_path, timeout=20)
    assert (done.stdout, "Address family not supported" in done.stderr) == ("paired\n", True), done.stderr


WORKING = """
set -e
for kind in fork spawn forkserver; do
python3 -c "import multiprocessing; multiprocessing.get_context('$kind').Pool(2).map(abs, [1])"
done
python3 -c "import socket; s = socket.socket(1); s.bind('own'); s.listen(); socket.socket(1).connect('own')"
git status --short > /dev/null
node -e "require('child_process').fork('-e', ['0'], {execArgv: ['-e', 'process.send(1)']}).on('message', () => {})"
echo all
"""


def test_programs_with_sockets_of_their_own_work(workspace: Path) -> None:
    text = WORKING.replace("python3", PYTHON)
    if not shutil.which("node"):
        text = "\n".join(line for line in text.splitlines() if not line.startswith("node"))
    command = confined(workspace).command(["/bin/sh", "-c", text], cwd=workspace, readable=[Path(sys.base_prefix)])
    ran = subprocess.run(command, cwd=workspace, capture_output=True, text=True, timeout=60, check=False)
    assert ran.stdout == "all\n", ran.stderr


def test_a_terminal_cannot_be_typed_into(workspace: Path) -> None:
    """A program that is started with Ralph's own terminal, as the SDK's runtime may be, types into it."""
    argv = [PYTHON, "-c", "import fcntl; fcntl.ioctl(0, 0x5412, b'x')"]
    typed: dict[str, int] = {}
    for name, confinement in (("bare", Confinement()), ("boxed", confined(workspace))):
        main, terminal = os.openpty()
        command = confinement.command(argv, cwd=workspace, agent=True, readable=[Path(sys.base_prefix)])
        subprocess.run(command, stdin=terminal, capture_output=True, check=False, timeout=30)
        count = array.array("i", [0])
        settings = termios.tcgetattr(terminal)
        settings[3] &= ~termios.ICANON
        termios.tcsetattr(terminal, termios.TCSANOW, settings)
        fcntl.ioctl(terminal, termios.FIONREAD, count)
        typed[name] = count[0]
        os.close(main)
        os.close(terminal)
    if typed["bare"] == 0:
        pytest.skip("this kernel lets nobody type into a terminal")
    assert typed == {"bare": 1, "boxed": 0}


async def test_only_named_hosts_are_reached(workspace: Path, targets: dict[str, Any]) -> None:
    port = targets["port"]
    text = f"import socket; socket.create_connection(('127.0.0.1', {port}), 5); print('reached')"
    reached: dict[str, bool] = {}
    for network in ("hosts", "named", "agent", "all", "none"):
        hosts = (f"127.0.0.1:{port}",) if network == "named" else ()
        box = confined(workspace, network="hosts" if network == "named" else network, hosts=hosts)
        argv = box.command([PYTHON, "-c", text], cwd=workspace, agent=True, readable=[Path(sys.base_prefix)])
        reached[network] = "reached" in (await run(argv, cwd=workspace, timeout=20)).stdout
    assert reached == {"hosts": False, "named": True, "agent": True, "all": True, "none": False}


async def test_the_relay_goes_through_the_users_proxy(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program inside knows of no proxy: the relay asks it for the named host, and only for that."""
    asked: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as proxy:

        def answer() -> None:
            taken, _ = proxy.accept()
            with taken:
                while not asked or not asked[-1].endswith(b"\r\n\r\n"):
                    asked.append(taken.recv(4096))
                taken.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
                taken.sendall(taken.recv(4096).upper())

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        monkeypatch.setenv("HTTPS_PROXY", f"http://me:word@127.0.0.1:{proxy.getsockname()[1]}")
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        box = confined(workspace, hosts=("models.example:8443",))
        text = "import os, socket; s = socket.create_connection(('models.example', 8443), 5); s.sendall(b'ping')\n"
        text += "print(s.recv(9), os.environ.get('HTTPS_PROXY'))"
        argv = box.command([PYTHON, "-c", text], cwd=workspace, agent=True, readable=[Path(sys.base_prefix)])
        done = await run(argv, cwd=workspace, timeout=20)
    assert done.stdout == "b'PING' None\n", done.stderr
    assert b"".join(asked).splitlines() == [
        b"CONNECT models.example:8443 HTTP/1.1",
        b"Host: models.example:8443",
        b"Proxy-Authorization: Basic bWU6d29yZA==",
        b"",
    ]


FORKS = """
import os, time
n = 0
try:
    while n < 200:
        if os.fork() == 0:
            time.sleep(5)
            os._exit(0)
        n += 1
except OSError:
    pass
print(n, flush=True)
os._exit(0)
"""
MEMORY = "kept = []\nfor n in range(40):\n  kept.append(bytearray(10_000_000)); print(n, flush=True)\n"
LARGE = "open('large', 'wb').write(bytes(3_000_000)); print('written')"


@pytest.mark.parametrize("kind", ["none", "bwrap"])
async def test_resources_are_limited(workspace: Path, kind: str) -> None:
    async def said(text: str, **limits: object) -> str:
        box = Confinement(sandbox=Sandbox.model_validate({"kind": kind, **limits}), workspace=workspace)
        await box.require()
        argv = box.command([PYTHON, "-c", text], cwd=workspace, agent=True, readable=[Path(sys.base_prefix)])
        return (await run(argv, cwd=workspace, timeout=30, end_leftovers=True)).stdout

    assert await said(FORKS) == "200\n"
    assert int(await said(FORKS, max_processes=40)) <= 40
    assert (await said(MEMORY)).split()[-1] == "39"
    assert int((await said(MEMORY, max_memory="150M")).split()[-1]) < 15
    assert await said(LARGE) == "written\n"
    assert await said(LARGE, max_file_size="1M") == ""


@pytest.mark.parametrize("alone", [False, True], ids=["among the user's other processes", "in a network of its own"])
def test_resources_are_limited_where_no_cgroup_can_be_made(alone: bool) -> None:
    """As a user without rights on cgroups, who may read no file of ours either: the program is the launcher's text."""
    python = shutil.which("python3", path="/usr/bin:/bin") or pytest.skip("no Python that every user can run")
    user: dict[str, Any] = {"user": 54321, "group": 54321, "extra_groups": []} if os.getuid() == 0 else {}
    text = Path(launch.__file__).read_text()

    def said(program: str, **limits: int) -> str:
        plan = {"limits": limits, **({"ways": [["127.0.0.1", 9, "127.0.0.1", 9]]} if alone else {})}
        argv = [python, "-I", "-S", "-c", text, json.dumps(plan), python, "-I", "-S", "-c", program]
        ran = subprocess.run(argv, cwd="/", capture_output=True, text=True, timeout=30, check=False, **user)
        return ran.stdout or ran.stderr

    assert said(FORKS, pids=500) == "200\n"
    assert int(said(FORKS, pids=40)) <= 40
    assert int(said(MEMORY, memory=150_000_000).split()[-1]) < 15


ANYTHING = PermissionPolicy(mode="approve-all")
PROMPT = Prompt(text="Do the work.", task="work")


@pytest.mark.parametrize("kind", ["cli", "sdk"])
@pytest.mark.parametrize("host", ["127.0.0.1", "name"])
async def test_a_real_agent_stays_within(
    kind: str, host: str, copilot_cli: Path, copilot_runtime: Path, workspace: Path, targets: dict[str, Any]
) -> None:
    """Its model is reached through the relay, nothing else is, and nothing survives its turn."""
    name = "127.0.0.1" if host == "127.0.0.1" else socket.gethostname()
    if socket.gethostbyname(name) != "127.0.0.1":
        pytest.skip("this machine's name does not mean its loopback")
    script = (
        "(while sleep 0.1; do touch alive; done) > /dev/null 2>&1 & "
        f"touch {targets['outside']}/x; echo x > .git/hooks/pre-commit; git config core.fsmonitor x;"
        f"curl -s -m 3 http://127.0.0.1:{targets['port']} ; echo curl $?; ls {targets['sockets'][1]} /run; true"
    )
    steps = [Shell(script), Say("Tried."), Shell("ps ax | grep -c '[s]leep 0.1'"), Say("Looked.")]
    async with ModelServer(steps) as server:
        own: dict[str, Any] = {
            "model": "m",
            "base_url": server.base_url.replace("127.0.0.1", name),
            "permissions": ANYTHING,
            "confinement": confined(workspace),
        }
        executor: CopilotExecutor = (
            CopilotCLIExecutor(copilot_cli, **own) if kind == "cli" else CopilotSDKExecutor(copilot_runtime, **own)
        )
        async with executor:
            first = await executor.execute(PROMPT, Turn(workspace=workspace))
            (workspace / "alive").unlink(missing_ok=True)
            await anyio.sleep(0.5)
            survived = (workspace / "alive").exists()
            second = await executor.execute(PROMPT, Turn(workspace=workspace, iteration=2))
    assert (first.outcome, second.outcome) == (Answered(), Answered()), first
    assert not survived
    assert second.tool_calls[0].result.split()[0] == "0"
    assert [*Path(targets["outside"]).iterdir()] == []  # noqa: ASYNC240
    assert not (workspace / ".git" / "hooks" / "pre-commit").exists()
    assert "fsmonitor" not in (workspace / ".git" / "config").read_text()
    assert "curl 7" in first.tool_calls[0].result or "curl 28" in first.tool_calls[0].result


async def test_a_background_process_ends_with_its_turn_even_without_the_sandbox(
    copilot_runtime: Path, workspace: Path
) -> None:
    left = "(while sleep 0.1; do touch alive; done) > /dev/null 2>&1 & true"
    async with ModelServer([Shell(left), Say("Left.")]) as server:
        executor = CopilotSDKExecutor(copilot_runtime, model="m", base_url=server.base_url, permissions=ANYTHING)
        async with executor:
            output = await executor.execute(PROMPT, Turn(workspace=workspace))
            (workspace / "alive").unlink(missing_ok=True)
            await anyio.sleep(0.5)
            assert output.outcome == Answered()
            assert not (workspace / "alive").exists()


WITH_TERMINAL = """
import sys
from pathlib import Path
import anyio
import psutil
from ralph.executors.copilot.sdk import CopilotSDKExecutor

async def main(runtime):
    open("/dev/tty").close()
    async with CopilotSDKExecutor(Path(runtime), model="m", base_url="http://127.0.0.1:9/v1"):
        print([process.terminal() for process in psutil.Process().children(recursive=True)])

anyio.run(main, *sys.argv[1:])
"""


def test_the_sdks_runtime_has_no_terminal_to_type_into(copilot_runtime: Path) -> None:
    """The SDK starts it in Ralph's own session: its tools could type into the shell that Ralph was started from."""
    main, terminal = os.openpty()
    take = "import fcntl, os, sys; os.setsid(); fcntl.ioctl(0, 0x540E, 0); os.execv(sys.argv[1], sys.argv[1:])"
    argv = [sys.executable, "-c", take, sys.executable, "-c", WITH_TERMINAL, str(copilot_runtime)]
    ran = subprocess.run(argv, stdin=terminal, capture_output=True, text=True, timeout=60, check=False)
    os.close(main)
    os.close(terminal)
    assert ran.stdout == "[None]\n", ran.stdout + ran.stderr


def test_the_store_is_out_of_reach(
    copilot_cli: Path, workspace: Path, tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither the address nor the socket of a PostgreSQL store is there, and nothing outlives a killed Ralph."""
    folder = unquote(parse_qs(urlsplit(postgres_url).query)["host"][0])
    reach = (
        f'perl -MIO::Socket::UNIX -e "print IO::Socket::UNIX->new(q({folder}/.s.PGSQL.5432)) ? q(REACHED) : q(closed)"'
    )
    said: dict[str, str] = {}
    monkeypatch.setenv("COPILOT_CLI_PATH", str(copilot_cli))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("RALPH_STORE", postgres_url)
    for kind in ("none", "bwrap"):
        with ModelServer([Shell(f'{reach}; echo " [$RALPH_STORE]"'), Say("Tried.")]) as server:
            words = ("--base-url", server.base_url, "--model", "m", "--sandbox", kind, "--permission", "approve-all")
            ran = subprocess.run(
                [sys.executable, "-m", "ralph", "run", "Try", *words, "--verify", "none", "--max-iterations", "1"],
                cwd=workspace,
                env={**os.environ, "RALPH_DISPLAY": "json"},
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
        ended = [json.loads(line) for line in ran.stdout.splitlines() if '"tool_finished"' in line]
        assert ended, ran.stderr
        said[kind] = ended[0]["tool"]["result"].splitlines()[0]
    assert said == {"none": "REACHED []", "bwrap": "closed []"}


def test_nothing_outlives_a_killed_ralph(copilot_cli: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The relay, the sandbox and what runs in it end with Ralph, however that ends."""
    monkeypatch.setenv("COPILOT_CLI_PATH", str(copilot_cli))
    with ModelServer([Shell("touch begun; sleep 4713")]) as server:
        words = ("--base-url", server.base_url, "--model", "m", "--sandbox", "bwrap", "--store", "memory:")
        running = subprocess.Popen(
            [sys.executable, "-m", "ralph", "run", "Sleep", *words, "--verify", "none"],
            cwd=workspace,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        while not (workspace / "begun").exists() and running.poll() is None:
            time.sleep(0.1)
        family = psutil.Process(running.pid).children(recursive=True)
        running.kill()
        running.wait()
        _, alive = psutil.wait_procs(family, timeout=5)
    assert len(family) >= 4
    assert alive == []
