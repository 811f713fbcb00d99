"""An agent leaves a nested repository with hostile settings: after its turn, the user's own git runs nothing of it.

Each is entered with plain git first: one that runs nothing before Ralph looks at it proves nothing.
"""

import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

from ralph.decision.limits import Limits
from ralph.executors.base import Turn
from ralph.loop.runner import Runner
from ralph.prompt import Prompt
from ralph.store import MemoryStore
from ralph.testing import Repository, ScriptedExecutor
from ralph.types.output import Output
from ralph.workspace import Workspace, open_workspace
from ralph.workspace.nested import Inner, Nested
from ralph.workspace.protection import RestoredPaths

pytestmark = [pytest.mark.attack, pytest.mark.usefixtures("person")]

BEGIN = "git init -q nested && git -C nested commit -q --allow-empty -m i && "
LINK = "git add -f nested 2>/dev/null && "
EVIL = "git -C nested config core.fsmonitor @"
HOOK = "printf '#!/bin/sh\\n@\\n' > {0}/post-index-change && chmod +x {0}/post-index-change && echo 1 > nested/a"
TRACKED = "echo 0 > nested/a && git -C nested add a && git -C nested commit -qm a && "
AWAY = "cp -r nested/.git {0} && rm -rf nested/.git && git config -f {0}/config core.fsmonitor @ && "
PLANTS = {
    "staged": BEGIN + LINK + EVIL,
    "committed": BEGIN + LINK + "git commit -qm n nested && " + EVIL,
    "ignored and staged": "echo nested > .gitignore && " + BEGIN + LINK + EVIL,
    "with an index of version 4": BEGIN + LINK + "git update-index --index-version 4 && " + EVIL,
    "with a split index": BEGIN + LINK + "git update-index --split-index && git add a.txt && " + EVIL,
    "among many files": "for i in $(seq 300); do echo $i > f$i; done && git add -A && " + BEGIN + LINK + EVIL,
    "with another algorithm": "git init -q --object-format=sha256 nested && git -C nested commit -q --allow-empty -m i"
    " && git init -q --object-format=sha256 nested/deep && git -C nested/deep commit -q --allow-empty -m i"
    " && git -C nested add deep 2>/dev/null && git -C nested commit -qm d && git update-index --add --cacheinfo"
    " 160000,$(git rev-parse HEAD),nested && git -C nested/deep config core.fsmonitor @",
    "include.path": BEGIN + LINK + "git -C nested config include.path ../more && "
    "git config -f nested/more core.fsmonitor @",
    "config.worktree": BEGIN + LINK + "git -C nested config core.repositoryformatversion 1 && "
    "git -C nested config extensions.worktreeConfig true && git -C nested config --worktree core.fsmonitor @",
    "a hook": BEGIN + TRACKED + LINK + HOOK.format("nested/.git/hooks"),
    "hooks by a link": BEGIN
    + TRACKED
    + LINK
    + "mv nested/.git/hooks h && ln -s ../../h nested/.git/hooks && "
    + HOOK.format("h"),
    "a filter": BEGIN + TRACKED + LINK + "echo '* filter=e' > nested/.gitattributes && echo 1 > nested/a && "
    "git -C nested config filter.e.clean @",
    "settings by a link": BEGIN + LINK + EVIL + " && mv nested/.git/config evil && ln -s ../../evil nested/.git/config",
    "HEAD as a link": BEGIN + LINK + "ln -sf refs/heads/main nested/.git/HEAD && " + EVIL,
    "HEAD and a deeper one": BEGIN
    + LINK
    + "cd nested && "
    + BEGIN
    + "git add nested 2>/dev/null && git commit -qm d && "
    + EVIL
    + " && ln -sf refs/heads/main .git/HEAD",
    "two levels deep": BEGIN
    + "cd nested && "
    + BEGIN
    + "git add nested 2>/dev/null && git commit -qm d && "
    + EVIL
    + " && cd .. && git add nested 2>/dev/null",
    "a file that leads to it": BEGIN + LINK + AWAY.format("evil") + "echo 'gitdir: ../evil' > nested/.git",
    "a file of two lines": BEGIN + LINK + AWAY.format("'evil\nx'") + "printf 'gitdir: ../evil\\nx' > nested/.git",
    "a file that leads outside": BEGIN + LINK + AWAY.format("../evil") + "echo 'gitdir: ../../evil' > nested/.git",
    "a link": BEGIN + LINK + AWAY.format("evil") + "ln -s ../evil nested/.git",
    "a link outside": BEGIN + LINK + AWAY.format("../evil") + "ln -s ../../evil nested/.git",
    "commondir": BEGIN + LINK + "cp -r nested/.git evil && git config -f evil/config core.fsmonitor @ && "
    "echo ../../evil > nested/.git/commondir",
    "commondir outside": BEGIN + LINK + "cp -r nested/.git ../evil && git config -f ../evil/config core.fsmonitor @ && "
    "echo ../../../evil > nested/.git/commondir",
    "commondir by a link": BEGIN + LINK + "cp -r nested/.git evil && git config -f evil/config core.fsmonitor @ && "
    "echo ../../evil > c && ln -s ../../c nested/.git/commondir",
    "the settings of a submodule": "git -C sub config core.fsmonitor @",
    "a submodule led elsewhere": "cp -r .git/modules/sub evil && git config -f evil/config core.fsmonitor @ && "
    "git config -f evil/config --unset core.worktree && echo 'gitdir: ../evil' > sub/.git",
    "a submodule led outside": "cp -r .git/modules/sub ../evil && git config -f ../evil/config core.fsmonitor @ && "
    "git config -f ../evil/config --unset core.worktree && echo 'gitdir: ../../evil' > sub/.git",
    "a submodule with a folder": "rm sub/.git && cp -r .git/modules/sub sub/.git && git config -f sub/.git/config "
    "core.fsmonitor @ && git config -f sub/.git/config --unset core.worktree",
    "a new submodule": "git -c protocol.file.allow=always submodule --quiet add ../other new && "
    "git -C new config core.fsmonitor @",
}

