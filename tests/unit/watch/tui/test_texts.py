"""Texts of the terminal app: Markdown with its evidence, patches, bars and gauges."""

from textual.content import Content

from ralph.analysis.result import Evidence
from ralph.watch.tui.rows import fitted, time_text, tokens_text
from ralph.watch.tui.texts import MOST, bars, gauge, labelled, markdown, patch

SOURCE = "# Title\n- [x] **All** tests pass\n```\na `b`\n```\nIt is [done](https://x.test/).\x1b[31m The end\n"


def styled(content: Content, style: str) -> list[str]:
    return [content.plain[span.start : span.end] for span in content.spans if style in str(span.style)]


def marked(text: str, *quotes: str, weight: float = 60) -> Content:
    places = [(text.index(quote), quote) for quote in quotes]
    return markdown(
        text,
        [Evidence(signal="s", start=at, end=at + len(quote), text=quote, weight=weight) for at, quote in places],
    )


def test_markdown_is_shown_without_its_marks() -> None:
    assert markdown(SOURCE).plain == "Title\n☑ All tests pass\n  a `b`\nIt is done. The end\n"


def test_evidence_is_highlighted_where_it_stands_whatever_is_left_out_before_it() -> None:
    for quote, shown in (
        ("tests pass", "tests pass"),
        ("**All** tests", "All tests"),
        ("[done](https://x.test/).", "done."),
        ("The end", "The end"),
        ("b`\n```\nIt is", "b`\nIt is"),
    ):
        assert styled(marked(SOURCE, quote), "on $success-muted") == [shown]
    assert styled(marked(SOURCE, "tests", weight=-1), "on $error-muted") == ["tests"]
    assert styled(marked(SOURCE, "All", "The end"), "$success-muted") == ["All", "The end"]


def test_evidence_that_does_not_fit_the_text_is_left_out() -> None:
    odd = [Evidence(signal="s", start=5, end=10**9, weight=1), Evidence(signal="s", start=9, end=3, weight=1)]
    assert not styled(markdown("short", odd), "$success-muted")
    assert markdown("", odd).plain == ""


def test_long_texts_are_cut_and_say_so() -> None:
    assert markdown("x" * (MOST + 1_500)).plain.endswith("… 1,500 more characters")
    assert patch("+a\n" * 2_000, most=10).plain.endswith("… 1,991 more lines")
    assert len(markdown("`" * 100_000).plain) < MOST + 100


def test_a_patch_is_coloured_by_its_lines() -> None:
    shown = patch("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\x1b[2J\n+new [b]bold[/b]\n")
    assert styled(shown, "success") == ["+new [b]bold[/b]\n"[:-1]] or "+new [b]bold[/b]" in styled(shown, "success")[0]
    assert "-old" in styled(shown, "error")[0]
    assert "\x1b" not in shown.plain


def test_bars_are_as_high_as_their_values() -> None:
    assert bars([1, 2, None, 4], 4, 2, "").plain == "   █\n▄█·█"
    assert bars([0, 8], 8, 1, "").plain == "▁▁▁ ███ "
    assert bars(range(1000), 10, 1, "").plain == "▁▂▂▃▄▅▆▆▇█"
    assert bars([None], 10, 1, "").plain == "··· "


def test_gauges_labels_and_figures() -> None:
    assert [str(gauge(used, 10).spans[0].style) for used in (1, 8, 12)] == [
        "$text-success",
        "$text-warning",
        "$text-error",
    ]
    assert labelled([(Content("a"), "one two three four")], 4, 16).plain == "a   one two\n    three four"
    assert [tokens_text(n) for n in (0, 999, 1_000, 12_345, 999_700, 9_940_000, 42e6, 5e9)] == [
        "0", "999", "1k", "12k", "1.0M", "9.9M", "42M", "5.0G",
    ]  # fmt: skip
    assert [time_text(n) for n in (0, 59.9, 60, 3_599.9, 7_500, 1e6, float("nan"))] == [
        "0.0s", "59.9s", "1m00s", "1h00m", "2h05m", "11d13h", "long",
    ]  # fmt: skip
    assert [fitted("日本語", 5), fitted("ab", 4, right=True), fitted("abc", 1)] == ["日本…", "  ab", "a"]
