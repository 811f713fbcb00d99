import asyncio
import os
import secrets
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from time import monotonic
from typing import cast

import anyio
import psutil
import pytest

from ralph.errors import UsageError
from ralph.system import process_tree
from ralph.system.process import ByteStream, ProgramMissingError, require_program, run, spawn
from ralph.system.process_tree import (
    MARK,
    end_family,
    end_tree,
    mark_of_this_process,
    new_marker,
    started_by,
    survivors,
)
from ralph.testing import lives, living, until, wait_until

# A child that left its parent's session, as an agent's shells do, and the parent that started it.
DETACHED = """
import subprocess, sys, time
child = subprocess.Popen(["sleep", "60"], start_new_session=True, stdout={out}, stderr={out})
print(child.pid, flush=True)
{then}
"""


def python(code: str) -> list[str]:
    return [sys.executable, "-S", "-c", code]


def detached(then: str, out: str = "subprocess.DEVNULL") -> list[str]:
    return python(DETACHED.format(then=then, out=out))


async def first_line(stream: ByteStream) -> bytes:
    data = b""
    async for chunk in stream:
        data += chunk
        if b"\n" in data:
            break
    return data.partition(b"\n")[0]


async def test_run_gives_code_and_both_streams(tmp_path: Path):
    done = await run(["sh", "-c", "cat; pwd >&2; exit 3"], cwd=tmp_path, stdin="prompt é", timeout=10)
    assert (done.code, done.stdout) == (3, "prompt é")
    assert done.stderr.endswith(f"{tmp_path}\n")
    assert not done.timed_out
    assert 0 < done.duration < 10


async def test_input_is_empty_where_none_is_given(tmp_path: Path):
    assert (await run(["cat"], cwd=tmp_path, timeout=10)).stdout == ""


async def test_input_that_is_not_read_does_no_harm(tmp_path: Path):
    assert (await run(["true"], cwd=tmp_path, stdin=b"x" * 3_000_000, timeout=10)).code == 0


async def test_large_input_goes_through(tmp_path: Path):
    done = await run(["wc", "-c"], cwd=tmp_path, stdin=b"x" * 3_000_000, timeout=10)
    assert done.stdout.strip() == "3000000"


async def test_bytes_that_are_no_text_and_lone_surrogates_become_text(tmp_path: Path):
    done = await run(["printf", r"a\377\355\240\200b"], cwd=tmp_path, timeout=10)
    assert done.stdout.startswith("a�")
    assert done.stdout.endswith("b")
    done.stdout.encode()
    assert (await run(["cat"], cwd=tmp_path, stdin="x\ud800y", timeout=10)).stdout == "x?y"


async def test_of_long_output_head_and_tail_are_kept(tmp_path: Path):
    code = "import sys\nprint('first')\nfor _ in range(3000): sys.stdout.write('x' * 10_000)\nprint('last')"
    done = await run(python(code), cwd=tmp_path, timeout=30, max_output=1_000)
    assert done.stdout.startswith("first\n")
    assert done.stdout.endswith("last\n")
    assert "[… 29999011 bytes left out …]" in done.stdout
    assert len(done.stdout) < 1_100
    assert done.stdout_truncated
    assert not done.stderr_truncated


async def test_output_of_just_the_bound_is_whole(tmp_path: Path):
    done = await run(["printf", "%01000d", "7"], cwd=tmp_path, timeout=10, max_output=1_000)
    assert len(done.stdout) == 1_000
    assert not done.stdout_truncated


async def test_time_out_ends_the_whole_tree(tmp_path: Path):
    done = await run(detached("time.sleep(60)"), cwd=tmp_path, timeout=1.0)
    assert done.timed_out
    assert done.code != 0
    assert not lives(int(done.stdout))


async def test_a_program_that_ignores_the_request_to_end_is_killed(tmp_path: Path):
    code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(1, flush=True); time.sleep(60)"
    async with spawn(python(code), cwd=tmp_path, grace=0.1) as program:
        await first_line(program.stdout)
    assert program.code == -9


async def test_a_stopped_program_is_killed(tmp_path: Path):
    async with spawn(["sleep", "60"], cwd=tmp_path, grace=0.1) as program:
        psutil.Process(program.pid).suspend()
    assert program.code == -9


async def test_cancellation_ends_the_whole_tree(tmp_path: Path):
    pids: list[int] = []

    async def work() -> None:
        async with spawn(detached("time.sleep(60)"), cwd=tmp_path) as program:
            pids.extend([program.pid, int(await first_line(program.stdout))])
            started.set()
            await program.wait()

    started = anyio.Event()
    async with anyio.create_task_group() as group:
        group.start_soon(work)
        await started.wait()
        group.cancel_scope.cancel()
    assert len(pids) == 2
    assert not any(lives(pid) for pid in pids)


async def test_cancelling_run_ends_its_program(tmp_path: Path):
    task = asyncio.create_task(run(["sh", "-c", "echo $$ > pid; sleep 60"], cwd=tmp_path, timeout=None))
    pid = tmp_path / "pid"
    await until(lambda: pid.exists() and pid.read_text().endswith("\n"))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not lives(int(pid.read_text()))


