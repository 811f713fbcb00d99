"""The built-in sources of tasks."""

from collections.abc import Iterable

from ralph.plugins.kinds import TaskSourceKind, TaskSourceMaterials
from ralph.plugins.markers import hookimpl
from ralph.tasks.base import Task

__all__ = ["ralph_task_sources"]


@hookimpl
def ralph_task_sources() -> Iterable[TaskSourceKind]:
    yield TaskSourceKind("plan", "a Markdown checklist of the workspace", _plan)
    yield TaskSourceKind("prd", "a PRD in JSON, with user stories", _prd)


def _plan(materials: TaskSourceMaterials) -> Task:
    from ralph.tasks.listed import plan_task

    return plan_task(materials.workspace, materials.place)


def _prd(materials: TaskSourceMaterials) -> Task:
    from ralph.tasks.listed import prd_task

    return prd_task(materials.workspace, materials.place)
