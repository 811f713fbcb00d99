"""From settings to parts: the executor, the verifiers, and the files that Ralph writes itself."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from ralph.analysis.result import AnalysisContext
from ralph.errors import UnknownNameError, UntrustedSettingsError, UsageError
from ralph.executors import CopilotCLIExecutor, FallbackExecutor
from ralph.executors.base import Turn
from ralph.executors.permissions import PermissionPolicy
from ralph.loop.assembly import executor_for, own_files, runner_arguments, verifiers_for
from ralph.loop.runner import Runner
from ralph.pipeline.evaluate import Rules
from ralph.prompt import Prompt
from ralph.settings import ExecutorSettings, Settings
from ralph.status import StatusMissing
from ralph.system.secrets import Redactor
from ralph.testing import ScriptedExecutor
from ralph.types.output import Output, Timeouts
from ralph.types.verification import Verdict
from ralph.verifiers import Subject, Verifier


# covers: S4-4, S4-33, K4-8
@pytest.mark.parametrize("name", ["copilot", "copilot-cli", "copilot-sdk"])
def test_every_executor_goes_by_its_name_and_takes_the_endpoint(name: str) -> None:
    executor = executor_for(ExecutorSettings(name=name, model="m", base_url="http://127.0.0.1:9/v1", deny=("url",)))
    parts = [executor.primary, executor.secondary] if isinstance(executor, FallbackExecutor) else [executor]
    assert [part.name for part in parts] == (["copilot-sdk", "copilot-cli"] if name == "copilot" else [name])
    assert {part.account for part in parts} == {"http://127.0.0.1:9/v1"}
    assert {getattr(part, "permissions", None) for part in parts} == {PermissionPolicy(deny=("url",))}


def test_an_executor_that_there_is_not_is_an_error_with_the_nearest_one() -> None:
    with pytest.raises(UnknownNameError, match="copilot-cli"):
        executor_for(ExecutorSettings(name="copilot-cly"))


# covers: S4-7, K4-8
@pytest.mark.parametrize("name", ["copilot", "copilot-cli"])
def test_what_the_shell_is_a_mode_by_name_with_a_program_of_its_own(name: str, tmp_path: Path) -> None:
    executor = executor_for(ExecutorSettings(name=name, cli_mode="what-the-shell", cli_path=str(tmp_path / "legacy")))
    cli = executor.secondary if isinstance(executor, FallbackExecutor) else executor
    assert isinstance(cli, CopilotCLIExecutor)
    assert (cli.mode, cli.measures) == ("what-the-shell", frozenset())


@pytest.mark.parametrize("name", ["copilot", "copilot-cli", "copilot-sdk"])
def test_a_program_that_is_not_there_is_found_out_before_the_run(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="does not exist"):
        executor_for(ExecutorSettings(name=name, cli_path=str(tmp_path / "nowhere")))


@pytest.mark.parametrize(
    ("settings", "names"),
    [
        ({}, ["review"]),
        ({"verify": ["none"]}, []),
        ({"verify": ["pytest -q"]}, ["pytest -q"]),
        ({"verify_shell": ["make | tee log"]}, ["make | tee log"]),
        ({"verify": ["none"], "verify_shell": ["make"]}, ["make"]),
        ({"verify": ["none"], "verifiers": ["review"]}, ["review"]),
        ({"verify": ["pytest"], "verifiers": ["review", "shell:command=make"]}, ["pytest", "review", "make"]),
    ],
)
def test_a_review_is_the_default_where_nothing_else_is_named(settings: dict[str, Any], names: list[str]) -> None:
    verifiers = verifiers_for(Settings(**settings), ScriptedExecutor(), Redactor())
    assert [verifier.name for verifier in verifiers] == names
    assert [verifier.before_run for verifier in verifiers] == [name != "review" for name in names]


def test_nothing_and_something_at_once_is_refused() -> None:
    with pytest.raises(UsageError, match="--verify none"):
        verifiers_for(Settings(verify=("none", "pytest")), ScriptedExecutor(), Redactor())


async def test_a_review_takes_as_many_rounds_as_are_set_and_is_announced_like_any_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ralph.loop.assembly._ANNOUNCED_AFTER", 0.0)
    done = "Done.\n---RALPH_STATUS---\nEXIT_SIGNAL: true\nREASON: all there\n---END_RALPH_STATUS---\n"
    turns: list[Turn] = []

    def reply(_prompt: Prompt, turn: Turn) -> str:
        turns.append(turn)
        (tmp_path / "file.txt").write_text("x")
        return done

    asked: list[str] = []
    settings, executor = Settings(store="memory:", verify_rounds=3), ScriptedExecutor(then=reply)
    async with Runner(
        **runner_arguments(settings, workspace=tmp_path, executor=executor, verifying=asked.append)
    ) as runner:
        assert (await runner.run("Look.")).verified
    assert [turn.read_only for turn in turns] == [False, True, True, True]
    assert asked == ["review"]


async def test_who_shows_the_run_is_told_of_a_verifier_at_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ralph.loop.assembly._ANNOUNCED_AFTER", 0.0)
    done = "Done.\n---RALPH_STATUS---\nEXIT_SIGNAL: true\nREASON: all there\n---END_RALPH_STATUS---\n"
    asked: list[str] = []
    settings = Settings(store="memory:", verify=("test -d .",))
    executor = ScriptedExecutor([done], then="repeat_last")
    async with Runner(
        **runner_arguments(settings, workspace=tmp_path, executor=executor, verifying=asked.append)
    ) as runner:
        assert (await runner.run("Look.")).stop_reason == "completed"
    assert asked[0] == "test -d ."
    assert len(asked) >= 2, "before the run, and when it is claimed"


async def test_a_verifier_that_is_quick_is_not_announced_after_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Quick(Verifier):
        name = "quick"

        async def verify(self, subject: Subject) -> Verdict:
            return Verdict(verifier="quick", passed=True)

    def quick(*_: object, **__: object) -> list[Verifier]:
        return [Quick()]

    monkeypatch.setattr("ralph.loop.assembly._ANNOUNCED_AFTER", 0.01)
    monkeypatch.setattr("ralph.loop.assembly.verifiers_for", quick)
    asked: list[str] = []
    parts = runner_arguments(Settings(), workspace=tmp_path, executor=ScriptedExecutor([]), verifying=asked.append)
    assert (await parts["verify"][0].verify(Subject(tmp_path))).passed
    await anyio.sleep(0.05)
    assert asked == []


def test_each_of_the_times_is_that_of_its_own_setting(tmp_path: Path) -> None:
    own = ExecutorSettings(idle_timeout=60, iteration_timeout=120, tool_timeout=180)
    parts = runner_arguments(Settings(executor=own), workspace=tmp_path, executor=ScriptedExecutor([]))
    assert parts["timeouts"] == Timeouts(idle=60, iteration=120, tool=180)


def test_a_store_is_its_file_and_what_lies_beside_it_also_behind_a_link(tmp_path: Path) -> None:
    kept = tmp_path.resolve() / "kept"
    kept.mkdir()
    (tmp_path / "runs.db").symlink_to(kept / "night.db")
    (kept / "night.db-journal").symlink_to(tmp_path / "work.py")
    found = own_files(str(tmp_path / "runs.db"))[:4]
    assert found == [kept / f"night.db{end}" for end in ("", "-wal", "-shm", "-journal")]


@pytest.mark.parametrize("store", ["memory:", "postgresql://nobody@nowhere/runs"])
def test_a_store_in_no_file_has_none(store: str) -> None:
    assert not [path for path in own_files(store) if path.name.endswith("-wal")]


def test_a_runner_from_a_folder_has_what_the_command_line_would_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("STATE", "CONFIG"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    monkeypatch.setenv("RALPH_DECISION__BLOCKED", "7")
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "ralph.toml").write_text("verify = ['true']\nstore = 'memory:'\n[limits]\nmax_duration = '2h'\n")
    with pytest.raises(UntrustedSettingsError):
        Runner.from_settings(workspace)
    trusted, again = Runner.from_settings(workspace, trust=True), Runner.from_settings(workspace)
    for runner in (trusted, again):
        parts = runner._parts  # pyright: ignore[reportPrivateUsage]
        assert [verifier.name for verifier in parts.verifiers] == ["true"]
        assert (parts.rules.limits.max_duration, parts.rules.decision.blocked) == (7200, 7)
        assert parts.workspace.path == workspace


def test_the_rules_of_a_runner_are_those_of_a_replay_with_the_same_settings(tmp_path: Path) -> None:
    settings = Settings.model_validate({
        "store": "memory:",
        "limits": {"max_tokens": 7},
        "breaker": {"no_progress": 5},
        "decision": {"blocked": 4},
        "strategy": "exit_signal",
        "keywords": [{"text": "shipped to the moon"}],
        "status_fields": [{"name": "RISK", "type": "int"}],
        "promise": "DONE",
    })
    runner = Runner(**runner_arguments(settings, workspace=tmp_path, executor=ScriptedExecutor()))
    lived, replayed = runner._parts.rules, Rules.of(settings)  # pyright: ignore[reportPrivateUsage]
    assert lived.limits is settings.limits
    for name in ("limits", "decision", "strategy", "status_fields", "promise"):
        assert getattr(lived, name) == getattr(replayed, name) != getattr(Rules(), name)
    assert lived.breaker.settings == replayed.breaker.settings != Rules().breaker.settings
    status, context, output = StatusMissing(), AnalysisContext(), Output(text="The parser is shipped to the moon.")
    read = [rules.analyzer.analyze(output, status, context) for rules in (lived, replayed, Rules())]
    assert read[0] == read[1] != read[2]


def test_an_analyzer_of_a_plug_in_is_not_left_out_in_silence() -> None:
    with pytest.raises(UnknownNameError, match="no analyzer called 'grounding'"):
        Rules.of(Settings(analyzers=("grounding",)))
