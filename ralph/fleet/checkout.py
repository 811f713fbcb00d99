"""The place that a run works in: a repository of its own for each attempt, or a plain folder.

An attempt has its own full copy, so that an agent that is left over from an earlier one, or that is hostile, reaches
neither another run nor the mirror through it. The work is saved after each iteration, from the files and never by
running git in the agent's repository; the next attempt continues from there, also on another machine. At the end the
result's branch is pushed; if that fails, it is kept as a bundle.
"""

import hashlib
import os
import re
import shutil
import stat
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp

import anyio
import anyio.to_thread

from ralph.errors import WorkspaceError
from ralph.fleet.mirror import Mirror, Source
from ralph.fleet.task import Task
from ralph.plugins import Delivery
from ralph.records.record import RunRecord
from ralph.system.files import lock
from ralph.system.text import some_of
from ralph.watch.report_stats import outcome_of
from ralph.workspace.file_index import LISTED, FileIndex
from ralph.workspace.gate import Git, GitError, environment
from ralph.workspace.lock import WorkspaceLock, state_folder
from ralph.workspace.repository import Repository, display_path, find_repository

_TAKEN = "lock"
_STRAY = 3600.0
"""Seconds after which a folder without a lock is a leftover."""

_INSISTS = 3.0
"""Seconds for which the removal of a folder is tried."""

_SUBJECT = 72
_WALKED = 1_000_000
_GITLINK, _ATTRIBUTES, _MOST_ATTRIBUTES = "160000", ".gitattributes", 100
_AUTHOR = ("Ralph", "ralph@localhost")


class Checkout:
    """The place of one attempt at a run.

    Attributes:
        path: the workspace.
        branch: the branch that the result is delivered on; empty for a plain folder.
        start: the commit that the attempt began with; empty for a plain folder.
        lacks: the parts of the repository that are not there, in words; empty if all are.
    """

    branch = start = lacks = ""

    def __init__(self, path: Path) -> None:
        self.path = path

    async def save(self, note: str = "") -> str:
        """Keep the present files, so that another attempt continues from them; return their commit, if there is one.

        Args:
            note: the subject of the commit, such as "Iteration 3".

        Raises:
            WorkspaceError: they cannot be kept.
        """
        return ""

    async def has(self, commit: str) -> bool:
        """Return whether the attempt began with a commit, or after it."""
        return True

    async def deliver(self, record: RunRecord | None = None) -> Delivery:
        """Save the files, and deliver them as the run's result.

        Args:
            record: the run, for the commit's message.

        Raises:
            WorkspaceError: the result can be neither pushed nor kept. Then the files stay in `path`.
        """
        return Delivery("folder", where=str(self.path))


