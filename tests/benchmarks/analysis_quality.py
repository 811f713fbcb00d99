"""How well the analysis judges labelled replies: completion, states, stuck loops, test-only replies, whole runs.

The labelled data is no part of the project: the argument names the folder that holds it, as files of JSON lines

- `completion.jsonl`: `text`, `raw` (with its status block), `task`, `label` (complete, incomplete), `source`, `state`
- `stuck.jsonl`: `outputs`, `errors`, `label` (stuck, not_stuck), sometimes `edits` and `commits` of the last one
- `testonly.jsonl`: `text`, `test_only`
- `replay.jsonl`: passes of whole runs: `run`, `text`, `cost`, `turns`, `denials`, `is_error`, `edits`, `commits`,
  `progress` (true, false, null)

Prints one JSON object: for each question how many were found (tp), missed (fn) and falsely found (fp), with precision
and recall; for the replay which share of the passes without progress, and of their cost, is saved, and which share of
those with progress is cut. `--wrong NAME` prints the rows that are judged wrong instead; of the replay, each run's
decisions.
"""

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from ralph.cli.replay_sources import Line
from ralph.cli.reply import Question, judge
from ralph.decision.limits import Limits
from ralph.pipeline.evaluate import Rules
from ralph.pipeline.replay import Replay, Replayed
from ralph.settings import Settings

Row = dict[str, Any]
Judged = tuple[Row, object, object]
"""A row, what it should be, and what it was found to be."""

AUTO = Rules()
FINALS = {"ralph_status", "ralph_tui", "ralph_read"}
STATES = {"monitor": "progress"}
KNOWN = {
    "all_fields": ("error", "denials", "tools", "changes", "cost", "duration", "at"),
    "without_changes": ("error", "denials", "tools", "cost", "duration", "at"),
    "text_denials_cost": ("denials", "cost"),
}
"""What the replay is told of each pass beside its text."""


def main(folder: Path, wrong: str | None) -> None:
    """Judges everything, and prints the figures or the errors of one question."""
    questions: dict[str, Callable[[Path], Iterable[Judged]]] = {
        "completion": finals,
        "mid_turn": mid_turn,
        "status_block": status_blocks,
        "stuck": stuck,
        "test_only": test_only,
    }
    if wrong in questions:
        for row, expected, found in questions[wrong](folder):
            if expected != found:
                print(json.dumps({"expected": expected, "found": found, **row}, ensure_ascii=False))
        return
    if wrong == "replay":
        print_replays(folder)
        return
    result: Row = {name: two_sided(question(folder)) for name, question in questions.items()}
    result["states"] = macro(states(folder))
    result["replay"] = {variant: saved_and_cut(folder, variant) for variant in KNOWN}
    print(json.dumps(result))


def rows(file: Path) -> Iterator[Row]:
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def state_of(row: Row, text: str) -> str:
    return judge(Question(text=text, task=row.get("task") or ""), AUTO).record.analysis.state


def finals(folder: Path) -> Iterator[Judged]:
    """The last messages of real loops, without their status block."""
    for row in rows(folder / "completion.jsonl"):
        if row["source"] in FINALS:
            yield row, row["label"] == "complete", state_of(row, row["text"]) == "done"


def mid_turn(folder: Path) -> Iterator[Judged]:
    """Messages after which the agent went on: none of them is done."""
    for row in rows(folder / "completion.jsonl"):
        if row["source"].endswith("_mid"):
            yield row, False, state_of(row, row["text"]) == "done"


def status_blocks(folder: Path) -> Iterator[Judged]:
    """Last messages with their status block."""
    for row in rows(folder / "completion.jsonl"):
        if row.get("raw"):
            yield row, row["label"] == "complete", state_of(row, row["raw"]) == "done"


def states(folder: Path) -> Iterator[Judged]:
    """Last messages whose state a person has read."""
    for row in rows(folder / "completion.jsonl"):
        if row.get("state"):
            yield row, STATES.get(row["state"], row["state"]), state_of(row, row["text"])


def stuck(folder: Path) -> Iterator[Judged]:
    """Windows of replies; the last decides. Of a window without replies only the errors are known."""
    for row in rows(folder / "stuck.jsonl"):
        *earlier, last = row["outputs"] or [""]
        changes = None if row.get("edits") is None else {"files": row["edits"], "commits": row["commits"]}
        question = Question.model_validate({
            "text": last,
            "previous": earlier,
            "errors": row["errors"],
            "changes": changes,
        })
        yield row, row["label"] == "stuck", judge(question, AUTO).record.analysis.stuck.detected


