"""Many runs on one machine or many: tasks in the store's database, and workers that carry them out.

`Task` is what `ralph fleet submit` takes, `Fleet` is the queue behind a URL, and a `Worker` runs the tasks. The engine
under the workers is DBOS, from the extra `fleet`.
"""

from typing import TYPE_CHECKING

from ralph._lazy import lazy_exports

if TYPE_CHECKING:
    from ralph.fleet.fleet import Fleet as Fleet
    from ralph.fleet.records import Entry as Entry
    from ralph.fleet.records import FleetLimits as FleetLimits
    from ralph.fleet.records import FleetStatus as FleetStatus
    from ralph.fleet.records import WorkerEntry as WorkerEntry
    from ralph.fleet.task import Task as Task
    from ralph.fleet.task import read_tasks as read_tasks
    from ralph.fleet.worker import Worker as Worker

__getattr__, __dir__ = lazy_exports(__name__)