class RepositoryCheckout(Checkout):
    """A copy of a repository. Made by `checkout`."""

    def __init__(self, home: Path, mirror: Mirror, *, run: str, branch: str, base: str, start: str) -> None:
        super().__init__(home / mirror.source.name)
        self.branch, self.start = branch, start
        self._home, self._mirror, self._run = home, mirror, run
        self._base, self._tip = base, start
        self._tree: str = ""
        self._saved = self._pushed = ""
        self._ref = f"refs/ralph/runs/{run}"
        self._number = 0
        self._problem = ""

    async def prepare(self) -> None:
        """Make the files. Raises `GitError` or `OSError`."""
        self.path.mkdir()
        await self._mirror.copy_to(self.path, self.branch, self.start)
        self._folder = self.path.lstat()
        own = self._home / "git"
        own.mkdir()
        (own / "HEAD").write_text(f"{self.start}\n")
        seen = Repository(self.path, own, common=self._mirror.path, users={}, state_dir=self._home)
        await seen.git("read-tree", self.start)
        self._index = FileIndex(self.path, seen, state_dir=self._home)
        self._tree = await self._mirror.git.line("rev-parse", f"{self.start}^{{tree}}")
        listed = await self._mirror.git("ls-tree", "-r", self.start, max_output=LISTED)
        links = [line.split("\t", 1) for line in listed if line.startswith(_GITLINK)]
        self._submodules = [(path, fields.split(" ")[2]) for fields, path in links if not path.startswith('"')]
        attributes = [line.split()[2] for line in listed if line.endswith((f"\t{_ATTRIBUTES}", f"/{_ATTRIBUTES}"))]
        read = [await self._mirror.git("cat-file", "blob", blob) for blob in attributes[:_MOST_ATTRIBUTES]]
        lacks = [f"the submodules {some_of([path for path, _ in self._submodules])}"] if self._submodules else []
        if any("filter=lfs" in line and not line.startswith("#") for lines in read for line in lines):
            lacks.append("the files of git-lfs, but for their pointers")
        self.lacks = " and ".join(lacks)

    async def save(self, note: str = "") -> str:
        try:
            self._require_same()
            await self._take_commits()
            await self._take_files(note)
            if self._tip != self._saved:
                await self._mirror.git("update-ref", self._ref, self._tip)
                self._saved = self._tip
        except (GitError, OSError) as error:
            raise WorkspaceError(
                f"The work in {str(self.path)!r} cannot be saved: {error}.", "Check the disk of the worker."
            ) from error
        if self._tip not in {self.start, self._pushed}:
            with suppress(GitError):  # the delivery tries again, and says what is wrong
                await self._mirror.push(self._tip, self.branch)
                self._pushed = self._tip
        return self._tip

    async def has(self, commit: str) -> bool:
        return await self._mirror.follows(self.start, commit)

    async def deliver(self, record: RunRecord | None = None) -> Delivery:
        reason = outcome_of(record, record.stop_reason or record.state) if record else ""
        await self.save(subject(record.task, record.id, reason) if record else "")
        lacks = f"The agent worked without {self.lacks}." if self.lacks else ""
        said = f"{self._problem} {lacks}".strip()
        if self._tip == self._base:
            return Delivery("nothing", where=self._mirror.source.address, problem=said)
        refused = ""
        for branch in (self.branch, f"{self.branch}-{self._tip[:8]}"):
            try:
                if self._tip != self._pushed:
                    await self._mirror.push(self._tip, branch)
            except GitError as error:
                refused = refused or f"The branch {self.branch!r} cannot be pushed: {error}."
            else:
                return Delivery("pushed", branch, self._tip, self._mirror.source.address, f"{refused} {said}".strip())
        bundle = await self._bundle()
        return Delivery("bundle", self.branch, self._tip, str(bundle), f"{refused} {said}".strip())

    def _require_same(self) -> None:
        """Raise `GitError` if an agent has put another folder in the place of the workspace."""
        if not os.path.samestat(self.path.lstat(), self._folder):
            raise GitError("it is no longer the same folder")

    async def _take_commits(self) -> None:
        """Take the commits that the agent has made, if they come after the last ones; otherwise its files count."""
        with suppress(GitError, OSError, WorkspaceError):
            if not await anyio.to_thread.run_sync(_is_plain, self.path / ".git"):
                return
            found = find_repository(self.path, state_dir=self._home)
            head = await found[0].head() if found else None
            if found is None or not head or head == self._tip:
                return
            taken = f"{self._ref}-agent"
            await self._mirror.take(found[0].git, f"{head}:{taken}")
            try:
                if await self._mirror.follows(head, self._tip):
                    self._tip, self._tree = head, await self._mirror.git.line("rev-parse", f"{head}^{{tree}}")
            finally:
                await self._mirror.git("update-ref", "-d", taken)

    async def _take_files(self, note: str) -> None:
        """Commit the files as they are, if they differ from the last commit."""
        made = await self._index.tree()
        out = [display_path(path) for path in made.left_out if path not in self._links]
        self._problem = f"The result lacks {some_of(out)}." if out else ""
        tree = await self._with_submodules(made.id)
        if tree == self._tree:
            return
        self._number += 1
        words = ("commit-tree", tree, "-p", self._tip, "-m", note or f"Work of run {self._run}")
        commit = (await self._index.own_git(*words, env=_author()))[0]
        await self._index.own_git("update-ref", f"refs/ralph/saved/{self._number}", commit)
        own = Git(
            environment(GIT_DIR=str(self._index.folder), GIT_ALTERNATE_OBJECT_DIRECTORIES=str(self._objects)),
            timeout=900.0,
            bounded=False,
        )
        await self._mirror.take(own, f"{commit}:{self._ref}")
        self._tip, self._tree = commit, tree

    @property
    def _objects(self) -> Path:
        return self._mirror.path / "objects"

    @property
    def _links(self) -> frozenset[bytes]:
        return frozenset(os.fsencode(path) for path, _ in self._submodules)

    async def _with_submodules(self, tree: str) -> str:
        """Return a tree with the submodules, which are not checked out, where their empty folders still are."""
        kept = [(path, link) for path, link in self._submodules if (self.path / path).is_dir()]
        if not kept:
            return tree
        env = {"GIT_INDEX_FILE": str(self._home / "submodules.index")}
        entries = "".join(f"{_GITLINK} {link}\t{path}\0" for path, link in kept).encode()
        await self._index.own_git("read-tree", tree, env=env)
        await self._index.own_git("update-index", "-z", "--index-info", stdin=entries, env=env)
        return (await self._index.own_git("write-tree", "--missing-ok", env=env))[0]

    async def _bundle(self) -> Path:
        path = self._mirror.path.parents[1] / "results" / f"{self._run}.bundle"
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            await self._mirror.git("bundle", "create", "--quiet", str(path), self._ref, "--not", self._base)
        except (GitError, OSError) as error:
            (self._home / "keep").touch()
            raise WorkspaceError(
                f"The result can neither be pushed nor kept as a bundle: {error}.", f"It is in {str(self.path)!r}."
            ) from error
        return path


