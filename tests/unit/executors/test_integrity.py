"""A cached program is started only as it was fetched, and only from folders that no one else may write."""

import os
from collections.abc import Callable
from pathlib import Path

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
