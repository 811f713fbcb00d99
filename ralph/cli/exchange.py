"""`ralph export` writes a run to a file; `ralph import` adds it to a store."""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

from ralph.cli.lookup import configured_store, opened_run, store_option
from ralph.cli.options import AnyFolder, AsJson, RunId, StoreName
from ralph.cli.output import binary_output, print_json, print_paragraph
from ralph.cli.plugins import plugins_of
from ralph.errors import UsageError

Output = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="A new file; standard output by default.")
]
Input = Annotated[str, typer.Argument(metavar="FILE", help="A file made by `ralph export`; - reads standard input.")]


async def export(
    *, run: RunId = "last", any_folder: AnyFolder = False, output: Output = None, store: StoreName = None
) -> None:
    """Write a run with everything that belongs to it as JSON lines."""
    from ralph.store.export import exported

    with _new_file(output) as file:
        async with opened_run(run, store, any_folder=any_folder) as (opened, record):
            async for line in exported(opened, record):
                file.write(line.encode() + b"\n")


async def import_(*, file: Input, as_json: AsJson = False, store: StoreName = None) -> None:
    """Add an exported run to the store. This runs nothing; resuming the run later runs what its settings name."""
    from ralph.plugins.registry import open_store
    from ralph.store.export import imported

    here = Path.cwd()
    with _seekable_file(file) as given:
        async with open_store(configured_store(store, here), lambda: plugins_of(here)) as opened:
            run = await imported(opened, given)
    if as_json:
        print_json({"run_id": run.id})
    else:
        print_paragraph(f"Run {run.id} is now in the store: `ralph show{store_option(store)} {run.id}`.")


@contextmanager
def _new_file(path: Path | None) -> Generator[BinaryIO]:
    """Open a new file, or standard output; an incomplete file is removed."""
    if path is None:
        yield (out := binary_output())
        out.flush()
        return
    try:
        with path.open("xb") as file:
            try:
                yield file
            except BaseException:
                path.unlink(missing_ok=True)
                raise
    except FileExistsError:
        raise UsageError(f"{path} already exists and is not overwritten.", "Name another file.") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}.", "Name another file.") from None


@contextmanager
def _seekable_file(name: str) -> Generator[BinaryIO]:
    """Open a file for reading; standard input is copied to a temporary file first."""
    import shutil
    import tempfile

    if name == "-":
        with tempfile.TemporaryFile() as aside:
            shutil.copyfileobj(sys.stdin.buffer, aside)
            aside.seek(0)
            yield aside
        return
    path = Path(name)
    try:
        if path.exists() and not path.is_file():
            raise UsageError(f"{name} is not a regular file.", "Pipe it in: `ralph import - < PIPE`.")
        file = path.open("rb")
    except OSError as error:
        raise UsageError(f"{name} cannot be read: {error.strerror}.", "Give a file made by `ralph export`.") from None
    with file:
        yield file
