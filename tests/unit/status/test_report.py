from textwrap import indent
from time import thread_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from ralph.status import Status, StatusField, StatusMalformed, StatusMissing, StatusReport, parse_status

BODY = "EXIT_SIGNAL: true\nREASON: 已完成所有工作，無待辦項目"
BLOCK = f"---RALPH_STATUS---\n{BODY}\n---END_RALPH_STATUS---"


def report(text: str, *fields: StatusField, promise: str | None = None, example: str | None = None) -> StatusReport:
    status = parse_status(text, fields, promise=promise, example=example)
    assert isinstance(status, StatusReport), status
    return status


def test_the_documented_block() -> None:
    # covers: S4-16, S4-24, S4-25, S4-26, S4-27, S4-28, S4-30, S4-31
    status = report(f"Done.\n\n{BLOCK}\n")

    assert status.exit_signal is True
    assert status.reason == "已完成所有工作，無待辦項目"
    assert (status.status, status.fields, status.problems) == ("", {}, ())
    assert status.raw == BLOCK


SPELLINGS = [
    (BLOCK.replace("\n", "\r\n"), "block"),
    (BLOCK.replace("\n", "\r"), "block"),
    (indent(BLOCK, "    "), "block"),
    (f"```\n{BLOCK}\n```", "block"),
    (f"~~~text\n\n{BLOCK}\n\n~~~\n\n## Summary\n\nMore prose.", "block"),
    (f"- ```\n  {BLOCK}\n  ```", "block"),
    (f"```\n{BLOCK}", "block"),
    (f"---RALPH_STATUS---\n```\n{BODY}\n```\n---END_RALPH_STATUS---", "block"),
    (f"```sh\nmake\n```\n\n{BLOCK}\n\n```sh\nls\n```", "block"),
    (
        (
            "**---RALPH_STATUS---**\n**EXIT_SIGNAL:** true\n**REASON**: 已完成所有工作，無待辦項目\n"
            "**---END_RALPH_STATUS---**"
        ),
        "block",
    ),
    (
        (
            "---RALPH\\_STATUS---\n- EXIT\\_SIGNAL: `true`\n- **REASON: 已完成所有工作，無待辦項目**\n"
            "---END\\_RALPH\\_STATUS---"
        ),
        "block",
    ),
    (BLOCK.replace("END_RALPH_STATUS", "END_STATUS").replace("RALPH_STATUS", "COPILOT_STATUS"), "block"),
    (BLOCK.replace(": ", "："), "block"),
    ('RALPH_STATUS: {"EXIT_SIGNAL": true, "REASON": "已完成所有工作，無待辦項目"}', "json"),
    ('RALPH_STATUS:\n{\n  "exit_signal": "yes",\n  "reason": "已完成所有工作，無待辦項目"\n}\nBye.', "json"),
    ('```json\n{\n  "RALPH_STATUS": {"exit_signal": 1, "reason": "已完成所有工作，無待辦項目"}\n}\n```', "json"),
    ("RALPH_STATUS:\n  EXIT_SIGNAL: true\n  REASON: 已完成所有工作，無待辦項目\n\nBye.", "yaml"),
    ("**RALPH_STATUS:**\r\n\r\n  exit_signal: yes\r\n  reason: |\r\n    已完成所有工作，無待辦項目\r\n", "yaml"),
]


def test_every_spelling_says_the_same(subtests: pytest.Subtests) -> None:
    for text, form in SPELLINGS:
        with subtests.test(text=text):
            # covers: S4-27, K4-6
            status = report(text)

            assert (status.exit_signal, status.reason, status.form) == (True, "已完成所有工作，無待辦項目", form)
            assert status.raw == text[status.start : status.end]
            assert "RALPH" in status.raw.replace("COPILOT", "RALPH")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Nothing here.",
        indent(BLOCK, "> "),
        f"```\nThe format is:\n{BLOCK}\n```",
        f"```\n{BLOCK}\nand so on\n```",
        f"```\n{BLOCK}\n{BLOCK}\n```",
        f"````markdown\n```\n{BLOCK}\n```\n````",
        "I will end with ---RALPH_STATUS--- EXIT_SIGNAL: true ---END_RALPH_STATUS--- then.",
        "The RALPH_STATUS: {json} form and EXIT_SIGNAL: true are documented.",
        "RALPH_STATUS: is what I print at the end.",
        "<promise>DONE</promise>",
    ],
)
def test_what_does_not_count(text: str) -> None:
    assert parse_status(text) == StatusMissing()


