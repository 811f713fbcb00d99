"""What Ralph is told of grounding, what that costs, and the program as a person calls it."""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ralph_grounding
from ralph.testing import own_environment, run_ralph
from ralph_grounding.plugin import ralph_analyzers, ralph_commands, ralph_settings, ralph_verifiers
from ralph_grounding.settings import GroundingSettings

HEAVY = {
    "anyio", "bs4", "fastembed", "httpx", "jinja2", "markdown_it", "numpy", "opentelemetry", "py3langid", "pydantic",
    "pypdf", "rich", "scipy", "snowballstemmer", "sqlalchemy", "tenacity", "typer", "yaml",
}  # fmt: skip
EXECUTOR = """
from ralph.plugins import Provider, hookimpl
from ralph.testing import ScriptedExecutor

def says(text):
    return f"{text}\\n---RALPH_STATUS---\\nEXIT_SIGNAL: true\\nREASON: written\\n---END_RALPH_STATUS---"

@hookimpl
def ralph_executors():
    replies = [says("The museum opens at nine in the morning."),
               says("The museum opens at nine in the morning. A ticket costs 12 euros.")]
    yield Provider("quick", "says that it is done", lambda context: ScriptedExecutor(replies))
"""
CLAIMS = "- The museum opens at nine in the morning.\n- A ticket costs 12 euros.\n"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """One in which nothing of the user's is read or written."""
    return own_environment(tmp_path)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    work = tmp_path / "work"
    (work / ".ralph").mkdir(parents=True)
    (work / ".ralph" / "plugin.py").write_text(EXECUTOR)
    (work / "claims.yaml").write_text(CLAIMS)
    return work


def loaded(code: str) -> set[str]:
    """The modules that a process has loaded after it ran some code."""
    command = (sys.executable, "-c", f"import sys\n{code}\nprint(*sys.modules)")
    return set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[-1].split())


# What it costs


def test_the_package_itself_loads_nothing_heavy() -> None:
    assert not HEAVY & loaded("import ralph_grounding")


@pytest.mark.parametrize("words", [["--version"], ["--help"]])
def test_it_adds_nothing_heavy_to_the_start(words: list[str]) -> None:
    run = f"sys.argv = ['ralph', *{words}]\nfrom ralph.cli import main\ntry: main()\nexcept SystemExit: pass"
    with_it = loaded(run)
    added = {"bs4", "httpx", "jinja2", "numpy", "py3langid", "pypdf", "scipy", "snowballstemmer", "sqlalchemy", "yaml"}
    assert not added & with_it
    own = sorted(name for name in with_it if name.startswith("ralph_grounding."))
    assert "ralph_grounding.analyzer" not in own
    assert len(own) <= (0 if words == ["--version"] else 20), own


@pytest.mark.alone
def test_its_hooks_are_answered_in_no_time() -> None:
    code = (
        "import ralph.plugins, time\nfrom ralph.plugins import Command, VerifierProvider, Provider\n"
        "began = time.process_time()\nimport ralph_grounding.plugin as plugin\n"
        "list(plugin.ralph_commands(None)), list(plugin.ralph_analyzers())\n"
        "print(time.process_time() - began)\nimport sys; print(*sys.modules)"
    )
    times: list[float] = []
    for _ in range(3):
        said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        times.append(float(said.splitlines()[0]))
        assert not {"numpy", "scipy", "sqlalchemy", "bs4"} & set(said.splitlines()[1].split())
    assert min(times) < 0.05


def test_each_command_loads_only_what_it_needs() -> None:
    app = "from ralph_grounding.plugin import ralph_commands\n(command,) = ralph_commands(None)\ncommand.app()"
    assert not {"bs4", "httpx", "jinja2", "numpy", "pypdf", "scipy", "sqlalchemy"} & loaded(app)


# What it brings


def test_it_brings_a_command_a_verifier_and_an_analyzer() -> None:
    assert ralph_settings() is GroundingSettings
    (command,), (verifier,), (analyzer,) = ralph_commands(None), ralph_verifiers(), ralph_analyzers()
    assert (command.name, verifier.name, analyzer.name) == ("score", "grounding", "grounding")


def test_every_public_name_is_there() -> None:
    assert [name for name in ralph_grounding.__all__ if not hasattr(ralph_grounding, name)] == []
    assert set(ralph_grounding.__all__) <= set(dir(ralph_grounding))
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = ralph_grounding.nothing


def test_scores_stand_in_the_analysis_and_hold_a_completion_back(folder: Path, environment: dict[str, str]) -> None:
    (folder / "ralph.toml").write_text(
        '[plugins.grounding.loop]\nclaims = "claims.yaml"\ndomain = "lantern.example"\nmin_completeness = 80\n'
    )
    words = ["--executor", "quick", "--trust", "--verify", "none", "--analyzer", "grounding", "--display", "json"]
    ended = run_ralph(["run", "Say when it opens and what it costs.", *words], environment, folder)
    assert ended.returncode == 0, ended.stderr
    events = [json.loads(line) for line in ended.stdout.splitlines()]
    assert (events[-1]["stop_reason"], events[-1]["iterations"]) == ("completed", 2)
    found = [each["analysis"]["further"]["grounding"] for each in events if each["type"] == "iteration_finished"]
    assert [each["completeness"] for each in found] == [50, 100]
    assert found[0]["missing"] == ["A ticket costs 12 euros."]
    assert found[0]["opinion"]["on_completion"] == "holds_back"
    shown = run_ralph(["show", events[0]["run_id"], "--iteration", "1"], environment, folder)
    assert shown.returncode == 0, shown.stderr
    assert "missing: A ticket costs 12 euros." in " ".join(shown.stdout.split())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--verifier", "grounding"], "nothing to hold a document against"),
        (["--verifier", "grounding:claims=nowhere.yaml"], "nowhere.yaml"),
        (["--verifier", "grounding:claim=claims.yaml"], "Did you mean 'claims'?"),
        (["--verifier", "grounding:claims=claims.yaml,min_completeness=many"], "min_completeness is 'many'"),
        (["--verifier", "grounding:claims=claims.yaml,min_completeness=101"], "min_completeness is '101'"),
        (["--verifier", "grounding:claims=claims.yaml,file=/etc/*"], "'/etc/*' is not valid"),
        (["--verifier", "groundin:claims=claims.yaml"], "Did you mean 'grounding'?"),
        (["--analyzer", "grounding"], "nothing to hold a reply against"),
    ],
)
def test_what_cannot_be_is_one_paragraph_before_anything_runs(
    ralph: Callable[..., Any], museum: Path, words: list[str], said: str
) -> None:
    (museum / ".ralph").mkdir()
    (museum / ".ralph" / "plugin.py").write_text(EXECUTOR)
    ran = ralph("run", "x", "--executor", "quick", "--trust", *words)
    assert ran.code == 2, ran.out
    assert said in ran.err
    assert "Traceback" not in ran.err
    assert not list((museum.parent / "state").rglob("*.jsonl"))


def test_settings_that_cannot_be_are_named(ralph: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RALPH_PLUGINS__GROUNDING__TIERS__GOOD", "90")
    ran = ralph("score", "claims.yaml", "--claims", "claims.yaml")
    assert ran.code == 2
    assert "the tiers must descend" in ran.err
    assert ran.err.count("\n") == 1


def test_help_does_not_wait(folder: Path, environment: dict[str, str]) -> None:
    began = time.monotonic()
    ended = run_ralph(["score", "--help"], environment, folder)
    assert (ended.returncode, "again" in ended.stdout) == (0, True)
    assert time.monotonic() - began < 10
