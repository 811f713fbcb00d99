"""A workspace can only tighten: what it loosens needs consent, and what the user says wins."""

import json
from pathlib import Path
from typing import Any

import pytest

from ralph.errors import SettingError, UntrustedSettingsError
from ralph.settings import Settings, Source, read_settings, settings_in, untrusted_keys, user_file
from ralph.settings.model import governing
from ralph.system.declarations import HARMLESS

LEAVES = [each for each in settings_in(Settings) if each.section is None]

TIGHTER_AND_LOOSER: dict[str, tuple[Any, Any]] = {
    "commit_hooks": (False, True),
    "executor.permission": ("read-only", "approve-all"),
    "executor.deny": (["shell(rm)"], None),
    "executor.iteration_timeout": ("1m", "9h"),
    "executor.idle_timeout": ("1m", "9h"),
    "executor.tool_timeout": ("1m", "9h"),
    "limits.max_iterations": (50, 51),
    "limits.max_duration": ("1s", None),
    "limits.max_tokens": (1, None),
    "limits.max_requests": (1, None),
    "limits.max_cost": (0.1, None),
    "limits.calls_per_hour": (1, None),
    "breaker.no_progress": (2, 4),
    "breaker.same_error": (4, 6),
    "breaker.denials": (1, 3),
    "breaker.stagnation": (1.0, None),
    "breaker.when_open": ("stop", "wait"),
    "breaker.cool_down": ("31m", "0s"),
    "breaker.max_probes": (3, 4),
    "decision.test_saturation": (1, 4),
    "decision.blocked": (1, 3),
    "decision.questions": (1, 4),
    "decision.confirm_words": (True, False),
    "decision.unavailable": (1, 3),
    "decision.rate_limit_wait": ("2m", "1s"),
    "decision.max_rate_limit_wait": ("2h", "1s"),
    "verify_timeout": ("1m", "9h"),
    "checkpoints": (True, False),
    "commit": ("none", "iteration"),
    "worktree_end": ("keep", "discard"),
    "protect": (["tests/"], None),
    "sandbox.kind": ("bwrap", None),
    "sandbox.network": ("none", "all"),
    "sandbox.hosts": ([], ["packages.example.org"]),
    "sandbox.readable": ([], ["~/.nvm"]),
    "sandbox.writable": ([], ["~/.cache"]),
    "sandbox.max_memory": ("1G", None),
    "sandbox.max_processes": (64, None),
    "sandbox.max_file_size": ("1G", None),
    "protect_checks": ("on", "off"),
}
"""A value that only tightens, and one that loosens; None if the default is already the loosest."""


@pytest.fixture(autouse=True)
def _own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def said(key: str, value: Any) -> dict[str, Any]:
    *sections, name = key.split(".")
    values: dict[str, Any] = {name: value}
    for section in reversed(sections):
        values = {section: values}
    return values


def test_a_workspace_asks_for_whatever_it_loosens(subtests: pytest.Subtests) -> None:
    """The table is over all settings: each is harmless, always asks, or has an example of both directions here."""
    found: set[str] = set()
    for setting in LEAVES:
        with subtests.test(setting=setting.key):
            rules = governing(setting.key)
            assert rules is not None
            if rules.tighter is None:
                asks = () if rules.marked(HARMLESS) else (rules.key,)
                assert untrusted_keys(Source("ralph.toml", said(setting.key, "x"))) == asks
                continue
            found.add(setting.key)
            tighter, looser = TIGHTER_AND_LOOSER[setting.key]
            assert untrusted_keys(Source("ralph.toml", said(setting.key, tighter))) == ()
            if looser is not None:
                assert untrusted_keys(Source("ralph.toml", said(setting.key, looser))) == (setting.key,)
    assert found == set(TIGHTER_AND_LOOSER)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("ralph.toml", "[limits]\nmax_iterations = 900\n"),
        ("pyproject.toml", "[tool.ralph]\ncheckpoints = false\n"),
        ("ralph.toml", "commit = 'iteration'\n"),
        ("pyproject.toml", "[tool.ralph]\nnoise = ['**']\n"),
    ],
)
def test_neither_file_of_a_workspace_loosens_without_consent(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(UntrustedSettingsError, match="needs your consent"):
        read_settings(tmp_path)
    assert read_settings(tmp_path, own="trusted").settings == Settings()
    read_settings(tmp_path, trust=True)
    assert read_settings(tmp_path).settings != Settings()


def test_what_the_user_says_wins_over_what_a_workspace_brings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.ralph.limits]\nmax_iterations = 9\nmax_tokens = 9\n")
    (tmp_path / "ralph.toml").write_text("plan = 'theirs.md'\n[limits]\nmax_iterations = 8\nmax_requests = 8\n")
    user_file().parent.mkdir(parents=True, exist_ok=True)
    user_file().write_text("[limits]\nmax_iterations = 7\nmax_tokens = 7\nmax_cost = 7\n")
    monkeypatch.setenv("RALPH_LIMITS__MAX_COST", "6")
    found = read_settings(tmp_path, {"--plan": "mine.md"}).settings
    limits = found.limits
    assert (limits.max_iterations, limits.max_tokens, limits.max_requests, limits.max_cost) == (7, 7, 8, 6)
    assert found.plan == "mine.md"


