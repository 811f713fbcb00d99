"""Settings: which source wins, what is refused, and in which words."""

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.decision.breaker import PRESETS, BreakerSettings
from ralph.errors import SettingError, UntrustedSettingsError, UsageError
from ralph.settings import (
    Settings,
    Source,
    environment,
    load_settings,
    own_sources,
    parse_duration,
    read_settings,
    require_trust,
    untrusted_keys,
)

KEY = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789"


def test_a_project_file_that_cannot_be_read_is_for_other_tools_to_report(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.ralph\n")
    assert own_sources(tmp_path) == []


def loaded(*values: dict[str, Any]) -> Settings:
    """The settings of these sources, weakest first; they are called "source 1", "source 2" …"""
    return load_settings([Source(f"source {number}", each) for number, each in enumerate(values, start=1)]).settings


def refusal(*values: dict[str, Any]) -> SettingError:
    with pytest.raises(SettingError) as caught:
        loaded(*values)
    return caught.value


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.upper().startswith("RALPH_")]:
        monkeypatch.delenv(name)


def test_nothing_said_is_the_defaults() -> None:
    assert loaded() == Settings()
    assert Settings().breaker_settings().model_dump() == BreakerSettings().model_dump()


def test_the_later_source_wins_key_by_key_and_is_remembered() -> None:
    found = load_settings([
        Source("the file", {"limits": {"max_iterations": 3, "max_tokens": 9}, "verify": ["a", "b"]}),
        Source("the command line", {"limits": {"max_iterations": 5}, "verify": ["c"]}),
    ])
    assert (found.settings.limits.max_iterations, found.settings.limits.max_tokens) == (5, 9)
    assert found.settings.verify == ("c",)
    assert found.origins == {
        "limits.max_iterations": "the command line",
        "limits.max_tokens": "the file",
        "verify": "the command line",
    }


def test_loading_leaves_the_sources_alone() -> None:
    weak, strong = {"limits": {"max_tokens": 9}}, {"limits": {"max_tokens": 5}}
    loaded(weak, strong)
    assert weak == {"limits": {"max_tokens": 9}}


# covers: KX-4
@pytest.mark.parametrize(
    ("sources", "no_progress", "stagnation", "same_error"),
    [
        ([{"preset": "debugging"}], 8, 2, 5),
        ([{"preset": "debugging", "breaker": {"no_progress": 4}}], 4, 2, 5),
        ([{"preset": "debugging"}, {"breaker": {"no_progress": 4}}], 4, 2, 5),
        ([{"breaker": {"no_progress": 4, "same_error": 9}}, {"preset": "debugging"}], 8, 2, 9),
        ([{"preset": "generic"}, {"preset": "debugging"}], 8, 2, 5),
        ([{"breaker": {"same_error": 9}}, {"preset": "generic"}, {"breaker": {"stagnation": 1}}], 10, 1, 9),
        ([{"breaker": {"no_progress": 3}, "preset": "generic"}], 3, 3, 5),
    ],
)
def test_a_preset_lies_under_what_its_source_and_stronger_ones_say(
    sources: list[dict[str, Any]], no_progress: int, stagnation: float, same_error: int
) -> None:
    settings = loaded(*sources).breaker_settings()
    assert (settings.no_progress, settings.stagnation, settings.same_error) == (no_progress, stagnation, same_error)


def test_every_preset_can_be_named() -> None:
    for name, preset in PRESETS.items():
        assert loaded({"preset": name}).breaker_settings().model_dump() == preset.model_dump()


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("90s", 90),
        ("15m", 900),
        ("2h", 7200),
        ("1h30m", 5400),
        ("1d", 86400),
        ("250ms", 0.25),
        ("1.5h", 5400),
        (" 90S ", 90),
        ("90", 90),
        (45, 45),
        (0.5, 0.5),
    ],
)
def test_durations(said: object, seconds: float) -> None:
    assert loaded({"limits": {"max_duration": said}}).limits.max_duration == seconds
    assert loaded({"executor": {"idle_timeout": said}}).executor.idle_timeout == seconds
    assert loaded({"breaker": {"cool_down": said}}).breaker_settings().cool_down == seconds
    assert loaded({"decision": {"rate_limit_wait": said}}).decision.rate_limit_wait == seconds


IMPOSSIBLE_DURATIONS = [
    *("", "s", "-5s", "9e9", "1h-30m", "90 seconds", "soon", "٣s", "1.5.5s", "inf", "nan", "0x10", "1" * 99),
    *("0s", 0, -5, 9e9, 1e300, float("inf"), float("nan"), True, [90], {"s": 90}, "999999999d"),
]