MALFORMED = [
    (BLOCK.replace(": true", ""), "EXIT_SIGNAL has no value"),
    (BLOCK.replace(": true", ":"), "EXIT_SIGNAL has no value"),
    (BLOCK.replace("true", "true | false"), "EXIT_SIGNAL is 'true | false', not true or false"),
    (BLOCK.replace("true", "true\nEXIT_SIGNAL: false"), "EXIT_SIGNAL is both true and false"),
    ('RALPH_STATUS: {"EXIT_SIGNAL": null}', "EXIT_SIGNAL has no value"),
    ("RALPH_STATUS: {EXIT_SIGNAL: true}", "its JSON cannot be read"),
    ('RALPH_STATUS: {"a": ' + "[" * 50_000, "its JSON cannot be read"),
    ('RALPH_STATUS: {"a": ' + "9" * 10_000 + "}", "its JSON cannot be read"),
    ("RALPH_STATUS:\nEXIT_SIGNAL: true", "no indented"),
    (f"---RALPH_STATUS---\n{BODY}", "no closing line"),
    (f"```\n---RALPH_STATUS---\n{BODY}\n```\n---END_RALPH_STATUS---", "no closing line"),
    ("---RALPH_STATUS---\n\n---END_RALPH_STATUS---", "no `KEY: value` line"),
    (BLOCK.replace("已", "x" * 30_000), "longer than 20,000"),
    ("All good.\n\nEXIT_SIGNAL", "outside of a ---RALPH_STATUS--- block"),
    ("**EXIT_SIGNAL:** true", "outside of a ---RALPH_STATUS--- block"),
]


def test_what_is_malformed_says_why(subtests: pytest.Subtests) -> None:
    for text, problem in MALFORMED:
        with subtests.test(text=text):
            # covers: K4-11
            status = parse_status(text)

            assert isinstance(status, StatusMalformed)
            assert problem in status.problem
            assert text[status.start : status.end].strip("*\n")


@pytest.mark.parametrize(
    ("word", "signal"), [("TRUE", True), ("Yes", True), ("1", True), ("False", False), ("no", False), ("0", False)]
)
def test_the_words_of_an_exit_signal(word: str, signal: bool) -> None:
    assert report(BLOCK.replace("true", word)).exit_signal is signal


def test_the_last_well_formed_block_that_counts_wins() -> None:
    # covers: K4-11
    said_false = BLOCK.replace("true", "false")

    assert report(f"{BLOCK}\n\n{said_false}").exit_signal is False
    assert report(f"{said_false}\n\n{indent(BLOCK, '> ')}").exit_signal is False
    broken = report(f"{said_false}\n\n---RALPH_STATUS---\nEXIT_SIGNAL: true")
    assert broken.exit_signal is False
    assert "no closing line" in broken.problems[0]


def test_the_prompts_own_example_does_not_count_in_any_spelling() -> None:
    example = "---RALPH_STATUS---\nEXIT_SIGNAL: false\nREASON: one sentence\n---END_RALPH_STATUS---"

    assert parse_status(example, example=example) == StatusMissing()
    assert parse_status(f"```\n{indent(example, '  ')}\n```", example=example) == StatusMissing()
    json = 'RALPH_STATUS: {"EXIT_SIGNAL": false, "REASON": "one  sentence"}'
    assert parse_status(json, example=example) == StatusMissing()
    assert report(f"{BLOCK}\n{example}", example=example).exit_signal is True
    assert report(example.replace("one", "my"), example=example).exit_signal is False


def test_a_copied_example_does_not_hide_a_signal_that_stands_alone() -> None:
    example = "---RALPH_STATUS---\nEXIT_SIGNAL: false\nREASON: one sentence\n---END_RALPH_STATUS---"
    status = parse_status(f"{example}\n\nThe work is done.\n\nEXIT_SIGNAL: true", example=example)
    assert isinstance(status, StatusMalformed), status
    assert status.start > len(example)


def test_a_status_without_a_signal_leaves_the_signal_open() -> None:
    # covers: S4-29, K4-6
    status = report("---RALPH_STATUS---\nSTATUS: COMPLETE\nTASKS_DONE: 3/5\n---END_RALPH_STATUS---")

    assert (status.exit_signal, status.status, status.fields) == (None, "COMPLETE", {"TASKS_DONE": "3/5"})


def test_a_value_may_go_on_over_lines() -> None:
    block = BLOCK.replace("REASON: 已", "FILES_MODIFIED: 2\nREASON: first\nsecond: half\n\nthird 已")

    status = report(block)

    assert status.reason == "first\nsecond: half\nthird 已完成所有工作，無待辦項目"
    assert status.fields == {"FILES_MODIFIED": "2"}


