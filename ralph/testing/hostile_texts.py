"""What agents and others may write, for the suites: texts that must be read without an error, and soon."""

from collections.abc import Callable
from time import thread_time
from typing import TypeVar

__all__ = ["HOSTILE", "grows_linearly"]

_T = TypeVar("_T")

_SHORT, _LONG = 4_000, 32_000
_FACTOR = 24
"""A linear reader takes eight times as long for eight times the text, and a quadratic one 64 times."""
_NEGLIGIBLE = 0.02
"""Seconds that are too few to be measured by."""

_BEGIN, _END = "---RALPH_STATUS---", "---END_RALPH_STATUS---"

HOSTILE = (
    "",
    " \n\t\r\n",
    "\x00\x1b]0;x\x07\x1b[2J\u202e\u2066`$(id)` %s {0} \\1",
    f"{_BEGIN}\nEXIT_SIGNAL: perhaps\nSTATUS: \n{_BEGIN}\nEXIT_SIGNAL: true\n{_END}\n{_END}",
    f"{_BEGIN}\nEXIT_SIGNAL: true",
    "```\n> " * 500,
    "- [x] " * 500,
    "Done. " * 2_000,
    "完成了。✅ Erledigt. ¡Hecho!",
    "a" * 20_000,
    "9" * 5_000 + "% of " + "9" * 5_000,
    "(" * 3_000 + "]" * 3_000,
)

_TILES = (" ", "a", "9", "- [ ] x\n", "not done, ", "error: \n", "((", "| - ", "`x` ", "\n")


def grows_linearly(prepare: Callable[[str], _T], work: Callable[[_T], object], tile: str) -> str:
    """What a text is made of for whose length the work takes too long; empty where there is none.

    Args:
        prepare: makes of a text what the work is done on; its time does not count.
        tile: what one text is made of, by repetition, beside the usual ones.
    """
    for each in (tile, *_TILES):
        short, long = (prepare((each * (length // len(each) + 1))[:length]) for length in (_SHORT, _LONG))
        if _time(work, long) > max(_NEGLIGIBLE, _FACTOR * _time(work, short)):
            return each[:40]
    return ""


def _time(work: Callable[[_T], object], prepared: _T) -> float:
    """Of two tries the shorter, in seconds of this thread."""
    times: list[float] = []
    for _ in range(2):
        began = thread_time()
        work(prepared)
        times.append(thread_time() - began)
    return min(times)
