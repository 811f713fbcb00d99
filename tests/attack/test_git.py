"""A hostile agent, or an unpacked archive, plants what git would run; none of Ralph's calls of git runs it.

Each trap is sprung with plain git first: one that cannot go off proves nothing.
"""

import os
import pty
import shutil
import socket
import stat
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import pytest

from ralph.errors import WorkspaceError
from ralph.executors.base import Turn
from ralph.loop.runner import Runner
from ralph.prompt import Prompt
from ralph.store import MemoryStore
from ralph.system.process import Finished
from ralph.testing import Repository, ScriptedExecutor, own_environment, run_ralph
from ralph.types.output import Output
from ralph.workspace import Workspace, gate, open_workspace
from ralph.workspace.extent import require_narrow
from ralph.workspace.gate import GitError
from ralph.workspace.worktree import make_worktree
from ralph_github.observer import branch_of

pytestmark = [pytest.mark.attack, pytest.mark.usefixtures("person")]

WORKING = "I wrote a part.\n\n---RALPH_STATUS---\nEXIT_SIGNAL: false\nSTATUS: IN_PROGRESS\n---END_RALPH_STATUS---\n"
DONE = "All is done.\n\n---RALPH_STATUS---\nEXIT_SIGNAL: true\nSTATUS: COMPLETE\n---END_RALPH_STATUS---\n"

Plant = Callable[[Repository, str], object]


class Trap(NamedTuple):
    """What is planted, given a repository and a program, and the call of plain git that runs the program."""

    plant: Plant
    spring: str
    stdin: str = ""
    terminal: bool = False


def nothing(repo: Repository, program: str) -> None:
    """Plant nothing: the trap is in the environment."""


def config(*settings: tuple[str, str]) -> Plant:
    """Settings in the repository; `@` stands for the program."""

    def plant(repo: Repository, program: str) -> None:
        for key, value in settings:
            repo.git("config", key.replace("@", program), value.replace("@", program))

    return plant


def file(name: str, text: str, mode: int = 0o644) -> Plant:
    def plant(repo: Repository, program: str) -> None:
        repo.write(name, text.replace("@", program)).chmod(mode)

    return plant


def both(*plants: Plant) -> Plant:
    def plant(repo: Repository, program: str) -> None:
        for each in plants:
            each(repo, program)

    return plant


def run(command: str) -> Plant:
    return lambda repo, program: shell(repo.path, command.replace("@", program))


def shell(folder: Path, command: str, stdin: str = "") -> None:
    """Run a command of plain git; it may fail, as the program answers nonsense."""
    subprocess.run(
        ["sh", "-c", command],
        cwd=folder,
        input=stdin,
        text=True,
        capture_output=True,
        timeout=30,
        check=False,
        env={**os.environ, "GIT_ALLOW_PROTOCOL": "", "EDITOR": "true"} if "ext::" in command else None,
    )


