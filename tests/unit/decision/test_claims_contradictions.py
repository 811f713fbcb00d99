"""What a reply says against its own claim."""

from typing import Any

import pytest

from ralph.analysis import Analysis, analyze_text
from ralph.analysis.result import Evidence
from ralph.decision.claims import contradictions
from ralph.status import StatusReport


def of_block(status: str = "COMPLETE", **fields: Any) -> list[str]:
    reason = fields.pop("REASON", "")
    return list(
        contradictions("", Analysis(status=StatusReport(exit_signal=True, status=status, fields=fields, reason=reason)))
    )


BLOCKS: list[tuple[dict[str, Any], str]] = [
    ({}, ""),
    ({"status": "IN_PROGRESS"}, "the status block says IN_PROGRESS"),
    ({"status": "in progress"}, "the status block says IN_PROGRESS"),
    ({"TESTS_STATUS": "FAILING"}, "the status block says that tests fail"),
    ({"TESTS_STATUS": "PASSING"}, ""),
    ({"TESTS_STATUS": "NOT_RUN"}, ""),
    ({"PROGRESS": "60%"}, "the status block says what is left: PROGRESS: 60%"),
    ({"PROGRESS": "100%", "COVERAGE": "60%"}, ""),
    ({"TASKS_COMPLETED": "3/8"}, "the status block says what is left: TASKS_COMPLETED: 3/8"),
    ({"TASKS_COMPLETED": "8/8"}, ""),
    ({"PROGRESS": "half"}, "the status block says what is left: PROGRESS: half"),
    ({"STORIES": "two thirds"}, "the status block says what is left: STORIES: two thirds"),
    ({"SUMMARY": "Half of the pages are converted"}, "the status block says what is left: SUMMARY: Half"),
    ({"REASON": "Everything is implemented; test coverage is 85%."}, ""),
    ({"SUMMARY": "Done. The bundle shrank: its size is reduced by 50%."}, ""),
    ({"SUMMARY": "20% discount implemented"}, ""),
    ({"SUMMARY": "All done, HTTP 1/2 are supported"}, ""),
    ({"TASKS_REMAINING": "0/15"}, ""),
    ({"TASKS_LEFT": "0 of 15"}, ""),
    ({"LATEST_VERSION": "1/2", "STORE": "1/2"}, ""),
    ({"PROGRESS": "100% (coverage 85%)"}, ""),
    ({"TASKS": "8/8, 2 of them reviewed"}, ""),
    ({"SUMMARY": "完成了 15 个故事中的 8 个"}, "the status block says what is left: SUMMARY: 完成了"),
    ({"RECOMMENDATION": "Only the docs remain."}, "the status block says what is left: Only the docs remain."),
    ({"RECOMMENDATION": "Continue with the printer"}, "the status block says what is left: Continue with"),
    ({"NEXT_STEP": "下一步：補上測試"}, "the status block says what is left: 下一步：補上測試"),
    ({"RECOMMENDATION": "No remaining work."}, ""),
    ({"RECOMMENDATION": "Nothing left. Ready for review."}, ""),
    ({"RECOMMENDATION": "Only optional polish remains."}, ""),
    ({"RECOMMENDATION": "全部完成，無需下一輪。"}, ""),
    ({"RECOMMENDATION": "Proceed to deployment."}, ""),
    ({"RECOMMENDATION": "Next iteration could polish the docs."}, ""),
    ({"RECOMMENDATION": "Next iteration: implement the printer"}, "the status block says what is left: Next"),
    ({"RECOMMENDATION": "Proceed to the next task"}, "the status block says what is left: Proceed"),
    ({"RECOMMENDATION": "The printer is not yet wired"}, "the status block says what is left: The printer"),
    ({"RECOMMENDATION": "todo-list is ready: add, list and done work. 無需下一輪。"}, ""),
    ({"RECOMMENDATION": "The todo app can be released."}, ""),
    ({"RECOMMENDATION": "There are no TODOs."}, ""),
    ({"RECOMMENDATION": "Two TODOs in lexer.py"}, "the status block says what is left: Two TODOs"),
    ({"RECOMMENDATION": "To-do: the printer"}, "the status block says what is left: To-do"),
    ({"RECOMMENDATION": "4 todos"}, "the status block says what is left: 4 todos"),
    ({"RECOMMENDATION": None}, ""),
]


def test_what_the_block_says_against_its_signal(subtests: pytest.Subtests) -> None:
    for fields, doubt in BLOCKS:
        with subtests.test(fields=fields):
            found = of_block(**fields)
            assert len(found) == bool(doubt)
            assert all(one.startswith(doubt) for one in found)


def test_what_the_words_say_against_the_signal() -> None:
    against = Evidence(signal="open_end", start=5, end=9, text="left", weight=-50)
    veto = Evidence(signal="exit_signal", start=5, end=9, text="left", weight=-100)
    text = "Much left to do:\nthe printer, and the tests of the lexer."
    assert list(contradictions(text, Analysis(evidence=(veto, against)))) == [
        "the reply says what is left: left to do: the printer, and the tests of the lexer."
    ]
    assert list(contradictions("Much left for later.", Analysis(evidence=(against,)))) == []
    assert list(contradictions(text, Analysis(evidence=(veto,)))) == []


def test_a_consistent_report_contradicts_nothing() -> None:
    text = "All tasks are complete and all tests pass.\n\n---RALPH_STATUS---\nEXIT_SIGNAL: true\n---END_RALPH_STATUS---"
    assert list(contradictions(text, analyze_text(text))) == []


WORK_TO_COME = [
    *("Continue to Phase 2", "Continue implementing the parser", "Move on to story 2.3", "Begin phase 3: reports"),
    *("Ready for Phase 2", "Ready for the next task", "Next: implement the lexer", "Next up: the lexer"),
    *("Phase 2 is next", "US-105 next", "Story 4 pending", "3/5 tasks complete", "7 of 9 stories done"),
    *("Implement the exporter next", "4 unchecked items in the plan", "Proceed to story 5.2 (errors)"),
    *(
        "Approve the commit, then add the icon",
        "Next loop should tackle the API",
        "Medium priority tasks to follow",
    ),
    *("下一阶段：实现支付", "继续实现支付", "还有3个任务", "Quedan 3 tareas", "Continuar con la fase 2"),
]


def test_a_recommendation_that_names_work_to_come(subtests: pytest.Subtests) -> None:
    for said in WORK_TO_COME:
        with subtests.test(said=said):
            assert of_block(RECOMMENDATION=said) == [f"the status block says what is left: {said}"]


WORK_AFTERWARDS = [
    *("Ready for review", "Deploy to staging", "Run the app and test it by hand", "Ready to merge", "Open a PR"),
    *("All 7 of 7 stories done", "12/12 tasks complete", "All phases complete", "Next step is to deploy", "None"),
    *("Run `npm start` next", "Start the server", "Begin user acceptance tests", "Monitor it in production"),
    *(
        "No next task.",
        "Next iterations could add charts",
        "全部完成",
        "无需继续开发",
        "没有剩余任务",
        "Listo para revisar",
    ),
]


def test_a_recommendation_of_what_comes_after_the_work(subtests: pytest.Subtests) -> None:
    for said in WORK_AFTERWARDS:
        with subtests.test(said=said):
            assert of_block(RECOMMENDATION=said) == []
