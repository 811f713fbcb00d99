"""What it costs to look for expected claims, with the provider that is the default: by words.

Nothing is waited for: what is measured is the time that the thread has the processor. Prints one JSON object:

- `seconds_1000`: 1,000 responses of 1 KB with 8 claims each, none the same as another, one after the other
- `responses_per_second`
- `memory_growth_mb`: what the process grows by over 100,000 short responses, or as many as the argument says, judged by
  their claims, of which nothing is kept; the first tenth, in which the caches fill, is not counted
- `memory_growth_whole_mb`: the same over a tenth as many whole analyses: each with an expected answer and a domain, too
- `seconds_10mb`: a response of 10 MB without a line break or a full stop, with 8 claims
- `slope`: the same, divided by ten times one of 1 MB, so that 1 is linear
- `seconds_nearest`: 20 segments, each held against 5,000 passages of 1 KB, the index included; `seconds_nearest_again`
  without it

With an argument, which says how many responses are streamed, all of it is smaller: `seconds_1000` comes from 250
responses, `slope` from responses of 500 KB and 5 MB, and the last three are left out.
"""

import json
import random
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from time import thread_time
from typing import NamedTuple

import anyio
import psutil

from ralph_grounding.analyzer import GroundingAnalyzer
from ralph_grounding.ground_truth import GroundTruth
from ralph_grounding.materials import AIResponse, ExpectedAnswer, ExpectedClaim, Query
from ralph_grounding.scoring.completeness import CompletenessScorer
from ralph_grounding.similarity.lexical import LexicalProvider

SMALL = bool(sys.argv[1:])
STREAMED = int(sys.argv[1]) if SMALL else 100_000
RESPONSES, CLAIMS, LENGTH, SHORT = 250 if SMALL else 1_000, 8, 1_000, 120
SEGMENTS, PASSAGES = 20, 5_000
MB = 1_000_000

EVERYDAY = (
    "the of and to in is was for on with that it as are by from at this be which or an has have not can will all more "
    "when use new made first time about after many over year work part such may other these than into only people also "
    "system service project report release number result company system version file page data group start change end"
)
COMMON = EVERYDAY.split()
SYLLABLES = [first + second for first in "bcdfghjklmnprstvwz" for second in "aeiou"]
MADE_UP = [first + second + third for first in SYLLABLES for second in SYLLABLES[::4] for third in SYLLABLES[::9]]


class Case(NamedTuple):
    """A response, and what is expected of it."""

    response: str
    claims: Sequence[ExpectedClaim]


def main() -> None:
    """Measures, and prints the result."""
    print(json.dumps({key: round(value, 3) for key, value in anyio.run(measured).items()}))


async def measured() -> dict[str, float]:
    scorer, provider = CompletenessScorer(LexicalProvider()), LexicalProvider()
    await judge(scorer, cases(20, seed=1))
    seconds = await judge(scorer, cases(RESPONSES, seed=2))
    growth = await grown(lambda cases: judge(scorer, cases), STREAMED)
    whole = await grown(analyse, max(10, STREAMED // 10))
    size = MB // 2 if SMALL else MB
    one, ten = [await judge(scorer, [long_case(each)]) for each in (size, 10 * size)]
    found = {
        "seconds_1000": 1_000 * seconds / RESPONSES,
        "responses_per_second": RESPONSES / seconds,
        "memory_growth_mb": growth / 1e6,
        "memory_growth_whole_mb": whole / 1e6,
        "slope": ten / (10 * one),
    }
    if SMALL:
        return found
    passages = [words(LENGTH, random.Random(number)) for number in range(PASSAGES)]
    nearest = [await look_up(provider, passages) for _ in range(2)]
    return {**found, "seconds_10mb": ten, "seconds_nearest": nearest[0], "seconds_nearest_again": nearest[1]}


async def grown(work: Callable[[Iterator[Case]], Awaitable[object]], count: int) -> int:
    """The bytes by which the process is larger after so many short cases than after a tenth as many before."""
    await work(cases(max(1, count // 10), seed=3, length=SHORT))
    process = psutil.Process()
    before = process.memory_info().rss
    await work(cases(count, seed=4, length=SHORT))
    return process.memory_info().rss - before


async def judge(scorer: CompletenessScorer, cases: Iterator[Case] | Sequence[Case]) -> float:
    """The seconds that it takes, without those to make up the cases."""
    seconds = 0.0
    for case in cases:
        began = thread_time()
        await scorer.score(case.response, case.claims)
        seconds += thread_time() - began
    return seconds


async def analyse(cases: Iterator[Case]) -> None:
    """Analyses them as a stream: each with a claim, an expected answer and a domain."""
    async with GroundingAnalyzer() as analyzer:
        for number, case in enumerate(cases):
            expected = ExpectedAnswer(text=case.response[: SHORT // 2], claims=tuple(case.claims[:1]))
            query = Query(id=str(number), text="", domain="example.com", expected=expected)
            await analyzer.analyze(AIResponse(query_id=query.id, response=case.response), query, GroundTruth())


async def look_up(provider: LexicalProvider, passages: Sequence[str]) -> float:
    segments = [passage[300:500] for passage in passages[:: PASSAGES // SEGMENTS]]
    began = thread_time()
    await provider.nearest(segments, passages)
    return thread_time() - began


def cases(count: int, seed: int, length: int = LENGTH) -> Iterator[Case]:
    chance = random.Random(seed)
    for _ in range(count):
        response = words(length, chance)
        yield Case(response, claims(response, chance))


def long_case(size: int) -> Case:
    chance = random.Random(size)
    response = " ".join(words(size, chance).replace(".", "").split())
    return Case(response, claims(response[: 100 * LENGTH], chance))


def claims(response: str, chance: random.Random) -> list[ExpectedClaim]:
    """Some that the response makes in part or whole, some that it does not."""
    said = response.split()
    made = [said[start : start + 12] for start in (chance.randrange(len(said) - 12) for _ in range(CLAIMS // 2))]
    other = [words(70, chance).split() for _ in range(CLAIMS - CLAIMS // 2)]
    return [ExpectedClaim(statement=" ".join(claim)) for claim in made + other]


def words(length: int, chance: random.Random) -> str:
    """Sentences of everyday words, made up ones, names and numbers, about as many characters."""
    said: list[str] = []
    size = 0
    while size < length:
        kind = chance.random()
        if kind < 0.6:
            word = chance.choice(COMMON)
        elif kind < 0.95:
            word = MADE_UP[int(len(MADE_UP) * chance.random() ** 2)]
        else:
            word = str(chance.randrange(10_000))
        if kind > 0.9:
            word = word.title()
        said.append(word + "." if chance.random() < 0.07 else word)
        size += len(word) + 1
    return " ".join(said)


if __name__ == "__main__":
    main()