EVIL = "[core]\n\trepositoryformatversion = 0\n\tfsmonitor = @\n"
ATTRIBUTES = file(".gitattributes", "* filter=e diff=e merge=e\n")
PROMISED = both(
    config(("extensions.partialClone", "origin"), ("core.repositoryformatversion", "1")),
    config(("remote.origin.url", "ext::@ %S"), ("remote.origin.promisor", "true"), ("protocol.ext.allow", "always")),
    run("rm -f .git/objects/$(git rev-parse HEAD:b.txt | sed 's|..|&/|')"),
)
MOVED = "cp -r .git ../evil && git config -f ../evil/config core.fsmonitor @ && rm -rf .git && "
FORKED = "git add -A; git commit -qm x; git checkout -qb o HEAD~1; "
CONFLICT = f"{FORKED} echo o > a.txt; git commit -qam o; git merge -q main"
NESTED = "git init -q inner && cd inner && git commit -q --allow-empty -m i && git config core.fsmonitor @ && touch x"
TRAPS = {
    "core.fsmonitor": Trap(config(("core.fsmonitor", "@")), "git status"),
    "core.fsmonitor hook version 1": Trap(
        config(("core.fsmonitor", "@"), ("core.fsmonitorHookVersion", "1")), "git status"
    ),
    "core.hooksPath": Trap(
        both(file("hooks/pre-commit", "#!/bin/sh\n@\n", 0o755), config(("core.hooksPath", "hooks"))),
        "git commit -qam x",
    ),
    "filter.clean": Trap(both(config(("filter.e.clean", "@")), ATTRIBUTES), "git add -A"),
    "filter.smudge": Trap(both(config(("filter.e.smudge", "@")), ATTRIBUTES), "git checkout -q b.txt"),
    "filter.process": Trap(
        both(config(("filter.e.process", "@"), ("filter.e.required", "true")), ATTRIBUTES), "git add -A"
    ),
    "filter in info/attributes": Trap(
        both(config(("filter.e.clean", "@")), file(".git/info/attributes", "* filter=e\n")), "git add -A"
    ),
    "filter in core.attributesFile": Trap(
        both(config(("filter.e.clean", "@"), ("core.attributesFile", "attrs")), file("attrs", "* filter=e\n")),
        "git add -A",
    ),
    "filter below": Trap(
        both(config(("filter.e.clean", "@")), file("sub/.gitattributes", "* filter=e\n"), file("sub/x", "x\n")),
        "git add -A",
    ),
    "diff.external": Trap(config(("diff.external", "@")), "git diff"),
    "diff.textconv": Trap(both(config(("diff.e.textconv", "@")), ATTRIBUTES), "git diff"),
    "diff.command": Trap(both(config(("diff.e.command", "@")), ATTRIBUTES), "git diff"),
    "difftool.cmd": Trap(config(("diff.tool", "e"), ("difftool.e.cmd", "@")), "git difftool -y"),
    "merge.driver": Trap(both(config(("merge.e.driver", "@")), file(".git/info/attributes", "* merge=e\n")), CONFLICT),
    "mergetool.cmd": Trap(
        config(("merge.tool", "e"), ("mergetool.e.cmd", "@")), f"{CONFLICT}; git mergetool --no-prompt"
    ),
    "core.sshCommand": Trap(config(("core.sshCommand", "@")), "git ls-remote ssh://localhost/x"),
    "ssh of a remote": Trap(
        config(("core.sshCommand", "@"), ("remote.origin.url", "ssh://localhost/x")), "git fetch -q origin"
    ),
    "core.gitProxy": Trap(config(("core.gitProxy", "@")), "git ls-remote git://localhost/x"),
    "core.pager": Trap(config(("core.pager", "@")), "git log", terminal=True),
    "pager.status": Trap(config(("pager.status", "@")), "git status", terminal=True),
    "core.editor": Trap(config(("core.editor", "@")), "git commit -qa"),
    "sequence.editor": Trap(config(("sequence.editor", "@")), "git commit -qam x && git rebase -qi HEAD~1"),
    "core.askPass": Trap(config(("core.askPass", "@")), "git credential fill", "protocol=https\nhost=x\n\n"),
    "credential.helper": Trap(config(("credential.helper", "!@")), "git credential fill", "protocol=https\nhost=x\n\n"),
    "gpg.program": Trap(config(("gpg.program", "@"), ("commit.gpgSign", "true")), "git commit -qam x"),
    "gpg.ssh.program": Trap(
        config(("gpg.format", "ssh"), ("gpg.ssh.program", "@"), ("user.signingKey", "key::ssh-ed25519 AAAA")),
        "git commit -S -qam x",
    ),
    "alias": Trap(config(("alias.up", "!@")), "git up"),
    "include.path": Trap(both(config(("include.path", "more")), file(".git/more", EVIL)), "git status"),
    "includeIf": Trap(both(config(("includeIf.gitdir:**.path", "more")), file(".git/more", EVIL)), "git status"),
    "config.worktree": Trap(
        both(
            config(("extensions.worktreeConfig", "true"), ("core.repositoryformatversion", "1")),
            file(".git/config.worktree", "[core]\nfsmonitor = @\n"),
        ),
        "git status",
    ),
    "protocol.ext": Trap(
        config(("protocol.ext.allow", "always"), ("remote.origin.url", "ext::@ %S")), "git fetch -q origin"
    ),
    "promisor remote": Trap(PROMISED, "git cat-file -p HEAD:b.txt"),
    "remote.uploadpack": Trap(
        config(("remote.origin.url", "."), ("remote.origin.uploadpack", "@")), "git fetch -q origin"
    ),
    "remote.receivepack": Trap(
        config(("remote.origin.url", "."), ("remote.origin.receivepack", "@")), "git push -q origin main:x"
    ),
    "url.insteadOf": Trap(
        config(("protocol.ext.allow", "always"), ("url.ext::@ .insteadOf", "https://")), "git ls-remote https://x/y"
    ),
    "interactive.diffFilter": Trap(config(("interactive.diffFilter", "@")), "echo q | git add -p", terminal=True),
    "core.alternateRefsCommand": Trap(
        both(
            run("git clone -q --bare . ../other; realpath ../other/objects > .git/objects/info/alternates"),
            config(("core.alternateRefsCommand", "@")),
        ),
        "git rev-list --alternate-refs",
    ),
    "trailer.command": Trap(config(("trailer.e.command", "@")), "git interpret-trailers", "x\n"),
    "tar.command": Trap(config(("tar.e.command", "@")), "git archive --format=e HEAD"),
    "submodule update": Trap(
        both(
            run("git init -q inner && git -C inner commit -q --allow-empty -m i && git add inner 2>&1"),
            file(".gitmodules", '[submodule "inner"]\npath = inner\nurl = ./inner\n'),
            config(
                ("submodule.inner.url", "./inner"), ("submodule.inner.update", "!@"), ("submodule.inner.active", "true")
            ),
            run("git -C inner commit -q --allow-empty -m ii"),
        ),
        "git submodule update",
    ),
    "a nested repository": Trap(run(NESTED), "git -C inner status"),
    "a gitlink": Trap(run(f"({NESTED}); git add inner 2>&1; git commit -qm link inner"), "git status"),
    "a gitlink that asks for a look inside": Trap(
        both(
            file(".gitmodules", '[submodule "inner"]\npath = inner\nurl = ./inner\nignore = none\n'),
            run(f"({NESTED}); git add inner .gitmodules 2>&1; git commit -qm link inner .gitmodules"),
        ),
        "git status",
    ),
    "a nested repository with a promisor remote": Trap(
        run(
            "git init -q inner && cd inner && echo 1 > a && git add a && git commit -qm i"
            " && rm .git/objects/$(git rev-parse HEAD:a | sed 's|..|&/|') && git config core.repositoryformatversion 1"
            " && git config extensions.partialClone origin && git config remote.origin.url 'ext::@ %S'"
            " && git config remote.origin.promisor true && git config protocol.ext.allow always && echo 2 > a"
        ),
        "cd inner && git diff",
    ),
    "commondir": Trap(
        both(
            run("cp -r .git ../evil; echo ../../evil > .git/commondir; cat ../evil/config"),
            file("../evil/config", EVIL),
        ),
        "git status",
    ),
    ".git is a file": Trap(run(f"{MOVED} echo 'gitdir: ../evil' > .git"), "git status"),
    ".git is a link": Trap(run(f"{MOVED} ln -s ../evil .git"), "git status"),
    "GIT_CONFIG_COUNT": Trap(nothing, "git status"),
    "GIT_EXTERNAL_DIFF": Trap(nothing, "git diff"),
    "a git in the workspace": Trap(run("cp @ git"), "PATH=.:$PATH git status"),
} | {
    f"hook {name}": Trap(file(f".git/hooks/{name}", "#!/bin/sh\n@\n", 0o755), spring)
    for name, spring in {
        "pre-commit": "git commit -qam x",
        "prepare-commit-msg": "git commit -qam x",
        "commit-msg": "git commit -qam x",
        "post-commit": "git commit -qam x",
        "post-checkout": "git checkout -q b.txt",
        "post-index-change": "git add -A",
        "reference-transaction": "git branch x",
        "pre-merge-commit": f"{FORKED} echo o > o.txt; git add -A; git commit -qm o; git merge -q main -m m",
        "post-merge": "git branch o; git commit -qam x; git checkout -q o; git merge -q main",
        "pre-rebase": "git commit -qam x; git rebase -q --force-rebase HEAD~1",
        "post-rewrite": "git commit -q --amend -am x",
        "pre-auto-gc": ("git repack -q; git commit -qam x; git repack -q; git -c gc.autoPackLimit=1 gc --auto"),
        "pre-push": "git push -q . main:x",
        "pre-receive": "git push -q . main:x",
        "update": "git push -q . main:x",
        "post-receive": "git push -q . main:x",
    }.items()
}
ENVIRONMENT = {
    "GIT_CONFIG_COUNT": {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.fsmonitor",
        "GIT_CONFIG_VALUE_0": "@",
    },
    "GIT_EXTERNAL_DIFF": {"GIT_EXTERNAL_DIFF": "@", "GIT_SSH_COMMAND": "@", "GIT_EDITOR": "@", "GIT_ASKPASS": "@"},
    "a git in the workspace": {"PATH": ".:"},
}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with two commits, an uncommitted edit and a new file."""
    repo = Repository.begin(tmp_path_factory.mktemp("template") / "repo")
    repo.write("a.txt", "a\n")
    repo.commit("first")
    repo.write("a.txt", "b\n")
    repo.write("b.txt", "b\n")
    repo.commit("second")
    repo.git("pack-refs", "--all")
    return repo.path


class Canary:
    """The file that the planted program writes."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def sang(self) -> bool:
        return self.path.exists()

    def hush(self) -> None:
        self.path.unlink(missing_ok=True)


