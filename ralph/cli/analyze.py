"""`ralph analyze`: the analysis of a reply, without running anything."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ralph.cli.options import AsJson
from ralph.cli.output import console, print_json, print_line
from ralph.system.text import one_line
from ralph.watch.terminal import print_rows

if TYPE_CHECKING:
    from ralph.cli.reply import Question, Ruling
    from ralph.decision.claims import Strategy

__all__ = ["analyze"]

Reply = Annotated[str, typer.Argument(metavar="FILE", help="The reply; - reads it from standard input.")]
Task = Annotated[Path | None, typer.Option("--task", metavar="FILE", help="The task that the reply answers.")]
Plan = Annotated[Path | None, typer.Option("--plan", metavar="FILE", help="The current checklist.")]
Previous = Annotated[
    list[Path] | None, typer.Option("--previous", metavar="FILE", help="An earlier reply, oldest first; repeatable.")
]
StrategyName = Annotated[str, typer.Option("--strategy", metavar="NAME", help="The exit strategy.")]
Explained = Annotated[
    bool, typer.Option("--explain-decision", help="Print the whole chain from the signals to the decision.")
]
AsLines = Annotated[
    bool, typer.Option("--jsonl", help="FILE has one JSON object per line; each is answered with one, in order.")
]


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
    """Analyze a reply: is the work done, is the agent stuck, and what would Ralph decide.

    It uses Ralph's defaults; `ralph replay` uses the settings in force, such as further keywords.
    """
    from ralph.cli.evidence import chain_json, print_chain
    from ralph.cli.reply import Question, judge
    from ralph.decision.claims import strategy_named
    from ralph.system.files import refuse_beside_lines, text_of

    chosen = strategy_named(strategy)
    if as_lines:
        refuse_beside_lines(
            {"--task": task, "--plan": plan, "--previous": previous, "--explain-decision": explained},
            "each object has its own task, plan and previous.",
        )
        for answer in _answers(file, chosen):
            print_line(answer)
        return
    question = Question(
        text=text_of(file),
        task=text_of(str(task)) if task else "",
        plan=text_of(str(plan)) if plan else None,
        previous=tuple(text_of(str(path)) for path in previous or ()),
    )
    ruling = judge(question, chosen)
    if as_json:
        print_json({**ruling.as_json(), **({"chain": chain_json(ruling.chain)} if explained else {})})
    elif explained:
        print_chain(ruling.chain)
    else:
        _print(question, ruling)


def _answers(name: str, strategy: "Strategy") -> Iterator[dict[str, Any]]:
    """Yield an answer for each line, in order, also for a broken or empty one."""
    from ralph.cli.reply import Question, judge
    from ralph.system.files import objects, opened

    with opened(name) as stream:
        for _, question in objects(stream, Question, every=True):
            yield {"error": question} if isinstance(question, str) else judge(question, strategy).as_json()


def _print(question: "Question", ruling: "Ruling") -> None:
    from rich.text import Text

    from ralph.cli.evidence import marked, print_evidence
    from ralph.records.projection import describe

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
