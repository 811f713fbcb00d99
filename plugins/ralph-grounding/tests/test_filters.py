"""The language of filters: what it says, and what it says of what it cannot read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_grounding.filters import Condition, FilterError, parse_filter


@pytest.mark.parametrize(
    ("text", "conditions"),
    [
        ("", ()),
        ("  ", ()),
        ("accuracy<50", (Condition("accuracy", "<", 50.0),)),
        (" Accuracy <= 49.5 ", (Condition("accuracy", "<=", 49.5),)),
        ("combined>=1e1", (Condition("combined", ">=", 10.0),)),
        ("accuracy<50 and provider=openai", (Condition("accuracy", "<", 50.0), Condition("provider", "=", "openai"))),
        ("accuracy<50,model!=x AND flag=y", ("accuracy", "model", "flag")),
        ('model="gpt 4, and more"', (Condition("model", "=", "gpt 4, and more"),)),
        ("provider=and", (Condition("provider", "=", "and"),)),
        ("query=q-1/ä", (Condition("query", "=", "q-1/ä"),)),
        ("accuracy.tier=Poor", (Condition("accuracy.tier", "=", "poor"),)),
        ("tier!=good", (Condition("tier", "!=", "good"),)),
        ('provider=""', (Condition("provider", "=", ""),)),
    ],
)
def test_a_filter_is_read(text, conditions):
    found = parse_filter(text)
    assert found == conditions or tuple(each.field for each in found) == conditions


UNREADABLE_FILTERS = [
    ("acuracy<50", 1, "Fields are accuracy, "),
    ("<50", 1, "there is no field"),
    ("accuracy", 9, "Operators for accuracy are < <= > >= = !="),
    ("accuracy ~ 50", 10, "Operators for accuracy are"),
    ("accuracy<", 10, "no value"),
    ("accuracy<fifty", 10, "a number from 0 to 100"),
    ("accuracy<nan", 10, "a number from 0 to 100"),
    ("accuracy<inf", 10, "a number"),
    ("provider<openai", 9, "Operators for provider are = !="),
    ("accuracy<50 provider=x", 12, "Join conditions with"),
    ("accuracy<50 or provider=x", 12, "Join conditions with"),
    ("accuracy<50,", 13, "Fields are"),
    ("accuracy<50 and ", 17, "Fields are"),
    (",accuracy<50", 1, "Fields are"),
    ("accuracy<50,,model=x", 13, "Fields are"),
    ("tier=bad", 6, "Tiers are excellent, good, fair, poor"),
    ("combined.tier=poor", 1, "Fields are"),
    ('model="open', 7, "quotes"),
    ("model=gpt 4", 10, "Join conditions with"),
    ("flag=a=b", 7, "Join"),
    ("x" * 5000, 2001, "at most 2000 characters"),
]


def test_what_cannot_be_read_is_told_with_its_place_and_what_is_possible(subtests: pytest.Subtests):
    for text, position, problem in UNREADABLE_FILTERS:
        with subtests.test(text=text):
            with pytest.raises(FilterError) as raised:
                parse_filter(text)
            assert raised.value.position == position
            assert problem in str(raised.value)
            assert f"at character {position}: " in str(raised.value)
            assert len(str(raised.value)) < 400
            assert raised.value.exit_code == 2


@given(st.text(alphabet='acuraymodeltir.<>=!," \n\0\ud800and0123456789', max_size=60) | st.text(max_size=60))
def test_any_text_is_read_or_refused(text):
    try:
        found = parse_filter(text)
    except FilterError as error:
        said, position = str(error), error.position
    else:
        said, position = "", 1
        assert all(isinstance(each, Condition) for each in found)
    assert said.isprintable()
    assert 1 <= position <= len(text) + 1
