"""Small things that a new user stumbles over: a mistyped name, a broken file, a folder that cannot be used."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ralph.cli.settings import warn_once
from ralph.decision.limits import LimitReached, Limits, Spent
from ralph.errors import WorkspaceError
from ralph.loop.runner import Runner
from ralph.settings import workspace_folder
from ralph.store import MemoryStore
from ralph.testing import ScriptedExecutor
from ralph.verifiers import detect_test_command
from ralph.workspace import PlainWorkspace


@pytest.mark.parametrize("words", [["runs"], ["status"], ["show"], ["runs", "--json"], ["pause", "last"], ["stats"]])
def test_a_mistyped_store_is_not_an_empty_one(ralph: Callable[..., Any], workspace: Path, words: list[str]) -> None:
    ended = ralph(*words, "--store", "typo.db")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith(
        "ralph: There is no store 'typo.db' yet. Correct --store; or `ralph run --store typo.db`"
    )
    assert not (workspace / "typo.db").exists()


@pytest.mark.parametrize("words", [["runs"], ["status"], ["show"], ["stop"], ["pause"], ["tell"], ["logs"]])
@pytest.mark.parametrize("broken", ["variable", "file", "setting"])
def test_settings_that_are_not_valid_take_no_command_away(
    ralph: Callable[..., Any],
    kept_run: Callable[..., Any],
    workspace: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    broken: str,
) -> None:
    run = kept_run("Nothing done.")
    warn_once.cache_clear()
    sound = ralph(*_call(words, run.id))
    if broken == "variable":
        monkeypatch.setenv("RALPH_MODEL", "gpt-5")
    elif broken == "setting":
        monkeypatch.setenv("RALPH_LIMITS__MAX_ITERATIONS", "-1")
    else:
        (workspace / "ralph.toml").write_text("[limits\n")
    ended = ralph(*_call(words, run.id))
    assert "The settings are left out: " in ended.err
    assert ended.err.count("left out") == 1
    assert (ended.code, ended.out) == (sound.code, sound.out)
    assert ended.err.endswith(sound.err)


def _call(words: list[str], run: str) -> list[str]:
    return [*words, *([run] if words[0] not in {"runs", "status"} else []), *(["text"] if words == ["tell"] else [])]


def test_the_store_of_the_users_own_file_counts_beside_a_broken_setting(
    ralph: Callable[..., Any], home: Path, tmp_path: Path
) -> None:
    own = home / "config" / "ralph"
    own.mkdir(parents=True)
    (own / "ralph.toml").write_text(f'store = "{tmp_path}/mine.db"\n[limits]\nmax_iterations = -1\n')
    ended = ralph("doctor")
    assert ended.code == 2
    warn_once.cache_clear()
    (tmp_path / "mine.db").write_text("this is no store")
    assert "mine.db" in ralph("runs").err


@pytest.mark.parametrize("place", ["/proc", "/sys", "/dev", "/proc/self"])
def test_folders_of_the_system_are_no_workspace(place: str) -> None:
    if not Path(place).is_dir():
        pytest.skip("it is not there")
    with pytest.raises(WorkspaceError, match="belongs to the system and has no files to work on"):
        workspace_folder(place)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_the_doctor_does_not_tick_a_folder_that_cannot_be_written(ralph: Callable[..., Any], workspace: Path) -> None:
    workspace.chmod(0o500)
    try:
        ended = ralph("doctor")
    finally:
        workspace.chmod(0o700)
    assert ended.code == 2
    assert f"{workspace} cannot be written" in ended.out


def test_limits_are_reported_with_their_units() -> None:
    assert str(LimitReached(limit="max_cost", allowed=1.5, used=2)) == "max_cost: $2 of $1.5"
    assert str(Limits(max_tokens=5).within_turn(Spent().used(_usage(9), 1, counts=True))) == "max_tokens: 9 of 5 tokens"


def _usage(tokens: int) -> Any:
    from ralph.types.output import Usage

    return Usage(input_tokens=tokens, output_tokens=0)


class _Slow(ScriptedExecutor):
    async def start(self) -> None:
        import anyio

        await anyio.sleep(0.5)


async def test_the_time_that_the_agent_takes_to_start_counts(tmp_path: Path) -> None:
    executor = _Slow(["Nothing done."])
    limits = Limits(max_iterations=1)
    async with Runner(
        executor=executor, store=MemoryStore(), workspace=PlainWorkspace(tmp_path), limits=limits
    ) as runner:
        record = await runner.run("Do it.")
    assert record.duration >= 0.5


def test_a_project_is_tested_by_the_python_that_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pytest.ini").touch()
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "python3").symlink_to("/bin/sh")
    monkeypatch.setenv("PATH", str(programs))
    found = detect_test_command(tmp_path)
    assert found is not None
    assert found.command == "python3 -m pytest"
    (programs / "python").symlink_to("/bin/sh")
    found = detect_test_command(tmp_path)
    assert found is not None
    assert found.command == "python -m pytest"


def test_a_plan_of_init_has_no_box_that_blocks_the_end(ralph: Callable[..., Any], workspace: Path) -> None:
    from ralph.types.plan import parse_plan

    assert ralph("init", "--plan").code == 0
    plan = parse_plan((workspace / "@fix_plan.md").read_text())
    assert plan is None or not plan.items
