"""`ralph config get` and `set`: one setting is read or written, and the rest of the file stays."""

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

_FILE = """\
# Mine.
verify = [
    "pytest -q",  # quick
]

[limits]
# A note.
max_iterations = 5
"""


@pytest.mark.parametrize(
    ("words", "key", "value"),
    [
        (["limits.max_iterations", "20"], "limits.max_iterations", 20),
        (["limits.max_duration", "2h"], "limits.max_duration", "2h"),
        (["verify", "pytest -q", "ruff check ."], "verify", ["pytest -q", "ruff check ."]),
        (["verify", '["make test"]'], "verify", ["make test"]),
        (["executor.model", "5"], "executor.model", "5"),
        (["commit_hooks", "true"], "commit_hooks", True),
        (["executor.model", 'say "x" \\'], "executor.model", 'say "x" \\'),
    ],
)
def test_a_setting_is_written_and_everything_else_stays(
    ralph: Callable[..., Any], workspace: Path, words: list[str], key: str, value: object
) -> None:
    for before in ("", _FILE, _FILE.rstrip("\n"), f"{_FILE}[executor]\nname = 'copilot'\n"):
        file = workspace / "ralph.toml"
        file.write_text(before)
        ended = ralph("config", "set", *words)
        assert (ended.code, ended.err) == (0, "")
        expected: dict[str, Any] = tomllib.loads(before)
        section, _, name = key.rpartition(".")
        (expected.setdefault(section, {}) if section else expected)[name] = value
        assert tomllib.loads(file.read_text()) == expected
        assert {line for line in before.splitlines() if "#" in line and "quick" not in line} <= {
            *file.read_text().splitlines()
        }


def test_the_users_own_file_is_written_for_all_folders(ralph: Callable[..., Any], home: Path) -> None:
    assert ralph("config", "set", "--user", "limits.max_iterations", "7").code == 0
    assert (home / "config" / "ralph" / "ralph.toml").read_text() == "[limits]\nmax_iterations = 7\n"
    assert ralph("config", "get", "limits.max_iterations").out == "7\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["limits.max_iteration", "5"], "there is no such setting. Did you mean 'max_iterations'?"),
        (["limits.max_iterations", "many"], "'many' is not valid: it should be a whole number."),
        (["limits", "5"], "limits: 5 is not valid"),
        (["plugins.notify.nope", "5"], "plugins.notify.nope: there is no such setting"),
    ],
)
def test_what_is_not_valid_is_not_written(
    ralph: Callable[..., Any], workspace: Path, words: list[str], said: str
) -> None:
    ended = ralph("config", "set", *words)
    assert ended.code == 2
    assert said in ended.err
    assert not (workspace / "ralph.toml").exists()


def test_a_file_that_cannot_be_changed_by_line_is_left_alone(ralph: Callable[..., Any], workspace: Path) -> None:
    file = workspace / "ralph.toml"
    file.write_text("limits = {max_iterations = 5}\n")
    ended = ralph("config", "set", "limits.max_duration", "2h")
    assert ended.code == 2
    assert 'cannot be changed line by line. Edit it yourself: limits.max_duration is "2h".' in ended.err
    assert file.read_text() == "limits = {max_iterations = 5}\n"


def test_consent_covers_what_the_user_writes_and_nothing_else(ralph: Callable[..., Any], workspace: Path) -> None:
    assert ralph("config", "set", "verify", "true").code == 0
    assert json.loads(ralph("config", "show", "--json").out)["untrusted"] == []

    (workspace / "ralph.toml").write_text('verify = ["curl example.org"]\n')  # as a repository might bring it
    assert ralph("config", "set", "limits.max_iterations", "5").code == 0
    assert json.loads(ralph("config", "show", "--json").out)["untrusted"] == [str(workspace / "ralph.toml")]


def test_a_setting_is_read_with_its_source_and_no_secret(
    ralph: Callable[..., Any], workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RALPH_EXECUTOR__API_KEY", "hunter22hunter22")
    (workspace / "ralph.toml").write_text("[limits]\nmax_iterations = 5\n")
    found = json.loads(ralph("config", "get", "limits.max_iterations", "--json").out)
    assert found == {"key": "limits.max_iterations", "value": 5, "source": str(workspace / "ralph.toml")}
    assert ralph("config", "get", "executor.model").out == "\n"
    assert ralph("config", "get", "strategy").out == "auto\n"
    assert "hunter22" not in ralph("config", "get", "executor").out
    ended = ralph("config", "get", "limits.max_iteration")
    assert (ended.code, "Did you mean 'limits.max_iterations'?" in ended.err) == (2, True)
