"""The command that installs a plug-in, by the way in which Ralph was installed."""

import json
import os
import shlex
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path
from unittest.mock import Mock

import pytest

from ralph.system import install
from ralph.system.install import KNOWN, PARTS_ELSEWHERE, extra_remedy, install_command, missing_plugin

CLONE = Path(__file__).parents[3]
PLUGINS = CLONE / "plugins"

_RECEIPT = """\
[tool]
requirements = [
    {{ name = "ralph-notify", directory = "{clone}/plugins/ralph-notify" }},
    {{ name = "ralph-runtime", extras = ["tui"], directory = "{clone}" }},
    {{ name = "other", specifier = ">=2" }},
]
"""


def test_every_part_of_a_plugin_is_listed_with_its_distribution() -> None:
    assert {path.name for path in PLUGINS.iterdir() if (path / "pyproject.toml").exists()} == {*KNOWN}
    here = {entry.dist.name for entry in entry_points(group="ralph") if entry.dist}
    assert here >= {*KNOWN}, "the tests need all plug-ins"


def test_a_tool_keeps_its_other_plugins(tmp_path: Path) -> None:
    (tmp_path / "uv-receipt.toml").write_text(_RECEIPT.format(clone=CLONE))
    assert install_command(["ralph-claude"], tmp_path) == [
        *("uv", "tool", "install", f"{CLONE}[tui]", "--with", f"{PLUGINS}/ralph-notify", "--with", "other>=2"),
        *("--with", f"{PLUGINS}/ralph-claude"),
    ]


@pytest.mark.parametrize("receipt", ["", "[tool]\nrequirements = 5\n", "no TOML"])
def test_a_broken_receipt_is_left_out(tmp_path: Path, receipt: str) -> None:
    (tmp_path / "uv-receipt.toml").write_text(receipt)
    assert "install" in install_command(["ralph-claude"], tmp_path)


@pytest.mark.parametrize(
    ("said", "place"),
    [
        ('directory = "/srv/ralph"', "/srv/ralph[web]"),
        ('git = "https://night.example/o/ralph?tag=v1"', "ralph-runtime[web] @ git+https://night.example/o/ralph@v1"),
        ('specifier = ">=1"', "ralph-runtime[web]"),
    ],
)
def test_an_extra_leaves_what_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, place: str
) -> None:
    receipt = f'requirements = [{{ name = "ralph-runtime", {said} }}, {{ name = "ralph-grounding" }}]'
    (tmp_path / "uv-receipt.toml").write_text(f"[tool]\n{receipt}\n")
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    wanted = f"--with ralph-grounding --with {shlex.join([place])}`."
    assert extra_remedy("web").startswith("Install the extra `web`: `uv tool install ")
    assert extra_remedy("web").endswith(wanted)


def test_other_installers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = f"{PLUGINS}/ralph-claude"
    monkeypatch.setattr(install, "find_spec", {"pip": None}.get)
    assert install_command(["ralph-claude"], tmp_path) == [
        *("uv", "pip", "install", "--python", sys.executable),
        place,
    ]
    monkeypatch.setattr(install, "find_spec", {"pip": object()}.get)
    with_pip = install_command(["ralph-claude"], tmp_path)
    assert with_pip == [sys.executable, "-P", "-m", "pip", "install", place]
    (tmp_path / "pip.py").write_text("open('ran', 'w')")
    subprocess.run([*with_pip[:4], "--version"], cwd=tmp_path, check=False, capture_output=True)
    assert not (tmp_path / "ran").exists(), "a pip.py of the folder is not taken for pip"
    (tmp_path / "pipx_metadata.json").touch()
    assert install_command(["ralph-claude"], tmp_path) == ["pipx", "inject", "ralph-runtime", place]
    temporary = tmp_path / "archive-v0" / "x"
    assert install_command(["ralph-claude"], temporary) == ["uvx", "--from", str(CLONE), "--with", place, "ralph"]


def test_a_wheel_is_taken_from_beside_ralphs_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel = tmp_path / "ralph_claude-0.1.0-py3-none-any.whl"
    wheel.touch()
    monkeypatch.setattr(install, "_origin", lambda: f"{tmp_path}/ralph_runtime-0.1.0-py3-none-any.whl")
    assert install_command(["ralph-claude"], tmp_path)[-1] == str(wheel)
    missing = f"{tmp_path}/ralph_codex-0.1.0-py3-none-any.whl"
    assert install_command(["ralph-codex"], tmp_path)[-1] == missing, "an index may have a stranger's"