@pytest.fixture
def canary(tmp_path: Path) -> Canary:
    return Canary(tmp_path / "canary")


@pytest.fixture
def program(tmp_path: Path, canary: Canary) -> str:
    path = tmp_path / "program"
    path.write_text(f"#!/bin/sh\ntouch '{canary.path}'\nexit 1\n")
    path.chmod(0o755)
    return str(path)


def copied(template: Path, where: Path) -> Repository:
    repo = Repository(shutil.copytree(template, where / "repo", symlinks=True))
    shell(repo.path, "git update-index -q --refresh")
    return repo


def edit(repo: Repository, text: str) -> None:
    repo.write("a.txt", text)
    repo.write("new.txt", text)
    (repo.path / "b.txt").unlink(missing_ok=True)


def sprung(trap: Trap, folder: Path) -> None:
    if not trap.terminal:
        shell(folder, trap.spring, trap.stdin)
        return
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.execvp("sh", ["sh", "-c", trap.spring])
    try:
        while os.read(terminal, 1024):
            pass
    except OSError:
        pass  # the terminal is closed
    os.waitpid(pid, 0)


async def everything(workspace: Workspace, repo: Repository, act: Callable[[], object]) -> None:
    """Do all that Ralph does with git but worktrees; a trap may make some of it fail."""
    before = await workspace.snapshot()
    first = await workspace.checkpoint("run-1", 1, "before", seen=before)
    act()
    after = await workspace.snapshot()
    changes = await workspace.changes(before, after)
    second = await workspace.checkpoint("run-1", 1, "after", seen=after)
    assert first.commit, first.problem
    assert second.commit, second.problem
    assert "a.txt" in changes.files
    assert "the agent's" in await workspace.difference(first.commit, second.commit)
    await workspace.commit(first.commit, "work")
    await workspace.restore(first.commit, force=True)
    assert (repo.path / "a.txt").read_text() == "edited\n"
    with suppress(Exception):
        await workspace.commits_since(first.commit)
        await workspace.reset_branch("run-1", first.commit)
    await workspace.forget("run-1")


