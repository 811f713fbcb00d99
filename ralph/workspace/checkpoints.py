"""Checkpoints: earlier states of a workspace's files, kept byte for byte as commits in Ralph's own repository.

The refs are `refs/ralph/<run>/<iteration>/<before or after>`. A checkpoint has no parent; a note in its message names
the commit that was checked out. The user's repository is not involved, apart from `refs/ralph/<run>/heads/<commit>` in
it, for commits that were removed from a branch. Checkpoints of earlier versions lie there, too, and can be used.

Restoring touches only what differs from the present files. Nothing is written through a link, and nothing is
overwritten or removed that the present files' tree does not contain.
"""

import json
import os
import re
import shutil
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager, suppress
from hashlib import sha256
from pathlib import Path
from time import monotonic
from typing import NamedTuple

import anyio
import anyio.to_thread

from ralph.errors import WorkspaceError
from ralph.system.text import some_of
from ralph.types.output import Checkpoint
from ralph.workspace.file_index import LISTED, FileIndex, Tree
from ralph.workspace.gate import Git, GitError
from ralph.workspace.protection import is_folder, new_aside
from ralph.workspace.repository import ID, Look, display_path, unquote_path
from ralph.workspace.scan import ABSENT, passes_link

_REPOSITORY = "160000"
"""The mode of a nested repository."""

_MOMENT = 1.0
"""Seconds for which a checkpoint counts as current before an iteration."""

_NOTED = 1000
_NOTE = "Left-Out: "
_OWN_FILES = "Apart: "
_HEAD = "Head: "
_REFS = "refs/ralph/"
_HEADS = "heads/"
_OLD_HEADS = f"{_REFS}{_HEADS}"
"""The place for commits that were removed from a branch, before each run had its own."""

_PLAIN_NAME = re.compile(r"[0-9A-Za-z_-]{1,100}", re.ASCII)


class FileChange(NamedTuple):
    """The change of one file between two checkpoints; the line counts of a binary file are None."""

    path: str
    added: int | None
    removed: int | None


class _Last(NamedTuple):
    """The last checkpoint with its run, the commit that was checked out, its tree and its time."""

    run_id: str
    head: str | None
    tree: str
    checkpoint: Checkpoint
    at: float


class _Held(NamedTuple):
    """A checkpoint with a ref."""

    tree: str
    commit: str
    ref: str


class Restored(NamedTuple):
    """The result of restoring.

    Attributes:
        written, removed: numbers of files.
        saved: the commit with the files before; None if nothing had to be done.
        aside: the folder with the files that were in the way; None if there were none.
        inner: nested repositories, which stay as they are although they were at another commit.
        problem: the files that could not be restored.
    """

    written: int = 0
    removed: int = 0
    saved: str | None = None
    aside: Path | None = None
    inner: tuple[str, ...] = ()
    problem: str = ""


