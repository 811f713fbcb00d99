"""Error words, a service's messages, errors of programs, and replies that only speak of them."""

import pytest

from ralph.analysis import analyze_text

MESSAGES_OF_SERVICES = [
    ("You've hit your limit · resets 3pm (Europe/Berlin)", "usage limit"),
    ("Claude AI usage limit reached|1760000000", "usage limit"),
    ("5-hour limit reached ∙ resets 3pm", "usage limit"),
    ("Monthly usage limit reached. Resets on Dec 1 at 12:00 AM (UTC).", "usage limit"),
    ("You have reached your monthly premium request limit.", "usage limit"),
    ("error: insufficient_quota - You exceeded your current quota", "usage limit"),
    ("Credit balance is too low", "credit"),
    ("Error: Rate limit exceeded, try again in 20 s", "rate limit"),
    ("429 Too Many Requests", "rate limit"),
    ('API Error: 429 {"type":"error","error":{"type":"rate_limit_error"}}', "rate limit"),
    ("stream error: exceeded retry limit, last status: 429 Too Many Requests", "rate limit"),
    ("client.RateLimitError: Rate limit reached for this model.", "rate limit"),
    ("Error: API quota exceeded", "usage limit"),
    ("API Error: Repeated 529 Overloaded errors", "overloaded"),
    ("Server is overloaded, please try again later", "overloaded"),
    ("Invalid API key · Please run /login", "login"),
    ("Not logged in · Please run /login", "login"),
    ("Error loading config: OAuth token expired, run `agent login`", "login"),
    ("已达到使用上限，请稍后再试", "usage limit"),
    ("I start with the first task.\n\nYou've hit your limit · resets 3pm", "usage limit"),
    ("I fixed the parser and ran the tests.\n\nAPI Error: Rate limit reached", "rate limit"),
]


def test_a_service_s_message_is_limited(subtests: pytest.Subtests) -> None:
    for text, kind in MESSAGES_OF_SERVICES:
        with subtests.test(text=text):
            analysis = analyze_text(text)
            assert analysis.state == "limited"
            [piece] = [piece for piece in analysis.evidence if piece.signal == "limited"]
            assert f": {kind}." in piece.why
            assert piece.text.lower() in text.lower()


TALK_OF_LIMITS = [
    "The rate limit is 100 requests per minute.",
    "Rate limit exceeded errors are now handled by the retry layer.",
    "Rate limit tests pass.",
    "I implemented rate limiting: 429 too many requests is now returned.",
    "I hit the rate limit of the package mirror, so I wait for a minute.",
    "Let me see why users get `Invalid API key`.",
    'The page says "You\'ve hit your limit" then.',
    "Added a limiter.\n\nTests cover:\n\n- Invalid API key\n- Rate limit exceeded",
    "Added a limiter.\n\nIt prints:\n\n> You've hit your limit",
    "Added a limiter.\n\nIt prints:\n\n```\nYou've hit your limit\n```",
    "Added a limiter.\n\nRate limit exceeded responses carry a header.",
    "## Rate limit reached\n\nThis page is shown at 429.",
    "Processing item 429",
    "Your weekly limit is read from the settings.",
    "TypeError: ratelimit.check is not a function",
    "Error: Network timeout",
    "Unauthorized users see a login page; not logged in is a state of its own.",
    "You've hit your limit\n\n---RALPH_STATUS---\nEXIT_SIGNAL: false\n---END_RALPH_STATUS---",
]


def test_talk_of_limits_is_none(subtests: pytest.Subtests) -> None:
    for text in TALK_OF_LIMITS:
        with subtests.test(text=text):
            analysis = analyze_text(text)
            assert analysis.state != "limited"
            assert (analysis.retry_after, analysis.limited_until) == (None, "")