async def worktree(repo: Repository, end: str, state: Path, act: Callable[[Repository], object]) -> None:
    """Do all that Ralph does with a worktree; a trap may make it refuse."""
    with suppress(WorkspaceError, GitError):
        made = await make_worktree(repo.path, f"run-{end}", state_dir=state)
        act(repo)
        (made.top / "c.txt").write_text("c\n")
        inside = open_workspace(made.path, state_dir=state)
        kept = await inside.checkpoint("run-1", 1, "after", seen=await inside.snapshot())
        await inside.commit(str(kept.commit), "work")
        await (made.merge(completed=True) if end == "merge" else made.discard(kept.commit))


@pytest.mark.parametrize("name", TRAPS)
async def test_what_is_planted_for_git_is_not_run(
    name: str, template: Path, tmp_path: Path, program: str, canary: Canary, monkeypatch: pytest.MonkeyPatch
) -> None:
    trap = TRAPS[name]
    for when in ("plain git", "in an archive", "by the agent"):
        place = tmp_path / when
        place.mkdir()
        repo = copied(template, place)
        if when == "plain git":
            edit(repo, "edited\n")
            repo.git("checkout", "b.txt")
            repo.write("b.txt", "edited\n")
            trap.plant(repo, program)
            for key, value in ENVIRONMENT.get(name, {}).items():
                monkeypatch.setenv(key, value.replace("@", program) + (os.environ["PATH"] if key == "PATH" else ""))
            canary.hush()
            sprung(trap, repo.path)
            assert canary.sang(), "plain git does not run it"
            canary.hush()
            continue
        edit(repo, "edited\n")
        early, late = (trap.plant, nothing) if when == "in an archive" else (nothing, trap.plant)
        state = place / "state"
        monkeypatch.chdir(repo.path)
        early(repo, program)
        canary.hush()

        def act(repo: Repository = repo, late: Plant = late) -> None:
            late(repo, program)
            canary.hush()
            edit(repo, "the agent's\n")

        def meanwhile(repo: Repository, late: Plant = late, when: str = when) -> None:
            assert not canary.sang(), when
            late(repo, program)
            canary.hush()

        await everything(open_workspace(repo.path, state_dir=state), repo, act)
        assert not canary.sang(), when
        for end in ("merge", "discard"):
            repo = copied(template, place / end)
            monkeypatch.chdir(repo.path)
            early(repo, program)
            canary.hush()
            await worktree(repo, end, state, meanwhile)
            assert not canary.sang(), (when, end)


TOGETHER = ("core.fsmonitor", "filter.clean", "filter.smudge", "diff.external", "include.path", "gpg.program", "alias")