@pytest.mark.parametrize(
    ("receipt", "own", "place"),
    [
        (
            'extras = ["tui"], git = "https://night.example/o/ralph?rev=v1"',
            ["ralph-runtime[tui] @ git+https://night.example/o/ralph@v1"],
            "git+https://night.example/o/ralph@v1#subdirectory=plugins/ralph-claude",
        ),
        (
            'git = "ssh://git@night.example/o/all?subdirectory=tools%2Fralph&branch=main#0123abc"',
            ["ralph-runtime @ git+ssh://git@night.example/o/all@main#subdirectory=tools/ralph"],
            "git+ssh://git@night.example/o/all@main#subdirectory=tools/ralph/plugins/ralph-claude",
        ),
        (
            'git = "https://night.example/o/ralph"',
            ["ralph-runtime @ git+https://night.example/o/ralph"],
            "git+https://night.example/o/ralph#subdirectory=plugins/ralph-claude",
        ),
        (
            'url = "https://night.example/ralph_runtime-1.0-py3-none-any.whl"',
            ["ralph-runtime @ https://night.example/ralph_runtime-1.0-py3-none-any.whl"],
            "https://night.example/ralph_claude-1.0-py3-none-any.whl",
        ),
        ('editable = "/srv/ralph"', ["--editable", "/srv/ralph"], "/srv/ralph/plugins/ralph-claude"),
        ('specifier = "==1.0"', ["ralph-runtime==1.0"], "ralph-claude"),
    ],
)
def test_a_plugin_of_a_tool_comes_from_where_ralph_came_from(
    tmp_path: Path, receipt: str, own: list[str], place: str
) -> None:
    (tmp_path / "uv-receipt.toml").write_text(f'[tool]\nrequirements = [{{ name = "ralph-runtime", {receipt} }}]\n')
    assert install_command(["ralph-claude"], tmp_path) == ["uv", "tool", "install", *own, "--with", place]


@pytest.mark.parametrize(
    ("revision", "shown"), [('"commit_id": "0123abc"', "0123abc"), ('"requested_revision": "v1"', "v1")]
)
def test_a_plugin_of_an_environment_comes_from_the_same_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, revision: str, shown: str
) -> None:
    said = f'{{"url": "https://night.example/o/ralph", "vcs_info": {{"vcs": "git", {revision}}}}}'
    monkeypatch.setattr(install, "distribution", Mock(return_value=Mock(read_text=Mock(return_value=said))))
    place = f"git+https://night.example/o/ralph@{shown}#subdirectory=plugins/ralph-claude"
    assert install_command(["ralph-claude"], tmp_path)[-1] == place


def test_a_missing_part_names_its_plugin_and_an_unknown_one_none(monkeypatch: pytest.MonkeyPatch) -> None:
    assert missing_plugin("ralph_executors", "claude") == "", "it is installed here"
    monkeypatch.setattr(install, "is_installed", frozenset[str]().__contains__)
    for hook, parts in PARTS_ELSEWHERE.items():
        for name, distribution in parts.items():
            assert f"the plug-in {distribution}, which is not installed: `" in missing_plugin(hook, name)
    assert missing_plugin("ralph_executors", "nope") == ""


@pytest.mark.long
@pytest.mark.timeout(600)
def test_a_plugin_is_added_to_an_environment_of_its_own(tmp_path: Path) -> None:
    """In a clean environment: the missing command names the plug-in, and works once it is added."""
    env = {name: value for name, value in os.environ.items() if name not in {"VIRTUAL_ENV", "PYTHONPATH"}}
    env |= {"HOME": str(tmp_path), "NO_COLOR": "1", "UV_CACHE_DIR": _cache()}

    def call(*words: str, code: int = 0) -> str:
        done = subprocess.run(words, capture_output=True, text=True, env=env, check=False, cwd=tmp_path)
        assert done.returncode == code, done.stderr
        return done.stdout + done.stderr

    call("uv", "venv", "-q", "--python", sys.executable, "own")
    python, ralph = f"{tmp_path}/own/bin/python", f"{tmp_path}/own/bin/ralph"
    call("uv", "pip", "install", "-q", "--python", python, str(CLONE))
    assert "ralph-notify" in call(ralph, "notify", code=2)
    assert f"{PLUGINS}/ralph-notify" in call(ralph, "plugins", "add", "notify")
    (tmp_path / "uv.toml").write_text("uv follows the settings of the folder, which may be a cloned repository")
    call(ralph, "plugins", "add", "notify", "--run")
    assert "Send a test notification" in call(ralph, "notify", "--help")
    assert json.loads(call(ralph, "plugins", "add", "notify", "--json"))["missing"] == []


def _cache() -> str:
    return subprocess.run(["uv", "cache", "dir"], capture_output=True, text=True, check=True).stdout.strip()
