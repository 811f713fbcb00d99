"""The parts of a `Runner`, put together in one place: from settings, or from what its arguments name.

`runner_arguments` and `arguments_of_folder` are for the command line and `Runner.from_settings`. The `as_…` functions
are for `Runner` itself, which takes each part as an instance, by its name, or as a path.
"""

import asyncio
import os
import shlex
import stat
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ralph.errors import UsageError
from ralph.executors.base import Executor
from ralph.executors.permissions import PermissionPolicy
from ralph.hooks import Hooks
from ralph.pipeline.evaluate import rule_arguments
from ralph.plugins import BuildContext, Plugins
from ralph.plugins.registry import is_foreign, open_store
from ralph.settings import ExecutorSettings, Settings
from ralph.store import file_of
from ralph.store.base import Store
from ralph.system.sandbox import Confinement, values_of
from ralph.system.secrets import Redactor, secret_values
from ralph.types.choices import ProtectChecks
from ralph.types.output import Timeouts
from ralph.types.verification import CheckFiles, Verdict
from ralph.verifiers import CommandVerifier, Subject, Verifier, parse_command
from ralph.verifiers.base import VerifierContext
from ralph.verifiers.check_files import Checks
from ralph.verifiers.review import ReviewVerifier
from ralph.workspace import Workspace, git_folders, open_workspace, users_git
from ralph.workspace.base import NoWorkspace
from ralph.workspace.scan import ScanProgress

if TYPE_CHECKING:
    from ralph.executors.npm import Progress


_ANNOUNCED_AFTER = 0.5
"""Seconds. A verifier that needs less is not announced."""

_NONE = "none"
"""In place of a program to verify with: nothing checks what the agent says."""

_SQLITE_FILES = ("", "-wal", "-shm", "-journal")
"""The suffixes of SQLite's files."""


def arguments_of_folder(folder: Path, *, trust: bool = False, hooks: Sequence[Hooks] = ()) -> dict[str, Any]:
    """Return the arguments of the runner that `ralph run` would build in a folder.

    They come from its settings, the user's and the environment's.

    Args:
        trust: consent to the workspace's own settings, and remember it.

    Raises:
        SettingError: a setting is not valid.
        UntrustedSettingsError: the workspace's own settings need consent.
        UsageError: as in `runner_arguments`.
    """
    from ralph.plugins.loading import load_plugins
    from ralph.settings import read_settings, workspace_folder

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
    progress: "Progress | None" = None,
    verifying: Callable[[str], None] | None = None,
    scanning: ScanProgress | None = None,
) -> dict[str, Any]:
    """Return the arguments of `Runner` that the settings name; nothing is started or written yet.

    Args:
        plugins: the loaded plug-ins; by default only Ralph's own parts.
        origin: the folder whose worktree the workspace is, if it was made for the run.
        onto: the branch that was checked out there.
        executor: an executor to use instead of the one that the settings name.
        progress: called with the progress of a download of an agent's program.
        verifying: called with the name of a verifier that is still running after half a second.
        scanning: called with the progress of a long scan of the workspace.

    Raises:
        UsageError: a name is unknown, a limit cannot be measured, the executor does not keep a bound, the workspace
            cannot be used …
    """
    plugins = plugins or Plugins()
    redactor = redactor_for(settings, plugins)
    own = settings.executor
    confinement = confinement_for(settings, workspace)
    agent = executor or executor_for(
        own, plugins=plugins, progress=progress, confinement=confinement, redactor=redactor
    )
    agent.confine(confinement, PermissionPolicy.named(own.permission, allow=own.allow, deny=own.deny))
    verifiers = verifiers_for(settings, agent, redactor, confinement, plugins=plugins)
    return {
        "executor": agent,
        **rule_arguments(settings),
        "store": open_store(settings.store, plugins),
        "workspace": _workspace(settings, workspace, origin, onto, scanning),
        "verify": [_Announced(each, verifying) for each in verifiers] if verifying else verifiers,
        "protect_checks": settings.protect_checks,
        "reviewer": plugins.verifier("review", _verifier_context(settings, agent, redactor, confinement)),
        "hooks": hooks,
        "plugins": plugins,
        "timeouts": Timeouts(idle=own.idle_timeout, iteration=own.iteration_timeout, tool=own.tool_timeout),
        "context": own.context,
        "prices": settings.prices,
        "model": own.model,
        "plan": settings.plan,
        "choose": settings.tasks.choose,
        "commit": settings.commit,
        "state_limit": settings.state_limit,
        "settings": frozen_settings(settings, redactor, plugins),
        "redactor": redactor,
    }