def plant_together(repo: Repository, program: str) -> None:
    """Plant many traps at once: settings, and every hook."""
    for name in TOGETHER:
        TRAPS[name].plant(repo, program)
    for name in (name for name in TRAPS if name.startswith("hook ")):
        TRAPS[name].plant(repo, program)


async def test_nothing_is_run_in_a_run_of_the_loop(
    template: Path, tmp_path: Path, program: str, canary: Canary
) -> None:
    repo = copied(template, tmp_path)

    class Hostile(ScriptedExecutor):
        async def execute(self, prompt: Prompt, turn: Turn) -> Output:
            plant_together(repo, program)
            edit(repo, f"{turn.iteration}\n")
            canary.hush()
            return await super().execute(prompt, turn)

    workspace = open_workspace(repo.path, state_dir=tmp_path / "state")
    store = MemoryStore()
    async with Runner(
        executor=Hostile([WORKING, DONE]), store=store, workspace=workspace, commit="iteration"
    ) as runner:
        record = await runner.run("Write.")
    assert record.stop_reason == "completed", record.detail
    assert branch_of(str(repo.path)) == "main"
    assert not canary.sang()


@pytest.mark.parametrize("end", ["merge", "discard"])
async def test_a_gitlink_in_a_worktree_is_opaque(
    end: str, template: Path, tmp_path: Path, program: str, canary: Canary
) -> None:
    made = await make_worktree(copied(template, tmp_path).path, "run-1", state_dir=tmp_path / "state")
    inside = open_workspace(made.path, state_dir=tmp_path / "state")
    TRAPS["a gitlink"].plant(Repository(made.top), program)
    kept = await inside.checkpoint("run-1", 1, "after", seen=await inside.snapshot())
    canary.hush()
    await (made.merge(completed=True) if end == "merge" else made.discard(kept.commit))
    await made.kept()
    assert not canary.sang()


def test_nothing_is_run_by_doctor(template: Path, tmp_path: Path, program: str, canary: Canary) -> None:
    repo = copied(template, tmp_path)
    plant_together(repo, program)
    edit(repo, "edited\n")
    canary.hush()
    ran = run_ralph(["doctor", "--json"], own_environment(tmp_path), repo.path)
    assert "under git" in ran.stdout, ran.stderr
    assert not canary.sang()


async def test_settings_that_come_and_go_meanwhile_are_not_read(
    template: Path, tmp_path: Path, program: str, canary: Canary
) -> None:
    repo = copied(template, tmp_path)
    shutil.copytree(repo.path / ".git", tmp_path / "evil")
    git_dir = repo.path / ".git"
    harmless, evil = (git_dir / "config").read_text(), EVIL.replace("@", program)
    (tmp_path / "evil/config").write_text(evil)
    over = threading.Event()

    def toggle() -> None:
        while not over.is_set():
            (git_dir / "new").write_text(evil)
            (git_dir / "new").replace(git_dir / "config")
            (git_dir / "commondir").write_text("../../evil")
            (git_dir / "new").write_text(harmless)
            (git_dir / "new").replace(git_dir / "config")
            (git_dir / "commondir").unlink()

    workspace = open_workspace(repo.path, state_dir=tmp_path / "state")
    toggling = threading.Thread(target=toggle)
    toggling.start()
    try:
        for _ in range(300):
            shell(repo.path, "git status")
            if canary.sang():
                break
        assert canary.sang(), "plain git is not caught"
        canary.hush()
        for number in range(60):
            repo.write("a.txt", f"{number}\n")
            assert (await workspace.checkpoint("run-1", number, "after", seen=await workspace.snapshot())).commit
            assert not canary.sang(), number
    finally:
        over.set()
        toggling.join()


PIPES = (
    *("config", "HEAD", "index", "info/exclude", "commondir", "packed-refs", "shallow", "refs/heads/main", "logs/HEAD"),
    *("objects/info/alternates", "objects/info/commit-graph", "objects/pack/multi-pack-index", "info/attributes"),
    *("../.gitignore", "../.gitattributes", "../.gitmodules", "../src/.gitignore"),
)


