"""Tables for people, on terminals of every width."""

import io
import re

import pytest
from rich.cells import cell_len
from rich.console import Console

from ralph import cli
from ralph.cli import output

COLUMNS = ("run", "started", "ended", "iterations", "took", "task")
ROWS = (
    (
        "20260703-010203-abcdef",
        "2026-07-03 01:02:03",
        "executor unavailable",
        "12",
        "2 h 5 min",
        "Mend the tests. " * 9,
    ),
    ("20260703-010204-abcdef", "2026-07-03 01:02:04", "completed, verified", "3", "4.2 s", "測試 " * 30),
    ("20260703-010205-abcdef", "2026-07-03 01:02:05", "running", "1", "", ""),
)


def shown(monkeypatch: pytest.MonkeyPatch, width: int, *spare: str) -> list[str]:
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=width, color_system=None)
    monkeypatch.setattr(output, "console", lambda: console)
    output.print_table(COLUMNS, ROWS, spare)
    return re.sub(r"\x1b\[[\d;]*m", "", out.getvalue()).splitlines()


@pytest.mark.parametrize("width", [200, 100, 80, 60, 40, 24])
def test_nothing_is_cut_and_no_line_is_too_long(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    lines = shown(monkeypatch, width)
    assert max(map(cell_len, lines)) <= width
    words = " ".join(lines).split()
    assert words == [word for row in (COLUMNS, *ROWS) for cell in row for word in cell.split()]


def test_rows_with_spare_columns_are_one_line_each(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(monkeypatch, 80, "started", "iterations", "took")[:2] == [
        "run                     ended                 task",
        "20260703-010203-abcdef  executor unavailable  Mend the tests. Mend the tests. M…",
    ]
    assert shown(monkeypatch, 90, "started", "iterations", "took")[0].endswith("took       task")


def test_columns_without_room_go_on_below(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(monkeypatch, 80) == [
        "run                     started              ended                 iterations",
        "  took       task",
        "20260703-010203-abcdef  2026-07-03 01:02:03  executor unavailable  12",
        "  2 h 5 min  Mend the tests. Mend the tests. Mend the tests. Mend the tests.",
        "             Mend the tests. Mend the tests. Mend the tests. Mend the tests.",
        "             Mend the tests.",
        "20260703-010204-abcdef  2026-07-03 01:02:04  completed, verified   3",
        "  4.2 s      測試 測試 測試 測試 測試 測試 測試 測試 測試 測試 測試 測試 測試",
        "             測試 測試 測試 測試 測試 測試 測試 測試 測試 測試 測試 測試 測試",
        "             測試 測試 測試 測試",
        "20260703-010205-abcdef  2026-07-03 01:02:05  running               1",
    ]


def test_a_signal_that_python_wraps_still_ends_the_program_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python 3.11 raises `RuntimeError` from what `__set_name__` raises while a class is made."""

    def made(_: list[str]) -> int:
        class Named:
            def __set_name__(self, owner: type, name: str) -> None:
                raise KeyboardInterrupt

        type("Owner", (), {"named": Named()})
        return 0

    monkeypatch.setattr(cli, "_call", made)
    with pytest.raises(KeyboardInterrupt):
        cli._interruptible([])
