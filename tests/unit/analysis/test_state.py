"""The state of a reply, where words decide it: a question to a person, and what only looks like one."""

import pytest

from ralph.analysis import analyze_text


@pytest.mark.parametrize(
    "text",
    [
        "Which database should I use?",
        "Should I use tabs or spaces? Please let me know which you prefer.",
        "Do you want me to proceed with option A or option B?",
        "I wrote the parser. Should the old one stay? Please tell me.",
        "Please confirm that I may delete the table.",
        "我應該用哪個？請告訴我。",
    ],
)
def test_a_reply_that_ends_by_asking_a_person_is_a_question(text: str) -> None:
    analysis = analyze_text(text)
    assert analysis.state == "question"
    assert analysis.question
    assert analysis.question in text


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("I updated the parser. Let me know if you need anything else.", "progress"),
        ("All done, all tests pass. Let me know if you have questions!", "done"),
        ("All tests pass and the feature is complete. Would you like me to do anything else?", "done"),
        ("I fixed it. What was wrong? The index was off by one.", "progress"),
        ("Why did it fail? Because of the cache.", "unknown"),
    ],
)
def test_an_offer_and_a_question_to_oneself_are_none(text: str, state: str) -> None:
    analysis = analyze_text(text)
    assert (analysis.state, analysis.question) == (state, "")
