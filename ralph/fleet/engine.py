"""The durable engine under a worker: DBOS, with one workflow for each turn of a run and one step for each iteration.

What a worker was doing when it died is in the engine's tables: another one resumes the workflow, whose finished steps
are not run again. Inputs and outputs are small JSON; everything else of a run is in its store.

Nothing else in Ralph imports DBOS. It keeps one state for a process, so a process has one engine at a time.
"""

import asyncio
import logging
import secrets
import sqlite3
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Self

from sqlalchemy import URL

from ralph.errors import UsageError
from ralph.fleet.task import missing_extra
from ralph.store import file_of
from ralph.system.files import take_from_others

VERSION = "ralph-fleet-1"
"""Of the workflow's form: workers of releases with the same one take each other's workflows up."""

Step = Callable[[str, str, int], Awaitable[dict[str, Any]]]
"""Runs one step of a task's run in a workflow, given the task's id, the workflow's id, and the number of the step.

What it returns has `wait` with the seconds until the next step, or `ended`."""

_POLL = 0.25
"""Seconds between two looks for the workflows of lost workers; all others are started directly."""

_KEPT = timedelta(days=30)
"""The time for which the engine's rows of ended workflows are kept."""

_ASKS_FOR_FRACTIONS = sys.version_info >= (3, 12)
"""DBOS asks SQLite for fractions of a second there; before 3.42, SQLite answers NULL, and no workflow can be stored."""

_AT_ONCE = 1_000
_OVER = ("SUCCESS", "ERROR", "CANCELLED")


class Engine:
    """DBOS in this process, for one worker. Use it in `async with`, in the event loop that runs the steps.

    Args:
        url: of the store; the engine's tables are in a schema of their own there, or in a file beside it.
        worker: the worker's name.
        step: runs one step.
    """

    def __init__(self, url: str, worker: str, step: Step) -> None:
        try:
            import dbos
        except ImportError:
            raise missing_extra("A fleet's worker needs the package dbos") from None
        self._dbos = dbos
        self._url = url
        self._queue = f"ralph-{worker}"
        self._step = step
        self._executor = f"{worker}-{secrets.token_hex(4)}"  # DBOS would take up what others with its id run

    async def __aenter__(self) -> Self:
        before = logging.getLogger("dbos").level
        DBOS = self._dbos.DBOS  # noqa: N806 - it is a class
        config: Any = {**_database(self._url), "name": "ralph-fleet", "application_version": VERSION, **_QUIET}
        config["executor_id"] = self._executor
        DBOS(config=config)
        step = self._step

        @DBOS.step(name="iteration")
        async def iteration(task_id: str, number: int) -> dict[str, Any]:
            return await step(task_id, str(DBOS.workflow_id), number)

        @DBOS.workflow(name="ralph_run")
        async def workflow(given: dict[str, Any]) -> dict[str, Any]:
            number = 0
            while True:
                said = await iteration(given["task"], number)
                number += 1
                if "ended" in said:
                    return said
                if wait := said.get("wait"):
                    await DBOS.recv_async("wake", timeout_seconds=wait)

        self._workflow = workflow
        DBOS.listen_queues([self._queue])
        try:
            DBOS.launch()
            register = DBOS.register_queue_async
            await register(self._queue, polling_interval_sec=_POLL, on_conflict="always_update")
        except BaseException:
            await self.__aexit__()
            raise
        logging.getLogger("dbos").setLevel(max(before, logging.ERROR))
        return self

    async def __aexit__(self, *_: object) -> None:
        loop = asyncio.get_running_loop()
        destroy = self._dbos.DBOS.destroy
        await asyncio.shield(loop.run_in_executor(None, lambda: destroy(destroy_registry=True)))
        loop.set_default_executor(_fresh_pool())  # the engine put its own in its place, and has shut that down

    async def start(self, task_id: str, workflow_id: str) -> None:
        """Start the workflow of a task's turn; do nothing if it has been started."""
        with self._dbos.SetWorkflowID(workflow_id):
            await self._dbos.DBOS.start_workflow_async(self._workflow, {"version": 1, "task": task_id})

    async def resume(self, workflow_id: str) -> bool:
        """Resume the workflow that a lost worker had, on this worker; return False if it has ended or never began."""
        status = await self._dbos.DBOS.get_workflow_status_async(workflow_id)
        if status is None or status.status in {"SUCCESS", "ERROR"}:
            return False
        await self._dbos.DBOS.resume_workflow_async(workflow_id, queue_name=self._queue)
        return True

    async def wake(self, workflow_id: str) -> None:
        """End the wait of a workflow early."""
        with suppress(Exception):  # it has ended meanwhile
            await self._dbos.DBOS.send_async(workflow_id, "now", topic="wake")

    async def forget_old(self) -> None:
        """Remove what the engine knows of workflows that ended long ago, some at a time."""
        before = (datetime.now(UTC) - _KEPT).isoformat()
        listed = self._dbos.DBOS.list_workflows_async
        old = await listed(end_time=before, status=list(_OVER), limit=_AT_ONCE, load_input=False, load_output=False)
        if old:
            await self._dbos.DBOS.delete_workflows_async([each.workflow_id for each in old])


_QUIET: dict[str, Any] = {"log_level": "CRITICAL", "enable_otlp": False}


def _fresh_pool() -> Any:
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(thread_name_prefix="asyncio")


def _address(url: str) -> dict[str, Any]:
    path = file_of(url)
    if path is not None:
        return {"system_database_url": f"sqlite:///{_beside(path)}"}
    from ralph.store.postgres import PostgresDatabase

    database = PostgresDatabase.named(url)
    plain: URL = database.url.set(drivername="postgresql")
    return {
        "system_database_url": plain.render_as_string(hide_password=False),
        "dbos_system_schema": f"{database.schema}_dbos",
    }


def _database(url: str) -> dict[str, Any]:
    address = _address(url)
    path = file_of(url)
    if path is not None:
        _prepare(_beside(path))
    return {**address, "sys_db_pool_size": 8}


def _beside(path: Path) -> Path:
    return path.with_name(f"{path.stem}.fleet{path.suffix or '.db'}")


def _prepare(path: Path) -> None:
    """Create the file for its owner alone, in write-ahead mode: that halves the time between two steps."""
    if _ASKS_FOR_FRACTIONS and sqlite3.sqlite_version_info < (3, 42):
        raise UsageError(
            f"This Python has SQLite {sqlite3.sqlite_version}, and a worker on SQLite needs 3.42 or newer.",
            "Install Ralph with another build of Python, such as one of uv's, or use PostgreSQL for --store.",
        )
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    connection = sqlite3.connect(path, timeout=10.0)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
    finally:
        connection.close()
    take_from_others(path)
