"""A custom executor: any program that reads a prompt on its input and prints its answer.

`uv run python examples/custom_executor.py PROGRAM [ARGUMENT]…` asks that program; without one, a stand-in answers.
"""

import sys

import anyio

from ralph import Answered, Executor, Failed, Limits, Output, Prompt, Runner, RunRecord, TimedOut, Turn


class ProgramExecutor(Executor):
    """Runs a program for each turn. Its tree of processes is ended when the turn is cut short."""

    name = "program"
    confines = frozenset({"sandbox", "environment"})

    def __init__(self, *argv: str) -> None:
        self._argv = argv

    async def execute(self, prompt: Prompt, turn: Turn) -> Output:
        limit = turn.timeouts.iteration
        done = await self.run_program(self._argv, turn, stdin=prompt.text)
        turn.transcript.diagnostics = done.stderr
        if done.timed_out:
            return turn.transcript.finish(TimedOut(limit="iteration", after=limit), text=done.stdout)
        if done.code:
            return turn.transcript.finish(Failed(failure="crashed", message=f"It ended with status {done.code}."))
        return turn.transcript.finish(Answered(), text=done.stdout)


STAND_IN = """
import sys
asked = sys.stdin.read()
done = str("iteration 2" in asked).lower()
print(f"---RALPH_STATUS---\\nEXIT_SIGNAL: {done}\\nREASON: a stand-in has no more to say\\n---END_RALPH_STATUS---")
"""


async def main(*argv: str) -> RunRecord:
    async with Runner(executor=ProgramExecutor(*argv), limits=Limits(max_iterations=5)) as runner:
        return await runner.run("Say that you are done in the second iteration.")


if __name__ == "__main__":
    record = anyio.run(main, *(sys.argv[1:] or [sys.executable, "-c", STAND_IN]))
    print(f"{record.stop_reason} after {record.iterations} iterations, answered by {record.executors}")
