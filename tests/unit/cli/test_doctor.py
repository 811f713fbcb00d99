"""Setting up a folder, looking whether a run can work, and the settings in force."""

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ralph.settings import is_agreed, read_settings

AGENT = """
from ralph.plugins import Provider, hookimpl
from ralph.testing import ScriptedExecutor

DONE = "All done.\\n---RALPH_STATUS---\\nEXIT_SIGNAL: true\\nREASON: written\\n---END_RALPH_STATUS---"

@hookimpl
def ralph_executors():
    yield Provider("quick", "is done", lambda context: ScriptedExecutor([DONE]))
"""


class TestInit:
    def test_it_writes_the_projects_own_test_command_and_trusts_what_it_wrote(
        self, ralph: Callable[..., Any], workspace: Path
    ) -> None:
        (workspace / "package.json").write_text('{"scripts": {"test": "jest"}}')
        ended = ralph("init")
        assert ended.code == 0
        assert "`npm test`" in ended.out
        assert tomllib.loads((workspace / "ralph.toml").read_text())["verify"] == ["npm test"]
        assert read_settings(workspace).settings.verify == ("npm test",)
        assert not (workspace / "@fix_plan.md").exists()

    def test_without_a_test_command_it_says_so(self, ralph: Callable[..., Any], workspace: Path) -> None:
        assert "No test command was found" in ralph("init").out
        assert read_settings(workspace).settings.verify == ()

    def test_a_plan_on_request(self, ralph: Callable[..., Any], workspace: Path) -> None:
        ralph("init", "--plan")
        assert "- [ ] " in (workspace / "@fix_plan.md").read_text()

    def test_a_plan_can_be_had_later_and_leaves_the_settings_alone(
        self, ralph: Callable[..., Any], workspace: Path
    ) -> None:
        (workspace / "ralph.toml").write_text("verify = ['make test']\n")
        ended = ralph("init", "--plan")
        assert (ended.code, "stays as it is" in ended.out) == (0, True)
        assert "- [ ] " in (workspace / "@fix_plan.md").read_text()
        assert (workspace / "ralph.toml").read_text() == "verify = ['make test']\n"
        assert ralph("init", "--plan").code == 2

    def test_nothing_is_written_over(self, ralph: Callable[..., Any], workspace: Path) -> None:
        (workspace / "@fix_plan.md").write_text("mine")
        ended = ralph("init", "--plan")
        assert ended.code == 2
        assert "@fix_plan.md already exists" in ended.err
        assert not (workspace / "ralph.toml").exists()
        assert ralph("init", "--plan", "--force").code == 0
        assert (workspace / "@fix_plan.md").read_text() != "mine"

    def test_a_planted_link_is_not_followed(self, ralph: Callable[..., Any], workspace: Path, tmp_path: Path) -> None:
        outside = tmp_path / "outside.toml"
        (workspace / "ralph.toml").symlink_to(outside)
        assert ralph("init").code == 2
        assert ralph("init", "--force").code == 0
        assert not outside.exists()
        assert not (workspace / "ralph.toml").is_symlink()