def test_impossible_durations_are_refused(subtests: pytest.Subtests) -> None:
    for said in IMPOSSIBLE_DURATIONS:
        with subtests.test(said=said):
            error = refusal({"limits": {"max_duration": said}})
            assert (error.key, error.source) == ("limits.max_duration", "source 1")
            assert len(str(error)) < 300


def test_a_cool_down_may_be_nothing_at_all() -> None:
    assert loaded({"breaker": {"cool_down": "0s"}}).breaker.cool_down == 0


@given(st.text(max_size=40))
def test_any_text_is_a_duration_or_is_refused(text: str) -> None:
    try:
        value = parse_duration(text)
    except ValueError:
        return
    assert isinstance(value, float)
    assert value >= 0


MISTAKES = [
    ({"breaker": {"no_progres": 3}}, "breaker.no_progres", "Did you mean 'no_progress'?"),
    ({"limit": {"max_tokens": 3}}, "limit", "Did you mean 'limits'?"),
    ({"xyzzy": 1}, "xyzzy", "Known: analysis, analyzers, breaker, checkpoints, commit, commit_hooks,"),
    ({"executor": {"nmae": "x"}}, "executor.nmae", "Did you mean 'name'?"),
    ({"prices": {"gpt-4.1": {"inputs": 1, "output": 2}}}, "prices.gpt-4.1.inputs", "Did you mean 'input'?"),
    ({"prices": {"m": {"input": 1}}}, "prices.m.output", "it is missing. Add it."),
    ({"prices": {"m": 5}}, "prices.m", "its settings: cached_input, input, output."),
    ({"keywords": [{"text": "a"}, {"txt": "b"}]}, "keywords.1.txt", "Did you mean 'text'?"),
    ({"keywords": [{"text": "a", "weight": "huge"}]}, "keywords.0.weight", "'high' or 'very_high'"),
    ({"keywords": [{"text": "  "}]}, "keywords.0.text", "a phrase needs at least one"),
    ({"keywords": [{"text": "\x1c"}]}, "keywords.0.text", "a phrase needs at least one"),
    (
        {"keywords": [{"text": "a", "forms": ["b", ""]}]},
        "keywords.0.forms.1",
        "a phrase needs at least one character",
    ),
    ({"preset": "debuging"}, "preset", "Did you mean 'debugging'?"),
    ({"breaker": 5}, "breaker", "its settings: cool_down, denials,"),
    ({"prices": 5}, "prices", "Write a table."),
    ({"verify": "pytest -q"}, "verify", """Write a list, as in ["…"]."""),
    ({"verify": ["a", 5]}, "verify.1", "5 is not valid: it should be text."),
    ({"limits": {"max_iterations": "many"}}, "limits.max_iterations", "'many' is not valid"),
    ({"limits": {"max_iterations": 0}}, "limits.max_iterations", "0 is not valid: it should be greater than 0."),
    ({"limits": {"max_duration": True}}, "limits.max_duration", "true is not valid: write a duration as 90s, 15m"),
    ({"verify": {"commands": ["a"]}}, "verify", "the value is not valid. Write a list"),
    ({"limits": {"max_iterations": 10**400}}, "limits.max_iterations", "so large a number is not valid"),
    ({"limits": {"calls_per_hour": 10**9}}, "limits.calls_per_hour", "it should be at most 10000."),
    ({"breaker": {"when_open": "explode"}}, "breaker.when_open", "'stop' or 'wait'"),
    ({"plugins": {"acp": 1}}, "plugins.acp", "Write a table."),
    ({"executor": {"base_url": ""}}, "executor.base_url", "'' is not valid. Write one, or leave it out."),
    ({"promise": ""}, "promise", "leave it out"),
    ({"strategy": None}, "strategy", "it should be text."),
    ({"protect": [""]}, "protect.0", "'' is not valid: no path in the workspace matches it"),
    ({"protect": ["a", "../outside"]}, "protect.1", "'../outside' is not valid: no path in the workspace"),
    ({"protect": ["./"]}, "protect.0", "write it from the workspace on"),
    ({"protect": ["~/x"]}, "protect.0", "the home folder is not meant"),
    ({"environment": {"only": ["PATH", "BAD-NAME="]}}, "environment.only.1", "no variable can have this name"),
    ({"noise": ["/"]}, "noise.0", "'/' is not valid: no path in the workspace matches it"),
    ({"noise": ["build/", "../*.log"]}, "noise.1", "write it from the workspace on"),
    ({"environment": {"mask": ["DATABASE_URL=x"]}}, "environment.mask.0", "give only names"),
    ({"environment": {"keep": ["A=1"]}}, "environment.keep.0", "give only names"),
]