def test_registered_fields_have_their_type_and_others_are_text() -> None:
    # covers: S4-59
    fields = (StatusField("RISK", int), StatusField("FILES", list[str]), StatusField("SURE", bool))
    block = BLOCK.replace("REASON", "RISK: 3 (low)\nFILES: a.py, b.py\nSURE: maybe\nOTHER: 5\nREASON")

    status = report(block, *fields)

    assert status.fields == {"RISK": 3, "FILES": ["a.py", "b.py"], "OTHER": "5"}
    assert status.problems == ("SURE: 'maybe' is not true or false",)
    json = report('RALPH_STATUS: {"risk": 4, "files": ["x"], "sure": false, "other": {"n": 1}}', *fields)
    assert json.fields == {"RISK": 4, "FILES": ["x"], "SURE": False, "OTHER": '{"n": 1}'}


def test_a_promise_counts_only_as_configured_and_in_the_last_line() -> None:
    assert report("All done.\n\n<promise>IT IS DONE</promise>\n\n", promise="IT IS DONE").form == "promise"
    for text in (
        "<promise>it is done</promise>",
        "<promise>IT IS DONE</promise> or so",
        "<promise>IT IS DONE</promise>\n.",
    ):
        assert parse_status(text, promise="IT IS DONE") == StatusMissing()


def test_a_block_that_says_no_stands_above_a_promise() -> None:
    # covers: K4-10
    promise = "<promise>X</promise>"

    assert report(f"{BLOCK.replace('true', 'false')}\n{promise}", promise="X").exit_signal is False
    assert report(f"---RALPH_STATUS---\nSTATUS: OK\n---END_STATUS---\n{promise}", promise="X").exit_signal is True
    assert report(f"---RALPH_STATUS---\nEXIT_SIGNAL\n{promise}", promise="X").form == "promise"


def test_what_no_store_can_hold_is_replaced() -> None:
    status = report(BLOCK.replace("已", "\ud800\x00"))
    from_json = report('RALPH_STATUS: {"REASON": "\\ud800 \\u0000"}')

    assert status.reason.startswith("\ufffd\ufffd完成")
    assert from_json.reason == "\ufffd \ufffd"
    assert StatusReport.model_validate_json(status.model_dump_json()) == status


def test_a_status_survives_storage() -> None:
    adapter: TypeAdapter[Status] = TypeAdapter(Status)

    for status in (report(BLOCK), StatusMissing(), parse_status("EXIT_SIGNAL")):
        assert adapter.validate_json(adapter.dump_json(status)) == status


HOSTILE = [
    "---RALPH_STATUS---\n", "---END_RALPH_STATUS---\n", "EXIT_SIGNAL: true\n", "EXIT_SIGNAL", "RALPH_STATUS:", "\n  ",
    'RALPH_STATUS: {"a": ', "{", "}", "[", '"', "> ", "```\n", "````", "~~~", "**", "- ", "\r\n", "\\", "REASON: x",
    "\ud800", "\0", "：", "<promise>X</promise>",
]  # fmt: skip


@given(st.lists(st.one_of(st.sampled_from(HOSTILE), st.text(max_size=10)), max_size=30).map("".join))
@settings(max_examples=500, deadline=None)
def test_no_text_makes_it_raise_and_every_span_is_within_the_text(text: str) -> None:
    status = parse_status(text, (StatusField("RISK", int),), promise="X", example=BLOCK)

    if not isinstance(status, StatusMissing):
        assert 0 <= status.start < status.end <= len(text)
    if isinstance(status, StatusReport):
        assert len(status.raw) == status.end - status.start
        assert StatusReport.model_validate_json(status.model_dump_json()) == status


@pytest.mark.alone
@pytest.mark.parametrize(
    "unit",
    [
        "---RALPH_STATUS---\n",
        "---RALPH_STATUS---\nEXIT_SIGNAL: true\n",
        f"> {BLOCK}\n",
        f"```\nx\n{BLOCK}\n```\n",
        'RALPH_STATUS: {"a": [\n',
        "RALPH_STATUS:\n  a\n",
        "RALPH_STATUS: " + " " * 150 + "\n",
        "EXIT_SIGNAL\n```\n",
        "```\n````\n",
        "{\n",
        " ",
        "\n",
        "*",
        "-",
    ],
)
def test_time_grows_with_the_length_and_no_faster(unit: str) -> None:
    def seconds(size: int) -> float:
        text = f"{unit * (size // len(unit))}\n_STATUS _SIGNAL"
        began = thread_time()
        parse_status(text, promise="X", example=BLOCK)
        return thread_time() - began

    small = min(seconds(200_000) for _ in range(3))
    assert min(seconds(1_600_000) for _ in range(2)) < 24 * small + 0.1