BARE = "git init -q --bare {0} && git -C {0} config core.bare false && git -C {0} config core.worktree {1} && "
FSMONITOR = "git -C {0} config core.fsmonitor @"
PUSHED = "printf '#!/bin/sh\\n@\\n' > {0}/hooks/reference-transaction && chmod +x {0}/hooks/reference-transaction"
ANYWHERE = {
    "a new one": ("d", "git init -q d && " + FSMONITOR.format("d")),
    "an ignored one": ("ign/d", "git init -q ign/d && " + FSMONITOR.format("ign/d")),
    "one in noise": ("node_modules/d", "git init -q node_modules/d && " + FSMONITOR.format("node_modules/d")),
    "a hidden one": (".cache/d", "git init -q .cache/d && " + FSMONITOR.format(".cache/d")),
    "a deep one": ("d/" * 30, f"git init -q {'d/' * 30} && " + FSMONITOR.format("d/" * 30)),
    "one within a git folder": (".git/d", "git init -q .git/d && " + FSMONITOR.format(".git/d")),
    "one among objects": (".git/objects/d", "git init -q .git/objects/d && " + FSMONITOR.format(".git/objects/d")),
    "one among a git folder's objects": (
        ".git/objects/ab/c",
        "git init -q .git/objects/ab/c && " + FSMONITOR.format(".git/objects/ab/c"),
    ),
    "one in a folder of objects": ("objects/ab", "git init -q objects/ab && " + FSMONITOR.format("objects/ab")),
    "an ignored one in such a folder": (
        "ign/objects/ab",
        "git init -q ign/objects/ab && " + FSMONITOR.format("ign/objects/ab"),
    ),
    "a bare one": ("d", BARE.format("d", "..") + FSMONITOR.format("d")),
    "an ignored bare one": ("ign/d", BARE.format("ign/d", "../..") + FSMONITOR.format("ign/d")),
    "a bare one within a git folder": (".git/d", BARE.format(".git/d", "../..") + FSMONITOR.format(".git/d")),
    "one made by hand": (
        "d",
        (
            "mkdir -p d/objects d/refs && echo 'ref: refs/heads/main' > d/HEAD && git config -f d/config core.worktree "
            ".. && git config -f d/config core.repositoryformatversion 0 && git config -f d/config core.fsmonitor @"
        ),
    ),
    "one beside a file that leads outside": (
        "d",
        "mkdir d && git init -q ../g && git -C ../g config core.fsmonitor @ && echo 'gitdir: ../../g/.git' > d/.git",
    ),
    "one beside a file that leads to it": (
        "d",
        "mkdir d && git init -q g && git -C g config core.fsmonitor @ && echo 'gitdir: ../g/.git' > d/.git",
    ),
}
"""Where git runs something once the user enters a folder: the folder, and what makes it."""


def shell(folder: Path, command: str) -> None:
    subprocess.run(["sh", "-c", command], cwd=folder, check=True, capture_output=True, timeout=30)


