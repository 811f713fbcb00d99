"""No text breaks the analysis. How long the texts take is a matter of tests/benchmarks/analysis_speed.py."""

import json
import runpy
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.analysis import Analysis, AnalysisContext, ResponseAnalyzer, to_json
from ralph.status import parse_status
from ralph.types.output import Output

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
HOSTILE: Mapping[str, Callable[[int], str]] = runpy.run_path(str(BENCHMARKS / "analysis_texts.py"))["HOSTILE"]

PIECES = (
    *("done", "all tests pass", "not ", "no ", "errors", "still ", "but ", "However, ", "100 %", "3 of 8", "5 passed"),
    *("完成", "尚未", "沒有錯誤", "I am blocked", "Shall I go on?", "Please confirm", "rate limit", "fixed 2 bugs"),
    *(
        "```",
        "~~~",
        "`",
        '"',
        "“",
        "」",
        "> ",
        "| ",
        "# ",
        "- [ ] ",
        "- [x] ",
        "**",
        "_",
        "<think>",
        "</think>",
        "<!--",
    ),
    *(
        "---RALPH_STATUS---",
        "---END_RALPH_STATUS---",
        "EXIT_SIGNAL: true",
        "STATUS: BLOCKED",
        "RALPH_STATUS: {",
        "{",
        "}",
    ),
    *(
        "\n",
        "\n\n",
        "\r\n",
        " ",
        "\t",
        "\0",
        "\ud800",
        "\udfff",
        "İ",
        "ß",
        "\u202e",
        "\u0301",
        "\u200b",
        "\u2028",
        "👩\u200d👧",
    ),
)
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=8), max_size=40).map("".join)


def analyzed(text: str, context: AnalysisContext | None = None) -> Analysis:
    output = Output(text=text)
    return ResponseAnalyzer().analyze(output, parse_status(output.text), context or AnalysisContext())


def check(analysis: Analysis, text: str) -> None:
    json.dumps(to_json(analysis)).encode()
    assert Analysis.model_validate_json(analysis.model_dump_json()) == analysis
    for piece in analysis.evidence:
        assert 0 <= piece.start <= piece.end <= len(text)


def test_no_hostile_text_breaks_the_analysis(subtests: pytest.Subtests) -> None:
    for size in [1, 700, 120_000]:
        for name in HOSTILE:
            with subtests.test(size=size, name=name):
                text = HOSTILE[name](size)

                check(analyzed(text, AnalysisContext(task=text[:1000], errors=(text[:1000],))), text)


@given(TEXTS, st.integers(1, 3))
def test_no_mixture_breaks_the_analysis(text: str, times: int) -> None:
    whole = text * times

    analysis = analyzed(whole)

    check(analysis, whole)
    assert analyzed(whole) == analysis
