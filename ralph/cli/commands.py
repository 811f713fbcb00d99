"""The table of commands, and the group that imports a command's module when it is called."""

from collections.abc import Mapping
from importlib import import_module
from typing import Annotated, Any

import typer
import typer.core
import typer.main

__all__ = ["COMMANDS", "command"]

COMMANDS: Mapping[str, str] = {
    "run": "run:app",
    "resume": "resume:app",
    "pause": "control:pausing",
    "stop": "control:stopping",
    "tell": "control:telling",
    "extend": "control:extending",
    "demo": "demo:app",
    "runs": "runs:app",
    "show": "show:app",
    "logs": "logs:app",
    "diff": "diff:app",
    "rollback": "rollback:app",
    "export": "exchange:exporting",
    "import": "exchange:importing",
    "analyze": "analyze:app",
    "replay": "replay:app",
    "breaker": "breaker:app",
    "init": "init:app",
    "doctor": "doctor:app",
    "config": "config:app",
    "plugins": "plugins:app",
}
"""In the order of `ralph --help`: the module of this package, and the `typer.Typer` in it."""

_WIDE_ENOUGH = 60
"""Columns in which the boxes of the help have room for every option's name."""

_ALIASES = {"continue": "resume"}


class _LazyGroup(typer.core.TyperGroup):
    """A group whose commands are modules of this package, and those that plug-ins bring."""

    _described: Mapping[str, str] | None = None
    """While the help is written: what plug-ins say of their commands, by name."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Writes the help of all. No command of a plug-in is loaded for that."""
        from ralph.cli.plugin_loading import described_commands

        self._described = described_commands()
        try:
            super().format_help(ctx, formatter)
        finally:
            self._described = None

    def list_commands(self, ctx: Any) -> list[str]:
        from ralph.cli.plugin_loading import described_commands

        theirs = described_commands() if self._described is None else self._described
        return [*COMMANDS, *(name for name in theirs if name not in COMMANDS)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        place = COMMANDS.get(_ALIASES.get(cmd_name, cmd_name))
        if place is None and self._described is not None:
            return typer.core.TyperCommand(cmd_name, help=self._described[cmd_name])
        if place is None:
            from ralph.cli.plugin_loading import command_app, command_materials

            app = command_app(cmd_name)
            ctx.obj = command_materials()
        else:
            module, _, name = place.partition(":")
            app = getattr(import_module(f"ralph.cli.{module}"), name)
        if app is None:
            return None
        found = typer.main.get_command(app)
        found.name = cmd_name
        _without_types_of_flags(found, ctx)
        return found

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is called. One of a plug-in's goes by the settings of the folder, so consent comes first."""
        if args and args[0] not in COMMANDS and args[0] not in _ALIASES and "--help" not in args:
            from ralph.cli.plugin_loading import settle_settings

            settle_settings()
        name, found, rest = super().resolve_command(ctx, args)
        if "--help" in args:
            _fit(found, ctx)
        return name, found, rest


def command() -> Any:
    """The program as typer's command."""
    app = typer.Typer(cls=_LazyGroup, no_args_is_help=True, add_completion=False)
    app.callback()(_ralph)
    group = typer.main.get_command(app)
    _without_types_of_flags(group, typer.Context(group))
    return group


def _without_types_of_flags(found: Any, context: Any) -> None:
    """A flag takes nothing, so that its help need not call it a bool; neither does --help itself."""
    for parameter in found.get_params(context):
        if getattr(parameter, "is_flag", False) and parameter.metavar is None:
            parameter.metavar = ""
    for inner in getattr(found, "commands", {}).values():
        _without_types_of_flags(inner, context)


def _fit(found: Any, context: Any) -> None:
    """On a narrow terminal the help has no boxes: their columns would cut the options' names."""
    import shutil

    columns = shutil.get_terminal_size().columns
    if columns >= _WIDE_ENOUGH:
        return
    context.terminal_width = columns
    found.rich_markup_mode = None
    for inner in getattr(found, "commands", {}).values():
        _fit(inner, context)


def _show_version(value: bool) -> None:  # noqa: FBT001 - typer's shape of a callback
    if value:
        from ralph import __version__

        typer.echo(f"ralph {__version__}")
        raise typer.Exit


def _ralph(
    *,
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version and exit.", is_eager=True, callback=_show_version),
    ] = False,
) -> None:
    """Runs a coding agent in a loop, and decides, with evidence, when the work is done."""