def users_git(folder: Path) -> None:
    for words in (("status",), ("diff",), ("add", "-A"), ("status", "--porcelain"), ("stash", "list")):
        subprocess.run(["git", *words], cwd=folder, check=False, capture_output=True, timeout=30)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with a submodule, and what that was cloned from."""
    top = tmp_path_factory.mktemp("template")
    repo = Repository.begin(top / "repo")
    repo.write("a.txt", "a\n")
    repo.commit("first")
    subprocess.run(["git", "clone", "-q", str(repo.path), str(top / "other")], check=True)
    shell(repo.path, "git -c protocol.file.allow=always submodule --quiet add ../other sub")
    repo.commit("submodule")
    return top


class Place:
    """A copy of the template, and a program that leaves a sign when it runs."""

    def __init__(self, template: Path, top: Path) -> None:
        shutil.copytree(template, top, symlinks=True, dirs_exist_ok=True)
        self.repo = Repository(top / "repo")
        self.sign, self.program = top / "sign", top / "program"
        self.program.write_text(f"#!/bin/sh\ntouch '{self.sign}'\nexit 1\n")
        self.program.chmod(0o755)

    def plant(self, command: str) -> None:
        shell(self.repo.path, command.replace("@", str(self.program)))
        self.sign.unlink(missing_ok=True)

    def open(self, top: Path) -> Workspace:
        return open_workspace(self.repo.path, state_dir=top / "state")


@pytest.mark.parametrize("name", PLANTS)
async def test_the_users_git_runs_nothing_of_a_nested_repository(name: str, template: Path, tmp_path: Path) -> None:
    plain = Place(template, tmp_path / "plain")
    plain.plant(PLANTS[name])
    users_git(plain.repo.path)
    assert plain.sign.exists(), "plain git does not run it"

    place = Place(template, tmp_path)
    workspace = place.open(tmp_path)
    seen = await workspace.snapshot()
    await workspace.guard("run-1")
    await workspace.checkpoint("run-1", 1, "before", seen=seen)
    place.plant(PLANTS[name])
    restored = await workspace.restore_protected("run-1")
    assert restored.restored
    assert restored.left == ()
    assert restored.aside is not None
    users_git(place.repo.path)
    assert not place.sign.exists()


async def test_one_that_is_only_there_is_made_harmless_by_the_end_of_the_run(template: Path, tmp_path: Path) -> None:
    place = Place(template, tmp_path)

    class Hostile(ScriptedExecutor):
        async def execute(self, prompt: Prompt, turn: Turn) -> Output:
            place.plant(BEGIN + EVIL)
            return await super().execute(prompt, turn)

    store = MemoryStore()
    executor, limits = Hostile(["Wrote it."]), Limits(max_iterations=1)
    async with Runner(executor=executor, store=store, workspace=place.open(tmp_path), limits=limits) as runner:
        record = await runner.run("Write.")
    place.repo.git("add", "nested")
    users_git(place.repo.path)
    assert not place.sign.exists()
    told = [event for event in [event async for event in store.events(record.id)] if event.type == "protected_restored"]
    assert [(event.paths, event.parts) for event in told] == [
        (("nested/.git/config",), {"nested/.git/config": "core.fsmonitor"})
    ]


async def test_harmless_nested_repositories_stay_as_they_are(template: Path, tmp_path: Path) -> None:
    place = Place(template, tmp_path)
    theirs = "git init -q theirs && git -C theirs commit -q --allow-empty -m i && git -C theirs config core.pager less"
    place.plant(theirs)
    workspace = place.open(tmp_path)
    seen = await workspace.snapshot()
    await workspace.guard("run-1")
    await workspace.checkpoint("run-1", 1, "before", seen=seen)
    for command in (
        "git clone -q ../other nested && git -C nested config user.name x && git -C nested checkout -qb more",
        "git -c protocol.file.allow=always submodule --quiet add ../other new && git -C new checkout -qb more",
        "git add nested theirs 2>/dev/null; git commit -qm nested",
        "git -C nested commit -q --allow-empty -m more; git -C sub commit -q --allow-empty -m more",
        "rm -rf nested theirs && git rm -qf new",
    ):
        place.plant(command)
        assert await workspace.restore_protected("run-1") == ((), None, (), {}), command
        await workspace.checkpoint("run-1", 1, "after", seen=await workspace.snapshot())
        await workspace.guard("run-1")
    assert not (place.repo.path / "nested").exists()


def _plain(top: Path) -> Place:
    """Return a folder without git; `.git` is not a repository there, but may hold one."""
    (top / "source" / "repo").mkdir(parents=True)
    return Place(top / "source", top)


def _enter(folder: Path) -> None:
    """Do what a shell's prompt does in a folder, and push to it."""
    for words in (("status",), ("diff",), ("log",)):
        subprocess.run(["git", *words], cwd=folder, check=False, capture_output=True, timeout=30)