@asynccontextmanager
async def checkout(task: Task, attempt: int, state: Path, *, run: str = "") -> AsyncGenerator[Checkout]:
    """Prepare the workspace of an attempt; leaving the block removes it. A plain folder is locked and stays.

    Args:
        task: it names the repository or the folder.
        attempt: its number, from 1; a later one continues from the work that an earlier one has saved.
        state: the worker's folder of state.
        run: the run's id; without one, a name is made from the task.

    Raises:
        WorkspaceError: the source cannot be read, or the files cannot be written.
        WorkspaceBusyError: another run works in the folder.
    """
    run = re.sub(r"[^\w-]", "-", run or _key(task), flags=re.ASCII)[:100]
    if task.repository is None:
        async with _folder(task, run) as place:
            yield place
        return
    await anyio.to_thread.run_sync(remove_leftovers, state)
    mirror = Mirror(Source.parse(task.repository), state)
    await mirror.update()
    branch = await _branch(mirror, task.branch or f"ralph/{run}")
    base = await mirror.base(task.ref or "")
    start = await _start(mirror, run, branch, base) if attempt > 1 else base
    home, handle = _home(state, f"{run}-{attempt}-")  # not in a thread: a cancellation would lose it
    try:
        place = RepositoryCheckout(home, mirror, run=run, branch=branch, base=base, start=start)
        try:
            await place.prepare()
        except (GitError, OSError) as error:
            raise WorkspaceError(
                f"No workspace of {mirror.source.address!r} can be made: {error}.", "Check the disk of the worker."
            ) from error
        yield place
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(_remove, home)
        os.close(handle)


def remove_leftovers(state: Path) -> int:
    """Remove the workspaces of attempts with a worker that has died; return their number. Blocks."""
    removed = 0
    with suppress(OSError):
        for home in (state / "checkouts").iterdir():
            with suppress(OSError):
                if not (home / _TAKEN).exists():
                    removed += time.time() - home.lstat().st_mtime > _STRAY and _remove(home)
                    continue
                handle = os.open(home / _TAKEN, os.O_RDWR)
                try:
                    removed += lock(handle) and _remove(home)
                finally:
                    os.close(handle)
    return removed


@asynccontextmanager
async def _folder(task: Task, run: str) -> AsyncGenerator[Checkout]:
    path = _existing(Path(task.folder or "."))
    held = WorkspaceLock(path, state_folder() / "fleet")
    held.acquire(run)
    try:
        yield Checkout(path)
    finally:
        held.release()


