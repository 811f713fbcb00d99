"""The table of commands, and the group that imports a command's module when it is called."""

from importlib import import_module
from typing import Annotated, Any

import typer
import typer.core
import typer.main

__all__ = ["command"]

_COMMANDS = ("run", "demo", "runs", "show", "analyze", "replay", "breaker", "init", "doctor", "config")
"""In the order of `ralph --help`. Each is a module of this package with a `typer.Typer` called `app`."""


class _LazyGroup(typer.core.TyperGroup):
    """A group whose commands are modules of this package."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in _COMMANDS:
            return None
        found = typer.main.get_command(import_module(f"ralph.cli.{cmd_name}").app)
        found.name = cmd_name
        _without_types_of_flags(found)
        return found


def command() -> Any:
    """The program as typer's command."""
    app = typer.Typer(cls=_LazyGroup, no_args_is_help=True, add_completion=False)
    app.callback()(_ralph)
    return typer.main.get_command(app)


def _without_types_of_flags(found: Any) -> None:
    """A flag takes nothing, so that its help need not call it a bool."""
    for parameter in found.params:
        if getattr(parameter, "is_flag", False) and parameter.metavar is None:
            parameter.metavar = ""
    for inner in getattr(found, "commands", {}).values():
        _without_types_of_flags(inner)


def _show_version(value: bool) -> None:  # noqa: FBT001 - typer's shape of a callback
    if value:
        from ralph import __version__

        typer.echo(f"ralph {__version__}")
        raise typer.Exit


def _ralph(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version", metavar="", help="Print the version and exit.", is_eager=True, callback=_show_version
        ),
    ] = False,
) -> None:
    """Runs a coding agent in a loop, and decides, with evidence, when the work is done."""
