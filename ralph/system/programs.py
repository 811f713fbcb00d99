"""Where programs are found by name: in the absolute folders of PATH, never in one that lies in the workspace.

A relative entry, or an empty one, means a folder of whatever folder a program is started in. That is the workspace,
where an agent or a cloned repository may have put a program of that name.
"""

import os
import pathlib
import shutil
from collections.abc import Mapping


def absolute_path(path: str | None) -> str:
    """Return the absolute entries of a PATH; the system's own if there are none."""
    entries = [entry for entry in (path or "").split(os.pathsep) if pathlib.Path(entry).is_absolute()]
    return os.pathsep.join(entries) or os.defpath


def find_program(name: str, env: Mapping[str, str] | None = None) -> str | None:
    """Return the path of a program on PATH; None if it is not there. Relative entries of PATH do not count.

    Args:
        name: of the program.
        env: the environment with the PATH; None for Ralph's own.
    """
    return shutil.which(name, path=absolute_path((os.environ if env is None else env).get("PATH")))
