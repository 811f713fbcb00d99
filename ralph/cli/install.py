"""`ralph plugins add`: the command that installs a plug-in beside this Ralph."""

import os
import shlex
import sys
from collections.abc import Sequence

from ralph.cli.output import print_json, print_paragraph
from ralph.errors import PluginError, UnknownNameError, UsageError
from ralph.system.install import KNOWN, install_command, is_installed, is_temporary


def add_plugins(names: Sequence[str], *, run: bool, as_json: bool) -> None:
    """Print or run the command; see `ralph.cli.plugins.add`. Raises `UsageError`."""
    wanted = [each if each in KNOWN else f"ralph-{each}" for each in names]
    for name, each in zip(names, wanted, strict=True):
        if each not in KNOWN:
            raise UnknownNameError("plug-in of Ralph", name, (known.removeprefix("ralph-") for known in KNOWN))
    missing = [each for each in wanted if not is_installed(each)]
    command = install_command(missing) if missing else []
    if run and missing and is_temporary():
        problem = "`uvx` runs Ralph in an environment of its own, where nothing can be added."
        raise UsageError(problem, f"Call it with the plug-in: `{shlex.join(command)}`.")
    if as_json:
        print_json({"plugins": wanted, "missing": missing, "command": command, "runs": run and bool(missing)})
    elif not (run and missing):
        print_paragraph(shlex.join(command) or f"Installed already: {', '.join(wanted)}.")
    if run and missing:
        sys.stderr.write(f"ralph: Running `{shlex.join(command)}`.\n")
        sys.stdout.flush()
        sys.stderr.flush()
        os.chdir("/")  # uv would follow the settings of the folder, which may be a cloned repository
        try:  # the installer may replace Ralph's own files, so no code of Ralph may run after it
            os.execvp(command[0], command)  # noqa: S606 - no shell is wanted
        except OSError as error:
            raise PluginError(f"{command[0]} cannot be run: {error.strerror}.", "Install it first.") from None
