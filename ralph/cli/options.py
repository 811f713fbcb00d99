"""Options that several commands have in common."""

from pathlib import Path
from typing import Annotated

import typer


def _runs(context: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    from ralph.cli.completion import runs

    return runs(context, incomplete)


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
        autocompletion=_runs,
    ),
]
StoreName = Annotated[str | None, typer.Option("--store", metavar="URL", help="Where runs are kept.")]
Trust = Annotated[  # the panel is `declarations.OTHER`, which the help of most commands does not load
    bool, typer.Option("--trust", rich_help_panel="Other settings", help="Consent to the workspace's own settings.")
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask, also where it is about another folder.")]
