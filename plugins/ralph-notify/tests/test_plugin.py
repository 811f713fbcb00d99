"""The plug-in's hooks, and notifications from the command line."""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr, ValidationError

from ralph.testing import own_environment, run_ralph
from ralph_notify import Notifier, NotifySettings
from ralph_notify.plugin import ralph_observers, ralph_settings

pytestmark = pytest.mark.filterwarnings("ignore:'imghdr' is deprecated:DeprecationWarning")  # Apprise's

EXECUTOR = """
from ralph.plugins import Provider, hookimpl
from ralph.testing import ScriptedExecutor

@hookimpl
def ralph_executors():
    yield Provider("quick", "says that it is done", lambda context: ScriptedExecutor([
        "All done.\\n---RALPH_STATUS---\\nEXIT_SIGNAL: true\\nREASON: written\\n---END_RALPH_STATUS---"]))
"""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Return an environment without the user's own files."""
    return own_environment(tmp_path)


def test_without_an_address_nothing_observes():
    assert list(ralph_observers(NotifySettings())) == []
    assert list(ralph_observers(None)) == []
    (observer,) = ralph_observers(NotifySettings(urls=(SecretStr("json://127.0.0.1/"),)))
    assert isinstance(observer, Notifier)
    assert ralph_settings() is NotifySettings


@pytest.mark.parametrize(
    "wrong", [{"on": ["run_ended"]}, {"urls": ["no address, hunter2"]}, {"patience": 60}, {"url": "json://127.0.0.1"}]
)
def test_settings_that_cannot_be(wrong: dict[str, object]):
    with pytest.raises(ValidationError):
        NotifySettings.model_validate(wrong)


def test_importing_the_plugin_is_cheap():
    code = "import ralph_notify.plugin, ralph_notify.settings, sys; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"apprise", "requests", "anyio", "typer"} & set(loaded)


def run(url: str, environment: dict[str, str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the program in a new workspace with an address in its settings."""
    (folder / ".ralph").mkdir(parents=True)
    (folder / ".ralph" / "plugin.py").write_text(EXECUTOR)
    (folder / "ralph.toml").write_text(f'[plugins.notify]\nurls = ["{url}"]\n')
    words = ["run", "Write a parser.", "--executor", "quick", "--trust", "--verify", "true", "--display", "json"]
    return run_ralph(words, environment, folder)


@pytest.mark.long
def test_with_an_address_that_apprise_does_not_know_a_run_continues_and_says_so(
    environment: dict[str, str], tmp_path: Path
):
    ended = run("nonsense://hunter2/x", environment, tmp_path / "work")
    assert ended.returncode == 0, ended.stderr
    assert "number 1 (nonsense) is not an address that Apprise knows" in ended.stdout
    assert "hunter2" not in ended.stdout + ended.stderr


def test_a_run_from_the_command_line_sends_a_notification(receiver: Any, environment: dict[str, str], tmp_path: Path):
    ended = run(receiver.url("a"), environment, tmp_path / "work")
    assert ended.returncode == 0, ended.stderr
    assert receiver.titles == ["Ralph: completed"]
    assert "Verified: no: 'true' passes, but it passed before the first iteration" in receiver.got[0][1]["message"]
    assert "hunter2" not in ended.stdout + ended.stderr
    kept = [each.read_bytes() for each in (tmp_path / "state").rglob("*") if each.is_file()]
    assert kept
    assert not any(b"me:hunter2" in each for each in kept)


def test_the_program_ends_while_a_receiver_hangs(receiver: Any, environment: dict[str, str], tmp_path: Path):
    own = {"RALPH_PLUGINS__NOTIFY__URLS": receiver.url("hang?rto=60"), "RALPH_PLUGINS__NOTIFY__PATIENCE": "0.2"}
    began = time.monotonic()
    tried = run_ralph(["notify"], {**environment, **own}, tmp_path)
    assert tried.stdout == "Address number 1 (json): it did not answer in time.\n"
    assert time.monotonic() - began < 20


def test_the_command_reports_which_address_accepts_the_message(
    receiver: Any, environment: dict[str, str], tmp_path: Path
):
    urls = json.dumps([receiver.url("a"), receiver.url("fail")])
    tried = run_ralph(["notify"], {**environment, "RALPH_PLUGINS__NOTIFY__URLS": urls}, tmp_path)
    assert tried.returncode == 1
    assert tried.stdout.splitlines() == [
        "Address number 1 (json): it accepted the message.",
        "Address number 2 (json): it answered 500.",
    ]
    assert receiver.titles.count("Ralph: test notification") == 2
    assert "hunter2" not in tried.stdout + tried.stderr


def test_the_command_without_an_address_says_what_to_set(environment: dict[str, str], tmp_path: Path):
    tried = run_ralph(["notify"], environment, tmp_path)
    assert tried.returncode == 2
    assert "[plugins.notify]" in tried.stderr


def test_the_command_refuses_an_unknown_address_without_showing_it(environment: dict[str, str], tmp_path: Path):
    tried = run_ralph(["notify"], {**environment, "RALPH_PLUGINS__NOTIFY__URLS": "nonsense://hunter2/x"}, tmp_path)
    assert tried.returncode == 2
    assert "number 1 (nonsense) is not an address" in tried.stderr
    assert "hunter2" not in tried.stdout + tried.stderr


def test_an_invalid_address_is_refused_without_being_shown(environment: dict[str, str], tmp_path: Path):
    tried = run_ralph(["plugins"], {**environment, "RALPH_PLUGINS__NOTIFY__URLS": "hunter2 hunter3"}, tmp_path)
    assert "plugins.notify.urls" in tried.stdout + tried.stderr
    assert "hunter2" not in tried.stdout + tried.stderr


@pytest.mark.parametrize("text", ["json://a.b ntfy://c", '["json://a.b", "ntfy://c"]', "json://a.b\nntfy://c\n"])
def test_a_variable_may_hold_several_addresses(text: str):
    shown = [url.get_secret_value() for url in NotifySettings.model_validate({"urls": text}).urls]
    assert shown == ["json://a.b", "ntfy://c"]
