"""Many runs on one machine or many: tasks in the store's database, and workers that carry them out.

`Task` is what `ralph fleet submit` takes. The engine under the workers is DBOS, from the extra `fleet`.
"""

from typing import TYPE_CHECKING

from ralph._lazy import lazy_exports

if TYPE_CHECKING:
    from ralph.fleet.task import Task as Task
    from ralph.fleet.task import read_tasks as read_tasks

__getattr__, __dir__ = lazy_exports(__name__)