@pytest.mark.parametrize("name", PIPES)
async def test_a_pipe_in_the_place_of_a_file_of_git_does_not_hold_ralph_up(
    name: str, template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gate, "IDLE", 0.5)
    for when in ("late", "early"):
        (tmp_path / when).mkdir()
        repo, state = copied(template, tmp_path / when), tmp_path / when / "state"
        repo.write("src/d.txt", "d\n")
        workspace = open_workspace(repo.path, state_dir=state)
        first = await workspace.checkpoint("run-1", 1, "before", seen=await workspace.snapshot())
        planted = repo.path / ".git" / name
        planted.unlink(missing_ok=True)
        planted.parent.mkdir(exist_ok=True)
        os.mkfifo(planted)
        if when == "early" and name not in {"HEAD", "config"}:  # without these, it is no repository
            workspace = open_workspace(repo.path, state_dir=tmp_path / "another-state")
        repo.write("a.txt", "edited\n")
        with anyio.fail_after(20):
            await require_narrow(workspace)
            seen = await workspace.snapshot()
            made = await workspace.checkpoint("run-1", 1, "after", seen=seen)
            await workspace.restore_protected("run-1")
            await workspace.commits_since(str(first.commit))
            await workspace.commit(str(first.commit), "work")
            with suppress(WorkspaceError):
                await make_worktree(repo.path, "run-1", state_dir=state)
        assert made.commit, made.problem
        assert not ("waited" in seen.problem and planted.exists()), seen.problem
        assert "which are removed" in made.problem or planted.exists(), made.problem


@pytest.mark.parametrize("kind", ["link to a pipe", "link to a device", "socket", "folder", "device"])
async def test_an_index_that_is_no_file_does_not_hold_ralph_up(kind: str, template: Path, tmp_path: Path) -> None:
    repo = copied(template, tmp_path)
    workspace = open_workspace(repo.path, state_dir=tmp_path / "state")
    index = repo.path / ".git/index"
    index.unlink()
    if kind == "socket":
        with socket.socket(socket.AF_UNIX) as planted:
            planted.bind(os.path.relpath(index))  # noqa: ASYNC240
    elif kind == "folder":
        index.mkdir()
    elif kind == "device":
        try:
            os.mknod(index, 0o666 | stat.S_IFCHR, os.makedev(1, 5))  # it can be read without an end
            index.open("rb").close()
        except OSError as error:
            pytest.skip(f"no device can be made here: {error}")
    else:
        os.mkfifo(tmp_path / "pipe")
        index.symlink_to(tmp_path / "pipe" if kind == "link to a pipe" else "/dev/zero")
    with anyio.fail_after(10):
        await require_narrow(workspace)
        made = await workspace.checkpoint("run-1", 1, "before", seen=await workspace.snapshot())
        repo.write("a.txt", "edited\n")
        refused = await workspace.commit(str(made.commit), "work")
        repo.git("update-ref", "HEAD", repo.git("commit-tree", "-p", "HEAD", "-m", "x", "HEAD^{tree}"))
        with suppress(WorkspaceError):
            await workspace.reset_branch("run-1", str(made.commit))
    assert made.commit
    assert "index" in refused.message


@pytest.mark.alone
async def test_a_large_index_does_not_hold_up_the_loop(template: Path, tmp_path: Path) -> None:
    repo = copied(template, tmp_path)
    blob = repo.git("rev-parse", "HEAD:a.txt")
    entries = "".join(f"100644 {blob}\tsome/long/folder/file-{number}.txt\n" for number in range(200_000))
    entries += f"160000 {repo.git('rev-parse', 'HEAD')}\tnested\n"
    shell(repo.path, "git update-index --index-info", entries)
    workspace = open_workspace(repo.path, state_dir=tmp_path / "state")
    slowest = 0.0

    async def watch() -> None:
        nonlocal slowest
        while True:
            since = time.monotonic()
            await anyio.sleep(0.01)
            slowest = max(slowest, time.monotonic() - since)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(watch)
        await workspace.guard("run-1")
        await anyio.to_thread.run_sync(repo.git, "add", "b.txt")
        await workspace.restore_protected("run-1")
        first = await workspace.checkpoint("run-1", 1, "before", seen=await workspace.snapshot())
        repo.write("a.txt", "edited\n")
        assert (await workspace.commit(str(first.commit), "work")).commit
        staged = await anyio.to_thread.run_sync(repo.git, "ls-files", "some/long/folder/file-199999.txt")
        assert "file-199999" in staged
        await workspace.reset_branch("run-1", str(first.commit))
        tasks.cancel_scope.cancel()
    assert slowest < 0.5


