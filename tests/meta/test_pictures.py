"""The pictures of the documents: they load and run nothing, and one command makes them from a real run."""

import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "docs" / "pictures"
NAMES = ["dashboard-narrow.png", "dashboard.png", "report.png", "run.svg", "watch.svg"]
SVG = runpy.run_path(str(ROOT / "docs" / "terminal_svg.py"))
LOADS = re.compile(r"<script|<image|<foreignObject|@import|url\(|href=\"(?!#)|\son\w+=", re.IGNORECASE)


def test_a_screen_is_drawn_with_its_colours_and_widths() -> None:
    frame = SVG["Frame"]
    frames = [frame("\x1b[1;32m✓ done\x1b[0m <b>&", 1.0), frame("\x1b[1;32m✓ done\x1b[0m <b>&\n  \x1b[41mred ", 2.0)]
    found = SVG["drawn"](frames, 40, 4, "a & b")
    tree = ET.fromstring(found)
    texts = [each.text for each in tree.iter("{http://www.w3.org/2000/svg}text")]
    assert texts == ["a & b", "✓ done", "<b>&", "red"]
    assert (found.count("<use "), found.count("@keyframes")) == (3, 2)
    assert 'font-weight="bold"' in found
    assert not LOADS.search(found)
    assert "@keyframes" not in SVG["drawn"](frames[:1], 40, 4, "still")


def test_the_pictures_that_documents_show_are_there_and_load_nothing() -> None:
    shown = {
        name
        for page in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md"))
        for name in re.findall(r"!\[[^\]]+\]\([^)]*pictures/([\w.-]+)\)", page.read_text(encoding="utf-8"))
    }
    assert sorted(shown) == sorted(path.name for path in PICTURES.iterdir()) == NAMES
    for path in PICTURES.glob("*.svg"):
        text = path.read_text(encoding="utf-8")
        ET.fromstring(text)
        assert not LOADS.search(text), path


@pytest.mark.long
@pytest.mark.timeout(600)
def test_one_command_makes_all_pictures_from_a_real_run(tmp_path: Path) -> None:
    for program in ("tmux", "chromium"):
        if not shutil.which(program):
            if os.environ.get("CI"):
                pytest.fail(f"{program} is not installed")
            pytest.skip(f"{program} is not installed")
    words = (sys.executable, "docs/pictures.py", "--to", str(tmp_path))
    subprocess.run(words, cwd=ROOT, check=True, capture_output=True, timeout=500)
    assert sorted(path.name for path in tmp_path.iterdir()) == NAMES
    run = (tmp_path / "run.svg").read_text(encoding="utf-8")
    assert "Completed, verified" in run
    assert run.count("@keyframes") > 3
    assert "refuted" in (tmp_path / "watch.svg").read_text(encoding="utf-8")
    assert all((tmp_path / name).read_bytes().startswith(b"\x89PNG") for name in NAMES if name.endswith("png"))
    assert sys.prefix not in run  # a picture says nothing of the machine
