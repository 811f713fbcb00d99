"""Looks for a text that breaks the analysis: that raises, gives a span outside of the text, or takes too long.

Texts are made of ordinary sentences, hostile pieces, marks and words of the vocabulary, repeated and mixed at random;
every so often one is made four times as long, which must not take much more than four times as long. The first
argument says for how many seconds (600 by default), the second is the seed (0 by default). Prints one JSON object with
the number of `texts` and of `failures`; the first text of each failure stands in it.
"""

import json
import sys
from collections.abc import Sequence
from random import Random
from time import perf_counter

from analysis_texts import HOSTILE, ordinary

from ralph.analysis import Analysis, AnalysisContext, Past, ResponseAnalyzer, to_json
from ralph.analysis.lexicon import LEXICONS, lexicon
from ralph.status import parse_status
from ralph.types.output import Output

SECONDS = float(sys.argv[1]) if sys.argv[1:] else 600.0
SEED = int(sys.argv[2]) if sys.argv[2:] else 0

GROWTH = 4
SLACK = 2.5
"""How much longer than four times as long a text of four times the size may take: caches and the machine."""
SHORTEST_MS = 10.0
"""Times below are not compared."""

analyzer = ResponseAnalyzer()


def main() -> None:
    """Looks for failures, and prints them."""
    random = Random(SEED)
    pieces = [*words(), *(text(random.choice((3, 40, 300))) for text in HOSTILE.values()), *sentences()]
    found: dict[str, str] = {}
    texts = 0
    began = perf_counter()
    while perf_counter() - began < SECONDS:
        text = mixed(random, pieces)
        for problem in (broken(text), slow(text) if texts % 50 == 0 else ""):
            if problem:
                found.setdefault(problem, text[:2000])
        texts += 1
    print(json.dumps({"texts": texts, "failures": len(found), "found": found}))


def words() -> list[str]:
    """Every form of every word of the vocabulary."""
    known = [lexicon(language) for language in LEXICONS]
    forms = {
        form for words in known for names in words.words.values() for written in names.values() for form in written
    }
    return sorted(forms | {keyword.text for words in known for keyword in words.keywords})


def sentences() -> list[str]:
    return [piece for piece in ordinary(20_000).split("\n") if piece]


def mixed(random: Random, pieces: Sequence[str]) -> str:
    """A text of a few pieces that are repeated, in any order."""
    few = random.choices(pieces, k=random.choice((1, 2, 3, 5, 8, 20)))
    gaps = random.choices(("", " ", "\n", "\n\n", ", ", ". ", "\r\n", "\0"), k=3)
    size = random.choice((50, 500, 500, 3000, 3000, 20_000, 120_000))
    parts: list[str] = []
    length = 0
    while length < size:
        part = random.choice(few) * random.choice((1, 1, 1, 2, 30)) + random.choice(gaps)
        parts.append(part)
        length += len(part) + 1
    return "".join(parts)


def broken(text: str) -> str:
    """What goes wrong with a text; empty where nothing does."""
    try:
        output = Output(text=text)
        first = analyze(output, AnalysisContext(task=text[:500]))
        past = Past.of(text, first)
        again = analyze(output, AnalysisContext(past=(past, past), errors=(text[:300],)))
        json.dumps(to_json(again))
        again.model_dump_json()
    except Exception as error:  # noqa: BLE001 - whatever it is, it is what we look for
        return f"{type(error).__name__}: {str(error)[:200]}"
    return next((problem for problem in map(misplaced, (first, again), (text, text)) if problem), "")


def analyze(output: Output, context: AnalysisContext) -> Analysis:
    return analyzer.analyze(output, parse_status(output.text), context)


def misplaced(analysis: Analysis, text: str) -> str:
    for piece in analysis.evidence:
        if not 0 <= piece.start <= piece.end <= len(text):
            return f"{piece.signal} has a span outside of the text"
        if text.isascii() and not text[piece.start : piece.end].startswith(piece.text):
            return f"{piece.signal} shows another text than its span"
    return ""


def slow(text: str) -> str:
    """Whether four times the text takes much longer than four times as long."""
    for _ in range(3):
        allowed = GROWTH * SLACK * min(timed(text) for _ in range(2))
        long = min(timed(text * GROWTH) for _ in range(2))
        if long < max(allowed, SHORTEST_MS):
            return ""
    return f"not linear: {GROWTH} times {len(text):,} characters take more than {GROWTH * SLACK:.0f} times as long"


def timed(text: str) -> float:
    began = perf_counter()
    analyze(Output(text=text), AnalysisContext())
    return (perf_counter() - began) * 1000


if __name__ == "__main__":
    main()
