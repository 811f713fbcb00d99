"""Recorded passes of many runs, each through the loop; what came of them as JSON."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ralph.pipeline.replay import Judging, Pass, Replay, Replayed
from ralph.records.record import RunRecord

__all__ = ["Answers", "Broken", "as_json"]


class Broken(NamedTuple):
    """A line or a file that holds no pass."""

    place: dict[str, Any]
    error: str

    def as_json(self) -> dict[str, Any]:
        return {"error": self.error, **self.place}

    def __str__(self) -> str:
        where = " ".join(f"{name} {value}" for name, value in self.place.items())
        return f"{where}: {self.error}"


class Answers:
    """The replays of all runs, in the order in which they began; the passes of one may stand between another's.

    Args:
        judgings: by what each run is judged; the first one's answers are the answers, others are for comparison.
    """

    def __init__(self, judgings: Sequence[Judging]) -> None:
        self._judgings = judgings
        self._replays: dict[str | None, list[Replay]] = {}

    def hear(self, name: str | None, heard: Pass, *, run: RunRecord | None = None) -> None:
        """One more pass of a run; of its first one, what is known of the run is looked at."""
        if name not in self._replays:
            self._replays[name] = [Replay(judging, name, run) for judging in self._judgings]
        for replay in self._replays[name]:
            replay.hear(heard)

    def results(self) -> Iterator[list[Replayed]]:
        """Of each run what became of it, by each of the judgings."""
        for replays in self._replays.values():
            yield [replay.result for replay in replays]


def as_json(result: Replayed) -> dict[str, Any]:
    """The object that `ralph replay` prints of a run."""
    return {
        "run": result.run,
        "passes": result.passes,
        "stopped_at": result.stopped_at,
        "stop_reason": result.stop_reason,
        "resumed": result.resumed,
        "decisions": [
            {
                "index": step.index,
                "decision": step.decision,
                "reason": step.reason,
                "breaker": step.breaker,
                "progressed": step.progressed,
                **({"pivot": True} if step.pivot else {}),
            }
            for step in result.steps
        ],
        "skipped": result.skipped,
        "saved": {
            "passes": result.saved,
            "cost": round(result.saved_cost, 6),
            "unknown_costs": result.saved_costless,
        },
        "cut": {"passes": result.cut, "unknown": result.cut_unknown},
        "evidence": [piece.model_dump() for piece in result.evidence],
    }
