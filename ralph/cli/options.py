"""Options that several commands have in common."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["AsJson", "Folder", "RunId", "StoreName"]

AsJson = Annotated[bool, typer.Option("--json", help="As JSON.")]
Folder = Annotated[Path, typer.Option("--directory", "-C", metavar="DIR", help="The folder to work in.")]
RunId = Annotated[str, typer.Argument(metavar="RUN", help="Its id, the beginning of it, or last.")]
StoreName = Annotated[str | None, typer.Option("--store", metavar="URL", help="Where runs are kept.")]
