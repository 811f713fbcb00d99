"""The command group of `ralph score`."""

from collections.abc import Callable
from typing import Any

import typer
import typer.core

from ralph_grounding.cli.again import again
from ralph_grounding.cli.answer import answer
from ralph_grounding.cli.batch import batch
from ralph_grounding.cli.compare import compare
from ralph_grounding.cli.history import history, show
from ralph_grounding.cli.label import agreement, label
from ralph_grounding.cli.options import ScoreContext
from ralph_grounding.cli.queries import queries
from ralph_grounding.cli.report import report
from ralph_grounding.settings import GroundingSettings

__all__ = ["app_for"]

_ABOUT = (
    "Score answers against ground truth: are they right, what do they leave out, do they credit their source?\n\n"
    "`ralph score FILE` is short for `ralph score answer FILE`."
)


class _Scoring(typer.core.TyperGroup):
    """A command group that runs its first command if none is named."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        named = args[:1] and (args[0] in self.commands or args[0] == "--help")
        return super().parse_args(ctx, args if named else ["answer", *args])


def app_for(settings: GroundingSettings) -> typer.Typer:
    """Build the commands of `ralph score` for the given settings."""
    app = typer.Typer(cls=_Scoring, add_completion=False, help=_ABOUT)

    @app.callback()
    def prepare(context: typer.Context) -> None:  # pyright: ignore[reportUnusedFunction]
        context.obj = ScoreContext(settings, context.obj)

    commands: tuple[Callable[..., None], ...] = (
        answer,
        batch,
        queries,
        compare,
        history,
        show,
        again,
        report,
        label,
        agreement,
    )
    for command in commands:
        app.command()(command)
    return app
