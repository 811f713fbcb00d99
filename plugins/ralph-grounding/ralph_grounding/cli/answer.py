"""`ralph score answer`: one answer, or many as lines of JSON."""

import sys
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ralph_grounding.cli.options import AsJson, Brands, Domain, Places, Similarity
from ralph_grounding.cli.printing import print_json, print_line
from ralph_grounding.cli.situation import ground_truth_of, situation_of

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence
    from typing import BinaryIO

    from ralph_grounding.analyzer import GroundingAnalyzer
    from ralph_grounding.ground_truth.pages import GroundTruth
    from ralph_grounding.lines import Line
    from ralph_grounding.materials import ExpectedAnswer

__all__ = ["answer"]

_MOST_BYTES = 64 * 1024 * 1024

File = Annotated[str, typer.Argument(metavar="FILE", help="The answer; - reads it from standard input.")]
Question = Annotated[str, typer.Option("--question", metavar="TEXT", help="What was asked.")]
Reference = Annotated[
    Path | None, typer.Option("--reference", metavar="FILE", help="The expected answer: accuracy is measured by it.")
]
Claims = Annotated[
    Path | None,
    typer.Option(
        "--claims", metavar="FILE", help="The expected claims, as YAML or JSON: completeness is measured by them."
    ),
]
AsLines = Annotated[
    bool, typer.Option("--jsonl", help="FILE holds a JSON object a line; each is answered with one, in order.")
]


def answer(
    context: typer.Context,
    *,
    file: File = "-",
    question: Question = "",
    reference: Reference = None,
    claims: Claims = None,
    ground_truth: Places = None,
    domain: Domain = "",
    brand: Brands = None,
    similarity: Similarity = None,
    as_json: AsJson = False,
    as_lines: AsLines = False,
) -> None:
    """Score an answer: is it right, what does it leave out, does it credit its source?

    It ends with status 1 where the settings ask for all required claims and one is missing.
    """
    import anyio

    from ralph_grounding.analyzer import GroundingAnalyzer

    analyzer = GroundingAnalyzer(situation_of(context).measured_by(similarity))

    async def score() -> bool:
        ground = await ground_truth_of(context, ground_truth or (), domain, brand or ())
        async with analyzer:
            if as_lines:
                _refuse_beside_lines(question, reference, claims)
                return await _score_lines(file, analyzer, ground)
            expected = _expected(reference, claims)
            return await _score_one(file, question, expected, analyzer, ground, as_json=as_json)

    if not anyio.run(score):
        raise typer.Exit(1)


def _refuse_beside_lines(question: str, reference: Path | None, claims: Path | None) -> None:
    from ralph.errors import UsageError

    given = {"--question": question, "--reference": reference, "--claims": claims}
    if named := [name for name, value in given.items() if value]:
        raise UsageError(
            f"{' and '.join(named)} cannot be given with --jsonl.",
            "There each object says by itself what it is held against: question, reference, claims.",
        )


def _expected(reference: Path | None, claims: Path | None) -> "ExpectedAnswer":
    from ralph_grounding.ground_truth import read_claims
    from ralph_grounding.materials import ExpectedAnswer

    return ExpectedAnswer(
        text=_read(str(reference)) if reference else "", claims=read_claims(claims) if claims else None
    )


def _read(name: str) -> str:
    """What a file holds; bytes that are not UTF-8 are replaced. Raises `UsageError`."""
    from ralph.errors import UsageError

    with opened(name) as stream:
        content = stream.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise UsageError(f"The file {name!r} is larger than {_MOST_BYTES // 1024**2} MiB.", "Take a part of it.")
    return content.decode("utf-8-sig", "replace")


async def _score_one(
    file: str,
    question: str,
    expected: "ExpectedAnswer",
    analyzer: "GroundingAnalyzer",
    ground: "GroundTruth",
    *,
    as_json: bool,
) -> bool:
    """Prints what the one answer comes to; whether it passes."""
    from ralph_grounding.lines import answer_to
    from ralph_grounding.materials import AIResponse, Query

    query = Query(id="answer", text=question, expected=expected)
    result = await analyzer.analyze(AIResponse(query_id="answer", response=_read(file)), query, ground)
    if as_json:
        print_json(answer_to(result))
    else:
        from ralph_grounding.cli.shown import print_result

        print_result(result)
    return result.scores.completeness is None or result.scores.completeness.passed


async def _score_lines(file: str, analyzer: "GroundingAnalyzer", shared: "GroundTruth") -> bool:
    """Prints an answer to each line, in order; a broken one is answered, too, and the rest goes on."""
    from ralph_grounding.lines import read_lines

    at_once = 1 if analyzer.settings.providers.similarity == "lexical" else analyzer.settings.batch.concurrency
    with opened(file) as stream:
        for lines in _in_groups(read_lines(stream), at_once):
            for said in await _answers(lines, analyzer, shared):
                print_line(said)
    return True


def _in_groups(lines: "Iterator[tuple[int, Line | str]]", size: int) -> "Iterator[list[tuple[int, Line | str]]]":
    while group := list(islice(lines, size)):
        yield group


async def _answers(
    lines: "Sequence[tuple[int, Line | str]]", analyzer: "GroundingAnalyzer", shared: "GroundTruth"
) -> list[dict[str, Any]]:
    import anyio

    answers: list[dict[str, Any]] = [{} for _ in lines]

    async def put(place: int, number: int, line: "Line | str") -> None:
        answers[place] = await _answer(number, line, analyzer, shared)

    async with anyio.create_task_group() as group:
        for place, (number, line) in enumerate(lines):
            group.start_soon(put, place, number, line)
    return answers


async def _answer(
    number: int, line: "Line | str", analyzer: "GroundingAnalyzer", shared: "GroundTruth"
) -> dict[str, Any]:
    from ralph import RalphError
    from ralph_grounding.lines import answer_to

    if isinstance(line, str):
        return {"error": line}
    try:
        result = await analyzer.analyze(line.answer(number), line.query(number), line.ground(shared))
    except RalphError as error:
        return {"error": str(error)}
    return answer_to(result)


@contextmanager
def opened(name: str) -> "Generator[BinaryIO]":
    """A file, or with "-" what comes in. Raises `UsageError` where it cannot be opened or read."""
    from ralph.errors import UsageError

    try:
        if name == "-":
            yield sys.stdin.buffer
        else:
            with Path(name).open("rb") as stream:
                yield stream
    except BrokenPipeError:
        raise  # it is of whoever read what was printed
    except OSError as error:
        raise UsageError(f"The file {name!r} cannot be read: {error.strerror}.", "Name one that can, or -.") from error
