"""Ways to install Ralph and its plug-ins, typed as the how-to prints them, in clean environments."""

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "how-to" / "install-plug-ins.md"


def blocks() -> list[list[str]]:
    found = re.findall(r"^```sh\n(.*?)^```$", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    return [block.splitlines() for block in found]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone of the commit that is checked out, with the changes that are not committed."""
    folder = tmp_path / "clone"
    subprocess.run(("git", "clone", "--quiet", "--depth", "1", ROOT.as_uri(), str(folder)), check=True)
    changes = subprocess.run(("git", "diff", "HEAD", "--binary"), cwd=ROOT, check=True, capture_output=True).stdout
    if changes:
        subprocess.run(("git", "apply"), cwd=folder, input=changes, check=True)
    return folder


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("lines", blocks(), ids=lambda lines: re.sub(r"\W+", "-", lines[0])[:50])
def test_plug_ins_are_installed_as_the_page_says(clone: Path, lines: list[str], tmp_path: Path) -> None:
    environment = {
        **{
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("VIRTUAL_ENV", "UV_TOOL", "RALPH_"))
        },
        "UV_TOOL_DIR": str(tmp_path / "tools"),
        "UV_TOOL_BIN_DIR": str(tmp_path / "bin"),
        "PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "XDG_STATE_HOME": str(tmp_path / "state"),
    }
    for line in lines:
        done = subprocess.run(
            ("bash", "-c", line), cwd=clone, env=environment, capture_output=True, text=True, check=False, timeout=500
        )
        assert done.returncode == 0, f"$ {line}\n{done.stdout}{done.stderr}"
    last = f"{tmp_path / 'bin' / 'ralph'} plugins" if lines[-1].startswith("uv tool") else lines[-1]
    listed = subprocess.run(
        ("bash", "-c", last), cwd=clone, env=environment, capture_output=True, text=True, check=True, timeout=100
    ).stdout
    assert {name for line in lines for name in re.findall(r"ralph[-_](acp|claude|github|notify)", line)} <= set(
        listed.split()
    )
