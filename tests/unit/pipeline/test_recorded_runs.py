"""Whole runs, written for this project: what stopping where Ralph would stop saves, and what it cuts.

`runs.jsonl` holds 40 runs in the form that `ralph replay` reads, each pass with `progress`: whether edits, commits or
the agent's own counters show work; null where nobody knows. They were written by somebody who had not seen the rules,
to waste passes in as many ways as loops do: everything was done long ago, limits, outages, denials, questions, waiting,
reports instead of work; and to go on where a rash rule would have stopped.

`interrupted_runs.jsonl` holds 12 more, of 8 to 14 passes: half of them are kept from working by denials, time-outs, a
build that cannot be, questions; half look like that and go on, after an outage, a night, another list of tasks, an
answer, with some calls denied in each pass, or with replies that are all alike. They are short, so that the passes that
it takes to notice weigh more. Two of them were started again after a completion, which a replay does not follow.
"""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from ralph.cli.replay_sources import Line
from ralph.decision.limits import Limits
from ralph.pipeline.evaluate import Rules
from ralph.pipeline.replay import Replay, Replayed
from ralph.settings import Settings

OURS, INTERRUPTED = "runs.jsonl", "interrupted_runs.jsonl"

LEAST = [(OURS, 0.75), (INTERRUPTED, 0.57)]
"""Which share of the cost of passes without progress is to be saved."""
MOST = [(OURS, 0.11), (INTERRUPTED, 0.08)]
"""Which share of the passes with progress may be cut."""

Row = dict[str, Any]


@cache
def replayed(file: str = OURS) -> tuple[tuple[tuple[Row, ...], Replayed], ...]:
    """Each run's passes, and what became of it."""
    return tuple(_replayed(file))


def _replayed(file: str) -> Iterator[tuple[tuple[Row, ...], Replayed]]:
    runs: dict[str, list[Row]] = {}
    for line in Path(__file__).with_name(file).read_text("utf-8").strip().split("\n"):
        row: Row = json.loads(line)
        runs.setdefault(row["run"], []).append(row)
    rules = Rules.of(Settings(), limits=Limits(max_iterations=None))
    for name, rows in runs.items():
        replay = Replay(rules, name)
        for row in rows:
            replay.add(Line.model_validate({key: value for key, value in row.items() if key != "progress"}).as_pass())
        yield tuple(rows), replay.result


def passes(file: str, *, progress: bool) -> Iterator[tuple[float, bool]]:
    """The cost of each pass with or without progress, and whether Ralph would have made it."""
    for rows, result in replayed(file):
        made = {step.index for step in result.steps}
        yield from ((row.get("cost") or 0.0, at in made) for at, row in enumerate(rows) if row["progress"] is progress)


def ends(file: str = OURS) -> dict[str, tuple[int, int | None, str | None]]:
    """Each run's number of passes, the index of the pass that it ends after, and why."""
    return {rows[0]["run"]: (len(rows), result.stopped_at, result.stop_reason) for rows, result in replayed(file)}


@pytest.mark.parametrize(("file", "share"), LEAST)
def test_most_of_what_idle_passes_cost_is_saved(file: str, share: float) -> None:
    idle = list(passes(file, progress=False))
    assert sum(cost for cost, made in idle if not made) >= share * sum(cost for cost, _ in idle)


@pytest.mark.parametrize(("file", "share"), MOST)
def test_few_passes_with_progress_are_cut(file: str, share: float) -> None:
    useful = list(passes(file, progress=True))
    assert sum(not made for _, made in useful) <= share * len(useful)


def test_who_is_kept_from_working_is_stopped_and_who_looks_like_it_is_not() -> None:
    ended = {run: reason for run, (_, _, reason) in ends(INTERRUPTED).items()}
    assert ended == {
        "harrier-data/tender-scan#0": "blocked",
        "lindqvist/parcel-api#0": "completed",
        "omoto-k/shift-roster#0": "circuit_open",
        "petrel-audio/voice-notes#0": "circuit_open",
        "quern-sys/mailroom#0": "circuit_open",
        "salgado-it/praxis-formulare#0": "blocked",
        "thistle-gis/map-tiles#0": None,
        "umber-fin/pay-rules#0": None,
        "vole-carto/atlas-cli#0": None,
        "wren-transit/school-bus#0": "completed",
        "yarrow-print/photo-book#0": None,
        "zephyr-books/bank-import#0": None,
    }


def test_long_productive_runs_reach_their_end() -> None:
    ended = ends()
    for run in ("basalt-tools/yaml-merge#0", "quillon/story-engine#0", "bluefin/tide-watch#0"):
        assert ended[run][1] is None, run
    assert ended["ferrum-labs/gpx-trim#0"] == (12, 11, "completed")


def test_a_run_at_its_limit_is_taken_up_again() -> None:
    """Passes at the limit are waited out, and what comes behind them is done."""
    by_name = {rows[0]["run"]: (rows, result) for rows, result in replayed()}
    for run in ("pondwater/ledger-cli#0", "rook-and-pawn/chess-clock#1"):
        rows, result = by_name[run]
        assert result.stopped_at is None, run
        assert result.skipped >= 10, run
        assert {at for at, row in enumerate(rows) if row["progress"]} <= {step.index for step in result.steps}


def test_what_was_done_long_ago_ends_at_the_first_claim_that_holds() -> None:
    for run in ("tideline/harbor-scheduler#0", "larkspur/epub-forge#0", "sunwei/task-board#0"):
        passes_made, stopped_at, reason = ends()[run]
        assert reason == "completed"
        assert stopped_at is not None
        assert stopped_at < passes_made / 2 + 1, run
