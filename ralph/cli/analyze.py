"""`ralph analyze`: the analysis of a reply and the decision after it, without running anything."""

from pathlib import Path
from typing import Annotated

import typer

from ralph.cli.options import AsJson

Reply = Annotated[str, typer.Argument(metavar="FILE", help="The reply; - reads it from standard input.")]
Task = Annotated[Path | None, typer.Option("--task", metavar="FILE", help="The task that the reply answers.")]
Plan = Annotated[Path | None, typer.Option("--plan", metavar="FILE", help="The current checklist.")]
Previous = Annotated[
    list[Path] | None, typer.Option("--previous", metavar="FILE", help="An earlier reply, oldest first; repeatable.")
]
Changed = Annotated[
    list[int] | None,
    typer.Option(
        "--changes",
        metavar="N",
        min=0,
        help="Files that the iteration changed; unset: unknown. Repeatable: one for each --previous, then for FILE.",
    ),
]
StrategyName = Annotated[
    str | None, typer.Option("--strategy", metavar="NAME", help="The exit strategy, in place of the one in force.")
]
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
    changes: Changed = None,
    strategy: StrategyName = None,
    explained: Explained = False,
    as_json: AsJson = False,
    as_lines: AsLines = False,
) -> None:
    """Analyze a reply: is the work done, is the agent stuck, and what would Ralph decide.

    It uses the settings in force in the current folder, such as keywords, status fields and the plug-ins' detectors.
    The folder's own settings and plug-in count with your consent, as in a run.
    """
    from ralph.cli.evidence import chain_json, print_chain
    from ralph.cli.output import print_json, print_line
    from ralph.cli.replay_rules import rules_in_force
    from ralph.cli.reply import Earlier, Question, answers, effects, judge, print_judged
    from ralph.system.files import refuse_beside_lines, text_of

    if as_lines:
        refuse_beside_lines(
            {
                "--task": task,
                "--plan": plan,
                "--previous": previous,
                "--changes": changes,
                "--explain-decision": explained,
            },
            "each object has its own task, plan, previous and changes.",
        )
        for answer in answers(file, rules_in_force(strategy)):
            print_line(answer)
        return
    *before, last = effects(changes or (), len(previous or ()))
    question = Question(
        text=text_of(file),
        task=text_of(str(task)) if task else "",
        plan=text_of(str(plan)) if plan else None,
        previous=tuple(
            Earlier(text=text_of(str(path)), changes=made) for path, made in zip(previous or (), before, strict=True)
        ),
        changes=last,
    )
    ruling = judge(question, rules_in_force(strategy))
    if as_json:
        print_json({**ruling.as_json(), **({"chain": chain_json(ruling.chain)} if explained else {})})
    elif explained:
        print_chain(ruling.chain)
    else:
        print_judged(question, ruling)
