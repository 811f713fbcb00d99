"""The user's own git renames over `.git/config` while a sandboxed agent works, which lifts the read-only mount there.

The kernel takes a mount away when its place is renamed over outside. So this says what holds then, and what does not.
"""

import subprocess
import time
from pathlib import Path

import anyio
import pytest

from ralph.errors import UsageError
from ralph.system.sandbox import Confinement, Sandbox
from ralph.testing import Repository
from ralph.workspace import open_workspace
from ralph.workspace.worktree import make_worktree

pytestmark = [pytest.mark.attack, pytest.mark.usefixtures("person")]

AGENT = """
touch ready
while [ ! -e go ]; do sleep 0.05; done
cd .git
for name in config hooks/post-commit info/attributes commondir config.worktree; do
    for way in append replace; do
        if [ $way = append ]; then printf '[core]\\n\\tfsmonitor = PROGRAM\\n' >> $name
        else printf '[core]\\n\\tfsmonitor = PROGRAM\\n' > new && mv new $name; fi 2> /dev/null && echo $name
    done
done
mv hooks elsewhere 2> /dev/null && echo hooks
exit 0
"""


@pytest.fixture(autouse=True)
def bwrap(tmp_path: Path) -> None:
    try:
        anyio.run(Confinement(sandbox=Sandbox(kind="bwrap"), workspace=tmp_path).require)
    except UsageError as error:
        pytest.skip(str(error))


class Place:
    def __init__(self, top: Path) -> None:
        self.repo, self.sign = Repository.begin(top / "repo"), top / "sign"
        self.repo.write("a.txt", "a\n")
        self.repo.commit("first")
        self.program = top / "program"
        self.program.write_text(f"#!/bin/sh\ntouch '{self.sign}'\n")
        self.program.chmod(0o755)
        self.workspace = open_workspace(self.repo.path, state_dir=top / "state", confined=True)

    def agent(self) -> "subprocess.Popen[str]":
        confinement = Confinement(sandbox=Sandbox(kind="bwrap"), workspace=self.repo.path)
        anyio.run(confinement.require)
        argv = confinement.command(
            ["sh", "-c", AGENT.replace("PROGRAM", str(self.program))], cwd=self.repo.path, agent=True
        )
        started = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
        while not (self.repo.path / "ready").exists():
            assert started.poll() is None
            time.sleep(0.02)
        return started

    def written(self, agent: "subprocess.Popen[str]") -> set[str]:
        (self.repo.path / "go").touch()
        return set(agent.communicate(timeout=30)[0].split())

    def users_git_runs_something(self) -> bool:
        self.repo.git("status")
        return self.sign.exists()


def test_after_the_users_rename_only_the_settings_are_open_and_the_end_of_the_turn_undoes_it(tmp_path: Path) -> None:
    place = Place(tmp_path)
    anyio.run(place.workspace.guard, "run-1")
    agent = place.agent()
    place.repo.git("config", "user.name", "Somebody")
    assert place.written(agent) == {"config"}
    assert place.users_git_runs_something(), "the rename did not lift the mount; say so in the documentation"
    place.sign.unlink()
    restored = anyio.run(place.workspace.restore_protected, "run-1")
    assert restored.parts == {".git/config": "core.fsmonitor"}
    assert not place.users_git_runs_something()


def test_without_it_nothing_is_open_and_ralphs_own_git_never_renames(tmp_path: Path) -> None:
    place = Place(tmp_path)
    anyio.run(place.workspace.guard, "run-1")
    agent = place.agent()

    async def ralphs_own() -> None:
        workspace, state = place.workspace, tmp_path / "state"
        first = await workspace.checkpoint("run-1", 1, "before", seen=await workspace.snapshot())
        place.repo.write("a.txt", "b\n")
        assert (await workspace.commit(str(first.commit), "work")).commit
        await workspace.reset_branch("run-1", str(first.commit))
        made = await make_worktree(place.repo.path, "run-2", state_dir=state, confined=True)
        (made.top / "c.txt").write_text("c\n")
        inside = open_workspace(made.path, state_dir=state, confined=True)
        kept = await inside.checkpoint("run-2", 1, "after", seen=await inside.snapshot())
        assert kept.commit
        await made.discard(kept.commit)

    anyio.run(ralphs_own)
    assert place.written(agent) == set()
    assert not place.users_git_runs_something()