def test_the_refusal_says_of_each_setting_why_it_needs_consent(tmp_path: Path) -> None:
    said = {
        "limits.max_iterations = 500\n": "limits.max_iterations = 500 is more than the default of 50.",
        "commit = 'iteration'\n": 'commit = "iteration" is looser than the default of none.',
        "verify_timeout = '2h'\n": 'verify_timeout = "2h" is more than the default of 10m.',
        "breaker.cool_down = '1m'\n": 'breaker.cool_down = "1m" is less than the default of 30m.',
        "checkpoints = false\n": "checkpoints = false is looser than the default of true.",
        "verify = ['x']\nnoise = ['y']\n": "consent: noise can change what counts as done or stuck; verify can run",
        "[analysis]\nwindow = 5\n": "consent: it can change what counts as done or stuck.",
        "[analysis]\nwindow = 5\nrepeats = 2\n": "consent: they can change what counts as done or stuck.",
    }
    for text, reason in said.items():
        (tmp_path / "ralph.toml").write_text(text)
        with pytest.raises(UntrustedSettingsError) as refused:
            read_settings(tmp_path)
        assert reason in refused.value.problem
        assert ("can run programs" in refused.value.problem) == ("verify =" in text)


def test_the_lists_of_a_workspace_that_only_tighten_stay_in_force(tmp_path: Path) -> None:
    """The user's own list adds to them, and comes last, so that a `!` in it counts."""
    (tmp_path / "pyproject.toml").write_text("[tool.ralph]\nprotect = ['a']\n")
    (tmp_path / "ralph.toml").write_text("protect = ['README.md', 'x']\n[executor]\ndeny = ['shell(rm)']\n")
    user_file().parent.mkdir(parents=True, exist_ok=True)
    user_file().write_text("protect = ['x']\n[executor]\ndeny = []\n")
    found = read_settings(tmp_path, {"--protect": ("!a",)})
    assert found.settings.protect == ("a", "README.md", "x", "!a")
    assert found.settings.executor.deny == ("shell(rm)",)
    assert found.origins["executor.deny"] == str(tmp_path / "ralph.toml")
    assert found.origins["protect"].endswith(f"{tmp_path / 'ralph.toml'} and {user_file()} and the command line")


def test_config_show_names_a_tighter_value_that_the_users_own_overrides(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from ralph.cli.config import show

    (tmp_path / "ralph.toml").write_text("[limits]\nmax_iterations = 5\nmax_tokens = 9\n")
    user_file().parent.mkdir(parents=True, exist_ok=True)
    user_file().write_text("[limits]\nmax_iterations = 30\nmax_tokens = 8\n")
    show(directory=tmp_path, as_json=True)
    shown = json.loads(capsys.readouterr().out)["settings"]
    assert shown["limits.max_iterations"]["tighter"] == f"{tmp_path / 'ralph.toml'} has 5"
    assert "tighter" not in shown["limits.max_tokens"]
    show(directory=tmp_path)
    assert "has 5, which is tighter; what you say yourself wins." in " ".join(capsys.readouterr().out.split())


def test_what_is_not_valid_is_no_way_around_consent(tmp_path: Path) -> None:
    """The user's own value hides that of the workspace, so the file loads; the rest of it must not slip through."""
    (tmp_path / "ralph.toml").write_text("[limits]\nmax_iterations = 'many'\n[breaker]\nno_progress = 900\n")
    with pytest.raises(SettingError, match="many"):
        read_settings(tmp_path)
    with pytest.raises(UntrustedSettingsError, match=r"breaker\.no_progress, limits\.max_iterations"):
        read_settings(tmp_path, {"--max-iterations": 3})


def test_config_show_names_the_consent_of_each_value(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from ralph.cli.config import show

    (tmp_path / "ralph.toml").write_text("plan = 'p.md'\nverify = ['true']\n[sandbox]\nnetwork = 'all'\n")
    shown: list[dict[str, Any]] = []
    for trust in (False, True):
        if trust:
            read_settings(tmp_path, trust=True)
        show(directory=tmp_path, as_json=True)
        shown.append(json.loads(capsys.readouterr().out)["settings"])
    consent = {key: tuple(each[key].get("consent") for each in shown) for key in ("plan", "verify", "sandbox.network")}
    assert consent == {"plan": (None, None), "verify": ("needed", "given"), "sandbox.network": ("needed", "given")}
    assert shown[0]["verify"]["source"] == str(tmp_path / "ralph.toml")
    assert shown[0]["commit"] == {"value": "none", "source": "default"}
    show(directory=tmp_path)
    assert "(consent given)" in " ".join(capsys.readouterr().out.split())