def executor_for(
    settings: ExecutorSettings,
    *,
    plugins: Plugins | None = None,
    progress: "Progress | None" = None,
    confinement: Confinement | None = None,
    redactor: Redactor | None = None,
) -> Executor:
    """Return the executor that the settings name. Raises `UnknownNameError` if none has that name."""
    context = BuildContext(settings, confinement=confinement, redactor=redactor, progress=progress)
    return (plugins or Plugins()).executor(settings.name, context)


def confinement_for(settings: Settings, workspace: Path) -> Confinement:
    """Return the confinement of the agent and the verifiers."""
    return Confinement(
        variables=settings.environment,
        sandbox=settings.sandbox,
        workspace=workspace,
        folders=git_folders(workspace) if settings.sandbox.used else (),
        git=users_git(workspace) if settings.sandbox.used else "",
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
    context = _verifier_context(settings, executor, redactor, confinement)
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


def _verifier_context(
    settings: Settings, executor: Executor, redactor: Redactor, confinement: Confinement | None
) -> VerifierContext:
    return VerifierContext(
        executor, redactor, confinement or Confinement(), timeout=settings.verify_timeout, rounds=settings.verify_rounds
    )


def redactor_for(settings: Settings, plugins: Plugins | None = None) -> Redactor:
    """Return what masks the secrets of the environment, of the settings and of the plug-ins' settings."""
    from ralph.settings.model import secrets_of

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
    files = [Path(f"{file}{end}") for end in _SQLITE_FILES if file]
    return [*files, *filter(None, map(_written_to, (1, 2)))]


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
    settings: Settings, folder: Path, origin: Path | None, onto: str | None, scanning: ScanProgress | None
) -> Workspace:
    opened = open_workspace(
        folder,
        noise=settings.noise,
        protect=settings.protect,
        checkpoints=settings.checkpoints,
        own_files=own_files(settings.store),
        commit_hooks=settings.commit_hooks,
        confined=settings.sandbox.used,
    )
    opened.origin, opened.onto, opened.on_progress = origin, onto, scanning
    return opened


class _Announced(Verifier):
    """A verifier that is announced while it runs, unless it is quick or cannot start."""

    def __init__(self, verifier: Verifier, announce: Callable[[str], None]) -> None:
        self.name, self.before_run, self.timeout = verifier.name, verifier.before_run, verifier.timeout
        self._verifier = self.__wrapped__ = verifier
        self._announce = announce

    @property
    def condition(self) -> str:
        return self._verifier.condition

    def reads(self, workspace: Path) -> CheckFiles:
        return self._verifier.reads(workspace)

    async def verify(self, subject: Subject) -> Verdict:
        timer = asyncio.get_running_loop().call_later(_ANNOUNCED_AFTER, self._announce, self.name)
        try:
            return await self._verifier.verify(subject)
        finally:
            timer.cancel()


def running_event_loop() -> asyncio.AbstractEventLoop:
    """Return asyncio's event loop.

    Raises:
        UsageError: the program runs without one, as under trio.
    """
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        raise UsageError("Ralph runs on asyncio, not on trio.", "Start it by `anyio.run(main)`.") from None


def as_executor(given: Executor | str, plugins: Plugins, *, model: str | None, redactor: Redactor) -> Executor:
    """Return an executor, built with default settings if it is given by name. Raises `UnknownNameError` for another."""
    if isinstance(given, Executor):
        return given
    context = BuildContext(ExecutorSettings(name=given, model=model), confinement=Confinement(), redactor=redactor)
    return plugins.executor(given, context)


def as_store(given: Store | Path | str | None, plugins: Plugins) -> Store:
    """Return a store: opened if it is given as a path or a URL; in memory without any. Raises `UsageError`."""
    if isinstance(given, Store):
        return given
    return open_store("memory:" if given is None else str(given), plugins)


def as_checks(
    given: Iterable[Verifier | str | Sequence[str]] | Verifier | str,
    workspace: Workspace | Path | str | None,
    restore: ProtectChecks,
    *,
    reviewer: Verifier | None,
    executor: Executor,
    redactor: Redactor,
) -> Checks:
    """Return a run's verifiers and their files; a command is a program with arguments, as one text or as a sequence.

    A workspace that is given as a path is opened; without any, changes are not observed.

    Raises:
        UsageError: a command cannot be read, begins with an option, or needs a shell; the workspace cannot be used.
    """
    several = [given] if isinstance(given, Verifier | str) else given
    verifiers = [_verifier(each, redactor) for each in several]
    if not isinstance(workspace, Workspace):
        workspace = NoWorkspace(Path.cwd()) if workspace is None else open_workspace(Path(workspace))
    return Checks(workspace, verifiers, restore, reviewer or ReviewVerifier(executor, redactor=redactor))


def _verifier(given: Verifier | str | Sequence[str], redactor: Redactor) -> Verifier:
    if isinstance(given, Verifier):
        return given
    words = parse_command(given) if isinstance(given, str) else parse_command(shlex.join(given))
    return CommandVerifier(words, redactor=redactor)
