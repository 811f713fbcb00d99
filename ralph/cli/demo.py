"""`ralph demo`: a whole run, offline, on the real Copilot runtime with a scripted model.

A small repository has two bugs, and the model fixes them, with three failures. Everything but the model is real: the
Copilot runtime, its tools, git, the tests, and the killing of a process.
"""

import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ralph.settings import Settings

Keep = Annotated[bool, typer.Option("--keep", help="Keep the demo's repository and print its path.")]
StoreName = Annotated[
    str | None, typer.Option("--store", metavar="URL", help="Where the run is kept; by default with all others.")
]
DisplayName = Annotated[str | None, typer.Option("--display", metavar="NAME", help="auto, live, plain, json or none.")]

_OPENING = """\
The real Copilot runtime fixes two bugs in a small git repository that has a test
for each and a plan. Only the model is scripted, on loopback: no account is
needed. Three things go wrong, as on a real night: the model refuses once, it says
"done" too early once, and the runtime is killed until the CLI has to take over.
"""


def demo(*, keep: Keep = False, store: StoreName = None, display: DisplayName = None) -> int:
    """Show a whole run, without any account."""
    from ralph.cli.demo_story import TASK, Evidence, Story, make_repository
    from ralph.cli.run import display_for, exit_code, look_up, run_shown
    from ralph.plugins import Plugins
    from ralph.testing.model_server import ModelServer

    folder = Path(tempfile.mkdtemp(prefix="ralph-demo-"))
    evidence = Evidence()
    try:
        make_repository(folder)
        with ModelServer(Story(evidence.killed)) as server:
            settings = _settings(server.base_url, store, display)
            shown = display_for(settings, Plugins(), look_up=look_up(settings.store))
            prints = settings.display not in {"json", "none"}
            if prints:
                typer.echo(_OPENING)
            record = run_shown(shown, settings, folder, lambda runner: runner.run(TASK), hooks=[evidence])
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)
    if prints:
        typer.echo(evidence.report(record))
        if keep:
            typer.echo(f"\nThe repository is in {folder}")
    return exit_code(record, shown)


def _settings(base_url: str, store: str | None, display: str | None) -> "Settings":
    """Return the demo's settings; of the user's, only the store and the display count."""
    from ralph.settings import Source, with_flags

    story = {
        "executor": {"base_url": base_url, "model": "scripted"},
        "limits": {"max_iterations": 10},
        "verify": [f"'{sys.executable}' -B -m unittest --quiet"],
    }
    return with_flags([Source("the demo", story)], {"--store": store, "--display": display}).settings
