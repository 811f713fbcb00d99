from typing import Any

import pytest
from pydantic import TypeAdapter

from ralph.errors import UsageError
from ralph.status import StatusField, StatusReport, parse_status


@pytest.mark.parametrize(
    ("type_", "raw", "value"),
    [
        (str, "as it is", "as it is"),
        (str, 5, "5"),
        (int, "-12", -12),
        (int, 7, 7),
        (int, "5 (app.py, game.js)", 5),
        (float, "0.25", 0.25),
        (float, "1e3", 1000.0),
        (bool, "Yes", True),
        (bool, False, False),
        (list[str], "a, b ,, c", ["a", "b", "c"]),
        (list[str], "- a, b\n- c", ["a, b", "c"]),
        (list[str], '["a", 2]', ["a", "2"]),
        (list[str], ["x", None], ["x", ""]),
        (list[str], "", []),
    ],
)
def test_a_value_is_read_as_its_type(type_: Any, raw: Any, value: Any) -> None:
    assert StatusField("X", type_).parse(raw) == value


@pytest.mark.parametrize(
    ("type_", "raw"),
    [
        (int, "many"),
        (int, "3.5"),
        (int, True),
        (int, "9" * 5_000),
        (float, "nan"),
        (float, "1e999"),
        (float, "inf"),
        (bool, "perhaps"),
        (list[str], "[1, "),
    ],
)
def test_a_value_of_another_type_is_refused_with_a_bounded_message(type_: Any, raw: Any) -> None:
    with pytest.raises(ValueError) as caught:
        StatusField("X", type_).parse(raw)

    assert len(str(caught.value)) < 150


def test_choices_are_found_whatever_their_case() -> None:
    field = StatusField("TESTS", str, choices=("PASSING", "NOT_RUN"))

    assert field.parse("not_run (needs a person)") == "NOT_RUN"
    with pytest.raises(ValueError, match="is not one of PASSING, NOT_RUN"):
        field.parse("unknown")


@pytest.mark.parametrize("name", ["risk", "", "1ST", "A B", "EXIT_SIGNAL", "REASON", "STATUS", "X" * 100])
def test_an_impossible_name_is_refused(name: str) -> None:
    with pytest.raises(UsageError):
        StatusField(name, str)


def test_an_example_or_a_type_that_cannot_be_is_refused() -> None:
    with pytest.raises(UsageError, match="does not fit"):
        StatusField("RISK", int, example="low")
    with pytest.raises(UsageError, match="is not a valid type"):
        StatusField("RISK", dict)  # pyright: ignore[reportArgumentType]


def test_a_field_may_be_written_in_settings() -> None:
    adapter = TypeAdapter(StatusField)
    field = adapter.validate_python({"name": "FILES", "type": "list[str]", "example": ["a.py"]})

    assert field == StatusField("FILES", list[str], example=["a.py"])
    assert adapter.validate_json(adapter.dump_json(field)) == field
    assert adapter.json_schema()["required"] == ["name"]
    assert (field.type_name, field.sample) == ("list[str]", "a.py")


def test_a_field_is_read_with_its_type() -> None:
    tests, files = StatusField("TESTS", int), StatusField("FILES", list[str])
    state = StatusField("STATE", choices=("GREEN", "RED"))
    block = "---RALPH_STATUS---\nTESTS: 3 (of 4)\nFILES: a.py, b.py\nSTATE: green\n---END_RALPH_STATUS---"
    registered, unregistered = parse_status(block, (tests, files, state)), parse_status(block)
    for report in (registered, unregistered):
        assert isinstance(report, StatusReport)
        assert (report.value(tests), report.value(files), report.value(state)) == (3, ["a.py", "b.py"], "GREEN")
    assert tests.read({}) is None
    assert tests.read({"TESTS": "most of them"}) is None
    assert StatusField("SURE", bool).read({"SURE": False}) is False
    assert StatusField("SHARE", float).read({"SHARE": 0.5}) == 0.5