class TestConfig:
    def test_every_setting_with_where_it_comes_from_and_without_secrets(
        self, ralph: Callable[..., Any], workspace: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (workspace / "ralph.toml").write_text("verify = ['make test']\n[limits]\nmax_iterations = 7\n")
        monkeypatch.setenv("RALPH_EXECUTOR__API_KEY", "sk-verysecretkey")
        ended = ralph("config", "show", "--json")
        assert ended.code == 0
        assert "verysecret" not in ended.out
        told = json.loads(ended.out)
        file = str(workspace / "ralph.toml")
        assert told["settings"]["limits.max_iterations"] == {"value": 7, "source": file}
        assert told["settings"]["executor.api_key"]["source"] == "the environment"
        assert told["settings"]["strategy"] == {"value": "auto", "source": "default"}
        assert told["untrusted"] == [file]
        shown = ralph("config", "show").out
        assert "verysecret" not in shown
        assert "needs your consent" in shown


class TestDoctor:
    def test_where_the_cli_is_named_wrongly_no_executor_can_work(
        self, ralph: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("COPILOT_CLI_PATH", "/nowhere/copilot")
        ended = ralph("doctor", "--json")
        assert ended.code == 6
        told = json.loads(ended.out)
        assert told["ok"] is False
        (copilot,) = [finding for finding in told["findings"] if finding["name"] == "copilot"]
        assert "/nowhere/copilot" in copilot["detail"]
        assert copilot["remedy"]
        assert "No executor can work here yet." in ralph("doctor").out

    def test_a_store_that_cannot_be_opened_ends_as_the_run_would(
        self, ralph: Callable[..., Any], workspace: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        program = workspace / "copilot"
        program.write_text("#!/bin/sh\necho 'GitHub Copilot CLI 1.0.102.'\n")
        program.chmod(0o755)
        monkeypatch.setenv("COPILOT_CLI_PATH", str(program))
        (workspace / "broken.db").write_text("no database")
        assert ralph("doctor").code == 0
        ended = ralph("doctor", "--store", "broken.db")
        assert ended.code == 2
        assert "A run cannot work here yet." in ended.out

    @pytest.mark.parametrize(
        ("theirs", "own", "name", "said"),
        [
            ("verify = ['true']", "", "trust", "needs your consent"),
            ("verify = ['true']\nlimits.max_iterations = 'x'", "", "settings", "'x' is not valid"),
            ("verfy = ['true']", "", "settings", "Did you mean 'verify'?"),
            ("", "strategy = 'exit_signl'", "settings", "Did you mean 'exit_signal'?"),
            ("", "display = 'plian'", "settings", "Did you mean 'plain'?"),
            ("", "verifiers = ['comand']", "settings", "Did you mean 'command'?"),
            ("", "limits.max_cost = 3", "settings", "price"),
            ("", "verify = ['pytset -q']", "verify program", "there is no such program"),
            ("", "verify = ['./plain']", "verify program", "`chmod +x ./plain`"),
            ("", "verify = ['true']", "", ""),
        ],
    )
    def test_what_a_run_would_refuse_is_found(
        self, ralph: Callable[..., Any], workspace: Path, home: Path, theirs: str, own: str, name: str, said: str
    ) -> None:
        (workspace / "plain").write_text("exit 0\n")
        (workspace / "ralph.toml").write_text(theirs)
        (home / "config" / "ralph").mkdir(parents=True)
        (home / "config" / "ralph" / "ralph.toml").write_text(f"executor.name = 'quick'\n{own}\n")
        (workspace / ".ralph").mkdir()
        (workspace / ".ralph" / "plugin.py").write_text(AGENT)
        assert is_agreed(workspace / ".ralph" / "plugin.py", AGENT.encode(), trust=True)
        ended = ralph("doctor", "--json")
        failed = [each for each in json.loads(ended.out)["findings"] if not each["ok"] and each["name"] == name]
        assert (ended.code, bool(failed)) == ((2, True) if name else (0, False)), ended.out
        assert all(said in f"{each['detail']} {each['remedy']}" for each in failed[:1])
        last = "A run cannot work here yet." if name else "A run can work here."
        assert last in ralph("doctor").out

    def test_an_endpoint_that_refuses(self, ralph: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("RALPH_EXECUTOR__BASE_URL", "http://127.0.0.1:1/v1")
        monkeypatch.setenv("RALPH_EXECUTOR__MODEL", "m")
        ended = ralph("doctor")
        assert ended.code == 6
        assert "127.0.0.1:1 refuses the connection" in ended.out
        assert "correct executor.base_url" in ended.out

    @pytest.mark.parametrize(
        ("token", "said"), [("", "if the Copilot CLI has its own login"), ("x", "can work here.\n")]
    )
    def test_a_login_that_cannot_be_seen_is_no_promise(
        self, ralph: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, token: str, said: str
    ) -> None:
        program = tmp_path / "copilot"
        program.write_text("#!/bin/sh\necho 'GitHub Copilot CLI 1.0.102.'\n")
        program.chmod(0o755)
        monkeypatch.setenv("COPILOT_CLI_PATH", str(program))
        for name in ("COPILOT_GITHUB_TOKEN", "GITHUB_TOKEN", "COPILOT_PROVIDER_BASE_URL"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("GH_TOKEN", token)
        ended = ralph("doctor")
        assert ended.code == 0, ended.out
        assert said in ended.out

    PICKY = """
        from ralph import Executor
        from ralph.errors import ExecutorUnavailableError
        from ralph.plugins import Provider, hookimpl


        class Picky(Executor):
            name = "picky"

            async def check(self):
                raise ExecutorUnavailableError("The moon is not up.", "Wait for it.")


        class Ready(Executor):
            name = "ready"

            async def check(self):
                return "version 7"


        class Broken(Executor):
            name = "broken"

            async def check(self):
                return 1 / 0


        @hookimpl
        def ralph_executors():
            yield Provider("picky", "waits", lambda context: Picky())
            yield Provider("ready", "works", lambda context: Ready())
            yield Provider("broken", "fails", lambda context: Broken())
    """

    @pytest.mark.parametrize(("name", "code"), [("ready", 0), ("picky", 6), ("broken", 6)])
    def test_executors_of_plugins_are_asked_and_the_one_in_the_settings_must_work(
        self,
        ralph: Callable[..., Any],
        install: Callable[..., None],
        monkeypatch: pytest.MonkeyPatch,
        name: str,
        code: int,
    ) -> None:
        install("picky", self.PICKY)
        monkeypatch.setenv("RALPH_EXECUTOR__NAME", name)
        monkeypatch.setenv("COPILOT_CLI_PATH", "/nowhere/copilot")
        ended = ralph("doctor", "--json")
        assert ended.code == code
        found = {finding["name"]: finding for finding in json.loads(ended.out)["findings"]}
        assert "copilot" not in found
        said = {"ready": "version 7", "picky": "The moon is not up.", "broken": "ZeroDivisionError: division by zero"}
        for each, words in said.items():
            finding = found["executor" if each == name else each]
            assert words in finding["detail"]
            assert finding["ok"] is (each == "ready")
            assert bool(finding["remedy"]) is not finding["ok"]

    def test_two_plugins_that_are_at_odds_let_no_run_begin(
        self, ralph: Callable[..., Any], install: Callable[..., None], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        install("picky", self.PICKY)
        install("other", self.PICKY)
        monkeypatch.setenv("RALPH_EXECUTOR__NAME", "ready")
        ended = ralph("doctor")
        assert ended.code != 0
        assert "The executor 'picky' exists twice" in ended.out

    def test_a_store_that_cannot_be_used(
        self, ralph: Callable[..., Any], home: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (home / "junk.db").write_text("no database " * 1_000)
        monkeypatch.setenv("RALPH_STORE", str(home / "junk.db"))
        told = json.loads(ralph("doctor", "--json").out)
        (store,) = [finding for finding in told["findings"] if finding["name"] == "store"]
        assert store["ok"] is False
        assert told["ok"] is False


def test_variables_that_are_withheld_are_named_at_the_start_of_a_run_and_by_doctor(
    ralph: Callable[..., Any], workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (workspace / ".ralph").mkdir()
    (workspace / ".ralph" / "plugin.py").write_text(AGENT)
    values = {"DATABASE_URL": "postgres://db/shop", "SECRET_KEY": "s3cret-of-mine", "SSH_AUTH_SOCK": "/run/agent.1"}
    for name, value in {**values, "RALPH_STORE": "memory:", "LANG": "C"}.items():
        monkeypatch.setenv(name, value)
    run = ("run", "Work.", "--executor", "quick", "--verify", "none", "--display", "plain", "--trust")

    started = ralph(*run)
    (line,) = [line for line in started.out.splitlines() if "Withheld" in line]
    assert all(name in line for name in values)
    assert "RALPH_STORE" not in line
    assert "LANG" not in line
    assert "environment.keep" in line
    assert not [value for value in values.values() if value in started.out]
    findings = {finding["name"]: finding for finding in json.loads(ralph("doctor", "--json").out)["findings"]}
    assert findings["environment"]["detail"] in line
    assert findings["environment"]["ok"]

    monkeypatch.setenv("RALPH_ENVIRONMENT__KEEP", '["DATABASE_URL", "SECRET_*", "*_AUTH_*"]')
    monkeypatch.setenv("GH_TOKEN", "t0ken-of-mine")
    (line,) = [line for line in ralph(*run).out.splitlines() if "Withheld" in line]
    assert "secrets: GH_TOKEN." in line
    monkeypatch.delenv("GH_TOKEN")
    assert "Withheld" not in ralph(*run).out + ralph("doctor").out
