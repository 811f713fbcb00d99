"""The public interface of `Runner`: names, paths and instances; streams; threads; code that is not async."""

import sys
import threading
from pathlib import Path

import anyio
import pytest

import ralph.loop.event_log
from ralph import Analysis, Failed, Keyword, Limits, Output, Runner, RunRecord, Turn
from ralph.analysis import AnalysisContext, Opinion
from ralph.errors import UnknownNameError, UsageError
from ralph.executors.scripted import Reply
from ralph.prompt import Prompt
from ralph.records.events import Event, MessageReceived, RunFinished
from ralph.status import Status
from ralph.store import MemoryStore, open_store
from ralph.testing import ScriptedExecutor

DONE = "All tasks are complete.\n\n---RALPH_STATUS---\nEXIT_SIGNAL: true\n---END_RALPH_STATUS---"


def writes_answer(_prompt: Prompt, turn: Turn) -> str:
    (turn.workspace / "answer.txt").write_text("42")
    return DONE


def checks_answer(folder: Path) -> list[str]:
    return [sys.executable, "-c", f"assert open({str(folder / 'answer.txt')!r}).read() == '42'"]


class Started(ScriptedExecutor):
    """Answers only between its start and its stop."""

    def __init__(self, replies: list[Reply]) -> None:
        super().__init__(replies)
        self.running = False
        self.counts = [0, 0]

    async def start(self) -> None:
        await anyio.sleep(0.05)
        self.running = True
        self.counts[0] += 1

    async def stop(self) -> None:
        self.running = False
        self.counts[1] += 1

    async def execute(self, prompt: Prompt, turn: Turn) -> Output:
        assert self.running, "the executor was not started"
        return await super().execute(prompt, turn)


class Meeting:
    """Replies once all have arrived."""

    def __init__(self, missing: int) -> None:
        self.missing = missing
        self._all = anyio.Event()

    def arrive(self) -> None:
        self.missing -= 1
        if self.missing == 0:
            self._all.set()

    async def reply(self, _prompt: Prompt, _turn: Turn) -> str:
        self.arrive()
        await self._all.wait()
        return "Working."


class Refusing:
    name = "refusing"

    def analyze(self, output: Output, status: Status, context: AnalysisContext) -> Analysis:
        return Analysis(opinion=Opinion(on_completion="holds_back", reason="never enough"))


def test_paths_commands_and_instances_do_in_place_of_parts(tmp_path: Path) -> None:
    workspace = tmp_path / "work"
    workspace.mkdir()
    runner = Runner(
        executor=ScriptedExecutor([writes_answer]),
        workspace=str(workspace),
        store=tmp_path / "ralph.db",
        verify=[checks_answer(workspace)],
    )
    record = runner.run_sync("Write 42 into answer.txt.")
    assert (record.stop_reason, record.verified) == ("completed", True)
    assert [iteration.number for iteration in record.history] == [1]
    assert record.last_reply == DONE
    assert (tmp_path / "ralph.db").is_file()


def test_one_command_may_stand_alone(tmp_path: Path) -> None:
    command = f"{sys.executable} -c pass"
    record = Runner(executor=ScriptedExecutor([writes_answer]), workspace=tmp_path, verify=command).run_sync("Work.")
    assert record.already_green
    assert record.history[-1].verification is not None
    assert [verdict.verifier for verdict in record.history[-1].verification.verdicts] == [command]


def test_a_command_that_needs_a_shell_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="without a shell"):
        Runner(executor=ScriptedExecutor(), workspace=tmp_path, verify=["pytest && true"])


@pytest.mark.parametrize("verify", [["pytest", "-q"], ["pytest", ["-q"]], "-q"])
def test_an_option_alone_is_no_command(verify: list[str | list[str]] | str) -> None:
    with pytest.raises(UsageError, match=r"'-q' begins with an option.*verify=\[\"pytest -q\"\]"):
        Runner(executor=ScriptedExecutor(), verify=verify)


def test_an_option_belongs_to_the_program_before_it(tmp_path: Path) -> None:
    Runner(executor=ScriptedExecutor(), workspace=tmp_path, verify=["pytest -q", ["pytest", "-q"]])


def test_an_executor_is_found_by_name_and_an_unknown_one_refused() -> None:
    Runner(executor="copilot", model="gpt-5")
    with pytest.raises(UnknownNameError, match="copilo"):
        Runner(executor="copilo")


def test_an_analyzer_may_be_an_instance(tmp_path: Path) -> None:
    executor = ScriptedExecutor([writes_answer])
    runner = Runner(executor=executor, workspace=tmp_path, analyzers=[Refusing()])

    async def first() -> Analysis:
        async with runner:
            async for event in runner.stream("Work."):
                if event.type == "iteration_finished":
                    return event.analysis
        raise AssertionError("no iteration finished")

    assert anyio.run(first).further["refusing"].opinion is not None
    with pytest.raises(UsageError, match="'refusing'"):
        Runner(executor=executor, analyzers=[Refusing(), Refusing()])


