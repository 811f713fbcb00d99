"""Where settings come from: the user's file, the workspace's own, the environment, the command line."""

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, cast

from ralph.cli.trust import FileSource, is_trusted, require_trust
from ralph.cli.user_file import user_file
from ralph.errors import SettingError, UsageError, WorkspaceError
from ralph.settings import SettingsFound, Source, environment, load_settings
from ralph.system.files import read_regular

__all__ = ["FLAGS", "from_flags", "own_sources", "read_settings", "workspace_folder"]

FLAGS: Mapping[str, str] = {
    "--executor": "executor.name",
    "--model": "executor.model",
    "--base-url": "executor.base_url",
    "--wire-api": "executor.wire_api",
    "--permission": "executor.permission",
    "--allow": "executor.allow",
    "--deny": "executor.deny",
    "--sandbox": "sandbox.kind",
    "--env-only": "environment.only",
    "--iteration-timeout": "executor.iteration_timeout",
    "--idle-timeout": "executor.idle_timeout",
    "--tool-timeout": "executor.tool_timeout",
    "--context": "executor.context",
    "--max-iterations": "limits.max_iterations",
    "--max-duration": "limits.max_duration",
    "--max-tokens": "limits.max_tokens",
    "--max-requests": "limits.max_requests",
    "--max-cost": "limits.max_cost",
    "--max-calls-per-hour": "limits.calls_per_hour",
    "--preset": "preset",
    "--strategy": "strategy",
    "--analyzer": "analyzers",
    "--verify": "verify",
    "--verify-shell": "verify_shell",
    "--verifier": "verifiers",
    "--commit": "commit",
    "--worktree-end": "worktree_end",
    "--protect": "protect",
    "--plan": "plan",
    "--promise": "promise",
    "--store": "store",
    "--display": "display",
}
"""The command line's name of each setting that has one."""

_MOST_BYTES = 1_000_000
_COMMAND_LINE = "the command line"


def read_settings(
    workspace: Path,
    flags: Mapping[str, object] | None = None,
    *,
    trust: bool = False,
    ask: bool = True,
    own: Literal["required", "trusted", "shown"] = "required",
    more: Sequence[Source] = (),
) -> SettingsFound:
    """The settings in force for a workspace, and where each comes from.

    Args:
        flags: as given, by their names in `FLAGS`; None means not given.
        trust, ask: as in `require_trust`.
        own: what of the workspace's own settings needs consent: they are "required" to have it, or only those that
            are "trusted" count, or they are merely "shown".
        more: further sources, each stronger than those before, the command line's flags alone stronger than they are.

    Raises:
        SettingError: one of them will not do, or a file cannot be read.
        UntrustedSettingsError: the workspace's own would run programs and nobody agreed.
    """
    found = own_sources(workspace)
    if own == "required":
        for source in found:
            require_trust(source, trust=trust, ask=ask)
    elif own == "trusted":
        found = [source for source in found if is_trusted(source)]
    user = _toml(user_file().resolve())  # a link to where people keep such files
    return from_flags([*([user] if user else []), *found, environment(), *more], flags or {})


def from_flags(sources: Sequence[Source], flags: Mapping[str, object]) -> SettingsFound:
    """The settings that follow from sources, weakest first, and from the command line, as in `read_settings`."""
    given = _given(flags)
    try:
        return load_settings([*sources, given])
    except SettingError as error:
        raise _in_flags(error, given) from None


def own_sources(workspace: Path) -> list[Source]:
    """What the workspace itself says, weakest first: `[tool.ralph]` in its pyproject.toml, then its ralph.toml."""
    return [source for source in (_project(workspace), _toml(workspace / "ralph.toml")) if source]


def workspace_folder(path: Path) -> Path:
    """The folder that `-C` names. Raises `WorkspaceError` where there is none."""
    try:
        folder = path.expanduser().resolve(strict=True)
    except (OSError, RuntimeError, ValueError):
        raise WorkspaceError(
            f"The workspace {str(path)!r} does not exist.", "Name a folder that does, with -C."
        ) from None
    if not folder.is_dir():
        raise WorkspaceError(
            f"The workspace {str(path)!r} is not a folder.", "Name the folder that contains it, with -C."
        )
    return folder


def _project(workspace: Path) -> Source | None:
    """`[tool.ralph]` of a pyproject.toml; one that cannot be read is for others to complain of."""
    path = workspace / "pyproject.toml"
    try:
        source = _toml(path)
    except SettingError:
        return None
    tools: object = source.values.get("tool") if source else None
    ours = cast("dict[str, Any]", tools).get("ralph") if isinstance(tools, dict) else None
    return Source(f"{path} [tool.ralph]", cast("dict[str, Any]", ours)) if isinstance(ours, dict) else None


def _toml(path: Path) -> FileSource | None:
    """What a file says; None where there is none. It may come from anywhere, so it is read bounded."""
    try:
        content = read_regular(path, _MOST_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        problem = "it is a link" if path.is_symlink() else error.strerror or error
        raise UsageError(f"{path} cannot be read: {problem}.", "Fix it, or remove it: it is not needed.") from error
    if len(content) > _MOST_BYTES:
        raise UsageError(f"{path} is larger than {_MOST_BYTES:,} bytes.", "Settings need only a few lines.")
    try:
        return FileSource(str(path), tomllib.loads(content.decode()), content)
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise SettingError(f"line {line}", str(path), "it is not UTF-8.", "Save the file as UTF-8.") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise SettingError("it is not valid TOML", str(path), f"{error}.", "Correct that line.") from None


def _given(flags: Mapping[str, object]) -> Source:
    values: dict[str, Any] = {}
    for flag, value in flags.items():
        if value is not None:
            *sections, name = FLAGS[flag].split(".")
            table = values
            for section in sections:
                table = table.setdefault(section, {})
            table[name] = value
    return Source(_COMMAND_LINE, values)


def _in_flags(error: SettingError, given: Source) -> SettingError | UsageError:
    """An error of the command line, in the words that were typed there."""
    flag = next((flag for flag, key in FLAGS.items() if error.key == key or error.key.startswith(f"{key}.")), None)
    if error.source != given.name or flag is None:
        return error
    problem = error.problem.removeprefix(f"{error.source}: {error.key}: ")
    return UsageError(f"{flag}: {problem}", error.remedy)