def _existing(folder: Path) -> Path:
    path = Path(os.path.realpath(folder.expanduser()))
    if not path.is_dir():
        raise WorkspaceError(f"The folder {str(path)!r} does not exist.", "Correct `folder` of the task.")
    return path


def _key(task: Task) -> str:
    return hashlib.sha256(task.model_dump_json().encode()).hexdigest()[:12]


async def _branch(mirror: Mirror, name: str) -> str:
    try:
        await mirror.git("check-ref-format", f"refs/heads/{name}")
    except GitError:
        name = ""
    if not name or name.startswith("-"):
        raise WorkspaceError(f"{name!r} is not a name for a branch.", "Correct `branch` of the task.")
    return name


async def _start(mirror: Mirror, run: str, branch: str, base: str) -> str:
    """Return the commit that a later attempt continues from: the last one that was saved, here or at the source."""
    here = await mirror.commit_of(f"refs/ralph/runs/{run}")
    there = await mirror.commit_of(f"refs/remotes/origin/{branch}")
    if there and (not here or await mirror.follows(there, here)):
        return there if await mirror.follows(there, base) else here or base
    return here or base


def _home(state: Path, prefix: str) -> tuple[Path, int]:
    """Make the folder of an attempt, locked as long as this process lives."""
    parent = state / "checkouts"
    parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    home = Path(mkdtemp(prefix=prefix, dir=parent))
    handle = os.open(home / _TAKEN, os.O_RDWR | os.O_CREAT, 0o600)
    lock(handle)
    return home, handle


def _remove(home: Path) -> bool:
    """Remove an attempt's folder, whatever an agent has done to it; return False for one that is to be kept."""
    if (home / "keep").exists():
        return False
    ends = time.monotonic() + _INSISTS
    while not _emptied(home) and time.monotonic() < ends:
        _open_folders(home)
        time.sleep(0.1)  # git, or a tool of the agent, is just ending and still writes
    return not home.exists()


def _emptied(home: Path) -> bool:
    """Remove a folder, the lock last: what is left without one looks as if it were just being made."""
    with suppress(OSError):
        for path in home.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            elif path.name != _TAKEN:
                path.unlink()
        if [path.name for path in home.iterdir()] in ([], [_TAKEN]):
            shutil.rmtree(home)
    return not home.exists()


def _open_folders(home: Path) -> None:
    """Make folders that their owner may not enter accessible."""
    for folder, names, _ in os.walk(home):
        for path in (Path(folder, name) for name in names):
            with suppress(OSError):
                if not path.is_symlink():
                    path.chmod(0o700)


def _is_plain(git: Path) -> bool:
    """Return whether a repository is in its own folder: no link in it, and no objects from another place."""
    if git.is_symlink() or not git.is_dir() or (git / "commondir").exists():
        return False
    if any((git / "objects" / "info" / name).exists() for name in ("alternates", "http-alternates")):
        return False
    pending, seen = [git], 0
    while pending:
        with os.scandir(pending.pop()) as found:
            entries = [(Path(entry.path), entry.stat(follow_symlinks=False)) for entry in found]
        for path, about in entries:
            seen += 1
            if stat.S_ISDIR(about.st_mode):
                pending.append(path)
            elif not stat.S_ISREG(about.st_mode) or about.st_nlink > 1 or seen > _WALKED:
                return False
    return True


def _author() -> dict[str, str]:
    name, email = _AUTHOR
    return {
        variable: os.environ.get(variable) or value
        for who in ("AUTHOR", "COMMITTER")
        for variable, value in ((f"GIT_{who}_NAME", name), (f"GIT_{who}_EMAIL", email))
    }


def subject(task: str, run: str, reason: str) -> str:
    """Return the message of the commit with a run's result."""
    lines = task.strip().splitlines()
    first = " ".join(lines[0].split()) if lines else ""
    short = first if len(first) <= _SUBJECT else f"{first[: _SUBJECT - 1]}…"
    return f"{short or 'Work of a run'}\n\nRalph's run {run}: {reason}."