async def test_a_program_that_is_cancelled_while_it_starts_leaves_nothing(tmp_path: Path):
    seconds = f"47{os.getpid()}"
    for steps in range(4):
        task = asyncio.create_task(run(["sh", "-c", f"sleep {seconds} & sleep {seconds}"], cwd=tmp_path, timeout=None))
        for _ in range(steps):
            await asyncio.sleep(0)
        task.cancel()
        began = monotonic()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert monotonic() - began < 10
        assert living(seconds) == []


async def test_a_survivor_that_holds_the_output_open_is_not_waited_for(tmp_path: Path):
    began = monotonic()
    done = await run(detached("sys.exit(5)", out="None"), cwd=tmp_path, timeout=30)
    try:
        assert monotonic() - began < 10
        assert done.code == 5
        assert lives(int(done.stdout))
    finally:
        await end_tree(int(done.stdout))


async def test_everything_written_before_the_end_arrives_although_a_survivor_holds_the_output(tmp_path: Path):
    done = await run(
        ["sh", "-c", "sleep 60 & echo $! >&2; head -c 60000 /dev/zero | tr '\\0' x"], cwd=tmp_path, timeout=30
    )
    await end_tree(int(done.stderr))
    assert len(done.stdout) == 60_000


def test_who_waits_for_a_child_is_ended_before_it_and_does_not_go_on(tmp_path: Path):
    command = ["sh", "-c", "sleep 60; touch went-on"]
    waiting = [subprocess.Popen(command, cwd=tmp_path, start_new_session=True) for _ in range(40)]
    family = [psutil.Process(each.pid) for each in waiting]
    wait_until(lambda: all(process.children() for process in family))
    anyio.run(end_family, family)
    for each in waiting:
        each.wait(5)
    assert list(tmp_path.iterdir()) == []


async def test_what_is_started_while_the_rest_is_ended_is_ended_too(tmp_path: Path):
    code = (
        "import signal, subprocess, sys, time\n"
        "def late(*_):\n"
        "    subprocess.Popen(['sleep', '60'], start_new_session=True)\n"
        "    sys.exit()\n"
        "signal.signal(signal.SIGTERM, late)\n"
        "print('ready', flush=True)\n"
        "time.sleep(60)\n"
    )
    marker = new_marker()
    async with spawn(python(code), cwd=tmp_path, marker=marker) as program:
        await first_line(program.stdout)
    assert survivors(marker) == set()


async def test_leftovers_are_ended_on_request(tmp_path: Path):
    done = await run(detached("sys.exit(0)"), cwd=tmp_path, timeout=30, end_leftovers=True)
    assert not lives(int(done.stdout))


async def test_children_of_a_program_killed_by_others_are_found_by_their_mark(tmp_path: Path):
    async with spawn(detached("time.sleep(60)"), cwd=tmp_path) as program:
        child = int(await first_line(program.stdout))
        psutil.Process(program.pid).kill()
        assert await program.wait() == -9
        assert lives(child)
    assert not lives(child)


async def test_so_are_those_of_one_that_is_run_to_its_end(tmp_path: Path):
    done = await run(detached("import os; os.kill(os.getpid(), 9)"), cwd=tmp_path, timeout=30)
    assert done.code == -9
    assert not lives(int(done.stdout))


async def test_leftovers_of_a_suspected_program_are_ended(tmp_path: Path):
    async with spawn(detached("sys.exit(0)"), cwd=tmp_path) as program:
        child = int(await first_line(program.stdout))
        program.suspected()
        assert await program.wait() == 0
    assert not lives(child)


async def test_marks_add_up_where_one_ralph_runs_in_another(tmp_path: Path):
    outer, inner = new_marker(), new_marker()
    env = os.environ | {MARK: outer}
    async with spawn(["sleep", "60"], cwd=tmp_path, env=env, marker=inner) as program:
        assert {found.pid for found in survivors(outer)} == {program.pid} == {found.pid for found in survivors(inner)}
    assert not survivors(inner)


async def test_a_process_whose_number_only_begins_alike_has_started_nothing_of_another(tmp_path: Path) -> None:
    """A forked worker has the random part of its parent's marks, and ends what a dead one of its siblings left."""
    program = secrets.token_hex(8)
    async with spawn(["sleep", "60"], cwd=tmp_path, marker=f"{program}-123.{secrets.token_hex(8)}") as sleeping:
        assert {found.pid for found in started_by(f"{program}-123")} == {sleeping.pid}
        assert started_by(f"{program}-12") == set()


async def test_what_this_process_started_is_known_wherever_it_belongs(tmp_path: Path):
    stranger = os.environ | {MARK: "another-1.5d"}
    async with spawn(detached("time.sleep(60)"), cwd=tmp_path, env=stranger) as program:
        child = int(await first_line(program.stdout))
        assert {program.pid, child} <= {found.pid for found in started_by(mark_of_this_process())}
        psutil.Process(program.pid).kill()
        await program.wait()
        assert child in {found.pid for found in started_by(mark_of_this_process())}
    assert child not in {found.pid for found in started_by(mark_of_this_process())}


