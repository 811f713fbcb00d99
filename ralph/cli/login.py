"""`ralph login`: the agent's own login, at the user's terminal."""

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ralph.cli.options import Folder
from ralph.errors import ExecutorUnavailableError, UsageError

if TYPE_CHECKING:
    from ralph.executors import Executor

ExecutorName = Annotated[
    str | None, typer.Option("--executor", metavar="NAME", help="The executor; by default that of the settings.")
]


async def login(*, executor: ExecutorName = None, directory: Folder = Path()) -> None:
    """Log the agent in: run the login of its own program, which keeps it. Ralph sees no password and no token.

    Exits with 6 if the agent's program cannot be found or its login fails.
    """
    import anyio

    chosen = _executor(executor, directory)
    command = await chosen.login_command()
    if not command:
        remedy = "Start the agent's own program and log in there; `ralph doctor` shows which one it is."
        raise UsageError(f"The executor {chosen.name!r} has no login that Ralph can start.", remedy)
    sys.stderr.write(f"ralph: Running `{shlex.join(command)}`.\n")
    done = await anyio.run_process(command, stdin=None, stdout=None, stderr=None, check=False)
    if done.returncode:
        problem = f"`{shlex.join(command)}` ended with exit code {done.returncode}, so the login may have failed."
        raise ExecutorUnavailableError(problem, "Try again; what it printed says why.")


def _executor(name: str | None, directory: Path) -> "Executor":
    """Return the executor that is named, or that of the settings, for its own provider: an endpoint needs no login."""
    from ralph.loop.assembly import executor_for
    from ralph.plugins.loading import load_plugins
    from ralph.settings import read_settings, workspace_folder
    from ralph.types import evolve
    from ralph.watch import open_display

    folder = workspace_folder(directory)
    found = read_settings(folder, own="trusted")
    plugins = load_plugins(found, folder)
    settings = evolve(found.settings.executor, name=name or found.settings.executor.name, base_url=None)
    return executor_for(settings, plugins=plugins, progress=open_display("plain").progress)
