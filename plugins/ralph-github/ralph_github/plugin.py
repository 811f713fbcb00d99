"""The plug-in's hooks: settings, observer and task source. GitHub's client is loaded only when one of them needs it."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from ralph.plugins import BuildContext, Provider, hookimpl

if TYPE_CHECKING:
    from pydantic import BaseModel

    from ralph import Hooks, RunRecord
    from ralph.plugins import Delivery

__all__ = ["ralph_deliveries", "ralph_observers", "ralph_settings", "ralph_task_sources", "task"]


@hookimpl
def ralph_settings() -> "type[BaseModel]":
    """Return the model of the plug-in's settings."""
    from ralph_github.settings import GitHubSettings

    return GitHubSettings


@hookimpl
def ralph_observers(settings: "BaseModel | None") -> "Iterator[Hooks]":
    """Return the plug-in's observers."""
    from ralph_github.settings import GitHubSettings

    if isinstance(settings, GitHubSettings) and settings.report != "none":
        from ralph_github.observer import Reporter

        yield Reporter(settings)


@hookimpl
def ralph_deliveries(settings: "BaseModel | None") -> "Iterator[Callable[[Delivery, RunRecord], None]]":
    """Return the function that opens pull requests for results of the fleet."""
    from ralph_github.settings import GitHubSettings

    if isinstance(settings, GitHubSettings) and settings.report == "pull-request":
        from ralph_github.delivery import opener

        yield opener(settings)


@hookimpl
def ralph_task_sources() -> Iterator[Provider]:
    """Return the plug-in's sources of tasks."""
    yield Provider("github", "a GitHub issue: owner/repo#12, or its address", task)


def task(context: BuildContext) -> str:
    """Return the task of the issue that the argument names.

    Raises:
        UsageError: the argument names no issue, or GitHub does not return it.
    """
    from ralph_github.api import GitHubApi
    from ralph_github.settings import GitHubSettings
    from ralph_github.task import IssueName, task_of

    settings = context.own if isinstance(context.own, GitHubSettings) else GitHubSettings()
    name = IssueName.parse(context.argument)
    return task_of(name, GitHubApi(settings).issue(name))
