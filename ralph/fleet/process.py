"""A worker as a process of its own: signals drain it, and a second one ends it."""

import signal

import anyio

from ralph.fleet.worker import Worker


def run_worker(worker: Worker) -> None:
    """Run a worker to its end; SIGTERM and SIGINT let it finish the iterations in flight first."""

    async def drain(scope: anyio.CancelScope) -> None:
        with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
            async for _ in signals:
                if worker.draining:
                    scope.cancel()
                    return
                worker.drain()

    async def whole() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(drain, group.cancel_scope)
            await worker.run()
            group.cancel_scope.cancel()

    anyio.run(whole)
