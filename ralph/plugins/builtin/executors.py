"""The built-in executors."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ralph.plugins.kinds import ExecutorKind, ExecutorMaterials
from ralph.plugins.markers import hookimpl

if TYPE_CHECKING:
    from ralph.executors.base import Executor

__all__ = ["ralph_executors"]


@hookimpl
def ralph_executors() -> Iterable[ExecutorKind]:
    yield ExecutorKind("copilot", "GitHub Copilot: the SDK, then the CLI", _copilot)
    yield ExecutorKind("copilot-cli", "GitHub Copilot's command line", _copilot_cli)
    yield ExecutorKind("copilot-sdk", "GitHub Copilot's SDK", _copilot_sdk)


def _common(materials: ExecutorMaterials) -> dict[str, Any]:
    """The keywords that both Copilot executors take."""
    return {**materials.common, "wire_api": materials.settings.wire_api, "progress": materials.progress}


def _copilot_sdk(materials: ExecutorMaterials) -> "Executor":
    from ralph.executors.copilot.provision import find_cli
    from ralph.executors.copilot.sdk import CopilotSDKExecutor

    settings = materials.settings
    legacy = settings.cli_mode == "what-the-shell"
    named = None if legacy or not settings.cli_path else find_cli(Path(settings.cli_path))
    return CopilotSDKExecutor(program=(named.runtime or named.path) if named else None, **_common(materials))


def _copilot_cli(materials: ExecutorMaterials) -> "Executor":
    from ralph.executors.copilot.cli import CopilotCLIExecutor
    from ralph.executors.copilot.provision import find_cli

    named, mode = materials.settings.cli_path, materials.settings.cli_mode
    if mode == "what-the-shell":
        program = Path(named).expanduser() if named else None
    else:
        found = find_cli(Path(named)) if named else None
        program = found.path if found else None
    return CopilotCLIExecutor(program, mode=mode, **_common(materials))


def _copilot(materials: ExecutorMaterials) -> "Executor":
    from ralph.executors.fallback import FallbackExecutor

    return FallbackExecutor(_copilot_sdk(materials), _copilot_cli(materials))
