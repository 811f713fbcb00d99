"""The table of commands, and the group that imports a command's module when it is called."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Annotated, Any

import typer
import typer.core
import typer.main

from ralph.cli.examples import EXAMPLES, examples_of_all

GROUPS: Mapping[str, Mapping[str, str]] = {
    "Start": {"run": "run:run", "resume": "resume:resume", "demo": "demo:demo", "fleet": "fleet:app"},
    "Watch": {
        "status": "status:status",
        "runs": "runs:app",
        "show": "show:show",
        "logs": "show:logs",
        "watch": "watch:watch",
        "serve": "serve:serve",
        "report": "report:report",
        "stats": "report:stats",
    },
    "Control": {
        "pause": "control:pause",
        "stop": "control:stop",
        "tell": "control:tell",
        "extend": "control:extend",
        "breaker": "breaker:app",
    },
    "Undo": {"diff": "checkpoints:diff", "rollback": "checkpoints:rollback"},
    "Analyze": {
        "analyze": "analyze:analyze",
        "replay": "replay:app",
        "export": "exchange:export",
        "import": "exchange:import_",
    },
    "Set up": {
        "init": "init:init",
        "doctor": "doctor:doctor",
        "login": "login:login",
        "config": "config:app",
        "plugins": "plugins:app",
        "completion": "completion:completion",
        "man": "man:man",
    },
}
"""The panels of `ralph --help`, in order. A command names its module of this package, and a function or app in it."""

COMMANDS: Mapping[str, str] = {name: path for group in GROUPS.values() for name, path in group.items()}

_PANELS = {name: panel for panel, group in GROUPS.items() for name in group}
_PANEL_OF_PLUGINS = "From plug-ins"

_WIDE_ENOUGH = 80
"""The least number of columns in which the boxes of the help do not cut the names of options."""

_ALIASES = {"continue": "resume"}
_HELP = {"--help", "-h"}


class _LazyGroup(typer.core.TyperGroup):
    """The group of all commands: modules of this package, and those of plug-ins."""

    _described: Mapping[str, str] | None = None
    """The descriptions of the plug-ins' commands by name, while the help is written."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help of all commands, without loading any of them, and examples."""
        with self._only_described():
            super().format_help(ctx, formatter)
        write = typer.echo if self.rich_markup_mode else formatter.write
        write(examples_of_all(GROUPS))

    @contextmanager
    def _only_described(self) -> Generator[None]:
        """Let `get_command` return descriptions of the commands, and load none."""
        from ralph.cli.plugins import described_commands

        self._described = described_commands()
        try:
            yield
        finally:
            self._described = None

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """Return the completions of a command's name, without loading any command."""
        with self._only_described():
            return super().shell_complete(ctx, incomplete)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the program's own options; `help COMMAND` means `COMMAND --help`."""
        if args[:1] == ["help"]:
            args = [*(args[1:] if args[1:2] != ["help"] else ()), "--help"]
        return super().parse_args(ctx, args)

    def get_help_option(self, ctx: Any) -> Any:
        """Return the option `--help`, off by default: unset, typer would build a pydantic adapter to read it."""
        option = super().get_help_option(ctx)
        if option is not None:
            option.default = False
        return option

    def list_commands(self, ctx: Any) -> list[str]:
        from ralph.cli.plugins import described_commands

        theirs = described_commands() if self._described is None else self._described
        return [*COMMANDS, *(name for name in theirs if name not in COMMANDS)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        path = COMMANDS.get(_ALIASES.get(cmd_name, cmd_name))
        if self._described is not None:
            text = self._described[cmd_name] if path is None else _docstring(path, cmd_name)
            panel = _PANELS.get(cmd_name, _PANEL_OF_PLUGINS)
            return typer.core.TyperCommand(cmd_name, help=text, rich_help_panel=panel)
        if path is None:
            from ralph.cli.plugins import command_app, command_context

            app = command_app(cmd_name)
            ctx.obj = command_context()
        else:
            app = _built_in(path)
        if app is None:
            return None
        found = typer.main.get_command(app)
        found.name = cmd_name
        if examples := EXAMPLES.get(cmd_name):
            found.epilog = "\n\n".join(["Examples:", *(f"  {each}" for each in examples)])
        _hide_types_of_flags(found, ctx)
        return found

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the called command. Before one of a plug-in, ask for consent to the settings of the folder."""
        if args and args[0] not in COMMANDS and args[0] not in _ALIASES and not _HELP & {*args}:
            from ralph.cli.plugins import settle_settings

            settle_settings()
        name, found, rest = super().resolve_command(ctx, args)
        if _HELP & {*args}:
            _fit(found, ctx)
        return name, found, rest


def command() -> Any:
    """Return the program as typer's command."""
    names = ["--help", "-h"]
    own = {"help_option_names": names}
    app = typer.Typer(cls=_LazyGroup, no_args_is_help=True, add_completion=False, context_settings=own)
    app.callback()(_ralph)
    group = typer.main.get_command(app)
    _hide_types_of_flags(group, typer.Context(group, help_option_names=names))
    return group


def _docstring(path: str, name: str) -> str:
    """Return the docstring of a command without importing its module; that of an app is its own function's."""
    import ast
    import pkgutil

    module, _, function = path.partition(":")
    wanted = name if function == "app" else function
    source = ast.parse(pkgutil.get_data("ralph.cli", f"{module}.py") or b"")
    functions = (node for node in source.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return next((ast.get_docstring(node) or "" for node in functions if node.name == wanted), "")


def _built_in(path: str) -> typer.Typer:
    module, _, name = path.partition(":")
    found = getattr(import_module(f"ralph.cli.{module}"), name)
    if isinstance(found, typer.Typer):
        return found
    app = typer.Typer(add_completion=False)
    app.command()(found)
    return app


def _hide_types_of_flags(found: Any, context: Any) -> None:
    """Remove "bool" from the help of flags: they take no value."""
    for parameter in found.get_params(context):
        if getattr(parameter, "is_flag", False) and parameter.metavar is None:
            parameter.metavar = ""
    for inner in getattr(found, "commands", {}).values():
        _hide_types_of_flags(inner, context)


def _fit(found: Any, context: Any) -> None:
    """Omit the boxes of the help on a narrow terminal: their columns would cut the names of options."""
    import shutil

    columns = shutil.get_terminal_size().columns
    if columns >= _WIDE_ENOUGH:
        return
    context.terminal_width = columns
    found.rich_markup_mode = None
    for inner in getattr(found, "commands", {}).values():
        _fit(inner, context)


def _show_version(value: bool) -> None:  # noqa: FBT001 - typer's signature of a callback
    if value:
        from ralph import __version__

        typer.echo(f"ralph {__version__}")
        raise typer.Exit


def _ralph(
    *,
    version: Annotated[
        bool,
        typer.Option("--version", "-V", help="Print the version and exit.", is_eager=True, callback=_show_version),
    ] = False,
) -> None:
    """Run a coding agent in a loop, and decide with evidence when the work is done."""