@pytest.mark.parametrize(
    "name", ["COMMIT_EDITMSG", "MERGE_MSG", "ORIG_HEAD", "HEAD", "index", "logs/HEAD", "refs/heads/x/y"]
)
async def test_git_writes_through_no_link(name: str, template: Path, tmp_path: Path) -> None:
    plants: dict[str, Callable[[Path, Path], None]] = {
        "link": lambda path, victim: path.symlink_to(victim),
        "hard link": lambda path, victim: os.link(victim, path),
        "pipe": lambda path, victim: os.mkfifo(path),
    }
    for kind, plant in plants.items():
        repo = copied(template, tmp_path / kind)
        workspace = open_workspace(repo.path, state_dir=tmp_path / "state")
        repo.write("a.txt", "committed\n")
        head = repo.commit("third")
        made = await make_worktree(repo.path, f"run-{kind[0]}", state_dir=tmp_path / "state")
        (made.top / "c.txt").write_text("c\n")
        shell(made.top, "git add -A; git commit -qm work")
        first = await workspace.checkpoint("run-1", 1, "before", seen=await workspace.snapshot())
        planted, victim = repo.path / ".git" / name, tmp_path / kind / "victim"
        victim.write_bytes(planted.read_bytes() if planted.exists() else b"precious\n")
        before = victim.read_bytes()
        planted.unlink(missing_ok=True)
        planted.parent.mkdir(exist_ok=True, parents=True)
        plant(planted, victim)
        repo.write("a.txt", "the agent's\n")
        with anyio.fail_after(20):
            refused = await workspace.commit(str(first.commit), "work")
            assert refused.commit is None
            assert f"{name}' is a link or no file of its own" in refused.message
            if name != "HEAD":  # one that is no file is no repository
                assert "could not be merged" in await made.merge(completed=True)
                with pytest.raises(WorkspaceError, match=name):
                    await make_worktree(repo.path, "run-2", state_dir=tmp_path / "state")
        assert victim.read_bytes() == before
        planted.unlink()
        assert name == "HEAD" or repo.git("rev-parse", "HEAD") == head


def bytes_of(place: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in (place, *place.rglob("*")) if path.is_file()}


def exchange(place: Path, victim: Path, link: Callable[[Path, Path], None]) -> None:
    if not place.is_symlink():
        if os.path.lexists(place):
            place.rename(place.with_name(f"was-{os.urandom(8).hex()}"))
        link(victim, place)


