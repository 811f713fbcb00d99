"""What an analysis costs: of an ordinary reply of 1 KB, 1 MB and 10 MB, and of hostile texts beside ordinary ones.

A reply is parsed for its status block and analyzed. It waits for nothing: what is measured is the time that its thread
has the processor. Things that are compared take turns, and the fastest time of each counts, for what is slower than
that is the machine's. Prints one JSON object: `ms_1kb`, `ms_1mb`, `ms_10mb`; `slope`
(10 MB ÷ ten times 1 MB, so that 1 is linear); `hostile_ratio` (the slowest hostile text of 1 MB ÷ an ordinary one of
that size) with its name as `worst_case`; and the same for some texts of 10 MB. An argument says how often each is
measured.
"""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from time import thread_time

from analysis_texts import HOSTILE, ordinary

from ralph.analysis import AnalysisContext, ResponseAnalyzer
from ralph.status import parse_status
from ralph.types.output import Output

ROUNDS = int(sys.argv[1]) if sys.argv[1:] else 5

KB, MB = 1_000, 1_000_000
SUSPECTS = 10
"""Hostile texts that are measured again: the slowest of a first round."""
LARGE = (
    "letters",
    "one line",
    "unclosed fence",
    "fences",
    "done",
    "dense (Chinese)",
    "blocks",
    "openers",
    "marks",
    "any",
)
"""Hostile texts that are measured with 10 MB as well."""

analyzer = ResponseAnalyzer()
context = AnalysisContext()


def main() -> None:
    """Measures, and prints the result."""
    analyze(ordinary(MB))
    reply = ordinary(KB)
    small = best([timed(reply) for _ in range(400 * ROUNDS)])
    medium, large = side_by_side((ordinary(MB), ordinary(10 * MB)), ROUNDS)
    ratios = hostile_ratios(MB, HOSTILE)
    suspects = sorted(ratios, key=lambda name: -ratios[name])[:SUSPECTS]
    ratios = hostile_ratios(MB, {name: HOSTILE[name] for name in suspects}, ROUNDS)
    ratios_10mb = hostile_ratios(10 * MB, {name: HOSTILE[name] for name in LARGE}, 3)
    worst, worst_10mb = (max(found, key=lambda name: found[name]) for found in (ratios, ratios_10mb))
    result = {
        "ms_1kb": round(small, 3),
        "ms_1mb": round(medium, 1),
        "ms_10mb": round(large, 1),
        "slope": round(large / (10 * medium), 3),
        "hostile_ratio": round(ratios[worst], 2),
        "worst_case": worst,
        "hostile_ratio_10mb": round(ratios_10mb[worst_10mb], 2),
        "worst_case_10mb": worst_10mb,
    }
    print(json.dumps(result))


def analyze(text: str) -> None:
    output = Output(text=text)
    analyzer.analyze(output, parse_status(output.text), context)


def timed(text: str) -> float:
    """Milliseconds that one analysis takes."""
    began = thread_time()
    analyze(text)
    return (thread_time() - began) * 1000


def best(times: Sequence[float]) -> float:
    return min(times)


def side_by_side(texts: Sequence[str], rounds: int) -> list[float]:
    """The fastest times of some texts that take turns."""
    times = [[timed(text) for text in texts] for _ in range(rounds)]
    return [best(column) for column in zip(*times, strict=True)]


def hostile_ratios(size: int, texts: Mapping[str, Callable[[int], str]], rounds: int = 2) -> dict[str, float]:
    """The times of hostile texts of a size, each divided by that of an ordinary text beside it."""
    reference = ordinary(size)
    ratios: dict[str, float] = {}
    for name, text in texts.items():
        usual, hostile = side_by_side((reference, text(size)), rounds)
        ratios[name] = hostile / usual
    return ratios


if __name__ == "__main__":
    main()
