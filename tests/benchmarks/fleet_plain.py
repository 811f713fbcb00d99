"""The load of `fleet.py` as bare workflows of DBOS: `fleet_plain.py ADDRESS SCHEMA submit|WORKER LOG`."""

import asyncio
import sys
import time
from pathlib import Path
from typing import Any

from dbos import DBOS, DBOSClient, EnqueueOptions

RUNS, ITERATIONS, SECONDS, SLOTS = 50, 8, 0.2, 4


async def main(address: str, schema: str, name: str, log: Path) -> None:
    config: Any = {
        "name": "plain",
        "system_database_url": address,
        "dbos_system_schema": schema,
        "application_version": "1",
        "executor_id": name,
        "log_level": "CRITICAL",
    }
    DBOS(config=config)

    @DBOS.step(name="turn")
    async def turn() -> int:
        _say(log, "start")
        process = await asyncio.create_subprocess_exec("sleep", str(SECONDS))
        await process.wait()
        _say(log, "end")
        return 1

    @DBOS.workflow(name="run")
    async def whole() -> int:
        return sum([await turn() for _ in range(ITERATIONS)])

    DBOS.launch()
    await DBOS.register_queue_async(
        "load", worker_concurrency=SLOTS, polling_interval_sec=0.1, on_conflict="always_update"
    )
    if name == "submit":
        DBOS.destroy()
        client = DBOSClient(system_database_url=address, dbos_system_schema=schema)
        options: EnqueueOptions = {"workflow_name": "run", "queue_name": "load", "app_version": "1"}
        for _ in range(RUNS):
            client.enqueue(options)
        client.destroy()
    else:
        print("ready", flush=True)
        while not await DBOS.list_workflows_async(limit=1):  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        while await DBOS.list_workflows_async(status=["ENQUEUED", "PENDING"], limit=1):  # noqa: ASYNC110
            await asyncio.sleep(0.2)
        DBOS.destroy()


def _say(log: Path, what: str) -> None:
    with log.open("a") as file:
        file.write(f"{what} {time.time()}\n")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3], Path(sys.argv[4])))