def test_only(folder: Path) -> Iterator[Judged]:
    """Outputs of commands: of tests, and of others."""
    for row in rows(folder / "testonly.jsonl"):
        yield row, row["test_only"], judge(Question(text=row["text"]), AUTO).record.analysis.completion.test_only


def as_line(row: Row, variant: str) -> Line:
    """A labelled pass as `ralph replay` reads it. What the label was made of by others' counters is left out."""
    turns, edits = row["turns"], row["edits"]
    told = {
        "error": row["is_error"],
        "denials": row["denials"],
        "tools": None if turns is None else max(turns - 1, 0),
        "changes": None if edits is None else {"files": edits, "commits": row["commits"]},
        "cost": row["cost"],
        "duration": row["duration"],
        "at": row["at"],
    }
    known = {name: told[name] for name in KNOWN[variant]}
    return Line.model_validate({"run": row["run"], "text": row["text"], **known})


def replayed(folder: Path, variant: str) -> Iterator[tuple[list[Row], Replayed]]:
    """Each run's passes, and what became of it; no limit but the loop's own judgement ends it."""
    rules = Rules.of(Settings(), limits=Limits(max_iterations=None))
    runs: dict[str, list[Row]] = {}
    for row in rows(folder / "replay.jsonl"):
        runs.setdefault(row["run"], []).append(row)
    for name, passes in runs.items():
        replay = Replay(rules, name)
        for row in passes:
            replay.add(as_line(row, variant).as_pass())
        yield passes, replay.result


def saved_and_cut(folder: Path, variant: str) -> Row:
    """Of the passes without progress, and of their cost, the share that Ralph would not have made: those after its
    stop, and those within its pauses; of those with progress, too.
    """
    idle: list[tuple[float, bool]] = []
    useful: list[bool] = []
    stops: dict[str, int] = {}
    for passes, result in replayed(folder, variant):
        made = {step.index for step in result.steps}
        stops[str(result.stop_reason)] = stops.get(str(result.stop_reason), 0) + 1
        idle += [
            (row["cost"] or 0.0, index not in made) for index, row in enumerate(passes) if row["progress"] is False
        ]
        useful += [index not in made for index, row in enumerate(passes) if row["progress"] is True]
    spent = sum(cost for cost, _ in idle)
    return {
        "cost_saved": round(sum(cost for cost, after in idle if after) / spent, 3) if spent else None,
        "passes_saved": ratio(sum(after for _, after in idle), len(idle)),
        "progress_cut": ratio(sum(useful), len(useful)),
        "idle": len(idle),
        "useful": len(useful),
        "stops": stops,
    }


def print_replays(folder: Path) -> None:
    """Each run's decisions, a line a pass, told everything that is known."""
    for variant in KNOWN:
        for passes, result in replayed(folder, variant):
            print(f"{variant} {result.run}: {result.stop_reason} at {result.stopped_at} of {len(passes)}")
            steps = {step.index: step for step in result.steps}
            for index, row in enumerate(passes):
                step = steps.get(index)
                said = (
                    f"{step.decision}{' pivot' if step.pivot else ''} [{step.breaker}] {step.reason}" if step else "-"
                )
                print(f"  {index:3} progress={row['progress']!s:5} cost={row['cost'] or 0:6.2f}  {said[:150]}")


def two_sided(judged: Iterable[Judged]) -> Row:
    counts = {(True, True): 0, (True, False): 0, (False, True): 0, (False, False): 0}
    for _, expected, found in judged:
        counts[bool(expected), bool(found)] += 1
    hits, missed, false = counts[True, True], counts[True, False], counts[False, True]
    return {
        "tp": hits,
        "fn": missed,
        "fp": false,
        "tn": counts[False, False],
        "precision": ratio(hits, hits + false),
        "recall": ratio(hits, hits + missed),
    }


def macro(judged: Iterable[Judged]) -> Row:
    """F1 of each state, and their mean."""
    pairs = [(expected, found) for _, expected, found in judged]
    scores: dict[str, float] = {}
    for state in sorted({str(expected) for expected, _ in pairs}):
        both = sum(expected == found == state for expected, found in pairs)
        either = sum(expected == state for expected, _ in pairs) + sum(found == state for _, found in pairs)
        scores[state] = round(2 * both / either, 3) if either else 0.0
    return {**scores, "macro_f1": round(sum(scores.values()) / len(scores), 3)}


def ratio(part: int, whole: int) -> float | None:
    return round(part / whole, 3) if whole else None


if __name__ == "__main__":
    arguments = sys.argv[1:]
    if not arguments:
        sys.exit("usage: analysis_quality.py FOLDER [--wrong NAME]")
    main(Path(arguments[0]), arguments[2] if arguments[1:2] == ["--wrong"] else None)
