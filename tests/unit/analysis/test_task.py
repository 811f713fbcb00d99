"""The number that a task is about, and replies that tell that it is met."""

import pytest

from ralph.analysis import analyze_text
from ralph.analysis.detectors.task import Bound, bound_of


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        ("Bring the bundle below 300 kB.", Bound(300, "kB", least=False)),
        ("The first paint takes less than 1.5 s", Bound(1.5, "s", least=False)),
        ("Raise the coverage of the reader to at least 90 %", Bound(90, "%", least=True)),
        ("Get the type coverage to 95 % or more", Bound(95, "%", least=True)),
        ("Die Seite soll in unter 800 ms laden", Bound(0.8, "s", least=False)),
        ("覆盖率至少 85%", Bound(85, "%", least=True)),
        ("Keep it above 10 MB and below 20 MB", None),
        ("Write the reader", None),
    ],
)
def test_a_task_may_set_one_bound(task: str, expected: Bound | None) -> None:
    assert bound_of(task) == expected


@pytest.mark.parametrize(
    ("task", "text"),
    [
        (
            "Start-up must take less than 2 s.",
            "Start-up takes 1.4 s on the slow machine. Plugins are read when they are first used.",
        ),
        (
            "Bring the bundle below 1,500 kB.",
            "The bundle has 1.2 MB. The icons are read one by one, and the editor late.",
        ),
        (
            "Raise the branch coverage of the reader to at least 90 %.",
            "Branch coverage of the reader is at 94 % (was 51 %). Two branches are left out, which cannot be reached.",
        ),
    ],
)
def test_a_number_that_is_met_is_done(task: str, text: str) -> None:
    assert analyze_text(text, task=task).state == "done"


@pytest.mark.parametrize(
    ("task", "text"),
    [
        ("Start-up must take less than 2 s.", "Start-up takes 2.4 s on the slow machine. Plugins are read late now."),
        ("Start-up must take less than 2 s.", "Start-up will take 1.4 s once the plugins are read late."),
        ("Start-up must take less than 2 s.", "The log has 1.4 s between two lines. They come from the reader."),
        (
            "Bring the bundle below 300 kB.",
            "The bundle has 290 kB without the editor. The editor is what I look at next.",
        ),
    ],
)
def test_one_that_is_not_met_or_of_something_else_is_not(task: str, text: str) -> None:
    assert analyze_text(text, task=task).state != "done"
