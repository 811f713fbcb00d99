"""Where runs as people record them end: the ones that idle soon, the ones that work never.

Every run is replayed twice: with what its passes called and changed, and with their texts alone.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest

from ralph.cli.replay_lines import Line
from ralph.config import Settings
from ralph.limits import Limits
from ralph.replay import Judging, Replay, Replayed

AT = datetime(2026, 3, 1, tzinfo=UTC)
SHOP = ("the cart", "the checkout", "the stock list", "the invoices", "the coupons", "the mails", "the search")


@dataclass(frozen=True)
class Told:
    """One pass: its text, what it called and how many files it changed, as far as somebody counted."""

    text: str
    tools: int = 0
    files: int | None = None
    denials: int = 0
    error: bool = False
    at: datetime | None = None

    def line(self, *, fully: bool) -> Line:
        counts = {"tools": self.tools, "denials": self.denials, "error": self.error, "at": self.at}
        changes = {"changes": {"files": self.files}} if self.files is not None else {}
        return Line.model_validate({"text": self.text, **(counts | changes if fully else {})})


def worked(text: str, files: int | None = None, denials: int = 0) -> Told:
    return Told(text, tools=24, files=files, denials=denials)


def status(word: str, signal: bool, files: int, recommendation: str) -> str:
    return (
        f"\n\n---RALPH_STATUS---\nSTATUS: {word}\nFILES_MODIFIED: {files}\nTESTS_STATUS: PASSING\n"
        f"EXIT_SIGNAL: {str(signal).lower()}\nRECOMMENDATION: {recommendation}\n---END_RALPH_STATUS---"
    )


def replayed(passes: Iterable[Told], *, fully: bool) -> Replayed:
    replay = Replay(Judging.by(Settings(), limits=Limits(max_iterations=None)))
    for one in passes:
        replay.hear(one.line(fully=fully).as_pass())
    return replay.result


def ended(passes: Iterable[Told], *, fully: bool) -> tuple[int | None, str | None]:
    result = replayed(passes, fully=fully)
    return result.stopped_at, result.stop_reason


PRODUCTIVE = {
    "stories": [
        worked(f"Story {number} is complete. I implemented {part}; all acceptance criteria are met and all tests pass.")
        for number, part in enumerate(SHOP, 1)
    ],
    "stories with known changes": [
        worked(f"Implemented {part}. All acceptance criteria are met, all tests pass. Committed.", files=3)
        for part in SHOP
    ],
    "the same kind of closing words each time": [
        worked(f"All the changes are in place: I added {part}.\n\nThe implementation is complete, ready for review.")
        for part in SHOP
    ],
    "a promise for each story": [
        worked(f"Implemented {part} and its tests.\n\n<promise>COMPLETE</promise>", files=3) for part in SHOP
    ],
    "an exit signal for each story": [
        worked(f"{part} is done." + status("COMPLETE", True, 3, f"Proceed to story {number + 1}"))
        for number, part in enumerate(SHOP, 1)
    ],
    "an exit signal with tasks left": [
        worked(f"Finished {part}." + status("COMPLETE", True, 2, f"{9 - number} tasks remain in the plan"))
        for number, part in enumerate(SHOP, 1)
    ],
    "a question at the end of each piece of work": [
        worked(f"Implemented {part} and added {number + 3} tests.\n\nShall I go on with the next part?")
        for number, part in enumerate(SHOP)
    ],
    "a denied call now and then": [
        worked(f"Implemented {part} and its tests; `git push` was denied.", denials=1 + number % 2)
        for number, part in enumerate(SHOP)
    ],
    "an error that is always there": [
        worked(f"Implemented {part}. The end-to-end test fails: ConnectionRefusedError: [Errno 111] (no database).")
        for part in SHOP
    ],
    "an idle pass now and then": [
        one
        for part in SHOP
        for one in (worked(f"Implemented {part} and committed it."), Told(f"Next I look at {part}."))
    ],
    "an error of the service now and then": [
        one
        for part in SHOP
        for one in (worked(f"Implemented {part}."), Told("API Error: Connection error.", error=True))
    ],
    "a usage limit in between": [
        *(worked(f"Implemented {part}.", files=2) for part in SHOP[:3]),
        *[Told("You've hit your limit · resets 4pm (Europe/Paris)", error=True)] * 12,
        *(worked(f"Implemented {part}.", files=2) for part in SHOP[3:]),
    ],
    "two passes of thought before each change": [
        one
        for part in SHOP
        for one in (
            Told(f"Read the code of {part}." + status("IN_PROGRESS", False, 0, "Plan it"), tools=8),
            Told(f"Drew up how {part} will work." + status("IN_PROGRESS", False, 0, "Write it"), tools=8),
            worked(f"Wrote {part}." + status("IN_PROGRESS", False, 4, "Go on")),
        )
    ],
}


@pytest.mark.parametrize("fully", [True, False], ids=["fully", "text"])
@pytest.mark.parametrize("run", PRODUCTIVE)
def test_a_run_that_works_goes_on_to_its_end(run: str, fully: bool) -> None:
    assert ended(PRODUCTIVE[run], fully=fully) == (None, None)


BEGUN = worked("Implemented the exporter and twelve tests for it.", files=5)
IDLE = {
    "a done project": ["The project is complete. No further work is needed."] * 9,
    "done in ever other words": [
        "All boxes in the plan are ticked, nothing is left to do.",
        "Nothing left to implement; the project is complete.",
        "I checked again: every task is already done.",
        "There is no open task. No changes made.",
        "Still complete, nothing to do.",
    ],
    "done in Chinese": [
        "所有任务都已完成，没有需要处理的内容。",
        "项目已经完成，无需进一步操作。",
        "计划中没有未完成的任务。",
        "全部完成。",
    ],
    "done in Spanish": ["Todas las tareas están completas. No hay nada pendiente.", "El proyecto está terminado."] * 2,
    "an exit signal": ["All tasks are complete." + status("COMPLETE", True, 0, "Nothing to do")] * 9,
    "an exit signal of work in progress": [
        "All tasks are complete." + status("IN_PROGRESS", True, 0, "Only manual tests remain")
    ]
    * 9,
    "done without an exit": [
        f"{words}" + status("COMPLETE", False, 0, "Review it")
        for words in ("All items are checked.", "Everything is implemented.", "I found no further work.", "Done.")
    ],
    "blocked": [f"I {words}." + status("BLOCKED", False, 0, "Allow it") for words in ("cannot write", "still cannot")],
    "questions": [
        "Which database do you want?",
        "Shall I begin with SQLite?",
        "What should I work on next?",
        "Shall I?",
    ],
}


@pytest.mark.parametrize("fully", [True, False], ids=["fully", "text"])
@pytest.mark.parametrize("run", IDLE)
def test_a_run_that_idles_ends_within_three_passes_of_it(run: str, fully: bool) -> None:
    stopped_at, _ = ended([BEGUN, *(Told(text) for text in IDLE[run])], fully=fully)
    assert stopped_at is not None
    assert stopped_at <= 3


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Prompt is too long", "circuit_open"),
        ("API Error: Connection error.", "circuit_open"),
        ("Not logged in · Please run /login", "executor_unavailable"),
        ("I looked at it, as before.", "circuit_open"),
    ],
)
def test_a_run_that_fails_each_time_ends_at_the_third_failure(text: str, reason: str) -> None:
    stopped_at, stop_reason = ended([BEGUN, *[Told(text, error=True)] * 9], fully=True)
    assert stop_reason == reason
    assert stopped_at is not None
    assert stopped_at <= 3


def test_a_reply_that_was_cut_short_at_work_fails_with_no_word_of_its_own() -> None:
    reply = (
        "Implemented the rate limit: too many requests get a 429, and who is not logged in a 401 with a reason. " * 9
    )
    for error in (True, reply):
        outcome = Line.model_validate({"text": reply, "error": error}).as_pass().outcome
        assert (outcome.kind, getattr(outcome, "failure", "")) == ("failed", "crashed")


def test_passes_without_a_login_are_skipped_while_ralph_would_have_waited() -> None:
    def logged_out(seconds: int) -> Told:
        return Told("Not logged in · Please run /login", error=True, at=AT + timedelta(seconds=seconds))

    soon, later = [logged_out(5 * number) for number in range(6)], logged_out(300)
    back = replayed([*soon, Told("Wrote it.", tools=9, files=1, at=AT + timedelta(seconds=90))], fully=True)
    assert (back.stopped_at, back.skipped) == (None, 5)
    gone = replayed([*soon, later], fully=True)
    assert (gone.stopped_at, gone.stop_reason) == (6, "executor_unavailable")
