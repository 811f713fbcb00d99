"""`ralph analyze`: what Ralph makes of a reply, without running anything."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

import typer

from ralph.cli.options import AsJson

if TYPE_CHECKING:
    from ralph.cli.judging import Question, Ruling
    from ralph.strategies import Strategy

__all__ = ["app"]

app = typer.Typer(add_completion=False)

_MOST_BYTES = 64 * 1024 * 1024

Reply = Annotated[str, typer.Argument(metavar="FILE", help="The reply; - reads it from standard input.")]
Task = Annotated[Path | None, typer.Option("--task", metavar="FILE", help="The task that it answers.")]
Plan = Annotated[Path | None, typer.Option("--plan", metavar="FILE", help="The checklist, as it is now.")]
Previous = Annotated[
    list[Path] | None, typer.Option("--previous", metavar="FILE", help="An earlier reply, oldest first; repeatable.")
]
StrategyName = Annotated[str, typer.Option("--strategy", metavar="NAME", help="The exit strategy.")]
Explained = Annotated[
    bool, typer.Option("--explain-decision", help="Print the whole chain from the signals to the decision.")
]
AsLines = Annotated[
    bool, typer.Option("--jsonl", help="Read objects from standard input, one a line, and answer each with one.")
]


@app.command()
def analyze(
    *,
    file: Reply = "-",
    task: Task = None,
    plan: Plan = None,
    previous: Previous = None,
    strategy: StrategyName = "auto",
    explained: Explained = False,
    as_json: AsJson = False,
    as_lines: AsLines = False,
) -> None:
    """Say what a reply means: is the work done, is the agent stuck, and what would follow."""
    from ralph.cli.chain import chain_json, print_chain
    from ralph.cli.judging import Question, judge
    from ralph.cli.tell import print_json, print_line
    from ralph.strategies import strategy_named

    chosen = strategy_named(strategy)
    if as_lines:
        for answer in _answers(sys.stdin.buffer, chosen):
            print_line(answer)
        return
    question = Question(
        text=_read(file),
        task=_read(str(task)) if task else "",
        plan=_read(str(plan)) if plan else None,
        previous=tuple(_read(str(path)) for path in previous or ()),
    )
    ruling = judge(question, chosen)
    if as_json:
        print_json({**ruling.as_json(), **({"chain": chain_json(ruling.chain)} if explained else {})})
    elif explained:
        print_chain(ruling.chain)
    else:
        _print(question, ruling)


def _read(name: str) -> str:
    """What a file holds, as agents write: bytes that are not UTF-8 are replaced. Raises `UsageError`."""
    from ralph.errors import UsageError

    try:
        if name == "-":
            content = sys.stdin.buffer.read(_MOST_BYTES + 1)
        else:
            with Path(name).open("rb") as file:
                content = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise UsageError(f"The file {name!r} cannot be read: {error.strerror}.", "Name one that can, or -.") from error
    if len(content) > _MOST_BYTES:
        raise UsageError(f"The file {name!r} is larger than {_MOST_BYTES // 1024**2} MiB.", "Take a part of it.")
    return content.decode("utf-8-sig", "replace")


def _answers(stream: BinaryIO, strategy: "Strategy") -> Iterator[dict[str, Any]]:
    """An answer for each line that is not empty, in order; a broken one is answered, and the rest goes on."""
    from ralph.cli.jsonl import objects
    from ralph.cli.judging import Question, judge

    for _, question in objects(stream, Question, most=_MOST_BYTES):
        yield {"error": question} if isinstance(question, str) else judge(question, strategy).as_json()


def _print(question: "Question", ruling: "Ruling") -> None:
    from rich.text import Text

    from ralph.cli.evidence import evidence_lines, marked
    from ralph.cli.tell import console
    from ralph.display.terminal import one_line
    from ralph.views import describe

    out, analysis = console(), ruling.analysis
    metrics, stuck = analysis.metrics, analysis.stuck
    rows: Sequence[tuple[str, str]] = (
        ("state", analysis.state),
        ("decision", describe(ruling.decision)),
        ("done", f"{metrics.completion_score} % (by {metrics.completion_source}), confidence {analysis.confidence:g}"),
        ("quality", f"{metrics.quality_score} ({metrics.level.replace('_', ' ')}), errors {metrics.error_count}"),
        ("did", analysis.work_summary),
        ("asks", analysis.question),
        ("stuck", "; ".join(stuck.repeated_patterns) if stuck.detected else ""),
        *(("warning", warning) for warning in analysis.warnings),
    )
    for label, text in rows:
        if text:
            out.print(Text.assemble((f"{label:<10}", "dim"), one_line(text, 400)))
    if out.is_terminal and question.text.strip():
        out.print()
        out.print(marked(question.text, analysis.evidence))
    if analysis.evidence:
        out.print(Text("\nevidence", style="bold"))
    for line in evidence_lines(analysis.evidence):
        out.print(line)
