"""`ralph score answer`: one answer, or many as JSON lines."""

from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ralph_grounding.cli.judge import (
    JudgeKeyName,
    JudgeMode,
    JudgeModel,
    JudgeOptions,
    JudgeUrl,
    MaxCost,
    Nli,
    judging_for,
    names_judge,
    report_use,
)
from ralph_grounding.cli.options import (
    AsJson,
    Brands,
    Domain,
    Places,
    Similarity,
    context_of,
    ground_truth_of,
    open_store,
)
from ralph_grounding.cli.printing import print_json, print_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ralph_grounding.analyzer import GroundingAnalyzer
    from ralph_grounding.ground_truth.pages import GroundTruth
    from ralph_grounding.lines import Line
    from ralph_grounding.materials import ExpectedAnswer

__all__ = ["answer"]

File = Annotated[str, typer.Argument(metavar="FILE", help="The answer; - reads it from standard input.")]
Question = Annotated[str, typer.Option("--question", metavar="TEXT", help="The question.")]
Reference = Annotated[
    Path | None, typer.Option("--reference", metavar="FILE", help="The expected answer, to measure accuracy.")
]
Claims = Annotated[
    Path | None,
    typer.Option("--claims", metavar="FILE", help="The expected claims, as YAML or JSON, to measure completeness."),
]
AsLines = Annotated[
    bool, typer.Option("--jsonl", help="Read one JSON object per line of FILE, and print a result for each, in order.")
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
    judge: JudgeUrl = None,
    judge_model: JudgeModel = None,
    judge_key_env: JudgeKeyName = None,
    judge_mode: JudgeMode = None,
    nli: Nli = None,
    max_cost: MaxCost = None,
    as_json: AsJson = False,
    as_lines: AsLines = False,
) -> None:
    """Score one answer: is it right, what does it leave out, does it credit its source?

    Exits with 1 if the settings require all required claims and one is missing.
    """
    from contextlib import AsyncExitStack

    import anyio

    from ralph.system.files import refuse_beside_lines
    from ralph_grounding.analyzer import GroundingAnalyzer

    settings = context_of(context).measured_by(similarity)
    asks = JudgeOptions(
        url=judge, model=judge_model, key_env=judge_key_env, mode=judge_mode, nli=nli, max_cost=max_cost
    )

    async def score() -> bool:
        async with AsyncExitStack() as stack:
            kept = None
            if names_judge(settings, asks):
                kept = await stack.enter_async_context(open_store(context, None))
            judging = judging_for(settings, asks, kept)
            ground = await ground_truth_of(context, ground_truth or (), domain, brand or ())
            analyzer = await stack.enter_async_context(GroundingAnalyzer(settings, judging=judging))
            stack.callback(report_use, judging)
            if as_lines:
                refuse_beside_lines(
                    {"--question": question, "--reference": reference, "--claims": claims},
                    "each object has its own question, reference and claims.",
                )
                return await _score_lines(file, analyzer, ground)
            expected = _expected(reference, claims)
            return await _score_one(file, question, expected, analyzer, ground, as_json=as_json)

    if not anyio.run(score):
        raise typer.Exit(1)


def _expected(reference: Path | None, claims: Path | None) -> "ExpectedAnswer":
    from ralph.system.files import text_of
    from ralph_grounding.ground_truth.claims_file import read_claims
    from ralph_grounding.materials import ExpectedAnswer

    return ExpectedAnswer(
        text=text_of(str(reference)) if reference else "", claims=read_claims(claims) if claims else None
    )


async def _score_one(
    file: str,
    question: str,
    expected: "ExpectedAnswer",
    analyzer: "GroundingAnalyzer",
    ground: "GroundTruth",
    *,
    as_json: bool,
) -> bool:
    """Print the result of one answer; return True if it passes."""
    from ralph.system.files import text_of
    from ralph_grounding.lines import result_line
    from ralph_grounding.materials import AIResponse, Query

    query = Query(id="answer", text=question, expected=expected)
    result = await analyzer.analyze(AIResponse(query_id="answer", response=text_of(file)), query, ground)
    if as_json:
        print_json(result_line(result))
    else:
        from ralph_grounding.cli.printing import print_result

        print_result(result)
    return result.scores.completeness is None or result.scores.completeness.passed


async def _score_lines(file: str, analyzer: "GroundingAnalyzer", shared: "GroundTruth") -> bool:
    """Print a result for each line, in order; a broken line gets an error, and the rest continues."""
    from ralph.system.files import objects, opened
    from ralph_grounding.lines import Line

    at_once = 1 if analyzer.settings.providers.similarity == "lexical" else analyzer.settings.batch.concurrency
    with opened(file) as stream:
        for lines in _in_groups(objects(stream, Line, as_written=True, every=True), at_once):
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
    from ralph_grounding.lines import result_line

    if isinstance(line, str):
        return {"error": line}
    try:
        result = await analyzer.analyze(line.answer(number), line.query(number), line.ground(shared))
    except RalphError as error:
        return {"error": str(error)}
    return result_line(result)
