"""`ralph github`: a task from an issue, to be handed to `ralph run -`."""

from typing import Annotated

import typer

from ralph_github.api import GitHubApi
from ralph_github.settings import GitHubSettings
from ralph_github.task import IssueName, task_of

__all__ = ["app_for"]

Name = Annotated[str, typer.Argument(metavar="ISSUE", help="owner/repo#12, or its address in a browser.")]


def app_for(settings: GitHubSettings) -> typer.Typer:
    """The command under some settings."""
    app = typer.Typer(add_completion=False, no_args_is_help=True, help="Take a task from a GitHub issue.")

    @app.callback()
    def group() -> None:  # pyright: ignore[reportUnusedFunction]
        pass

    @app.command(help="Print the task that an issue is: ralph github task owner/repo#12 | ralph run -")
    def task(name: Name) -> None:  # pyright: ignore[reportUnusedFunction]
        issue = IssueName.parse(name)
        typer.echo(task_of(issue, GitHubApi(settings).issue(issue)))

    return app
