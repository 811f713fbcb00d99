"""Settings and project files that a repository brings take neither gigabytes nor minutes to read."""

import resource
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.attack

SIZE = 80_000
TEXTS = {
    "dotted": "a." * (SIZE // 2) + "a = 1",
    "quoted": '"a".' * (SIZE // 4) + "a = 1",
    "literal": "'a' . " * (SIZE // 6) + "a = 1",
    "header": "[" + "a." * (SIZE // 2) + "a]",
    "headers": "[[" + "a." * (SIZE // 2) + "a]]",
    "inline": "x = {" + "a." * (SIZE // 2) + "a = 1}",
    "inside a table": "[tool.ralph]\n" + "a." * (SIZE // 2) + "a = 1",
    "arrays": "x = " + "[" * SIZE,
    "tables": "x = " + "{a=" * (SIZE // 3),
    "many": "\n".join(f"{'.'.join([f'a{number}'] * 60)} = 1" for number in range(300)),
    "quotes": '"' * SIZE,
}
CODE = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
from ralph.cli import main
main()
"""


@pytest.mark.parametrize("kind", TEXTS)
def test_a_key_costs_what_its_size_costs(tmp_path: Path, kind: str) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    for name in ("ralph.toml", "pyproject.toml", "Cargo.toml"):
        (folder / name).write_text(TEXTS[kind])
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    for words in (("config", "show"), ("init", "--force")):
        ended = subprocess.run(
            [sys.executable, "-c", CODE, *words], cwd=folder, capture_output=True, text=True, timeout=30, check=False
        )
        assert "Memory" not in ended.stderr, ended.stderr[-500:]
        assert "fault in Ralph" not in ended.stderr, ended.stderr[-500:]
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime - before.ru_utime < 10