def test_what_is_wrong_is_said_in_one_paragraph(subtests: pytest.Subtests) -> None:
    for values, key, told in MISTAKES:
        with subtests.test(values=values):
            error = refusal({}, values, {"plan": "PLAN.md"})
            assert (error.key, error.source, error.exit_code) == (key, "source 2", 2)
            assert told in str(error)
            assert str(error).startswith(f"source 2: {key}: ")
            assert "\n" not in str(error)
            assert len(str(error)) < 400
            assert "pydantic" not in str(error).lower()
            assert "Settings" not in str(error)


@pytest.mark.parametrize(
    ("values", "key", "wanted"),
    [
        ({"breaker": {"no_progress": True}}, "breaker.no_progress", "true is not valid: it should be a whole number."),
        ({"limits": {"max_tokens": True}}, "limits.max_tokens", "true is not valid: it should be a whole number."),
        ({"limits": {"max_cost": True}}, "limits.max_cost", "true is not valid: it should be a number."),
        ({"verify_rounds": True}, "verify_rounds", "true is not valid: it should be a whole number."),
        ({"decision": {"questions": True}}, "decision.questions", "true is not valid: it should be a whole number."),
        (
            {"prices": {"gpt-4.1": {"input": False, "output": 1}}},
            "prices.gpt-4.1.input",
            "false is not valid: it should be a number.",
        ),
    ],
)
def test_true_and_false_are_no_numbers(values: dict[str, Any], key: str, wanted: str) -> None:
    error = refusal({}, values, {"checkpoints": False})
    assert str(error) == f"source 2: {key}: {wanted}"


def test_numbers_may_be_written_as_text_and_true_where_it_is_meant(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RALPH_BREAKER__NO_PROGRESS", "7")
    monkeypatch.setenv("RALPH_LIMITS__MAX_COST", "1.5")
    settings = load_settings([
        environment(),
        Source("file", {"checkpoints": True, "plugins": {"a": {"b": True}}}),
    ]).settings
    assert (settings.breaker.no_progress, settings.limits.max_cost) == (7, 1.5)
    assert settings.checkpoints
    assert settings.plugins == {"a": {"b": True}}


def test_of_a_huge_key_only_the_beginning_is_told() -> None:
    assert len(str(refusal({"x" * 100_000: 1}))) < 600


@pytest.mark.parametrize(
    "values",
    [
        {"executor": {"api_key": [KEY]}},
        {"executor": {"api_key": {"value": KEY}}},
        {"executor": {"api_key": 123456789012}},
        {"executor": {"headers": f"Authorization: Bearer {KEY}"}},
        {"executor": {"headers": {"X-Auth": 123456789012}}},
        {"executor": {"headers": {"X-Auth": [KEY]}}},
        {"executor": [KEY]},
        {"executor": {"wire_api": KEY}},
        {"verify": f"curl -H 'Authorization: Bearer {KEY}'"},
        {"executor": {"context": f"https://me:{KEY}@localhost"}},
    ],
)
def test_no_message_shows_a_secret(values: dict[str, Any]) -> None:
    told = str(refusal(values))
    assert "abcdefghijklm" not in told
    assert "123456789012" not in told
    assert "is not valid" in told


def test_the_key_is_masked_however_the_settings_are_shown() -> None:
    settings = loaded({"executor": {"api_key": KEY}})
    assert settings.executor.api_key is not None
    assert settings.executor.api_key.get_secret_value() == KEY
    for shown in (repr(settings), str(settings), settings.model_dump_json(), str(settings.model_dump())):
        assert KEY not in shown


# covers: S0-29, K0-20
def test_variables_set_what_they_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RALPH_BREAKER__NO_PROGRESS", "5")
    monkeypatch.setenv("RALPH_LIMITS__MAX_DURATION", "1h30m")
    monkeypatch.setenv("RALPH_VERIFY", '["pytest -q"]')
    monkeypatch.setenv("RALPH_PLAN", "PLAN.md")
    monkeypatch.setenv("RALPH_EXECUTOR__API_KEY", KEY)
    found = load_settings([Source("ralph.toml", {"breaker": {"no_progress": 9}, "plan": "x"}), environment()])
    settings = found.settings
    assert (settings.breaker.no_progress, settings.limits.max_duration) == (5, 5400)
    assert (settings.verify, settings.plan) == (("pytest -q",), "PLAN.md")
    assert settings.executor.api_key is not None
    assert found.origins["breaker.no_progress"] == "the environment"


@pytest.mark.parametrize(
    "name", ["RALPH_DEBUG", "RALPH_TURN", "RALPH_BREAKR__NO_PROGRESS", "RALPH_", "RALPH", "RALPH_NAME"]
)
def test_variables_that_name_no_setting_are_somebody_elses(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "1")
    assert environment().values == {}


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("RALPH_BREAKER__NO_PROGRES", "5", "Did you mean 'no_progress'?"),
        ("RALPH_BREAKER__NO_PROGRESS", "x", "'x' is not valid"),
        ("RALPH_BREAKER__NO_PROGRESS", "", "'' is not valid"),
        ("RALPH_VERIFY", "pytest -q", """Write it as in RALPH_VERIFY='["…"]'."""),
        ("RALPH_EXECUTOR", "copilot-cli", "as in RALPH_EXECUTOR__NAME=…"),
        ("RALPH_EXECUTOR", f'{{"api_key": "{KEY}"', "it is a whole section"),
        (
            "RALPH_ANALYSIS__LANGUAGES",
            "en",
            """RALPH_ANALYSIS__LANGUAGES: lists and tables are written as JSON. Write""",
        ),
        ("RALPH_ANALYSIS__LANGUAGES", "en", """as in RALPH_ANALYSIS__LANGUAGES='["…"]'."""),
        ("RALPH_EXECUTOR__HEADERS", "X: y", """as in RALPH_EXECUTOR__HEADERS='{"…": "…"}'."""),
        ("RALPH_PRICES", "{", """as in RALPH_PRICES='{"…": "…"}'."""),
        ("RALPH_PRICES", "{", "lists and tables are written as JSON"),
        ("RALPH_MAX_ITERATIONS", "3", "Did you mean 'RALPH_LIMITS__MAX_ITERATIONS'?"),
        ("RALPH_API_KEY", KEY, "Did you mean 'RALPH_EXECUTOR__API_KEY'?"),
    ],
)
def test_variables_that_will_not_do(name: str, value: str, told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingError) as caught:
        load_settings([environment()])
    assert caught.value.source == "the environment"
    assert told in str(caught.value)
    assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    ("values", "keys"),
    [
        ({"verify": ["rm -rf /"], "limits": {"max_iterations": 3}}, ("verify",)),
        ({"executor": {"headers": {"X": "y"}, "model": "m"}}, ("executor.headers", "executor.model")),
        (
            {"executor": {"base_url": "https://evil", "permission": "approve-all"}},
            ("executor.base_url", "executor.permission"),
        ),
        ({"executor": {"deny": []}}, ()),
        ({"verify": []}, ("verify",)),
        ({"verifiers": ["shell:command=rm -rf /"]}, ("verifiers",)),
        ({"store": "sqlite:///elsewhere"}, ("store",)),
        ({"limits": {"max_iterations": 3}, "verify_timeout": "5m", "plan": "PLAN.md"}, ()),
        ({"limits": {"max_iterations": "many"}, "plan": "PLAN.md"}, ("limits.max_iterations",)),
        ({}, ()),
    ],
)
def test_what_of_a_workspaces_own_settings_needs_consent(values: dict[str, Any], keys: tuple[str, ...]) -> None:
    assert untrusted_keys(Source("ralph.toml", values)) == keys


