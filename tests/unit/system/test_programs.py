"""Programs are found by name in the absolute folders of PATH alone."""

import os
from pathlib import Path

import pytest

from ralph.system.files import absolute_path, find_program
from ralph.system.process import ProgramMissingError, run


def planted(folder: Path, name: str = "planted") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("#!/bin/sh\necho planted\n")
    (folder / name).chmod(0o755)
    return folder


@pytest.mark.parametrize("path", ["", ".", "bin", "./bin:", "::", "bin:/nowhere", None])
async def test_relative_entries_do_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str | None) -> None:
    planted(tmp_path)
    planted(tmp_path / "bin")
    monkeypatch.chdir(tmp_path)
    env = {} if path is None else {"PATH": path}
    assert find_program("planted", env) is None
    with pytest.raises(ProgramMissingError):
        await run(["planted"], cwd=tmp_path, env=env, timeout=10)


async def test_absolute_ones_do_and_what_is_started_gets_them_alone(tmp_path: Path) -> None:
    folder = planted(tmp_path / "bin")
    path = os.pathsep.join([".", str(folder), "", "/bin", "/usr/bin"])
    assert absolute_path(path) == f"{folder}:/bin:/usr/bin"
    assert find_program("planted", {"PATH": path}) == str(folder / "planted")
    assert (await run(["planted"], cwd=tmp_path, env={"PATH": path}, timeout=10)).stdout == "planted\n"
    shown = await run(["sh", "-c", "echo $PATH"], cwd=tmp_path, env={"PATH": path}, timeout=10)
    assert shown.stdout == f"{folder}:/bin:/usr/bin\n"
