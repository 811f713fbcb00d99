"""`ralph init`: a ralph.toml to begin with, and on request a plan."""

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ralph.cli.options import Folder

if TYPE_CHECKING:
    from ralph.verifiers import Detected

__all__ = ["app"]

app = typer.Typer(add_completion=False)

Planned = Annotated[bool, typer.Option("--plan", help="Also write @fix_plan.md, the agent's checklist.")]
Force = Annotated[bool, typer.Option("--force", help="Write over what is there.")]

_SETTINGS = """\
# Ralph's settings for this folder. `ralph config show` lists all settings, and where each comes from.
# What stands here gives way to variables such as RALPH_LIMITS__MAX_ITERATIONS, and to the command line.

# Programs that must succeed before a run counts as completed. Without one, another session of the
# agent reviews its work.
{verify}

[limits]
max_iterations = 50
# max_duration = "2h"
# max_tokens = 2_000_000

# [executor]
# model = "…"
# base_url = "http://127.0.0.1:8000/v1"    # an OpenAI-compatible endpoint instead of GitHub's models
"""
_PLAN = """\
# Plan

The agent takes the first open box, does it, and ticks it. The work is done when every box is ticked.

- [ ] Write down here what is to be done, one checkable step a line

## Optional

- [ ] What would be nice to have; it is not waited for
"""


@app.command()
def init(*, directory: Folder = Path(), plan: Planned = False, force: Force = False) -> None:
    """Write a ralph.toml with the project's own test command."""
    from ralph.cli.settings import workspace_folder
    from ralph.cli.tell import console
    from ralph.verifiers import detect_test_command

    folder = workspace_folder(directory)
    detected = detect_test_command(folder)
    files = {folder / "ralph.toml": _settings(detected)}
    if plan:
        files[folder / "@fix_plan.md"] = _PLAN
    _require_absent(files, force=force)
    for path, text in files.items():
        _write(path, text)
    _trust(folder)
    out = console()
    for path in files:
        out.print(f"Wrote {path}")
    if detected:
        out.print(f"A run is completed when `{detected.command}` succeeds ({detected.reason}).")
    else:
        out.print(
            "No test command was found. Name one in `verify`, or only a review by another session checks the work."
        )


def _settings(detected: "Detected | None") -> str:
    import json

    if detected is None:
        return _SETTINGS.format(verify='# verify = ["pytest -q"]')
    return _SETTINGS.format(verify=f"verify = [{json.dumps(detected.command)}]    # {detected.reason}")


def _require_absent(files: dict[Path, str], *, force: bool) -> None:
    from ralph.errors import UsageError

    there = [str(path) for path in files if path.is_symlink() or path.exists()]
    if there and not force:
        verb = "is" if len(there) == 1 else "are"
        raise UsageError(f"{' and '.join(there)} {verb} there already.", "Edit it, or write over it with --force.")


def _write(path: Path, text: str) -> None:
    """Writes the file by rename, so never through a link that lies there."""
    from ralph.errors import WorkspaceError

    try:
        handle, draft = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(draft).chmod(0o644)
        Path(draft).replace(path)
    except OSError as error:
        raise WorkspaceError(f"{path} cannot be written: {error.strerror}.", "Check the folder's rights.") from error


def _trust(folder: Path) -> None:
    """What a person has had written names a program, and needs no second consent."""
    from ralph.cli.settings import own_sources
    from ralph.cli.trust import remember

    for source in own_sources(folder):
        if source.name == str(folder / "ralph.toml"):
            remember(source)
