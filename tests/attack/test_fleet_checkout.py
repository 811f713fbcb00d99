"""Hostile sources and hostile agents: preparing a fleet's workspace and delivering its result run nothing of theirs.

Each trap is sprung with plain git first: one that cannot go off proves nothing.
"""

import shutil
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from ralph.errors import WorkspaceError
from ralph.fleet.checkout import checkout
from ralph.fleet.task import Task
from ralph.plugins import Delivery
from ralph.testing import Repository

pytestmark = [pytest.mark.attack, pytest.mark.usefixtures("person")]

HOOKS = (
    *("post-checkout", "post-index-change", "reference-transaction", "pre-commit", "post-commit", "pre-push"),
    *("pre-receive", "update", "post-receive", "post-update", "pre-auto-gc"),
)
PLANT_HOOKS = (
    f"mkdir -p .git/hooks; for h in {' '.join(HOOKS)}; do "
    "printf '#!/bin/sh\\n@\\n' > .git/hooks/$h; chmod +x .git/hooks/$h; done"
)
COMMIT = "git add -A; git commit -qm x; git status; git checkout -q -b y; git push -q . HEAD:refs/heads/x"
NESTED = (
    "git init -q inner; git -C inner commit -q --allow-empty -m i; git -C inner config core.fsmonitor @; touch inner/x"
)

TRAPS = {
    "hooks": (PLANT_HOOKS, COMMIT),
    "core.hooksPath": (f"{PLANT_HOOKS}; mv .git/hooks evil; git config core.hooksPath evil", COMMIT),
    "core.fsmonitor": ("git config core.fsmonitor @", COMMIT),
    "filter.clean": ("git config filter.e.clean @; echo '* filter=e' > .gitattributes; echo new > a.txt", COMMIT),
    "filter.smudge": (
        "echo '* filter=e' > .gitattributes; git add -A; git commit -qm f; git config filter.e.smudge @",
        "rm a.txt; git checkout -q a.txt",
    ),
    "filter.process": ("git config filter.e.process @; echo '* filter=e' > .gitattributes; echo n > a.txt", COMMIT),
    "include.path": ("printf '[core]\\nfsmonitor = @\\n' > .git/more; git config include.path more", COMMIT),
    "credential.helper": (
        "git config credential.helper '!@'",
        "printf 'protocol=https\\nhost=x\\n\\n' | git credential fill",
    ),
    "core.sshCommand": (
        "git config core.sshCommand @; git config remote.origin.url ssh://localhost/x",
        "git fetch -q origin",
    ),
    "url.insteadOf": (
        (
            "git config protocol.ext.allow always; git config --add 'url.ext::@ .insteadOf' /; "
            "git config --add 'url.ext::@ .pushInsteadOf' /"
        ),
        "git fetch -q /nowhere",
    ),
    "remote.origin.uploadpack": (
        "git config remote.origin.url .; git config remote.origin.uploadpack @; git config remote.origin.receivepack @",
        "git fetch -q origin",
    ),
    "a promisor remote": (
        (
            "git config core.repositoryformatversion 1; git config extensions.partialClone origin; "
            "git config remote.origin.url 'ext::@ %S'; git config remote.origin.promisor true; "
            "git config protocol.ext.allow always; rm -f .git/objects/$(git rev-parse HEAD:b.txt | sed 's|..|&/|')"
        ),
        "git cat-file -p HEAD:b.txt",
    ),
    "gpg.program": (
        "echo n > a.txt; git config gpg.program @; git config commit.gpgSign true; git config push.gpgSign true",
        COMMIT,
    ),
    "core.alternateRefsCommand": (
        (
            "git init -q --bare ../other; echo ../../../other/objects > .git/objects/info/alternates; "
            "git config core.alternateRefsCommand @"
        ),
        "git push -q . HEAD:refs/heads/x",
    ),
    "commondir": (
        "cp -r .git ../evil; echo ../../evil > .git/commondir; git config -f ../evil/config core.fsmonitor @",
        "git status",
    ),
    ".git is a file": (
        "cp -r .git ../evil; rm -rf .git; echo 'gitdir: ../evil' > .git; git config -f ../evil/config core.fsmonitor @",
        "git status",
    ),
    ".git is a link": (
        "cp -r .git ../evil; rm -rf .git; ln -s ../evil .git; git config -f ../evil/config core.fsmonitor @",
        "git status",
    ),
    "a nested repository": (
        (
            f"{NESTED}; printf '[submodule \"inner\"]\\npath = inner\\nurl = ./inner\\nignore = none\\n' "
            "> .gitmodules; git add inner .gitmodules; git commit -qm link"
        ),
        "git status",
    ),
    "trailing settings of a worktree": (
        (
            "git config core.repositoryformatversion 1; git config extensions.worktreeConfig true; "
            "printf '[core]\\nfsmonitor = @\\n' > .git/config.worktree"
        ),
        "git status",
    ),
}


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


@pytest.fixture
def source(tmp_path: Path) -> Repository:
    repository = Repository.begin(tmp_path / "place" / "source")
    for name in ("a.txt", "b.txt"):
        repository.write(name, f"{name}\n")
    repository.commit("begin")
    return repository


