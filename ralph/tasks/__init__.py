"""Tasks: where the next piece of work comes from, and who chooses it."""

from ralph.tasks.base import Task, chosen
from ralph.tasks.listed import plan_task, prd_task

__all__ = ["Task", "chosen", "plan_task", "prd_task"]
