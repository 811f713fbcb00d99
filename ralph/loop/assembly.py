"""From settings to a `Runner`, for the command line and for programs: the one place that puts the parts together."""

import asyncio
import os
import stat
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ralph.decision.breaker import CircuitBreaker
from ralph.errors import UsageError
from ralph.executors.base import Executor, Timeouts
from ralph.executors.npm import Progress
from ralph.hooks import Hooks
from ralph.plugins import BuildContext, Plugins
from ralph.plugins.loading import load_plugins
from ralph.plugins.registry import is_foreign, open_store
from ralph.settings import ExecutorSettings, Settings, read_settings, workspace_folder
from ralph.settings.fields import secrets_of
from ralph.status import StatusField
from ralph.store import file_of
from ralph.system.sandbox import Confinement, values_of
from ralph.system.text import Redactor, secret_values
from ralph.types.verification import Verdict
from ralph.verifiers import CommandVerifier, Subject, Verifier, parse_command
from ralph.verifiers.base import VerifierContext
from ralph.workspace import Workspace, git_folders, open_workspace
from ralph.workspace.scan import ScanProgress

__all__ = [
    "arguments_of_folder",
    "confinement_for",
    "executor_for",
    "frozen_settings",
    "own_files",
    "redactor_for",
    "runner_arguments",
    "verifiers_for",
]

_ANNOUNCED_AFTER = 0.5
"""Seconds. A verifier that needs less is not announced."""

_NONE = "none"
"""In place of a program to verify with: nothing checks what the agent says."""

_BESIDE = ("", "-wal", "-shm", "-journal")
"""The suffixes of SQLite's files."""


def arguments_of_folder(folder: Path, *, trust: bool = False, hooks: Sequence[Hooks] = ()) -> dict[str, Any]:
    """Return the arguments of the runner that `ralph run` would build in a folder.

    They come from its settings, the user's and the environment's.

    Args:
        folder: the workspace.
        trust: consent to the workspace's own settings, and remember it.
        hooks: observers of the run.

    Raises:
        SettingError: a setting is not valid.
        UntrustedSettingsError: the workspace's own settings need consent.
        UsageError: as in `runner_arguments`.
    """
    folder = workspace_folder(folder)
    found = read_settings(folder, trust=trust)
    return runner_arguments(
        found.settings, workspace=folder, plugins=load_plugins(found, folder, trust=trust), hooks=hooks
    )


def runner_arguments(
    settings: Settings,
    *,
    workspace: Path,
    plugins: Plugins | None = None,
    origin: Path | None = None,
    onto: str | None = None,
    hooks: Sequence[Hooks] = (),
    executor: Executor | None = None,
    progress: Progress | None = None,
    verifying: Callable[[str], None] | None = None,
    looking: ScanProgress | None = None,
) -> dict[str, Any]:
    """Return the arguments of `Runner` that the settings name; nothing is started or written yet.

    Args:
        settings: the settings in force.
        workspace: the folder to work in.
        plugins: the loaded plug-ins; by default only Ralph's own parts.
        origin: the folder whose worktree the workspace is, if it was made for the run.
        onto: the branch that was checked out there.
        hooks: observers of the run.
        executor: an executor to use instead of the one that the settings name.
        progress: called with the progress of a download of an agent's program.
        verifying: called with the name of a verifier that is still running after half a second.
        looking: called with the progress of a long scan of the workspace.

    Raises:
        UsageError: a name is unknown, a limit cannot be measured, the workspace cannot be used …
    """
    plugins = plugins or Plugins()
    redactor = redactor_for(settings, plugins)
    own = settings.executor
    confinement = confinement_for(settings, workspace)
    agent = executor or executor_for(
        own, plugins=plugins, progress=progress, confinement=confinement, redactor=redactor
    )
    verifiers = verifiers_for(settings, agent, redactor, confinement, plugins=plugins)
    return {
        "executor": agent,
        "breaker": CircuitBreaker(settings.breaker_settings()),
        "store": open_store(settings.store, plugins),
        "workspace": _workspace(settings, workspace, origin, onto, looking),
        "verify": [_Announced(each, verifying) for each in verifiers] if verifying else verifiers,
        "hooks": hooks,
        "keywords": settings.keywords,
        "status_fields": [StatusField(**field.model_dump()) for field in settings.status_fields],
        "limits": settings.limits,
        "strategy": settings.strategy,
        "analyzers": settings.analyzers,
        "plugins": plugins,
        "timeouts": Timeouts(idle=own.idle_timeout, iteration=own.iteration_timeout, tool=own.tool_timeout),
        "context": own.context,
        "decision": settings.decision,
        "prices": settings.prices,
        "model": own.model,
        "plan": settings.plan,
        "choose": settings.tasks.choose,
        "promise": settings.promise,
        "commit": settings.commit,
        "settings": frozen_settings(settings, redactor, plugins),
        "redactor": redactor,
    }


