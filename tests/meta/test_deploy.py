"""The files in deploy/ are valid, and use commands and options that exist."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

DEPLOY = Path(__file__).parents[2] / "deploy"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_systemd_accepts_the_unit(tmp_path: Path) -> None:
    unit = tmp_path / "ralph-worker@.service"
    text = (DEPLOY / unit.name).read_text(encoding="utf-8")
    unit.write_text(text.replace("/usr/local/bin/ralph", sys.executable))
    argv = ["systemd-analyze", "verify", "--man=no", "--recursive-errors=one", str(unit)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("path", [*DEPLOY.iterdir()], ids=lambda path: path.name)
def test_no_file_holds_a_secret(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for line in re.findall(r"(?:TOKEN|PASSWORD)\w*[=:][ ]*(\S*)", text):
        assert not line or line.startswith(("$", "…")), line
