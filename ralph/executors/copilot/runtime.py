"""The life of a Copilot runtime: its process, and the SDK's client that talks to it.

The SDK spawns the process but notices neither its death nor its freezing in the middle of a turn, so the process is
watched here, and every call has a time-out of its own. A dead runtime is not repaired: another is started, and can
continue the sessions in the same home folder.
"""

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from subprocess import Popen
from typing import IO, TYPE_CHECKING, TypeVar

import anyio
import anyio.to_thread
import psutil

from ralph.errors import ExecutorUnavailableError
from ralph.executors.copilot.events import logged_retry_after
from ralph.executors.copilot.provision import SUPPORTED, is_supported
from ralph.system import process_tree
from ralph.system.files import find_program
from ralph.system.process import has_terminal
from ralph.system.process_tree import end_tree, marked, new_marker, scratch_folder, survivors

if TYPE_CHECKING:
    from copilot import CopilotClient

_R = TypeVar("_R")

START = 40.0
CALL = 20.0
STOP = 2.0
"""Seconds until a runtime that does not start, answer or stop is given up."""


class CopilotRuntime:
    """One process of the runtime and its client; it is started once and stopped once.

    Args:
        program: the native CLI, or better the lighter `copilot-runtime`.
        environment: the process's whole environment.
        home: the folder for sessions; None for the user's own, with their login.
        confined: returns the command line that runs it within its bounds, given the folder for logs; None for no
            bounds.

    Attributes:
        client: the SDK's; to be used between `start` and `stop`.
    """

    client: "CopilotClient"

    def __init__(
        self,
        program: Path,
        environment: Mapping[str, str],
        home: Path | None,
        confined: Callable[[Sequence[str], Path], Sequence[str]] | None = None,
    ) -> None:
        self._program, self._environment, self._home, self._confined = program, environment, home, confined
        self._marker = new_marker()
        self._logs = scratch_folder("copilot-logs")
        self._log_read = 0
        self._process: psutil.Process | None = None
        self._pipes: list[IO[bytes]] = []

    async def start(self) -> None:
        """Start the process and check its version.

        Raises:
            ExecutorUnavailableError: it does not start, does not answer in time, or is of a version that is known
                not to work with the SDK. Call `stop` anyway.
        """
        await anyio.to_thread.run_sync(import_module, "copilot")
        self.client = self._client()
        asyncio.get_running_loop().call_soon(self._keep_pipes)
        try:
            with anyio.fail_after(START):
                await self.client.start()
                version = (await self.client.get_status()).version
        except TimeoutError:
            raise _unusable(self._program, f"did not answer within {START:g} seconds") from None
        except Exception as error:
            raise _unusable(self._program, f"did not start: {str(error)[:500]}") from error
        _check_version(version, self._program)
        self._process = await anyio.to_thread.run_sync(self._find)

    def _client(self) -> "CopilotClient":
        from copilot import CopilotClient, RuntimeConnection

        # Without a handler Python would print the SDK's warnings, tracebacks included, over any display.
        logging.getLogger("copilot").addHandler(logging.NullHandler())
        argv: Sequence[str] = [str(self._program), "--log-dir", self._logs.name]
        argv = self._confined(argv, Path(self._logs.name)) if self._confined else argv
        # The SDK starts it in Ralph's own session, whose terminal its tools could type into.
        apart = [found] if has_terminal() and (found := find_program("setsid")) else []
        program, *arguments = [*apart, *argv]
        return CopilotClient(
            connection=RuntimeConnection.for_stdio(path=program, args=arguments),
            working_directory=self._logs.name,
            base_directory=str(self._home) if self._home else None,
            use_logged_in_user=self._home is None,
            # Only a warning says when a rate limit ends.
            log_level="warning",
            env=marked(self._environment, self._marker),
        )

    def _keep_pipes(self) -> None:
        """Note the pipes while the SDK waits for the process's first answer: it never closes them."""
        spawned: Popen[bytes] | None = getattr(self.client, "_cli_process", None)
        if spawned:
            self._pipes = [pipe for pipe in (spawned.stdin, spawned.stdout, spawned.stderr) if pipe]

    def _find(self) -> psutil.Process | None:
        return next((process for process in survivors(self._marker) if process.ppid() == os.getpid()), None)

    @property
    def lives(self) -> bool:
        """True while the process can do anything."""
        return self._process is not None and process_tree.lives(self._process)

    async def died(self) -> None:
        """Return as soon as the process has ended."""
        if self._process is None:
            return
        if hasattr(os, "pidfd_open"):
            with suppress(ProcessLookupError):
                await _readable(os.pidfd_open(self._process.pid))
            return
        while self.lives:  # noqa: ASYNC110 - here only the parent learns of the end
            await anyio.sleep(0.1)

    async def call(self, answer: Awaitable[_R], within: float = CALL) -> _R:
        """Return what the runtime answers, within so many seconds, or raise `TimeoutError`.

        If the runtime dies meanwhile, the SDK raises an exception of its own.
        """
        with anyio.fail_after(within):
            return await answer

    async def end_children(self) -> None:
        """End what the agent's tools have started and left running."""
        for process in await anyio.to_thread.run_sync(survivors, self._marker):
            if process != self._process:
                await end_tree(process, grace=0.5)

    async def stop(self, *, gently: bool = True) -> None:
        """End the process and everything that it started; never raises, and takes seconds at most."""
        client: CopilotClient | None = getattr(self, "client", None)
        if client and gently and self.lives:
            with suppress(Exception), anyio.move_on_after(STOP):
                await client.stop()
        if client:
            with suppress(Exception), anyio.move_on_after(STOP):
                await client.force_stop()
        for process in await anyio.to_thread.run_sync(survivors, self._marker):
            await end_tree(process, grace=0.5, marker=self._marker)
        for pipe in self._pipes:
            with suppress(OSError):
                pipe.close()
        await anyio.to_thread.run_sync(self._logs.cleanup)

    def new_turn(self) -> None:
        """Note how much of the log belongs to earlier turns."""
        self._log_read = sum(file.stat().st_size for file in self._log_folder.glob("*.log"))

    async def retry_after(self) -> float | None:
        """Return how long the provider asked to wait when it last limited this turn's rate, in seconds."""
        return await logged_retry_after(self._log_folder, after=self._log_read)

    @property
    def _log_folder(self) -> Path:
        return Path(self._logs.name)


async def _readable(descriptor: int) -> None:
    try:
        await anyio.wait_readable(descriptor)
    finally:
        os.close(descriptor)


def _check_version(version: str, program: Path) -> None:
    if not is_supported(version):
        raise ExecutorUnavailableError(
            f"The Copilot runtime {str(program)!r} is version {version}; Ralph works with versions {SUPPORTED}.",
            "Remove the setting that names it, and Ralph fetches a version that works.",
        )


def _unusable(program: Path, problem: str) -> ExecutorUnavailableError:
    return ExecutorUnavailableError(
        f"The Copilot runtime {str(program)!r} {problem}.", "`ralph doctor` shows what is wrong with it."
    )