@pytest.mark.parametrize(
    ("text", "seconds", "until"),
    [
        ("You've hit your limit · resets 3pm (Europe/Berlin)", None, "3pm (Europe/Berlin)"),
        ("Usage limit reached|1760000000", None, "1760000000"),
        ("Weekly limit reached ∙ resets Oct 9 at 10am", None, "Oct 9 at 10am"),
        ("Usage limit reached. Try again at Nov 3rd, 2025 9:00 AM", None, "Nov 3rd, 2025 9:00 AM"),
        ("Rate limit exceeded, try again in 20s", 20, ""),
        ("Rate limit exceeded. retry-after: 60", 60, ""),
        ("Rate limit exceeded. Please try again in 1.5s.", 2, ""),
        ("Too many requests. Please wait 30 seconds before retrying.", 30, ""),
        ("You've hit your usage limit. Try again in 3 days 4 hours 5 minutes.", 273_900, ""),
        ("Quota exceeded. Your quota will reset after 2h3m4s.", 7384, ""),
        ("Rate limit exceeded.\n\nRequest 4711 of 2025", None, ""),
    ],
)
def test_the_end_of_a_limit_is_read(text: str, seconds: float | None, until: str) -> None:
    analysis = analyze_text(text)
    assert analysis.state == "limited"
    assert (analysis.retry_after, analysis.limited_until) == (seconds, until)
    for piece in analysis.evidence:
        assert text[piece.start : piece.end] == piece.text


@pytest.mark.parametrize(
    "text",
    [
        "API Error: 500 Internal server error",
        "Error: File not found",
        "Execution error",
        "Prompt is too long",
        "(no content)",
        "bash: agent: command not found",
        "FATAL: could not open the session file",
        "thread 'main' panicked at src/client.rs:311:14:\nnot connected",
        "Traceback (most recent call last):\n"
        + '  File "a.py", line 3, in <module>\n    run()\n' * 40
        + "OSError: closed",
    ],
)
def test_a_program_s_error_and_nothing_else_is_an_error(text: str) -> None:
    assert analyze_text(text).state == "error"


@pytest.mark.parametrize(
    "text",
    [
        "Error handling is in the base class. Let me look at it.",
        "Error: the file was missing. I added it.",
        "The build fails with `Error: no such module`. I am fixing it now.",
        "Error: it fails.\n\n" + "Here is what I think of it. " * 40,
    ],
)
def test_a_report_of_an_error_is_none(text: str) -> None:
    assert analyze_text(text).state != "error"


ERROR_WORDS = [
    ("An error, another error, and one more error.", 1, 3),
    ("No errors found. 0 failed, 12 passed.", 0, 0),
    ("Ran without any problems.", 0, 0),
    ("I did not find any issues.", 0, 0),
    ("I did not fix the bug.", 1, 1),
    ("I fixed the bug. The error has been resolved.", 0, 0),
    ("The error is not resolved.", 1, 1),
    ("Debug the tissue sample.", 0, 0),
    ("Added error handling and error messages.", 0, 0),
    ("That is not a bug.", 0, 0),
    ('{"error": null, "failed": 0}', 0, 0),
    ("Errors: 0\nFailures: 0", 0, 0),
    ("See issue #12.", 0, 0),
    ("The build fails and two tests crashed.", 1, 2),
    ("## Issues\n\nThe page flickers.\n", 1, 1),
    ("## Issues\n\n", 0, 0),
    ("## Issues\n\nNone.\n", 0, 0),
    ("發生錯誤，測試失敗。", 2, 2),
    ("沒有錯誤。", 0, 0),
]


# covers: S0-57, S0-58
def test_error_words(subtests: pytest.Subtests) -> None:
    for text, count, occurrences in ERROR_WORDS:
        with subtests.test(text=text):
            metrics = analyze_text(text).metrics
            assert (metrics.error_count, metrics.error_occurrences) == (count, occurrences)


# covers: S0-77
def test_an_error_that_ends_the_work_is_an_error_also_where_no_other_word_says_so() -> None:
    for text in ("Segmentation fault", "Out of memory. The build was killed."):
        assert analyze_text(text).metrics.error_count == 1


def test_a_fatal_error_is_below_the_minimum() -> None:
    analysis = analyze_text("The program ended with a segmentation fault.")
    assert analysis.metrics.level == "below_minimum"
