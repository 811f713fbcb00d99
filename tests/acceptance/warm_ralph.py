"""A process with Ralph's modules loaded, which forks one `ralph` for each call: loading them takes longer than that.

It is called over a socket, whose number is its argument. A message has the arguments, the environment and the folder,
and comes with the descriptors of the three standard streams and of a pipe. To that it answers with the process's id and
then its exit code, each in a line. The call is `ralph.cli.main` in a process of its own, with all of these its own.
"""

import gc
import importlib
import json
import os
import socket
import sys
from typing import Any

MODULES = (
    *("copilot", "sqlalchemy.dialects.sqlite", "typer.main", "rich.console", "rich.live", "rich.markdown"),
    *("ralph.cli.run", "ralph.cli.resume", "ralph.cli.show", "ralph.cli.runs", "ralph.loop.runner", "ralph.store.sql"),
    *("ralph.executors.copilot.sdk", "ralph.executors.copilot.cli", "ralph.verifiers", "ralph.workspace.git"),
    *(
        "ralph.loop.assembly",
        "ralph.plugins.builtin",
        "ralph.settings.loading",
        "ralph.watch.plain",
        "ralph.watch.live",
    ),
)


def main() -> None:
    """Serve calls until the caller is gone."""
    calls = socket.socket(fileno=int(sys.argv[1]))
    for module in MODULES:
        importlib.import_module(module)
    gc.collect()
    gc.freeze()
    while True:
        message, descriptors, _, _ = socket.recv_fds(calls, 1_000_000, 4)
        if not message:
            return
        if os.fork() == 0:
            calls.close()
            if os.fork() == 0:
                break
            answer(descriptors[3])
        for descriptor in descriptors:
            os.close(descriptor)
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    call(json.loads(message), descriptors)


def answer(pipe: int) -> None:
    """Wait for the one child, and answer with its exit code."""
    _, status = os.wait()
    os.write(pipe, f"{os.waitstatus_to_exitcode(status)}\n".encode())
    os._exit(0)


def call(order: dict[str, Any], descriptors: list[int]) -> None:
    """Become `ralph` with its own arguments, environment, folder and standard streams."""
    os.write(descriptors[3], f"{os.getpid()}\n".encode())
    for number, descriptor in enumerate(descriptors[:3]):
        os.dup2(descriptor, number)
    for descriptor in descriptors:
        os.close(descriptor)
    sys.stdin, sys.stdout = os.fdopen(0, closefd=False), os.fdopen(1, "w", closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, errors="backslashreplace", closefd=False)
    os.environ.clear()
    os.environ.update(order["environment"])
    os.chdir(order["folder"])
    sys.argv[1:] = order["words"]
    from ralph.cli import main

    main()


if __name__ == "__main__":
    main()