def test_consent_in_one_workspace_leaves_that_in_another_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    sources = [Source(f"{name}/ralph.toml", {"verify": ["make"]}) for name in ("first", "second")]
    for source in sources:
        require_trust(source, trust=True)
    for source in sources:
        require_trust(source, trust=False)  # raises if the user has to be asked again
    with pytest.raises(UntrustedSettingsError):
        require_trust(Source("first/ralph.toml", {"verify": ["make", "rm -rf /"]}), trust=False)


@pytest.mark.parametrize(
    ("key", "meant"), [("max_iteratons", "'limits.max_iterations'"), ("idle_timeout", "'executor.idle_timeout'")]
)
def test_a_key_without_its_section_is_told_where_it_belongs(key: str, meant: str) -> None:
    with pytest.raises(SettingError, match=f"Did you mean {meant}"):
        load_settings([Source("ralph.toml", {key: 1})])


@pytest.mark.parametrize(
    ("values", "told"),
    [
        (({"limits": {"max_tokens": 5}}, {"limits": 5}), "source 2: limits: 5 is not valid"),
        (({"executor": "copilot"}, {"executor": {"model": "m"}}), "source 1: executor: 'copilot' is not valid"),
        (({"limits": {"max_tokens": 5}}, {"breakr": {}}), "source 2: breakr: there is no such setting."),
    ],
)
def test_the_source_that_is_named_is_the_one_that_says_it(values: tuple[dict[str, Any], ...], told: str) -> None:
    assert told in str(refusal(*values))


def test_an_absolute_path_in_the_workspace_is_written_from_it_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    flags = {"--protect": (f"{tmp_path}/a/b.txt", "./here")}
    assert read_settings(tmp_path, flags).settings.protect == ("./a/b.txt", "./here")
    with pytest.raises(UsageError, match=r"--protect: .*leads out of the workspace"):
        read_settings(tmp_path / "inner", {"--protect": (f"{tmp_path}/a/b.txt",)})
