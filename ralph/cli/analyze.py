"""`ralph analyze`: what Ralph makes of a reply, without running anything."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
    bool, typer.Option("--jsonl", help="FILE holds a JSON object a line; each is answered with one, in order.")
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
    """Say what a reply means: is the work done, is the agent stuck, and what would follow.

    It judges by Ralph's defaults; the settings in force, such as further keywords, count in `ralph replay`.
    """
    from ralph.cli.chain import chain_json, print_chain
    from ralph.cli.judging import Question, judge
    from ralph.cli.tell import print_json, print_line
    from ralph.strategies import strategy_named

    chosen = strategy_named(strategy)
    if as_lines:
        _refuse_beside_lines({"--task": task, "--plan": plan, "--previous": previous, "--explain-decision": explained})
        for answer in _answers(file, chosen):
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


def _refuse_beside_lines(given: Mapping[str, object]) -> None:
    from ralph.errors import UsageError

    if named := [name for name, value in given.items() if value]:
        raise UsageError(
            f"{' and '.join(named)} cannot be given with --jsonl.",
            "There each object says by itself what it is judged against: task, plan, previous.",
        )


def _read(name: str) -> str:
    """What a file holds, as agents write: bytes that are not UTF-8 are replaced. Raises `UsageError`."""
    from ralph.cli.jsonl import opened
    from ralph.errors import UsageError

    with opened(name) as stream:
        content = stream.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise UsageError(f"The file {name!r} is larger than {_MOST_BYTES // 1024**2} MiB.", "Take a part of it.")
    return content.decode("utf-8-sig", "replace")


def _answers(name: str, strategy: "Strategy") -> Iterator[dict[str, Any]]:
    """An answer for each line that is not empty, in order; a broken one is answered, and the rest goes on."""
    from ralph.cli.jsonl import objects, opened
    from ralph.cli.judging import Question, judge

    with opened(name) as stream:
        for _, question in objects(stream, Question, most=_MOST_BYTES):
            yield {"error": question} if isinstance(question, str) else judge(question, strategy).as_json()


def _print(question: "Question", ruling: "Ruling") -> None:
    from rich.text import Text

    from ralph.cli.evidence import marked, print_evidence
    from ralph.cli.tell import console
    from ralph.display.terminal import one_line, print_rows
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
    print_rows(out, ((Text(label, style="dim"), Text(one_line(text, 400))) for label, text in rows if text), width=9)
    if out.is_terminal and question.text.strip():
        out.print()
        out.print(marked(question.text, analysis.evidence))
    if evidence := (*analysis.evidence, *stuck.evidence):
        out.print(Text("\nevidence", style="bold"))
        print_evidence(out, evidence)