def shell(folder: Path, command: str) -> None:
    """Run a command of plain git; it may fail, as the program answers nonsense."""
    subprocess.run(["sh", "-c", command], cwd=folder, capture_output=True, timeout=60, check=False)


@pytest.mark.parametrize("name", TRAPS)
async def test_nothing_that_is_planted_runs(
    name: str, source: Repository, tmp_path: Path, program: str, canary: Canary
) -> None:
    plant, spring = (text.replace("@", program) for text in TRAPS[name])
    proof = shutil.copytree(source.path, tmp_path / "proof" / "source")
    shell(proof, plant)
    canary.hush()
    shell(proof, spring)
    assert canary.sang(), "plain git does not run it"
    hostile = Repository(shutil.copytree(source.path, tmp_path / "hostile" / "source"))
    shell(hostile.path, plant)
    canary.hush()
    with suppress(WorkspaceError):
        async with checkout(Task(task="x", repository=str(hostile.path)), 1, tmp_path / "state", run="r1") as place:
            (place.path / "new.txt").write_text("new\n")
            await place.deliver()
    assert not canary.sang(), "the source's ran"
    async with checkout(Task(task="x", repository=str(source.path)), 1, tmp_path / "state", run="r2") as place:
        (place.path / "new.txt").write_text("new\n")
        shell(place.path, plant)
        canary.hush()
        await place.save("Iteration 1")
        made = await place.deliver()
        assert not canary.sang(), "the agent's ran"
    assert made.kind == "pushed"
    assert source.git("show", f"{made.branch}:new.txt") == "new"
    assert not canary.sang()


def has(folder: Path, commit: str) -> bool:
    """Return whether a repository has a commit."""
    argv = ["git", "cat-file", "-e", commit]
    return subprocess.run(argv, cwd=folder, check=False, capture_output=True).returncode == 0


async def delivered(source: Repository, state: Path, act: str) -> Delivery:
    async with checkout(Task(task="x", repository=str(source.path)), 1, state, run="r1") as place:
        shell(place.path, act)
        return await place.deliver()


@pytest.mark.parametrize(
    "lead",
    [
        "echo @/objects > .git/objects/info/alternates",
        "rm -rf .git/objects; ln -s @/objects .git/objects",
        (
            "for d in @/objects/??; do mkdir -p .git/objects/$(basename $d); for f in $d/*; do "
            "ln -s $f .git/objects/$(basename $d)/; done; done"
        ),
        "rm -rf .git; ln -s @ .git",
        "rm -rf .git; echo 'gitdir: @' > .git",
        "echo @ > .git/commondir",
    ],
)
async def test_another_repository_is_not_delivered(lead: str, source: Repository, tmp_path: Path) -> None:
    private = Repository.begin(tmp_path / "private")
    private.git("fetch", "-q", str(source.path), "main")
    private.git("reset", "-q", "--hard", "FETCH_HEAD")
    private.write("secret.txt", "sesame\n")
    secret = private.commit("private")
    lead = lead.replace("@", str(private.path / ".git"))
    made = await delivered(source, tmp_path / "state", f"echo 1 > new; {lead}; echo {secret} > .git/HEAD")
    assert "secret.txt" not in source.git("ls-tree", "-r", "--name-only", made.commit)
    assert not has(source.path, secret)
    assert private.git("rev-parse", "HEAD") == secret


async def test_links_stay_links(source: Repository, tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "key").write_text("sesame\n")
    made = await delivered(source, tmp_path / "state", f"ln -s {tmp_path}/secret out; ln -s {tmp_path}/secret/key key")
    assert source.git("show", f"{made.commit}:key") == f"{tmp_path}/secret/key"
    assert source.git("ls-tree", made.commit, "out").startswith("120000")
    assert (tmp_path / "secret" / "key").exists()


async def test_another_folder_in_the_place_of_the_workspace_is_not_delivered(
    source: Repository, tmp_path: Path
) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "key").write_text("sesame\n")
    with pytest.raises(WorkspaceError, match="no longer the same folder"):
        await delivered(source, tmp_path / "state", f"mv ../source ../moved; ln -s {tmp_path}/secret ../source")
    assert (tmp_path / "secret" / "key").exists()
    assert source.git("branch", "--format=%(refname:short)") == "main"


async def test_an_agent_reaches_no_other_run_through_its_repository(source: Repository, tmp_path: Path) -> None:
    state = tmp_path / "state"
    first = await delivered(source, state, "echo 1 > of-the-first")
    source.git("branch", "-q", "-D", "ralph/r1")
    async with checkout(Task(task="x", repository=str(source.path)), 1, state, run="r2") as place:
        assert not has(place.path, first.commit)
        assert not (place.path / ".git" / "objects" / "info" / "alternates").exists()
        shared = [path for path in (place.path / ".git").rglob("*") if path.is_symlink() or path.lstat().st_nlink > 4]
        assert [path for path in shared if not path.is_dir()] == []