@pytest.mark.parametrize("versioned", [True, False], ids=["in a repository", "in a plain folder"])
@pytest.mark.parametrize("name", ANYWHERE)
async def test_entering_any_folder_runs_nothing(name: str, versioned: bool, template: Path, tmp_path: Path) -> None:
    entered, plant = ANYWHERE[name]

    def placed(top: Path) -> Place:
        place = Place(template, top) if versioned else _plain(top)
        (place.repo.path / ".gitignore").write_text("ign/\n")
        return place

    plain = placed(tmp_path / "plain")
    plain.plant(plant)
    _enter(plain.repo.path / entered)
    assert plain.sign.exists(), "plain git does not run it"

    place = placed(tmp_path / "guarded")
    workspace = place.open(tmp_path)
    await workspace.snapshot()
    await workspace.guard("run-1")
    place.plant(plant)
    restored = await workspace.restore_protected("run-1")
    assert restored.restored
    assert restored.left == ()
    _enter(place.repo.path / entered)
    assert not place.sign.exists()
    assert await workspace.restore_protected("run-1") == RestoredPaths()


async def test_folders_are_searched_once_a_turn(
    template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A repository that appears between two turns is live for the user's git, so it is made harmless after the next."""
    place = Place(template, tmp_path)
    workspace = place.open(tmp_path)
    looks: list[object] = []
    find = Nested.find

    def counting(nested: Nested, paths: Iterable[bytes]) -> Inner:
        looks.append(paths)
        return find(nested, paths)

    monkeypatch.setattr(Nested, "find", counting)
    await workspace.guard("run-1")
    assert await workspace.restore_protected("run-1") == RestoredPaths()
    looks.clear()
    place.plant("git init -q node_modules/d && " + FSMONITOR.format("node_modules/d"))
    await workspace.guard("run-1")
    assert (await workspace.restore_protected("run-1")).restored == ("node_modules/d/.git/config",)
    assert len(looks) == 1
    await workspace.unguard()
    await workspace.guard("run-2")
    assert len(looks) == 2
    _enter(place.repo.path / "node_modules/d")
    assert not place.sign.exists()


@pytest.mark.parametrize("there_before", [True, False])
async def test_hooks_of_a_bare_repository_do_not_run(there_before: bool, template: Path, tmp_path: Path) -> None:
    place = Place(template, tmp_path)
    begin = "git init -q --bare ign/d"
    if there_before:
        place.plant(begin)
    workspace = place.open(tmp_path)
    await workspace.guard("run-1")
    place.plant(f"{begin} && " + PUSHED.format("ign/d"))
    assert (await workspace.restore_protected("run-1")).restored == ("ign/d/hooks/reference-transaction",)
    place.repo.git("push", "ign/d", "HEAD:refs/heads/x")
    assert not place.sign.exists()


@pytest.mark.parametrize("versioned", [True, False], ids=["in a repository", "in a plain folder"])
async def test_harmless_ones_anywhere_stay_as_they_are(versioned: bool, template: Path, tmp_path: Path) -> None:
    place = Place(template, tmp_path) if versioned else _plain(tmp_path)
    place.plant("git init -q theirs && git -C theirs config core.fsmonitor @ && git init -q --bare their.git")
    workspace = place.open(tmp_path)
    await workspace.guard("run-1")
    for command in (
        "git init -q --bare d.git && git clone -q d.git d && git -C d commit -q --allow-empty -m i && git -C d push -q",
        "git -C d remote add other ../their.git && git -C d push -q other HEAD:x",
        "git -C d worktree add -q ../w && git -C d worktree lock ../w",
        "git -C d.git gc -q && git -C d.git config gc.auto 0 && git init -q --separate-git-dir=s.git s",
        "mkdir -p data/objects data/refs && echo 1 > data/HEAD && echo 1 > data/commondir",
        "rm -rf d w s s.git data theirs",
    ):
        place.plant(command)
        assert await workspace.restore_protected("run-1") == RestoredPaths(), command
        await workspace.guard("run-1")
