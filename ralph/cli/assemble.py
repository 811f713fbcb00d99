"""From settings to a `Runner`: the one place that knows which parts there are."""

import asyncio
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ralph.analysis import Keyword
from ralph.cli.own_files import own_files
from ralph.decision.breaker import CircuitBreaker
from ralph.decision.limits import Limits
from ralph.errors import UsageError
from ralph.executors.base import Executor, Timeouts
from ralph.executors.npm import Progress
from ralph.hooks import Hooks
from ralph.loop.runner import Runner
from ralph.plugins import BuildContext, Plugins
from ralph.plugins.registry import open_store
from ralph.settings import ExecutorSettings, Settings
from ralph.status import StatusField
from ralph.system.redact import Redactor, secret_values
from ralph.system.sandbox import Confinement, Variables, values_of
from ralph.types.verification import Verdict
from ralph.verifiers import CommandVerifier, Subject, Verifier, parse_command
from ralph.verifiers.base import VerifierContext
from ralph.watch import Display
from ralph.workspace import Workspace, git_folders, open_workspace
from ralph.workspace.looking import Looking

__all__ = [
    "confinement_for",
    "display_for",
    "executor_for",
    "frozen_settings",
    "redactor_for",
    "runner_for",
    "verifiers_for",
]

_MOMENT = 0.5
_NONE = "none"
"""In place of a program to verify with: nothing checks what the agent says."""


def runner_for(
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
    looking: Looking | None = None,
) -> Runner:
    """A runner with everything that the settings say; nothing is started or written yet.

    Args:
        plugins: those that are loaded; by default Ralph's own parts alone.
        origin: the folder whose worktree the workspace is, where it was made for the run.
        onto: the branch that was checked out there.
        executor: another one than the settings name.
        progress: told how the download of an agent's program goes.
        verifying: told the name of a verifier that is still at work after a moment.
        looking: told how far a long look at the workspace is.

    Raises:
        UsageError: a name that nothing goes by, a limit that cannot be measured, a workspace that is none …
    """
    plugins = plugins or Plugins()
    redactor = redactor_for(settings, plugins)
    own = settings.executor
    confinement = confinement_for(settings, workspace)
    agent = executor or executor_for(
        own, plugins=plugins, progress=progress, confinement=confinement, redactor=redactor
    )
    verifiers = verifiers_for(settings, agent, redactor, confinement, plugins=plugins)
    return Runner(
        executor=agent,
        breaker=CircuitBreaker(settings.breaker_settings()),
        store=open_store(settings.store, plugins),
        workspace=_workspace(settings, workspace, origin, onto, looking),
        verifiers=[_Announced(each, verifying) for each in verifiers] if verifying else verifiers,
        hooks=hooks,
        keywords=[Keyword(**keyword.model_dump()) for keyword in settings.keywords],
        status_fields=[StatusField(**field.model_dump()) for field in settings.status_fields],
        limits=Limits(**settings.limits.model_dump()),
        strategy=settings.strategy,
        analyzers=settings.analyzers,
        plugins=plugins,
        timeouts=Timeouts(idle=own.idle_timeout, iteration=own.iteration_timeout, tool=own.tool_timeout),
        context=own.context,
        decision=settings.decision,
        prices=settings.prices,
        model=own.model,
        plan=settings.plan,
        choose=settings.tasks.choose,
        promise=settings.promise,
        commit=settings.commit,
        settings=frozen_settings(settings, redactor, plugins),
        redactor=redactor,
    )


def _workspace(
    settings: Settings, folder: Path, origin: Path | None, onto: str | None, looking: Looking | None
) -> Workspace:
    opened = open_workspace(
        folder,
        noise=settings.noise,
        protect=settings.protect,
        checkpoints=settings.checkpoints,
        apart=own_files(settings.store),
    )
    opened.origin, opened.onto, opened.looking = origin, onto, looking
    return opened


def executor_for(
    settings: ExecutorSettings,
    *,
    plugins: Plugins | None = None,
    progress: Progress | None = None,
    confinement: Confinement | None = None,
    redactor: Redactor | None = None,
) -> Executor:
    """The executor that the settings name. Raises `UnknownNameError` for one that there is not."""
    context = BuildContext(settings, confinement=confinement, redactor=redactor, progress=progress)
    return (plugins or Plugins()).executor(settings.name, context)


def display_for(settings: Settings, plugins: Plugins, *, look_up: str) -> Display:
    """The display that the settings name."""
    context = BuildContext(look_up=look_up, endpoint=bool(settings.executor.base_url))
    return plugins.display(settings.display, context)


def confinement_for(settings: Settings, workspace: Path) -> Confinement:
    """What agent and verifiers are confined to."""
    return Confinement(
        variables=Variables(only=settings.environment.only, keep=settings.environment.keep),
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
    """The verifiers that the settings name, programs first; a review where they name none.

    Raises:
        UsageError: one of them cannot be read, or has keys that it does not know.
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


class _Announced(Verifier):
    """A verifier that someone is told of while it is at work; of one that cannot start, or is quick, nobody is."""

    def __init__(self, verifier: Verifier, tell: Callable[[str], None]) -> None:
        self.name, self.before_run, self.timeout = verifier.name, verifier.before_run, verifier.timeout
        self._verifier, self._tell = verifier, tell

    @property
    def condition(self) -> str:
        return self._verifier.condition

    async def verify(self, subject: Subject) -> Verdict:
        timer = asyncio.get_running_loop().call_later(_MOMENT, self._tell, self.name)
        try:
            return await self._verifier.verify(subject)
        finally:
            timer.cancel()


def redactor_for(settings: Settings, plugins: Plugins | None = None) -> Redactor:
    """What masks secrets: those of the environment, the endpoint's key, its headers, and what plug-ins are set to."""
    own = settings.executor
    key = [own.api_key.get_secret_value()] if own.api_key else []
    named = values_of(os.environ, settings.environment.mask)
    plugged = plugins.secrets if plugins is not None else ()
    return Redactor([*secret_values(os.environ), *named, *key, *own.headers.values(), *plugged])


def frozen_settings(settings: Settings, redactor: Redactor, plugins: Plugins | None = None) -> dict[str, Any]:
    """The settings as they are kept and shown: JSON values, secrets masked."""
    values = settings.model_dump(mode="json")
    values["plugins"] = (plugins or Plugins()).shown(settings.plugins)
    return redactor.within(values)
