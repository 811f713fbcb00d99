"""Whose a run is, whether that process lives, and what a dead one left at work."""

import os
import subprocess
import sys
from collections.abc import Generator
from datetime import UTC, datetime
from typing import Literal

import psutil
import pytest

from ralph.loop.ownership import end_left_behind, end_orphans, has_died, is_here, maker_has_died, this_process
from ralph.records.record import Owner, RunRecord
from ralph.store import MemoryStore
from ralph.testing import until

OWNER = """
import os, subprocess, sys
from ralph.loop.ownership import this_process
from ralph.system.process_tree import marked, new_marker

words = ["/bin/sh", "-c", "trap '' TERM; sleep 300 & sleep 300"]
subprocess.Popen(words, env=marked(os.environ, new_marker()), start_new_session=True, stdout=subprocess.DEVNULL)
print(this_process().model_dump_json(), flush=True)
sys.stdin.read()
"""


@pytest.fixture
def other() -> Generator[tuple["subprocess.Popen[str]", Owner]]:
    """A process that owns a run and has started a stubborn agent."""
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", OWNER], stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout
        yield process, Owner.model_validate_json(process.stdout.readline())
        process.kill()


async def test_a_dead_owners_agent_is_ended_as_a_tree(other: tuple["subprocess.Popen[str]", Owner]) -> None:
    process, owner = other
    assert (is_here(owner), has_died(owner)) == (True, False)
    await until(lambda: len(psutil.Process(owner.pid).children(recursive=True)) == 3)  # the shell and its two programs
    agents = {child.pid for child in psutil.Process(owner.pid).children(recursive=True)}
    process.kill()
    process.wait(10)
    assert has_died(owner)
    ended = await end_orphans(owner)
    assert {int(name.split()[0]) for name in ended} >= agents
    assert len(ended) == 3
    assert await end_orphans(owner) == (), "there is nothing more to end"


def test_a_process_that_got_the_number_of_a_dead_one_is_another() -> None:
    me = this_process()
    assert not has_died(me)
    assert has_died(me.model_copy(update={"start": "t1"}))


def test_setting_the_clock_makes_no_other_process(monkeypatch: pytest.MonkeyPatch) -> None:
    me, boot = this_process(), psutil.boot_time()
    monkeypatch.setattr(psutil._pslinux, "boot_time", lambda: boot + 3600)
    assert psutil.Process().create_time() == pytest.approx(me.created + 3600, abs=5)
    assert not has_died(me)
    assert not maker_has_died(me.token)
    assert this_process().start == me.start


def test_an_owner_from_before_starts_were_counted_is_known_by_the_clock() -> None:
    me = this_process().model_copy(update={"start": ""})
    assert not has_died(me)
    assert has_died(me.model_copy(update={"created": me.created - 3600}))
    *front, _, machine = me.token.split(".")
    assert not maker_has_died(".".join((*front, f"{me.created:.0f}", machine)))
    assert maker_has_died(".".join((*front, f"{me.created - 3600:.0f}", machine)))


@pytest.mark.parametrize("state", ["running", "finished"])
async def test_what_a_run_leaves_is_ended_also_after_its_end(
    other: tuple["subprocess.Popen[str]", Owner], state: Literal["running", "finished"]
) -> None:
    process, owner = other
    async with MemoryStore() as store:
        await store.create(
            RunRecord(id="r", task="t", workspace="/w", started_at=datetime.now(UTC), owner=owner, state=state)
        )
        assert await end_left_behind(store, "/w") == ()
        process.kill()
        process.wait(10)
        assert len(await end_left_behind(store, "/elsewhere")) == 3


def test_a_token_tells_whose_it_is(other: tuple["subprocess.Popen[str]", Owner]) -> None:
    process, owner = other
    assert not maker_has_died(owner.token)
    process.kill()
    process.wait(10)
    assert maker_has_died(owner.token)
    assert not maker_has_died(this_process().token)
    for unknown in (
        "",
        "another",
        f"{owner.token}0",
        owner.token.replace(".", "-"),
        "\u0663" * 16 + ".1.1." + "0" * 16,
    ):
        assert not maker_has_died(unknown)


def test_of_a_process_on_another_machine_nothing_is_known() -> None:
    elsewhere = this_process().model_copy(update={"machine": "another", "pid": 2**22 + 1})
    assert (is_here(elsewhere), has_died(elsewhere)) == (False, False)


def test_who_takes_over_does_not_end_itself() -> None:
    """It may be typed in a shell that the dead run's agent had opened, and so carry its mark."""
    code = "import anyio; from ralph.loop.ownership import *;"
    code += "owner = this_process().model_copy(update={'mark': 'dead-1'});"
    code += "print(anyio.run(end_orphans, owner))"
    marked = {**os.environ, "RALPH_TURN": "dead-1.x"}
    done = subprocess.run([sys.executable, "-c", code], env=marked, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "()\n"), done.stderr


def test_every_time_that_a_run_is_taken_up_has_a_token_of_its_own() -> None:
    assert this_process().token != this_process().token