def test_keywords_for_another_analyzer_are_refused() -> None:
    with pytest.raises(UsageError, match="keywords= has no effect together with analyzer="):
        Runner(executor=ScriptedExecutor(), analyzer=Refusing(), keywords=[Keyword(text="mission accomplished")])


class TestStream:
    async def test_it_yields_the_events_up_to_the_end(self, tmp_path: Path) -> None:
        async with Runner(executor=ScriptedExecutor([writes_answer]), workspace=tmp_path) as runner:
            events = [event async for event in runner.stream("Work.")]
        assert events[0].type == "run_started"
        assert isinstance(events[-1], RunFinished)
        assert runner.record is not None
        assert runner.record.stop_reason == events[-1].stop_reason == "completed"
        assert [event.text for event in events if isinstance(event, MessageReceived)] == [DONE]

    async def test_who_reads_slowly_misses_no_message(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(ralph.loop.event_log, "_FAR_BEHIND", 3)

        def talks(_prompt: Prompt, turn: Turn) -> str:
            for number in range(9):
                turn.transcript.delta(f"piece {number} ")
                turn.transcript.message(f"message {number}", tool_calls=1)
            return DONE

        store = MemoryStore()
        async with Runner(executor=ScriptedExecutor([talks, DONE]), workspace=tmp_path, store=store) as runner:
            stream = runner.stream("Work.")
            first = await anext(stream)
            with anyio.fail_after(10):
                while (await store.runs())[0].state != "finished":  # noqa: ASYNC110 - nothing tells the reader
                    await anyio.sleep(0.01)
            events = [first, *[event async for event in stream]]
            kept = [event async for event in store.events(first.run_id)]
        assert [event for event in events if event.type != "message_streamed"] == kept
        assert len(events) < len(kept) + 9

    async def test_who_leaves_early_ends_the_run(self, tmp_path: Path) -> None:
        store = MemoryStore()
        executor = ScriptedExecutor(["I am still looking."])
        async with Runner(executor=executor, workspace=tmp_path, store=store) as runner:
            events = runner.stream("Work.")
            async for event in events:
                if event.type == "iteration_finished":
                    break
            await events.aclose()
            (record,) = await store.runs()
        assert (record.state, record.stop_reason) == ("finished", "cancelled")
        assert len(executor.prompts) <= 2

    async def test_each_of_two_has_the_events_of_its_own_run(self) -> None:
        both = Meeting(2)
        read: list[list[Event]] = []
        async with Runner(executor=ScriptedExecutor(then=both.reply), limits=Limits(max_iterations=1)) as runner:

            async def reader(task: str) -> None:
                read.append([event async for event in runner.stream(task)])

            async with anyio.create_task_group() as group:
                group.start_soon(reader, "One.")
                group.start_soon(reader, "Two.")
        assert [len({event.run_id for event in events}) for events in read] == [1, 1]
        assert [(events[0].type, events[-1].type) for events in read] == [("run_started", "run_finished")] * 2
        assert read[0][0].run_id != read[1][0].run_id

    async def test_who_leaves_early_ends_no_other_run(self) -> None:
        both = Meeting(3)  # two agents, and the reader, who has left
        store, ended = MemoryStore(), list[RunRecord]()
        left: dict[str, str | None] = {}
        executor = ScriptedExecutor(then=both.reply)
        async with Runner(executor=executor, store=store, limits=Limits(max_iterations=1)) as runner:

            async def other() -> None:
                ended.append(await runner.run("Stays."))

            async with anyio.create_task_group() as group:
                group.start_soon(other)
                events = runner.stream("Is left.")
                async for event in events:
                    if event.type == "iteration_started":
                        break
                while both.missing > 1:  # noqa: ASYNC110 - until both agents are working
                    await anyio.sleep(0.01)
                await events.aclose()
                left.update({run.task: run.stop_reason for run in await store.runs()})
                both.arrive()
        assert left == {"Is left.": "cancelled", "Stays.": None}
        assert [record.stop_reason for record in ended] == ["limit_reached"]

    async def test_cancel_ends_the_run_of_every_stream(self) -> None:
        both = Meeting(3)
        ends: list[Event] = []
        async with Runner(executor=ScriptedExecutor(then=both.reply)) as runner:

            async def reader(task: str) -> None:
                ends.extend([event async for event in runner.stream(task) if event.type == "run_finished"])

            async with anyio.create_task_group() as group:
                group.start_soon(reader, "One.")
                group.start_soon(reader, "Two.")
                while both.missing > 1:  # noqa: ASYNC110 - until both agents are working
                    await anyio.sleep(0.01)
                runner.cancel("enough")
        assert [(event.stop_reason, event.detail) for event in ends if isinstance(event, RunFinished)] == [
            ("cancelled", "enough")
        ] * 2

    async def test_runs_that_begin_at_once_start_the_executor_once(self) -> None:
        executor = Started([DONE])
        async with Runner(executor=executor) as runner, anyio.create_task_group() as group:
            for task in ("One.", "Two."):
                group.start_soon(runner.run, task)
        assert executor.counts == [1, 1]

    async def test_what_the_run_raises_reaches_the_reader(self, tmp_path: Path) -> None:
        async with Runner(executor=ScriptedExecutor(), workspace=tmp_path) as runner:
            with pytest.raises(UsageError, match="The task is empty"):
                async for _ in runner.stream("  "):
                    pass


async def test_a_cancellation_ends_no_later_run() -> None:
    async def cancels(_prompt: Prompt, _turn: Turn) -> str:
        runner.cancel("enough")
        return DONE

    runner = Runner(executor=ScriptedExecutor([cancels, DONE]))
    async with runner:
        ended = await runner.run("One.")
        later = await runner.run("Two.")
    assert [ended.stop_reason, later.stop_reason] == ["cancelled", "completed"]


async def test_a_cancellation_of_nothing_is_forgotten_when_the_runner_is_left(tmp_path: Path) -> None:
    runner = Runner(executor=ScriptedExecutor(then=DONE), store=MemoryStore(), workspace=tmp_path)
    async with runner:
        runner.cancel("enough")
    async with runner:
        assert (await runner.run("task")).stop_reason == "completed"


def test_another_thread_may_cancel(tmp_path: Path) -> None:
    begun = threading.Event()

    async def waits(_prompt: Prompt, _turn: Turn) -> str:
        begun.set()
        await anyio.sleep(30)
        return DONE

    runner = Runner(executor=ScriptedExecutor([waits]), workspace=tmp_path)

    def end() -> None:
        assert begun.wait(20)
        runner.cancel("enough")

    thread = threading.Thread(target=end)
    thread.start()
    record = runner.run_sync("Work.")
    thread.join()
    assert (record.stop_reason, record.detail) == ("cancelled", "enough")


async def test_run_sync_in_a_running_loop_says_what_to_write_instead(tmp_path: Path) -> None:
    runner = Runner(executor=ScriptedExecutor(), workspace=tmp_path)
    with pytest.raises(UsageError, match=r"await runner\.run\("):
        runner.run_sync("Work.")
    with pytest.raises(UsageError, match=r"await runner\.resume\("):
        runner.resume_sync("run-1")


def test_a_run_is_resumed_without_async(tmp_path: Path) -> None:
    workspace, store = tmp_path / "work", str(tmp_path / "ralph.db")
    workspace.mkdir()
    lost = Failed(failure="auth", message="not logged in")
    first = Runner(executor=ScriptedExecutor([lost]), workspace=workspace, store=store).run_sync("Work.")
    assert first.stop_reason == "executor_unavailable"
    again = Runner(executor=ScriptedExecutor([writes_answer]), workspace=workspace, store=store)
    record = again.resume_sync(first.id)
    assert record.stop_reason == "completed"
    assert [iteration.number for iteration in record.history] == [1, 2]


def test_a_second_use_starts_the_executor_again(tmp_path: Path) -> None:
    executor = Started([writes_answer])
    runner = Runner(executor=executor, workspace=tmp_path, limits=Limits(max_iterations=1))
    first = runner.run_sync("One.")
    (tmp_path / "answer.txt").unlink()
    second = runner.run_sync("Two.")
    assert (first.stop_reason, second.stop_reason) == ("completed", "completed")
    assert executor.counts == [2, 2]


def test_a_resume_after_a_run_starts_the_executor_again(tmp_path: Path) -> None:
    workspace = tmp_path / "work"
    workspace.mkdir()
    executor = Started([Failed(failure="auth", message="not logged in"), writes_answer])
    runner = Runner(executor=executor, workspace=workspace, store=tmp_path / "ralph.db")
    first = runner.run_sync("Work.")
    assert first.stop_reason == "executor_unavailable"
    assert runner.resume_sync(first.id).stop_reason == "completed"
    assert executor.counts == [2, 2]


async def test_an_iteration_of_a_second_use_takes_the_run_up_again(tmp_path: Path) -> None:
    executor = Started(["Working."])
    runner = Runner(executor=executor, workspace=tmp_path, limits=Limits(max_iterations=1))
    async with runner:
        run_id = (await runner.run("Work.")).id
    for number in (2, 3):
        async with runner:
            assert (await runner.iterate(run_id)).number == number
    assert executor.counts == [3, 3]


async def test_two_runners_share_a_store(tmp_path: Path) -> None:
    store = open_store(str(tmp_path / "ralph.db"))
    records: list[str] = []

    async def work(name: str) -> None:
        folder = tmp_path / name
        folder.mkdir()
        async with Runner(executor=ScriptedExecutor([writes_answer]), workspace=folder, store=store) as runner:
            records.append((await runner.run("Work.")).id)

    async with anyio.create_task_group() as group:
        group.start_soon(work, "one")
        group.start_soon(work, "two")
    async with store:
        assert {run.id for run in await store.runs()} == set(records)
        assert len(records) == 2


def test_without_asyncio_as_under_trio_the_error_says_what_to_do() -> None:
    entering = Runner(executor=ScriptedExecutor(["Working."])).__aenter__()
    with pytest.raises(UsageError, match=r"asyncio, not on trio.*anyio\.run"):
        entering.send(None)