class Restoration:
    """The steps from the tree of the present files to another one."""

    def __init__(self, index: FileIndex, present: Tree, target: Tree) -> None:
        self._index = index
        self._present = present
        self._target = target
        self._gone: list[bytes] = []
        self._written: list[bytes] = []
        self._inner: list[bytes] = []
        self._in_the_way: list[bytes] = []

    async def prepare(self, *, force: bool) -> bool:
        """Compute the steps; return whether there are any. Raises `WorkspaceError` for obstacles, unless forced."""
        words = ("diff-tree", "-r", "--raw", "--no-abbrev", "--no-renames", self._present.id, self._target.id)
        added: list[bytes] = []
        own_files = self._index.own_files_from_top  # the target may be of a run in which they were files like any other
        for line in await self._index.own_git(*words):
            fields, _, name = line.removeprefix(":").partition("\t")
            old, new, *_ = fields.split(" ")
            path = unquote_path(name)
            if path in own_files:
                continue
            if _REPOSITORY in {old, new}:
                self._inner.append(path)
            elif new != ABSENT:
                self._written.append(path)
                added += [path] if old == ABSENT else []
            elif path not in self._target.left_out:
                self._gone.append(path)
        self._in_the_way = await anyio.to_thread.run_sync(self._obstacles, added)
        if self._in_the_way and not force:
            raise self.refusal(
                "has files in the way that no checkpoint contains", [display_path(path) for path in self._in_the_way]
            )
        return bool(self._gone or self._written)

    def refusal(self, why: str, paths: list[str]) -> WorkspaceError:
        """Return the error that says why the files stay as they are."""
        return WorkspaceError(
            f"{self._index.top} {why}{f': {some_of(paths)}' if paths else ''}.",
            "With --force they are saved elsewhere first, and Ralph says how to get them back.",
        )

    async def apply(self) -> Restored:
        """Take the steps. Raises `GitError` or `OSError` if one fails."""
        aside = await anyio.to_thread.run_sync(self._remove)
        if self._written:
            await self._write()
        after = await self._index.tree()
        words = ("diff-tree", "-r", "--name-only", after.id, self._target.id)
        ours = {*self._gone, *self._written}
        wrong = [path for path in map(unquote_path, await self._index.own_git(*words)) if path in ours]
        named = some_of([*map(display_path, wrong)])
        return Restored(
            written=len(self._written),
            removed=len(self._gone),
            aside=aside,
            inner=tuple(map(display_path, self._inner)),
            problem=f"{len(wrong):,} files could not be restored: {named}." if wrong else "",
        )

    async def _write(self) -> None:
        path = self._index.folder / "target.index"
        env = {"GIT_INDEX_FILE": str(path)}
        path.with_name(f"{path.name}.lock").unlink(missing_ok=True)
        try:
            await self._index.own_git("read-tree", self._target.id, env=env)
            paths = b"".join(path + b"\0" for path in self._written)
            await self._index.own_git("checkout-index", "--force", "--quiet", "-z", "--stdin", stdin=paths, env=env)
        finally:
            path.unlink(missing_ok=True)

    def _obstacles(self, added: Iterable[bytes]) -> list[bytes]:
        """Return files in the way that no tree contains."""
        gone, root = set(self._gone), os.fsencode(self._index.top) + b"/"
        found: dict[bytes, None] = {}
        for path in added:
            parts = path.split(b"/")
            for depth in range(1, len(parts) + 1):
                place = b"/".join(parts[:depth])
                if place in gone or not os.path.lexists(root + place):
                    break
                inside = os.walk(root + place) if place == path else ()
                files = (os.path.join(where, name) for where, _, names in inside for name in names)  # noqa: PTH118
                if not is_folder(root + place) or any(file[len(root) :] not in gone for file in files):
                    found[place] = None
                    break
        return list(found)

    def _remove(self) -> Path | None:
        """Move aside what is in the way; remove files, and then empty folders. Failures are detected afterwards."""
        aside = new_aside(self._index.folder)
        for path in map(os.fsdecode, self._in_the_way):
            (aside / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.move(self._index.top / path, aside / path)
        root, kept = os.fsencode(self._index.top) + b"/", self._index.kept_folders
        links: dict[bytes, bool] = {b"": False}
        for path in self._gone:
            with suppress(OSError):
                if not passes_link(root, path, links):
                    os.unlink(root + path)  # noqa: PTH108  bytes are no Path
                    folder = path
                    while (folder := folder.rpartition(b"/")[0]) and os.fsdecode(folder) not in kept:
                        os.rmdir(root + folder)  # noqa: PTH106
        return aside if self._in_the_way else None


class Checkpoints:
    """The checkpoints of one workspace.

    Args:
        index: the index of its files. Each checkpoint records which files the index left out: restoring must not remove
            those.

    Attributes:
        folder: Ralph's own folder for the workspace, out of the agent's reach.
        count_new: that of the index.
    """

    def __init__(self, index: FileIndex) -> None:
        self.folder, self.count_new = index.folder, index.count_new
        self._index = index
        self._lock = anyio.Lock()
        self._last: _Last | None = None

    @property
    def read(self) -> tuple[int, int]:
        """The number of files read for the current checkpoint, and of files to read; zeros if unknown."""
        return self._index.read, self._index.to_read

    async def take(self, run_id: str, name: str, *, head: str | None = None, look: Look | None = None) -> Checkpoint:
        """Save the present files under a name within the run, such as "3/after"; see `Workspace.checkpoint`.

        Args:
            name: unique in the run.
            head: the commit that is checked out, if any.
            look: the present files, as they were just seen; None to look at them.
        """
        async with self._lock:
            last = self._last if self._last and self._last.run_id == run_id else None
            if last is not None and name.endswith("/before") and monotonic() - last.at < _MOMENT:
                return last.checkpoint
            try:
                tree = await self._index.tree(look)
                same = last is not None and (last.head, last.tree) == (head, tree.id)
                commit = last.checkpoint.commit if last and same else await self._keep(tree, _ref(run_id, name), head)
            except (GitError, OSError) as error:
                return Checkpoint(problem=f"No checkpoint could be made: {error}.")
            named = [f"{display_path(path)} ({reason})" for path, reason in sorted(tree.left_out.items())]
            problem = f"The checkpoint does not contain {some_of(named)}." if named else ""
            made = Checkpoint(commit=commit, problem=problem)
            self._last = _Last(run_id, head, tree.id, made, monotonic())
            return made

    @property
    def last(self) -> Checkpoint | None:
        """The last checkpoint that this process has made, until files are restored."""
        return self._last.checkpoint if self._last else None

    async def head_of(self, commit: str) -> str:
        """Return the commit that was checked out at a checkpoint; empty if it is unknown."""
        with suppress(GitError, OSError):
            if ID.fullmatch(commit):
                noted = await self._noted(commit, _HEAD)
                words = ("rev-parse", "--quiet", "--verify", f"{commit}^")
                return next(iter(noted or await self._index.own_git(*words, none=(1, 128))), "")
        return ""

    async def difference(self, before: str, after: str | None = None, *, limit: int | None = None) -> str:
        """Return the diff of two checkpoints; see `Workspace.difference`."""
        most = 4 * limit if limit else LISTED
        lines = await self._compare("-p", "-M", "--no-color", before=before, after=after, most=most)
        text = "".join(f"{line}\n" for line in lines)
        if limit is None or len(text) <= limit:
            return text
        return f"{text[:limit]}\n[the rest of the difference is left out]\n"

    async def write_patch(self, before: str, after: str, file: Path) -> None:
        """Write the whole diff of two checkpoints, byte for byte, for `git apply`. Raises `WorkspaceError`."""
        how = ("-p", "-M", "--binary", "--full-index", "--no-color", "--ignore-submodules=all", f"--output={file}")
        try:
            await self._index.own_git("diff-tree", "-r", "--no-ext-diff", "--no-textconv", *how, before, after)
        except (GitError, OSError) as error:
            raise WorkspaceError(f"The patch cannot be written: {error}.", "Give another file with -o.") from error

    async def files(self, before: str, after: str) -> list[FileChange]:
        """Return the files that differ between two checkpoints; none if one of them no longer exists."""
        found: list[FileChange] = []
        for line in await self._compare("--numstat", before=before, after=after):
            added, removed, path = line.split("\t", 2)
            counts = (None, None) if added == "-" else (int(added), int(removed))
            found.append(FileChange(display_path(unquote_path(path)), *counts))
        return found

    async def repositories(self, commit: str) -> list[str]:
        """Return the nested repositories in a checkpoint, from the workspace; none if it no longer exists."""
        with suppress(GitError, OSError):
            lines = (
                await self._index.own_git("ls-tree", "-r", commit, max_output=LISTED) if ID.fullmatch(commit) else []
            )
            found = (unquote_path(line.partition("\t")[2]) for line in lines if line.startswith(_REPOSITORY))
            return [*map(self._index.shown, found)]
        return []

    async def holds(self, commit: str) -> bool:
        """Return whether a checkpoint still exists."""
        try:
            return bool(ID.fullmatch(commit)) and bool(await self._tree_of(commit))
        except (GitError, OSError):
            return False

    async def changed(self, since: str) -> list[bytes]:
        """Return the paths, from the top, that differ from a checkpoint; none if it no longer exists."""
        return [*map(unquote_path, await self._compare("--name-only", before=since))]

    async def find(self, run_id: str, beginning: str) -> str | None:
        """Return the run's only checkpoint with a commit id that begins so; None for no or several matches."""
        try:
            held = await self._held(_ref(run_id, ""))
        except (GitError, OSError):
            return None
        alike = {each.commit for each in held if beginning and each.commit.startswith(beginning)}
        return alike.pop() if len(alike) == 1 else None

    async def restore(self, commit: str, *, force: bool = False) -> Restored:
        """Restore the files of a checkpoint; see `Workspace.restore`.

        The files that the checkpoint left out stay, too. The present files are saved first, unless a checkpoint has
        them already.
        """
        async with self._lock:
            try:
                return await self._restore(commit, force=force)
            except (GitError, OSError) as error:
                raise WorkspaceError(
                    f"The files cannot be restored to checkpoint {commit[:12]}: {error}.", "All checkpoints are kept."
                ) from error
            finally:
                self._last = None

    @staticmethod
    def heads(run_id: str) -> str:
        """Return the prefix of a run's refs to commits that were removed from a branch."""
        return _ref(run_id, _HEADS)

    async def forget(self, run_id: str, *, free: bool = True) -> None:
        """Delete a run's checkpoints and its refs to removed commits; with the lock, `free` their space."""
        async with self._lock:
            with suppress(GitError, OSError):
                prefix = _ref(run_id, "")
                theirs = await self._forget_theirs(prefix)
                own = await self._index.own_git("for-each-ref", "--format=%(refname)", prefix)
                await self._index.forget([ref for ref in own if ref not in theirs], free=free)

    async def _forget_theirs(self, prefix: str) -> list[str]:
        repository = self._index.repository
        if repository is None:
            return []
        with suppress(GitError):
            refs = await repository.git("for-each-ref", "--format=%(refname)", prefix, max_output=LISTED)
            if refs:
                refs += await self._old_heads(repository.git, prefix)
                gone = "".join(f"delete {ref}\n" for ref in refs)
                await repository.users_git("update-ref", "--stdin", stdin=gone.encode())
            return refs
        return []

    async def _old_heads(self, git: Git, prefix: str) -> list[str]:
        """Return the refs in the old place to commits on which a checkpoint of the run was made."""
        try:
            lines = await git("for-each-ref", "--format=%(objectname) %(refname)", _OLD_HEADS)
            found = ["for-each-ref", "--format=%(parent)", prefix]
            made_on = set(await git(*found, max_output=LISTED)) if lines else set[str]()
        except GitError:  # a checkpoint is damaged; it can go anyway
            return []
        return [ref for commit, ref in (line.split(" ", 1) for line in lines) if commit in made_on]

    async def _restore(self, commit: str, *, force: bool) -> Restored:
        target = await self._tree_of(commit) if ID.fullmatch(commit) else None
        if target is None:
            raise WorkspaceError(f"Checkpoint {commit[:12]} no longer exists.", "`ralph show` names those of a run.")
        left_out = dict.fromkeys(map(os.fsencode, await self._noted(commit, _NOTE)), "")
        async with self._as_of(commit):
            return await self._restore_tree(commit, Tree(target, left_out), force=force)

    async def _restore_tree(self, commit: str, target: Tree, *, force: bool) -> Restored:
        present = await self._index.tree()
        restoration = Restoration(self._index, present, target)
        if not await restoration.prepare(force=force):
            return Restored()
        known = await self._held(_REFS)
        saved = next((held.commit for held in known if held.tree == present.id), None)
        if saved is None:
            if not force:
                raise restoration.refusal("has changes that no checkpoint contains", await self._unheld(present))
            run = next((held.ref.split("/")[2] for held in known if held.commit == commit), "saved")
            saved = await self._keep(present, f"{_REFS}{run}/saved/{present.id[:12]}", None)
        restored = await restoration.apply()
        return restored._replace(saved=saved)

    async def _held(self, prefix: str) -> list[_Held]:
        lines = await self._index.refs("%(tree) %(objectname) %(refname)", prefix)
        return [held for held in (_Held(*line.split(" ", 2)) for line in lines) if f"/{_HEADS}" not in held.ref]

    async def _unheld(self, present: Tree) -> list[str]:
        words = ("diff-tree", "-r", "--name-only", self._index.last, present.id)
        lines = await self._index.own_git(*words, none=(128,), max_output=1 << 16) if self._index.last else []
        return [display_path(unquote_path(line)) for line in lines]

    async def _compare(self, *how: str, before: str, after: str | None = None, most: int = LISTED) -> list[str]:
        async with self._lock:
            try:
                if not ID.fullmatch(before) or not ID.fullmatch(after or before):
                    return []
                later = after or await self._now(before)
                words = ("diff-tree", "-r", "--no-ext-diff", "--no-textconv", *how, before, later)
                return await self._index.own_git(*words, max_output=most)
            except (GitError, OSError):
                return []

    async def _keep(self, tree: Tree, ref: str, head: str | None) -> str:
        left_out = map(os.fsdecode, tree.left_out)
        notes = _notes(_HEAD, [head] if head else []) + _notes(_NOTE, left_out)
        message = f"{ref}\n\n{notes}{_notes(_OWN_FILES, self._index.own_files)}"
        return await self._index.commit(tree.id, message, ref)

    async def _tree_of(self, commit: str) -> str | None:
        found = await self._index.own_git("rev-parse", "--quiet", "--verify", f"{commit}^{{tree}}", none=(1,))
        return found[0] if found else None

    async def _noted(self, commit: str, note: str) -> list[str]:
        """Return the paths in a checkpoint's notes, which an agent may have forged."""
        lines = await self._index.own_git("cat-file", "commit", commit, max_output=1 << 20)
        return [path for line in lines if line.startswith(note) and (path := _path_in(line.removeprefix(note)))]

    async def _now(self, since: str) -> str:
        async with self._as_of(since):
            return (await self._index.tree()).id

    @asynccontextmanager
    async def _as_of(self, commit: str) -> AsyncGenerator[None]:
        """Exclude files that were Ralph's own when a checkpoint was made from the trees made in this block."""
        more = set(await self._noted(commit, _OWN_FILES)) - self._index.own_files
        self._index.own_files |= more
        try:
            yield
        finally:
            self._index.own_files -= more


def forget_folder(workspace: Path, state_dir: Path | None = None) -> None:
    """Remove Ralph's folder of a workspace that no longer exists; blocks."""
    shutil.rmtree(FileIndex(workspace, state_dir=state_dir).folder, ignore_errors=True)


def _ref(run_id: str, name: str) -> str:
    """Return the ref of a run's checkpoint; the run may have any name."""
    run = run_id if _PLAIN_NAME.fullmatch(run_id) else sha256(run_id.encode("utf-8", "replace")).hexdigest()
    return f"{_REFS}{run}/{name}"


def _notes(note: str, paths: Iterable[str]) -> str:
    return "".join(f"{note}{json.dumps(path)}\n" for path in sorted(paths)[:_NOTED])


def _path_in(noted: str) -> str:
    with suppress(ValueError, RecursionError):
        path: object = json.loads(noted)
        if isinstance(path, str) and b"\0" not in os.fsencode(path):
            return path
    return ""
