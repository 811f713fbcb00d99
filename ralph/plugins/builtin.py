"""The built-in parts, which come in as those of plug-ins do; the displays are in `ralph.watch.plugin`."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ralph.plugins.providers import BuildContext, Provider
from ralph.plugins.spec import hookimpl

if TYPE_CHECKING:
    from ralph.decision.claims import Strategy
    from ralph.executors import Executor
    from ralph.store import Store
    from ralph.verifiers import VerifierProvider


@hookimpl
def ralph_executors() -> "Iterable[Provider]":
    """Return the built-in executors."""
    yield Provider("copilot", "GitHub Copilot: the SDK, then the CLI", _copilot)
    yield Provider("copilot-cli", "GitHub Copilot's command line", _copilot_cli)
    yield Provider("copilot-sdk", "GitHub Copilot's SDK", _copilot_sdk)


@hookimpl
def ralph_stores() -> "Iterable[Provider]":
    """Return the built-in stores."""
    yield Provider("memory", "nothing outlives the process", _store)
    yield Provider("postgres", "the same as postgresql", _store)
    yield Provider("postgresql", "PostgreSQL, for many machines", _store)
    yield Provider("sqlite", "a file, also where its path stands alone", _store)


@hookimpl
def ralph_strategies() -> "Iterable[Strategy]":
    """Return the built-in exit strategies."""
    from ralph.decision.claims import STRATEGIES

    return STRATEGIES.values()


@hookimpl
def ralph_task_sources() -> "Iterable[Provider]":
    """Return the built-in sources of tasks."""
    from ralph import tasks

    yield Provider("plan", "a Markdown checklist of the workspace", lambda c: tasks.plan_task(c.workspace, c.argument))
    yield Provider("prd", "a PRD in JSON, with user stories", lambda c: tasks.prd_task(c.workspace, c.argument))


@hookimpl
def ralph_verifiers() -> "Iterable[VerifierProvider]":
    """Return the built-in verifiers."""
    from ralph.verifiers.registry import VERIFIERS

    return VERIFIERS.values()


def _common(context: BuildContext) -> dict[str, Any]:
    return {**context.common, "wire_api": context.settings.wire_api, "progress": context.progress}


def _copilot_sdk(context: BuildContext) -> "Executor":
    from ralph.executors.copilot.provision import find_cli
    from ralph.executors.copilot.sdk import CopilotSDKExecutor

    settings = context.settings
    legacy = settings.cli_mode == "what-the-shell"
    named = None if legacy or not settings.cli_path else find_cli(Path(settings.cli_path))
    return CopilotSDKExecutor(program=(named.runtime or named.path) if named else None, **_common(context))


def _copilot_cli(context: BuildContext) -> "Executor":
    from ralph.executors.copilot.cli import CopilotCLIExecutor
    from ralph.executors.copilot.provision import find_cli

    named, mode = context.settings.cli_path, context.settings.cli_mode
    if mode == "what-the-shell":
        program = Path(named).expanduser() if named else None
    else:
        found = find_cli(Path(named)) if named else None
        program = found.path if found else None
    return CopilotCLIExecutor(program, mode=mode, **_common(context))


def _copilot(context: BuildContext) -> "Executor":
    from ralph.executors.fallback import FallbackExecutor

    return FallbackExecutor(_copilot_sdk(context), _copilot_cli(context))


def _store(context: BuildContext) -> "Store":
    from ralph.store import open_store

    return open_store(context.argument)
