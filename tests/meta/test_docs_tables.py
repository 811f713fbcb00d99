"""The tables that people wrote say what the code says."""

import re
import tomllib
from pathlib import Path
from typing import get_args

from ralph.analysis.lexicon import Role
from ralph.analysis.result import State
from ralph.analysis.text import HEAD, TAIL
from ralph.cli.run import exit_code
from ralph.decision.breaker import BreakerSettings
from ralph.decision.claims import STRATEGIES
from ralph.decision.outcomes import StopReason
from ralph.executors.copilot.provision import PINNED
from ralph.executors.permissions import PermissionMode
from ralph.loop.event_log import Clock
from ralph.records.record import RunRecord
from ralph.types.output import FailureKind, Timeouts

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def rows(page: str) -> list[list[str]]:
    """The rows of a page's tables, code marks left out."""
    lines = (DOCS / page).read_text(encoding="utf-8").splitlines()
    rows = [line.strip("|").split("|") for line in lines if line[:2] == "| "]
    return [[cell.strip().replace("`", "") for cell in row] for row in rows]


def test_exit_codes() -> None:
    written = {
        reason: int(code)
        for code, reasons, *_ in rows("reference/exit-codes.md")
        for reason in reasons.split(", ")
        if code.isdigit() and reason and int(code) not in {129, 143}
    }
    record = RunRecord(id="r", task="t", started_at=Clock().now())
    reasons = get_args(StopReason)
    assert written == {reason: exit_code(record.model_copy(update={"stop_reason": reason})) for reason in reasons}


def test_thresholds() -> None:
    settings = BreakerSettings()
    table = [row for row in rows("how-to/tune-the-breaker.md") if len(row) == 3]
    defaults = {key.removeprefix("breaker."): value for _, key, value in table if key.startswith("breaker.")}
    assert (defaults.pop("stagnation"), settings.stagnation) == ("not asked", None)
    assert defaults == {key: str(getattr(settings, key)) for key in ("no_progress", "same_error", "denials")}


def test_failures_and_time_outs() -> None:
    assert {row[0] for row in rows("reference/executors.md")} >= set(get_args(FailureKind))
    minutes = {option: value for option, value, *_ in rows("reference/executors.md") if option.startswith("--")}
    timeouts = Timeouts()
    assert minutes == {
        "--idle-timeout": f"{timeouts.idle / 60:g} min",
        "--iteration-timeout": f"{timeouts.iteration / 60:g} min",
        "--tool-timeout": f"{timeouts.tool / 60:g} min",
    }
    assert f"version {PINNED} " in (DOCS / "reference/executors.md").read_text(encoding="utf-8")


def test_strategies_and_permission_modes() -> None:
    assert {row[0] for row in rows("explanation/how-it-decides.md")} >= set(STRATEGIES)
    assert {row[0] for row in rows("how-to/when-the-agent-is-denied.md")} >= set(get_args(PermissionMode))


def test_states_circles_and_the_window() -> None:
    told = {name for row in rows("explanation/how-it-decides.md") for name in row[0].split(", ")}
    assert told >= set(get_args(State))
    source = (ROOT / "ralph/analysis/stuck.py").read_text(encoding="utf-8")
    assert told >= set(re.findall(r'_Loop\("([a-z -]+)"', source)) != set()
    window = f"more than {(HEAD + TAIL) // 1024} KB the first {HEAD // 1024} KB and the last {TAIL // 1024} KB"
    assert window in (DOCS / "explanation/how-it-decides.md").read_text(encoding="utf-8")


def test_parts_of_words() -> None:
    table = [row for row in rows("how-to/add-a-language.md") if row[0] not in {"part", "---"}]
    named = {part for row in table for part in row[0].split(", ")}
    assert named <= set(get_args(Role))


def test_the_listing_is_the_layers() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    layers = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    assert [set(re.split(r" [|:] ", layer)) for layer in reversed(layers)] == [
        set(row[0].split(", ")) for row in rows("explanation/architecture.md") if row[0] not in {"layer", "---"}
    ][: len(layers)]


def test_the_files_that_architecture_names_exist() -> None:
    page = (DOCS / "explanation/architecture.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:\w+/)*\w+(?:\.py|/))`", page)) - {"ralph/"}
    assert len(named) > 20
    assert [path for path in named if not (ROOT / "ralph" / path).exists()] == []


def test_each_attack_has_a_promise_and_a_figure() -> None:
    table = [row for row in rows("explanation/safety.md") if len(row) == 3 and "tests/" in row[1]]
    named = {test for row in table for test in row[1].split(", ")}
    assert [test for test in named if not (ROOT / test).is_file()] == []
    assert {path.relative_to(ROOT).as_posix() for path in (ROOT / "tests/attack").glob("test_*.py")} <= named
    assert [row for row in table if not re.search(r"\d", row[2])] == []
