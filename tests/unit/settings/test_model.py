"""The settings as a list: every one is documented, has a variable, and can be set by it."""

import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from ralph.decision.claims import STRATEGIES
from ralph.settings import FLAGS, TRUSTED_ONLY, ExecutorSettings, Setting, Settings, environment, settings_in
from ralph.settings.model import SECRETS, governing, secrets_of
from ralph.system.declarations import CONSENT, HARMLESS, format_duration, parse_duration
from ralph.types.output import Timeouts

REFERENCE = Path(__file__).parents[3] / "docs" / "reference" / "settings.md"
ALL = list(settings_in(Settings))
LEAVES = [each for each in ALL if each.section is None]


@pytest.mark.parametrize("setting", LEAVES, ids=lambda each: each.key)
def test_every_setting_has_help_a_documented_row_and_a_variable(
    setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert setting.field.description, "it has no help"
    table_of_tables = setting.key in {"prices", "keywords", "status_fields"}
    row = rf"^## `\[+{setting.key}\b" if table_of_tables else rf"^\| `{re.escape(setting.key)}` \|.*\S.* \|$"
    assert re.search(row, REFERENCE.read_text(encoding="utf-8"), re.MULTILINE), "it has no row in the reference"
    assert setting.variable == f"RALPH_{setting.key.replace('.', '__').upper()}"
    key = "plugins.acp.allow" if setting.key == "plugins" else setting.key  # RALPH_PLUGINS itself turns them off
    monkeypatch.setenv(setting.variable + key.removeprefix(setting.key).replace(".", "__").upper(), "[]")
    found: Any = environment().values
    for part in key.split("."):
        found = found[part]
    assert found in ("[]", [])


def test_the_help_of_the_strategy_names_every_built_in_one() -> None:
    assert str(Settings.model_fields["strategy"].description).endswith(f": {', '.join(sorted(STRATEGIES))}.")


def test_flags_are_unique_and_lead_to_a_single_setting() -> None:
    flagged = [each for each in ALL if each.flag]
    assert len(FLAGS) == len(flagged)
    assert not [each.key for each in flagged if each.section]


def test_what_runs_programs_or_sends_data_needs_consent() -> None:
    assert {"verify", "verify_shell", "executor.base_url", "executor.cli_path", "environment", "plugins"} < set(
        TRUSTED_ONLY
    )
    assert set(TRUSTED_ONLY) < {each.key for each in ALL}


def test_every_setting_declares_what_a_workspace_may_set() -> None:
    """A setting without exactly one declaration fails here: add CONSENT, HARMLESS or Tighter next to its type."""
    for setting in LEAVES:
        rules = governing(setting.key)
        assert rules is not None
        said = [rules.marked(CONSENT), rules.marked(HARMLESS), rules.tighter is not None]
        assert said.count(True) == 1, f"{setting.key}: {said}"
    harmless = [each.key for each in LEAVES if each.marked(HARMLESS)]
    assert harmless == ["executor.wire_api", "executor.context", "plan", "tasks.choose", "status_fields"]


def test_secrets_are_the_key_and_the_headers() -> None:
    assert SECRETS == ("executor.api_key", "executor.headers")
    executor = ExecutorSettings.model_validate({"api_key": "key-1", "headers": {"x": "head-1"}})
    assert list(secrets_of(Settings(executor=executor))) == ["key-1", "head-1"]
    assert list(secrets_of(Settings())) == []


def test_the_time_outs_of_a_runner_and_of_the_settings_are_the_same() -> None:
    own, timeouts = ExecutorSettings(), Timeouts()
    assert (own.idle_timeout, own.iteration_timeout, own.tool_timeout) == (
        timeouts.idle,
        timeouts.iteration,
        timeouts.tool,
    )


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(90, "90s"), (600, "10m"), (5400, "90m"), (3600, "1h"), (86400, "1d"), (0.25, "0.25s"), (0, "0s")],
)
def test_a_duration_is_written_as_it_is_read(seconds: float, text: str) -> None:
    assert format_duration(seconds) == text
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("pattern", ["[z-a]", "b\\", "# notes"])
def test_a_pattern_to_protect_that_can_match_nothing_is_refused(pattern: str) -> None:
    with pytest.raises(ValidationError, match="it can match nothing"):
        Settings(protect=(pattern,))
