from typing import Any

import pytest

from ralph.analysis import analyze_text
from ralph.analysis.counters import reports_change
from ralph.status import StatusMalformed, StatusMissing, StatusReport, parse_status

COUNTERS: list[tuple[dict[str, Any], bool | None]] = [
    ({"FILES_MODIFIED": "3"}, True),
    ({"FILES_MODIFIED": "0", "TASKS_COMPLETED_THIS_LOOP": "1"}, True),
    ({"FILES_MODIFIED": "2 (lexer.py, parser.py)"}, True),
    ({"FILES_MODIFIED": 2}, True),
    ({"FILES_MODIFIED": ["lexer.py"]}, True),
    ({"FILES_MODIFIED": "0", "TASKS_COMPLETED_THIS_LOOP": "0"}, False),
    ({"FILES_MODIFIED": "none"}, False),
    ({"FILES_MODIFIED": []}, False),
    ({"FILES_MODIFIED": 0}, False),
    ({"FILES_MODIFIED": "0 files"}, False),
    ({"FILES_MODIFIED": "several"}, None),
    ({"FILES_MODIFIED": ""}, None),
    ({"TASKS_COMPLETED": "7"}, None),
    ({"WORK_TYPE": "TESTING"}, None),
    ({}, None),
]


def test_what_the_counters_of_a_status_block_say(subtests: pytest.Subtests) -> None:
    for fields, expected in COUNTERS:
        with subtests.test(fields=fields):
            assert reports_change(StatusReport(fields=fields)) is expected


@pytest.mark.parametrize("status", [StatusMissing(), StatusMalformed(problem="it never ends")])
def test_without_a_block_nothing_is_counted(status: StatusMissing | StatusMalformed) -> None:
    assert reports_change(status) is None


def test_the_counters_of_a_block_reach_the_analysis() -> None:
    text = "---RALPH_STATUS---\nSTATUS: IN_PROGRESS\nFILES_MODIFIED: 0\nEXIT_SIGNAL: false\n---END_RALPH_STATUS---"
    assert reports_change(parse_status(text)) is False
    assert analyze_text(text).reports_change is False
    assert analyze_text("Edited 3 files.").reports_change is None
