"""A cached program is started only as it was fetched, and only from folders that no one else may write."""

import grp
import os
import pwd
import stat
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from ralph.errors import ProvisionError
from ralph.executors import integrity
from ralph.executors.integrity import record, require_unchanged


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program's folder as it was fetched."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder = tmp_path / "cache" / "agent-cli" / "1.2.3-linux-x64"
    for name in ("bin/agent", "lib/needed.js"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"the true {name}\n")
        (folder / name).chmod(0o755)
    record(folder, folder)
    return folder


def same_times(path: Path, text: str) -> None:
    """Replace a text by one of the same length, and set the times back, as one who hides it would."""
    before = path.stat()
    path.write_text(text)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


CHANGES: dict[str, Callable[[Path], object]] = {
    "written": lambda folder: same_times(folder / "bin/agent", "the evil bin/agent\n"),
    "replaced": lambda folder: (folder / "new").write_text("evil") and (folder / "new").replace(folder / "bin/agent"),
    "library": lambda folder: same_times(folder / "lib/needed.js", "the evil lib/needed.js\n"),
    "added": lambda folder: (folder / "lib/more.js").write_text("evil"),
    "removed": lambda folder: (folder / "lib/needed.js").unlink(),
    "a link": lambda folder: ((folder / "bin/agent").unlink(), (folder / "bin/agent").symlink_to("/bin/true")),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_was_changed_is_not_started(program: Path, change: str) -> None:
    require_unchanged(program, "Agent 1.2.3")
    CHANGES[change](program)
    for _ in range(2):
        with pytest.raises(ProvisionError, match=r"no longer what Ralph fetched: .*remove that folder"):
            require_unchanged(program, "Agent 1.2.3")


@pytest.mark.parametrize("damaged", ['{"bin/agent": []}', '{"bin/agent": 5}', '{"bin/agent": [1, 2, 3, 4, {}]}'])
def test_a_damaged_record_is_no_fault_of_ralphs(program: Path, damaged: str) -> None:
    integrity._place(program).write_text(damaged)  # pyright: ignore[reportPrivateUsage]
    require_unchanged(program, "Agent 1.2.3")
    CHANGES["written"](program)
    with pytest.raises(ProvisionError, match="no longer what Ralph fetched"):
        require_unchanged(program, "Agent 1.2.3")


def test_a_copy_with_other_times_is_the_same_program(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in program.rglob("*.js"):
        content = path.read_bytes()
        path.unlink()
        path.write_bytes(content)
        path.chmod(0o755)
    require_unchanged(program, "Agent 1.2.3")

    def refused(*_: object) -> str:
        raise AssertionError("a file that has not changed is read again")

    monkeypatch.setattr(integrity, "_checksum", refused)
    require_unchanged(program, "Agent 1.2.3")


@pytest.mark.parametrize("place", [".", "bin", "bin/agent", "..", "../.."])
@pytest.mark.parametrize("mode", [0o777, 0o757, 0o1777])
def test_it_is_not_started_from_where_others_may_write(program: Path, place: str, mode: int) -> None:
    path = (program / place).resolve()
    path.chmod(mode)
    if mode == 0o1777 and place.startswith(".."):
        require_unchanged(program, "Agent 1.2.3")  # as in /tmp, where no one can replace another's folder
        return
    with pytest.raises(ProvisionError, match=f"other users may write {path}"):
        require_unchanged(program, "Agent 1.2.3")


@pytest.mark.skipif(os.getuid() != 0, reason="only the superuser can give a folder away")
def test_it_is_not_started_from_a_strangers_folder(program: Path) -> None:
    os.chown(program / "bin", 12345, 12345)
    with pytest.raises(ProvisionError, match="other users may write"):
        require_unchanged(program, "Agent 1.2.3")


ME, MINE, TEAM = 1000, 1001, 2000
WRITABLE = {
    "a home in the user's own group": (ME, MINE, 0o775, False),
    "a home for the user alone": (ME, MINE, 0o700, False),
    "a home in a group of several": (ME, TEAM, 0o775, True),
    "a home that a team may read": (ME, TEAM, 0o755, False),
    "/, /home, /root": (0, 0, 0o755, False),
    "/home, written by the superuser's group": (0, 0, 0o775, False),
    "a parent of a system's account": (33, 33, 0o755, True),
    "/tmp": (0, 0, 0o1777, False),
    "a shared folder": (0, 0, 0o777, True),
}


@pytest.mark.parametrize("folder", WRITABLE)
def test_ordinary_homes_are_private(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the umask 002, a user's folders can be written by a group that has the user alone."""
    groups = {MINE: ("me", []), TEAM: ("team", ["me", "other"]), 0: ("root", []), 33: ("www", [])}
    monkeypatch.setattr(os, "getuid", lambda: ME)

    def group_of(number: int) -> SimpleNamespace:
        return SimpleNamespace(gr_name=groups[number][0], gr_mem=groups[number][1])

    def user_of(_: int) -> SimpleNamespace:
        return SimpleNamespace(pw_name="me")

    monkeypatch.setattr(pwd, "getpwuid", user_of)
    monkeypatch.setattr(grp, "getgrgid", group_of)
    user, group, mode, others = WRITABLE[folder]
    found = os.stat_result((stat.S_IFDIR | mode, 1, 1, 1, user, group, 0, 0, 0, 0))
    assert integrity._others_may_write(found, inside=False) is others


def test_a_program_of_this_user_is_private_with_the_umask_002(program: Path) -> None:
    for path in (program, *program.rglob("*"), program.parent):
        path.chmod(path.stat().st_mode | stat.S_IWGRP)
    alone = os.getgid() == 0 or grp.getgrgid(os.getgid()).gr_name == pwd.getpwuid(os.getuid()).pw_name
    if not alone:
        pytest.skip("this user has no group of its own")
    require_unchanged(program, "Agent 1.2.3")
