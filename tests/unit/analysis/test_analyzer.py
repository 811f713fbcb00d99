import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ralph.analysis import AnalysisContext, ResponseAnalyzer, analyze_text, calculate_confidence, to_json
from ralph.errors import UnknownNameError

BLOCK = "---RALPH_STATUS---\nEXIT_SIGNAL: {}\nSTATUS: {}\nREASON: all is done and finished\n---END_RALPH_STATUS---"


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("All tests passing. The work is done.", "done"),
        (BLOCK.format("true", "COMPLETE"), "done"),
        (f"All tests passing.\n{BLOCK.format('false', 'IN_PROGRESS')}", "progress"),
        (BLOCK.format("false", "BLOCKED"), "blocked"),
        ("I cannot proceed: the repository is read-only.", "blocked"),
        ("Plain runs are blocked by the sandbox. I added a wrapper.", "progress"),
        ("There are two ways. Which one do you prefer?", "question"),
        ("要我繼續嗎？", "question"),
        ("The work is done and finished. Is there anything else?", "done"),
        ("Why does it fail? Because of the cache. I added a test.", "progress"),
        ("I added the parser to `a.py`.", "progress"),
        ("Error: the model cannot be reached", "error"),
        ("Let me see...", "unknown"),
        ("", "unknown"),
    ],
)
def test_state(text: str, state: str) -> None:
    assert analyze_text(text).state == state


def test_the_question_is_kept() -> None:
    assert analyze_text("There are two ways.\n\nWhich one do you prefer?").question == "Which one do you prefer?"


def test_open_boxes_of_the_plan_keep_the_state_from_done() -> None:
    assert analyze_text("All tests passing.", plan="- [ ] a\n").state == "progress"
    assert analyze_text("All tests passing.", plan="- [x] a\n").state == "done"


def test_a_malformed_block_is_told() -> None:
    analysis = analyze_text("---RALPH_STATUS---\nEXIT_SIGNAL: true\n")
    assert analysis.state != "done"
    assert any("status block" in warning for warning in analysis.warnings)


# covers: S1-49, S1-50, S1-51, S1-52, S1-53, S1-54
def test_the_weights_of_confidence() -> None:
    assert calculate_confidence("") == 0
    plain = calculate_confidence("Hm.")
    assert 20 <= plain <= 21, "no errors: 20; and hardly any length"
    assert calculate_confidence("It is done.") - plain == pytest.approx(21, abs=1)
    assert calculate_confidence("3 passed, 0 failed") - plain == pytest.approx(25, abs=9)
    full = "All tests passing. The work is done. See a.py, b.py, c.py, d.py and e.py. " + "Word after word. " * 40
    assert calculate_confidence(full, AnalysisContext()) == 100


def test_json_has_the_contract_s_keys() -> None:
    report = to_json(analyze_text(f"All is done.\n{BLOCK.format('true', 'COMPLETE')}"))
    assert {
        "status",
        "status_problem",
        "metrics",
        "completion",
        "stuck",
        "state",
        "confidence",
        "work_summary",
        "evidence",
    } <= set(report)
    assert report["status"] == {
        "exit_signal": True,
        "reason": "all is done and finished",
        "status": "COMPLETE",
        "fields": {},
    }
    assert set(json.loads(json.dumps(report))["evidence"][0]) == {"signal", "start", "end", "text", "weight", "why"}
    assert to_json(analyze_text("Hm."))["status"] is None


def test_an_unknown_language_is_named() -> None:
    with pytest.raises(UnknownNameError, match="klingon"):
        ResponseAnalyzer(languages=["klingon"])


_PIECES = st.sampled_from([
    *("done", "not ", "error: ", "I'm sure ", "12 tests passed", "50%", "完成", "不", "? ", ". ", ", ", "\n", "\n\n"),
    *("```", "`", '"', "“", "# ", "> ", "- [x] ", "- [ ] ", "<!--", "\r\n", "\x00", "\ud800", "İ", "\u202e"),
    *("---RALPH_STATUS---\n", "---END_RALPH_STATUS---\n", "EXIT_SIGNAL: true\n"),
])


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.text(), st.lists(_PIECES, max_size=40).map("".join)))
def test_any_text_is_analysed_and_evidence_lies_within_it(text: str) -> None:
    analysis = analyze_text(text, task=text, plan=text, previous=[text, text], errors=[text])
    assert 0 <= analysis.confidence <= 100
    assert analysis == analyze_text(text, task=text, plan=text, previous=[text, text], errors=[text])
    for piece in analysis.evidence:
        assert 0 <= piece.start <= piece.end <= len(text)
        shown = text[piece.start : piece.end].encode(errors="replace").decode()  # JSON has no lone surrogates
        assert shown.startswith(piece.text)


HOSTILE_TEXTS = [
    "a",
    " ",
    "\n",
    ".",
    "done ",
    "no ",
    "`",
    "```\n",
    '"',
    "“",
    "# x\n",
    "Error: x\n",
    "5% ",
    "- [ ] a\n",
    "完成",
    "> a\n",
    "a/",
    "modified 1 a ",
    "fixed the a ",
]


@pytest.mark.alone
def test_hostile_texts_cost_what_ordinary_ones_do(subtests: pytest.Subtests) -> None:
    for unit in HOSTILE_TEXTS:
        with subtests.test(unit=unit):
            begun = time.perf_counter()
            analyze_text((unit * 1_000_000)[:1_000_000])
            assert time.perf_counter() - begun < 3