async def test_a_program_is_found_that_shows_no_variables_yet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Linux shows them only after it has told the parent that the program runs: of 1,500 programs, 14 had none yet."""
    read = process_tree._marks
    looks: list[int] = []

    def marks(pid: int) -> Sequence[str]:
        looks.append(pid)
        return [] if looks.count(pid) == 1 else read(pid)

    monkeypatch.setattr(process_tree, "_marks", marks)
    marker = new_marker()
    async with spawn(["sleep", "60"], cwd=tmp_path, marker=marker) as program:
        assert {found.pid for found in survivors(marker)} == {program.pid}


async def test_a_number_that_another_process_got_is_not_hit(tmp_path: Path):
    async with spawn(["sleep", "60"], cwd=tmp_path) as program:
        stale = psutil.Process(program.pid)
        # What a process looks like that was known before its number was given away again.
        earlier = stale.create_time() - 100
        for name, value in {"_create_time": earlier, "_ident": (stale.pid, earlier)}.items():
            setattr(stale, name, value)
        await end_tree(stale, 0.05)
        assert program.code is None


async def test_ending_what_is_gone_is_no_error(tmp_path: Path):
    async with spawn(["true"], cwd=tmp_path) as program:
        await program.wait()
    await end_tree(program.pid)
    assert program.code == 0


async def test_talking_with_a_program(tmp_path: Path):
    async with spawn(["cat"], cwd=tmp_path) as program:
        await program.send(b"one\n")
        assert await first_line(program.stdout) == b"one"
        await program.send(b"two\n")
        program.close_stdin()
        assert b"".join([chunk async for chunk in program.stdout]) == b"two\n"
        assert await program.wait() == 0


async def test_a_program_that_writes_too_fast_waits(tmp_path: Path):
    async with spawn(["yes"], cwd=tmp_path) as program:
        await first_line(program.stdout)
        process = psutil.Process(program.pid)
        await until(lambda: process.status() == psutil.STATUS_SLEEPING)
        assert program.stdout._unread < 2_000_000


async def test_a_program_waits_again_once_its_reader_has_caught_up():
    class Pipe:
        read = True

        def pause_reading(self):
            self.read = False

        def resume_reading(self):
            self.read = True

    pipe, stream = Pipe(), ByteStream()
    stream.attach(cast("asyncio.ReadTransport", pipe))
    for _ in range(2):
        stream.feed(bytes(1_000_000))
        assert not pipe.read
        await anext(stream)
        assert pipe.read


async def test_all_of_a_long_output_arrives_at_a_slow_reader(tmp_path: Path):
    total = 0
    async with spawn(["head", "-c", "20000000", "/dev/zero"], cwd=tmp_path) as program:
        async for chunk in program.stdout:
            total += len(chunk)
            await anyio.lowlevel.checkpoint()
    assert total == 20_000_000


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["/no/such/program"], "there is no such program"),
        (["no-such-program-anywhere"], "there is no such program"),
        (["./plain"], "not executable"),
        (["./garbage"], "not a program for this machine"),
    ],
)
async def test_a_program_that_cannot_be_run_is_named(tmp_path: Path, argv: list[str], words: str):
    (tmp_path / "plain").write_text("no program")
    (tmp_path / "garbage").write_text("no program")
    (tmp_path / "garbage").chmod(0o755)
    with pytest.raises(ProgramMissingError, match=words) as caught:
        await run(argv, cwd=tmp_path, timeout=10)
    assert repr(argv[0]) in str(caught.value)
    assert ("`chmod +x ./plain`" in str(caught.value)) is (argv[0] == "./plain")
    if argv[0] != "./garbage":  # only a start shows that
        with pytest.raises(ProgramMissingError, match=words):
            require_program(argv[0], tmp_path)


async def test_a_folder_that_is_not_there_is_named(tmp_path: Path):
    with pytest.raises(UsageError, match="there is no such folder"):
        await run(["true"], cwd=tmp_path / "gone", timeout=10)


@pytest.mark.parametrize("argument", ["a\0b", "x" * 3_000_000])
async def test_impossible_arguments_are_a_plain_error(tmp_path: Path, argument: str):
    with pytest.raises(UsageError, match="cannot be started") as caught:
        await run(["true", argument], cwd=tmp_path, timeout=10)
    assert len(str(caught.value)) < 300


async def test_the_output_of_a_program_that_ends_at_once_is_never_lost(tmp_path: Path):
    for _ in range(300):
        done = await run(["git", "no-such-command"], cwd=tmp_path, timeout=10)
        assert "no-such-command" in done.stderr


async def test_a_ctrl_c_in_the_terminal_reaches_ralph_alone(tmp_path: Path):
    async with spawn(["sleep", "60"], cwd=tmp_path) as program:
        assert os.getpgid(program.pid) != os.getpgid(0)
