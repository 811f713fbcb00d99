"""Options that several commands have in common."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer


def completing(name: str, *given: str) -> Callable[[typer.Context, str], Any]:
    """Return a function of `ralph.cli.completers` for typer, which is imported when a shell asks."""

    def found(context: typer.Context, incomplete: str) -> Any:
        return getattr(import_module("ralph.cli.completers"), name)(context, incomplete, *given)

    return found


AnyFolder = Annotated[bool, typer.Option("--any", help="last is the newest run of any folder.")]
AsJson = Annotated[bool, typer.Option("--json", help="As JSON.")]
Folder = Annotated[Path, typer.Option("--directory", "-C", metavar="DIR", help="The folder to work in.")]
NoPlugins = Annotated[
    bool, typer.Option("--no-plugins", help="Load no plug-ins; RALPH_PLUGINS=off does the same for every command.")
]
RunId = Annotated[
    str,
    typer.Argument(
        metavar="RUN",
        help="Its id, the beginning of it, or last: the last run of this folder.",
        autocompletion=completing("runs"),
    ),
]
StoreName = Annotated[str | None, typer.Option("--store", metavar="URL", help="Where runs are kept.")]
Trust = Annotated[  # the panel is `declarations.OTHER`, which the help of most commands does not load
    bool, typer.Option("--trust", rich_help_panel="Other settings", help="Consent to the workspace's own settings.")
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask, also where it is about another folder.")]
