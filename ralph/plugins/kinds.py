"""What plug-ins give: kinds of parts that go by a name, each with what it is made of.

A kind costs nothing until it is asked for: `build` is called when a run, or a person, names it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import typer
    from pydantic import BaseModel

    from ralph.analysis.result import Analyzer
    from ralph.executors.base import Executor
    from ralph.executors.npm import Progress
    from ralph.settings import ExecutorSettings
    from ralph.store.base import Store
    from ralph.system.redact import Redactor
    from ralph.system.sandbox import Confinement
    from ralph.tasks.base import Task
    from ralph.types.plan import TaskPlan
    from ralph.watch.base import Display

__all__ = [
    "AnalyzerKind",
    "Command",
    "CommandMaterials",
    "DisplayKind",
    "DisplayMaterials",
    "ExecutorKind",
    "ExecutorMaterials",
    "PromptMoment",
    "PromptPart",
    "StoreKind",
    "TaskSourceKind",
    "TaskSourceMaterials",
]


@dataclass(frozen=True, slots=True)
class ExecutorMaterials:
    """What an executor may be made of.

    Attributes:
        settings: those that all executors have in common: the model, the endpoint and its key, what tools may do.
        own: the plug-in's own settings, `[plugins.NAME]`; None where it has none.
        confinement: what the agent's process is confined to: its environment, its sandbox.
        redactor: what masks secrets.
        progress: told how the download of the agent's program goes, if there is one.
    """

    settings: "ExecutorSettings"
    own: "BaseModel | None" = None
    confinement: "Confinement | None" = None
    redactor: "Redactor | None" = None
    progress: "Progress | None" = None

    @property
    def common(self) -> dict[str, Any]:
        """Those that are made alike for all executors, by the keywords that Ralph's own take them by: `model`,
        `base_url`, `api_key`, `headers`, `permissions` and `confinement`.

        Raises:
            UsageError: the permissions are none.
        """
        from ralph.executors.permissions import PermissionPolicy

        given = self.settings
        return {
            "model": given.model,
            "base_url": given.base_url,
            "api_key": given.api_key.get_secret_value() if given.api_key else None,
            "headers": given.headers,
            "permissions": PermissionPolicy.named(given.permission, allow=given.allow, deny=given.deny),
            "confinement": self.confinement,
        }


@dataclass(frozen=True, slots=True)
class ExecutorKind:
    """An executor by name, as in `--executor NAME`.

    Attributes:
        about: which agent it runs, in a few words.
        build: makes one; it starts nothing yet. Bad settings are a `UsageError`.
    """

    name: str
    about: str
    build: "Callable[[ExecutorMaterials], Executor]"


@dataclass(frozen=True, slots=True)
class AnalyzerKind:
    """A further analyzer by name, as in `--analyzer NAME`.

    Attributes:
        build: makes one from the plug-in's own settings, which are None where it has none.
    """

    name: str
    about: str
    build: "Callable[[BaseModel | None], Analyzer]"


@dataclass(frozen=True, slots=True)
class PromptMoment:
    """What a part of the prompt is made from.

    Attributes:
        iteration: counted from 1.
        workspace: absolute.
        plan: the workspace's plan as it was when the last iteration was over; None without one.
    """

    task: str
    iteration: int
    run_id: str
    workspace: Path
    plan: "TaskPlan | None" = None


@dataclass(frozen=True, slots=True)
class PromptPart:
    """A section of the prompt, which stands before the status contract.

    Attributes:
        text: gives it for an iteration; empty for none. It is told to the agent as it is, at most 4,000 characters.
    """

    name: str
    about: str
    text: Callable[[PromptMoment], str]


@dataclass(frozen=True, slots=True)
class Command:
    """A command of the program, as `ralph run` is one.

    Attributes:
        about: what it does, for the help of all.
        app: the `typer.Typer` of it: where it stands, as in "ralph_notes.commands:app", or what makes it. It is looked
            for when the command is called. Its context has `CommandMaterials`.
    """

    name: str
    about: str
    app: "str | Callable[[], typer.Typer]"


@dataclass(frozen=True, slots=True)
class CommandMaterials:
    """What a command may be made of: the `obj` of the `typer.Context` that it is called with.

    Attributes:
        executor: makes the executor of that name, or with an empty one the executor of the settings in force where the
            program is called. Nothing is started yet. Raises `UsageError`.
    """

    executor: "Callable[[str], Executor]"


@dataclass(frozen=True, slots=True)
class TaskSourceMaterials:
    """What a source of tasks may be made of.

    Attributes:
        place: what stands behind the name: `issue:owner/name#3` has "owner/name#3".
        own: the plug-in's own settings; None where it has none.
    """

    place: str
    workspace: Path
    own: "BaseModel | None" = None


@dataclass(frozen=True, slots=True)
class TaskSourceKind:
    """Where tasks come from, by name, as in `--task NAME:PLACE`.

    Attributes:
        build: gives the task of a place, or its bare text. Where nothing is to be done there, it raises a `UsageError`.
    """

    name: str
    about: str
    build: "Callable[[TaskSourceMaterials], Task | str]"


@dataclass(frozen=True, slots=True)
class DisplayMaterials:
    """What a display may be made of.

    Attributes:
        look_up: the command that shows the run later; empty where none does.
        endpoint: whether the model is behind an endpoint of the user's own.
        own: the plug-in's own settings; None where it has none.
    """

    look_up: str = "ralph show"
    endpoint: bool = False
    own: "BaseModel | None" = None


@dataclass(frozen=True, slots=True)
class DisplayKind:
    """How a run is shown, by name, as in `--display NAME`."""

    name: str
    about: str
    build: "Callable[[DisplayMaterials], Display]"


@dataclass(frozen=True, slots=True)
class StoreKind:
    """Where runs are kept, by the scheme of the URL, as in `--store redis://…`.

    Attributes:
        name: the scheme.
        build: makes one from the whole URL; nothing is read or written before the store is entered.
    """

    name: str
    about: str
    build: "Callable[[str], Store]"