@pytest.mark.parametrize("kind", ["link", "hard link"])
async def test_a_commit_writes_through_nothing_that_is_planted_after_the_check(
    kind: str, template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = gate.run
    monkeypatch.setattr("ralph.workspace.branch._PATIENCE", 0.3)
    folders = ["logs", "logs/refs", "objects", "refs", "refs/heads", "."]
    files = ["COMMIT_EDITMSG", "index", "index.lock", "logs/HEAD", "logs/refs/heads/main", "refs/heads/main.lock"]
    for number, name in enumerate([*files, *folders] if kind == "link" else files):
        (tmp_path / str(number)).mkdir()
        repo = copied(template, tmp_path / str(number))
        planted, victim = repo.path / ".git" / name, tmp_path / str(number) / "victim"
        shutil.copytree(planted, victim) if planted.is_dir() else victim.write_bytes(b"precious\n")
        before = bytes_of(victim)
        workspace = open_workspace(repo.path, state_dir=tmp_path / "state")
        first = await workspace.checkpoint("run-1", 1, "before", seen=await workspace.snapshot())
        repo.write("a.txt", "the agent's\n")
        writing = False

        async def seen(argv: list[str], planted: Path = planted, victim: Path = victim, **how: Any) -> Finished:
            nonlocal writing
            writing = writing or "commit-tree" in argv or {"commit", "--quiet"} <= set(argv)
            if writing:
                exchange(planted, victim, os.link if kind == "hard link" else os.symlink)
            return await run(argv, **how)

        with monkeypatch.context() as patched:
            patched.setattr(gate, "run", seen)
            made = await workspace.commit(str(first.commit), "work")
        assert writing, made
        assert bytes_of(victim) == before, (name, made)


OF_A_MERGE = [
    "index",
    "index.lock",
    "logs/HEAD",
    "logs/refs/heads/main",
    "refs/heads/main.lock",
    "ORIG_HEAD",
    "packed-refs",
]
OF_WORKTREES = [
    "worktrees",
    "worktrees/run-1",
    "logs",
    "logs/refs",
    "objects",
    "refs",
    "refs/heads",
    "refs/heads/ralph",
    ".",
]


@pytest.mark.parametrize("how", ["merged", "merged where both moved", "discarded"])
@pytest.mark.parametrize("kind", ["link", "hard link"])
async def test_the_end_of_a_worktree_writes_and_removes_through_nothing_that_is_planted_after_the_check(
    kind: str, how: str, template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
) -> None:
    run = gate.run
    monkeypatch.setattr("ralph.workspace.branch._PATIENCE", 0.3)
    first = "worktree" if how == "discarded" else "merge"
    for number, name in enumerate([*OF_A_MERGE, *OF_WORKTREES, "the worktree"] if kind == "link" else OF_A_MERGE):
        (tmp_path / str(number)).mkdir()
        repo, state = copied(template, tmp_path / str(number)), tmp_path / f"state-{number}"
        made = await make_worktree(repo.path, "run-1", state_dir=state)
        (made.top / "c.txt").write_text("c\n")
        shell(made.top, "git add -A; git commit -qm work")
        if how == "merged where both moved":
            repo.write("d.txt", "d\n")
            repo.commit("ours")
        if name == "packed-refs":
            repo.git("pack-refs", "--all")
        planted, victim = repo.path / ".git" / name, tmp_path / str(number) / "victim"
        planted = made.top if name == "the worktree" else planted
        shutil.copytree(planted, victim) if planted.is_dir() else victim.write_bytes(b"precious\n")
        before, writing = bytes_of(victim), False

        async def seen(argv: list[str], planted: Path = planted, victim: Path = victim, **how: Any) -> Finished:
            nonlocal writing
            writing = writing or not {first, "merge-base", "fetch"}.isdisjoint(argv)
            if writing:
                exchange(planted, victim, os.link if kind == "hard link" else os.symlink)
            return await run(argv, **how)

        with subtests.test(name=name), monkeypatch.context() as patched:
            patched.setattr(gate, "run", seen)
            checkpoint = None
            if how == "discarded":
                workspace = open_workspace(made.path, state_dir=state)
                taken = await workspace.checkpoint("run-1", 1, "after", seen=await workspace.snapshot())
                checkpoint = taken.commit
                writing = False
            said = await (made.discard(checkpoint) if how == "discarded" else made.merge(completed=True))
            assert writing, said
            assert bytes_of(victim) == before, said


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="there is no bubblewrap")
async def test_with_the_sandbox_on_git_is_in_one(
    template: Path, tmp_path: Path, program: str, canary: Canary, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo, started = copied(template, tmp_path), list[list[str]]()
    edit(repo, "edited\n")
    run = gate.run

    async def seen(argv: list[str], **how: Any) -> Finished:
        started.append(argv)
        return await run(argv, **how)

    monkeypatch.setattr(gate, "run", seen)

    def act() -> None:
        plant_together(repo, program)
        (repo.path / ".gitattributes").unlink()  # a commit would be refused
        edit(repo, "the agent's\n")
        canary.hush()

    workspace = open_workspace(repo.path, state_dir=tmp_path / "state", confined=True)
    first = await workspace.checkpoint("run-1", 1, "before", seen=await workspace.snapshot())
    act()
    made = await workspace.checkpoint("run-1", 1, "after", seen=await workspace.snapshot())
    assert "the agent's" in await workspace.difference(str(first.commit), made.commit)
    assert (await workspace.commit(str(first.commit), "work")).commit == repo.git("rev-parse", "HEAD")
    await workspace.restore(str(first.commit))
    assert (repo.path / "a.txt").read_text() == "edited\n"
    assert not canary.sang()
    assert {Path(argv[argv.index("--seccomp") - 1]).name for argv in started} == {"bwrap"}
    assert all("--unshare-all" in argv for argv in started)
    assert not [argv for argv in started if str(repo.path / ".git") in _writable(argv)]


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="there is no bubblewrap")
async def test_with_the_sandbox_on_a_worktree_is_made_and_ended_in_one(
    template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo, state, started = copied(template, tmp_path), tmp_path / "state", list[list[str]]()
    run = gate.run

    async def seen(argv: list[str], **how: Any) -> Finished:
        started.append(argv)
        return await run(argv, **how)

    monkeypatch.setattr(gate, "run", seen)
    for end, said in {"merge": "is merged into main", "discard": "brings it back"}.items():
        made = await make_worktree(repo.path, f"run-{end}", state_dir=state, confined=True)
        inside = open_workspace(made.path, state_dir=state, confined=made.confined)
        since = await inside.checkpoint(made.run_id, 1, "before", seen=await inside.snapshot())
        (made.top / f"{end}.txt").write_text("work\n")
        kept = await inside.checkpoint(made.run_id, 1, "after", seen=await inside.snapshot())
        assert (await inside.commit(str(since.commit), "work")).commit
        assert said in await (made.merge(completed=True) if end == "merge" else made.discard(kept.commit))
        assert not made.top.exists()
    assert "merge.txt" in repo.git("ls-files")
    assert {Path(argv[argv.index("--seccomp") - 1]).name for argv in started} == {"bwrap"}


def _writable(argv: list[str]) -> list[str]:
    return [argv[at + 1] for at, word in enumerate(argv) if word == "--bind-try"]
