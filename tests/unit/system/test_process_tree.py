"""Temporary folders that a killed program leaves behind."""

import os
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from ralph.loop.ownership import end_orphans
from ralph.system.process_tree import digest, machine, scratch_folder, start_of

KILLED = """
import os
from ralph.system.process_tree import scratch_folder
folders = [scratch_folder(name) for name in ("turn", "copilot-logs")]
for folder in folders:
    os.mkdir(folder.name + "/inner")
    print(folder.name, flush=True)
os.kill(os.getpid(), 9)
"""


def test_the_folders_of_a_killed_process_are_removed_and_no_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    done = subprocess.run([sys.executable, "-c", KILLED], capture_output=True, text=True, check=False)
    killed = list(map(Path, done.stdout.split()))
    assert [folder.is_dir() for folder in killed] == [True, True]
    outside = tmp_path / "outside"
    here, gone = digest(machine()), "1234567890.t1"
    others = [
        tmp_path / f"ralph-turn-{os.getpid()}.{start_of(os.getpid())}.{here}-other",
        tmp_path / f"ralph-turn-{gone}.{'0' * 16}-elsewhere",
        tmp_path / "ralph-demo-x",
        outside / "kept",
    ]
    with scratch_folder("turn") as lived:
        for folder in others:
            folder.mkdir(parents=True)
        (tmp_path / f"ralph-turn-{gone}.{here}-link").symlink_to(outside)
        (killed[0] / "inner" / "link").symlink_to(outside)
        anyio.run(end_orphans)
        assert [folder.exists() for folder in killed] == [False, False]
        assert all(folder.is_dir() for folder in (*others, Path(lived)))
    assert not Path(lived).exists()
