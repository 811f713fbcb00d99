"""`ralph init`: write a first ralph.toml, and on request a plan."""

import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ralph.cli.options import AsJson, Folder
from ralph.cli.output import console, print_json
from ralph.errors import UsageError, WorkspaceError

if TYPE_CHECKING:
    from ralph.verifiers import Detected

Planned = Annotated[bool, typer.Option("--plan", help="Also write @fix_plan.md, the agent's checklist.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite what is there.")]

_SETTINGS = """\
# Ralph's settings for this folder. `ralph config show` lists all settings, and where each comes from.
# Environment variables such as RALPH_LIMITS__MAX_ITERATIONS override this file, and the command line overrides both.

# Programs that must succeed before a run counts as completed. Without one, another session of the
# agent reviews its work.
{verify}

[limits]
max_iterations = {max_iterations}
# max_duration = "2h"
# max_tokens = 2_000_000

# [executor]
# model = "…"
# base_url = "http://127.0.0.1:8000/v1"    # an OpenAI-compatible endpoint instead of GitHub's models
"""
_PLAN = """\
# Plan

The agent takes the first open box, does it, and ticks it. The work is done when every box is ticked.

Write a step per line below, each in the form `- [ ] Add a test for empty input`. The run does not wait for steps under
a heading `Optional`.
"""


def init(*, directory: Folder = Path(), plan: Planned = False, force: Force = False, as_json: AsJson = False) -> None:
    """Write a ralph.toml with the project's own test command; with --plan, an existing one stays as it is."""
    from ralph.settings import own_sources, remember, workspace_folder
    from ralph.verifiers import detect_test_command

    folder = workspace_folder(directory)
    settings = folder / "ralph.toml"
    detected = detect_test_command(folder)
    files = {settings: _settings(detected)}
    if plan:
        files[folder / "@fix_plan.md"] = _PLAN
        if os.path.lexists(settings) and not force:
            del files[settings]
    there = [] if force else [str(path) for path in files if os.path.lexists(path)]
    if there:
        verb = "exists" if len(there) == 1 else "exist"
        raise UsageError(f"{' and '.join(there)} already {verb}.", "Edit it, or overwrite it with --force.")
    for path, text in files.items():
        write_file(path, text)
    if settings in files:
        for source in own_sources(folder):
            if source.name == str(settings):
                remember(source)  # the user asked for the file, so it needs no further consent
    if as_json:
        print_json({"wrote": [str(path) for path in files], "verify": detected.command if detected else None})
        return
    out = console()
    for path in files:
        out.print(f"Wrote {path}")
    if settings not in files:
        out.print(f"{settings} stays as it is.")
        return
    if detected:
        out.print(f"A run is completed when `{detected.command}` succeeds ({detected.reason}).")
    else:
        out.print(
            "No test command was found. Name one in `verify`, or only a review by another session checks the work."
        )


def _settings(detected: "Detected | None") -> str:
    from ralph.decision.limits import Limits

    verify = '# verify = ["pytest -q"]'
    if detected is not None:
        verify = f"verify = [{json.dumps(detected.command)}]    # {detected.reason}"
    return _SETTINGS.format(verify=verify, max_iterations=Limits().max_iterations)


def write_file(path: Path, text: str) -> None:
    """Write a file by rename, so never through an existing link. Raises `WorkspaceError`."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, draft = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(draft).chmod(0o644)
        Path(draft).replace(path)
    except OSError as error:
        raise WorkspaceError(f"{path} cannot be written: {error.strerror}.", "Check the permissions.") from error
