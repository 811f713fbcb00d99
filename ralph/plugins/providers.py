"""Return values of plug-ins' hooks: providers of parts by name, prompt parts, and commands.

A provider costs nothing until it is used: `build` is called when a run, or the user, names it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, Literal

from ralph.plugins.spec import hookimpl
from ralph.settings import ExecutorSettings

if TYPE_CHECKING:
    import typer
    from pydantic import BaseModel

    from ralph.executors import Executor
    from ralph.executors.npm import Progress
    from ralph.system.sandbox import Confinement
    from ralph.system.secrets import Redactor
    from ralph.types.plan import TaskPlan


@dataclass(frozen=True, slots=True)
class BuildContext:
    """Everything that a provider may build its part from. A kind of part reads what it needs; the rest has defaults.

    Attributes:
        settings: those that all executors share: the model, the endpoint and its key, the permissions of tools.
        own: the plug-in's own settings, `[plugins.NAME]`; None without any.
        confinement: the confinement of the agent's process: its environment and its sandbox.
        redactor: masks secrets.
        progress: receives the progress of downloading the agent's program.
        workspace: the absolute folder of the run.
        argument: the place in `--task NAME:PLACE`, or the whole URL of a store; empty for other parts.
        look_up: for displays: the command that shows the run later; empty without one.
        endpoint: for displays: whether the model is behind the user's own endpoint.
    """

    settings: ExecutorSettings = field(default_factory=ExecutorSettings)
    own: "BaseModel | None" = None
    confinement: "Confinement | None" = None
    redactor: "Redactor | None" = None
    progress: "Progress | None" = None
    workspace: Path = field(default_factory=Path.cwd)
    argument: str = ""
    look_up: str = "ralph show"
    endpoint: bool = False

    @property
    def common(self) -> dict[str, Any]:
        """The keyword arguments that Ralph's own executors share.

        They are `model`, `base_url`, `api_key`, `headers`, `permissions` and `confinement`.

        Raises:
            UsageError: the permissions are not valid.
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
class Provider:
    """A part by name: an executor, an analyzer, a store, a display or a source of tasks, as its hook says.

    Attributes:
        name: the name in `--executor NAME` and the like; for a store the scheme of its URL.
        about: the part in a few words, for help texts and lists.
        build: builds the part; it starts nothing yet. A source of tasks builds a `ralph.tasks.Task` or a bare text.
            Bad settings, or a task source with nothing to do, raise a `UsageError`.
    """

    name: str
    about: str
    build: Callable[[BuildContext], Any]


def executor_hooks(
    name: str, about: str, *, executor: str, settings: str
) -> "tuple[Callable[[], type[BaseModel]], Callable[[], Iterator[Provider]]]":
    """Return the hooks `ralph_settings` and `ralph_executors` of a plug-in with one executor.

    The executor is called with the arguments that executors share, with `progress`, and with its own settings, each
    as a keyword argument.

    Args:
        name: as in `--executor NAME`; the plug-in has the same name.
        about: the executor in a few words.
        executor: its class, such as "ralph_moon.executor:MoonExecutor"; imported when an executor is built.
        settings: the model of its own settings, such as "ralph_moon.settings:MoonSettings".
    """

    @hookimpl
    def ralph_settings() -> "type[BaseModel]":
        return resolve_name(settings)

    def build(context: BuildContext) -> "Executor":
        own = dict(context.own or resolve_name(settings)())
        return resolve_name(executor)(progress=context.progress, **context.common, **own)

    @hookimpl
    def ralph_executors() -> Iterator[Provider]:
        yield Provider(name, about, build)

    return ralph_settings, ralph_executors


@dataclass(frozen=True, slots=True)
class PromptContext:
    """The iteration that a part of the prompt is written for.

    Attributes:
        iteration: counted from 1.
        workspace: absolute.
        plan: the workspace's plan as it was when the last iteration ended; None without one.
    """

    task: str
    iteration: int
    run_id: str
    workspace: Path
    plan: "TaskPlan | None" = None


@dataclass(frozen=True, slots=True)
class PromptPart:
    """A section of the prompt, placed before the status contract.

    Attributes:
        text: returns the section for an iteration; empty for none. The agent sees it as it is, at most 4,000
            characters.
    """

    name: str
    about: str
    text: Callable[[PromptContext], str]


@dataclass(frozen=True, slots=True)
class Delivery:
    """Where the result of a run of the fleet is.

    Attributes:
        kind: "pushed" to the source, kept as a "bundle", left in its "folder", or "nothing" if nothing was changed.
        branch: the result's branch; empty without one.
        commit: its commit; empty without one.
        where: the source's address, the bundle or the folder.
        problem: why it was not pushed under its name, or what it lacks; empty if all is well.
    """

    kind: Literal["pushed", "bundle", "folder", "nothing"]
    branch: str = ""
    commit: str = ""
    where: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class CommandContext:
    """The `obj` of the `typer.Context` that a plug-in's command is called with.

    Attributes:
        executor: builds the executor with that name; an empty name means the executor of the settings in force where
            the program is called. It starts nothing yet. Raises `UsageError`.
    """

    executor: "Callable[[str], Executor]"


@dataclass(frozen=True, slots=True)
class Command:
    """A command of the program, as `ralph run` is one.

    Attributes:
        about: the command in one sentence, for the help of all.
        app: its `typer.Typer`: a reference such as "ralph_notes.commands:app", or a function that returns it. It is
            resolved when the command is called. Its context has a `CommandContext`.
    """

    name: str
    about: str
    app: "str | Callable[[], typer.Typer]"