def executor_for(
    settings: ExecutorSettings,
    *,
    plugins: Plugins | None = None,
    progress: Progress | None = None,
    confinement: Confinement | None = None,
    redactor: Redactor | None = None,
) -> Executor:
    """Return the executor that the settings name.

    Raises:
        UnknownNameError: there is no executor of that name.
    """
    context = BuildContext(settings, confinement=confinement, redactor=redactor, progress=progress)
    return (plugins or Plugins()).executor(settings.name, context)


def confinement_for(settings: Settings, workspace: Path) -> Confinement:
    """Return the confinement of the agent and the verifiers."""
    return Confinement(
        variables=settings.environment,
        sandbox=settings.sandbox,
        workspace=workspace,
        folders=git_folders(workspace) if settings.sandbox.used else (),
    )


def verifiers_for(
    settings: Settings,
    executor: Executor,
    redactor: Redactor,
    confinement: Confinement | None = None,
    *,
    plugins: Plugins | None = None,
) -> list[Verifier]:
    """Return the verifiers that the settings name, programs first; a review if they name none.

    Raises:
        UsageError: the specification of a verifier cannot be read, or has unknown keys.
    """
    context = VerifierContext(
        executor,
        redactor,
        confinement or Confinement(),
        timeout=settings.verify_timeout,
        rounds=settings.verify_rounds,
    )
    none = settings.verify == (_NONE,)
    if _NONE in settings.verify and not none:
        raise UsageError("--verify none cannot be combined with other commands.", "Leave out one or the other.")
    commands = [*(() if none else map(parse_command, settings.verify)), *settings.verify_shell]
    programs = [
        CommandVerifier(command, timeout=context.timeout, redactor=redactor, confinement=context.confinement)
        for command in commands
    ]
    plugins = plugins or Plugins()
    named = [plugins.verifier(text, context) for text in settings.verifiers]
    return [*programs, *named] or ([] if none else [plugins.verifier("review", context)])


def redactor_for(settings: Settings, plugins: Plugins | None = None) -> Redactor:
    """Return what masks the secrets of the environment, of the settings and of the plug-ins' settings."""
    named = values_of(os.environ, settings.environment.mask)
    plugged = plugins.secrets if plugins is not None else ()
    return Redactor([*secret_values(os.environ), *named, *secrets_of(settings), *plugged])


def frozen_settings(settings: Settings, redactor: Redactor, plugins: Plugins | None = None) -> dict[str, Any]:
    """Return the settings as they are stored and shown: JSON values, with secrets masked."""
    values = settings.model_dump(mode="json")
    values["plugins"] = (plugins or Plugins()).shown(settings.plugins)
    return redactor.within(values)


def own_files(store: str | None) -> list[Path]:
    """Return the files that this process writes: those of the store, and those that its output goes to.

    In the workspace none of them is the agent's work, although each grows with every iteration.
    """
    place = None if is_foreign(store) else file_of(store)
    file = os.path.realpath(place) if place else ""
    beside = [Path(f"{file}{end}") for end in _BESIDE if file]
    return [*beside, *filter(None, map(_written_to, (1, 2)))]


def _written_to(number: int) -> Path | None:
    """Return the file that a stream goes to; None if it is not a file, or the system does not say."""
    try:
        if not stat.S_ISREG(os.fstat(number).st_mode):
            return None
        if sys.platform == "darwin":
            import fcntl

            return Path(os.fsdecode(fcntl.fcntl(number, fcntl.F_GETPATH, bytes(1024)).rstrip(b"\0")))
        return Path(f"/proc/self/fd/{number}").readlink()
    except OSError:
        return None


def _workspace(
    settings: Settings, folder: Path, origin: Path | None, onto: str | None, looking: ScanProgress | None
) -> Workspace:
    opened = open_workspace(
        folder,
        noise=settings.noise,
        protect=settings.protect,
        checkpoints=settings.checkpoints,
        own_files=own_files(settings.store),
    )
    opened.origin, opened.onto, opened.on_progress = origin, onto, looking
    return opened


class _Announced(Verifier):
    """A verifier that is announced while it runs, unless it is quick or cannot start."""

    def __init__(self, verifier: Verifier, announce: Callable[[str], None]) -> None:
        self.name, self.before_run, self.timeout = verifier.name, verifier.before_run, verifier.timeout
        self._verifier, self._announce = verifier, announce

    @property
    def condition(self) -> str:
        return self._verifier.condition

    async def verify(self, subject: Subject) -> Verdict:
        timer = asyncio.get_running_loop().call_later(_ANNOUNCED_AFTER, self._announce, self.name)
        try:
            return await self._verifier.verify(subject)
        finally:
            timer.cancel()
