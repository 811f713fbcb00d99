"""Checkpoints: the files of a workspace as they were, kept byte for byte as commits on private refs.

The refs are called `refs/ralph/<run>/<iteration>/<before or after>`, and `refs/ralph/<run>/heads/<commit>` where
commits of the run were taken off a branch; those of a workspace under git lie in its repository. A checkpoint's parent
is the commit that was checked out, so that git's own clean-up keeps what they need. The user's branch, index, stash,
settings and hooks have no part in it.
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

from ralph.errors import WorkspaceError
from ralph.types.changes import Checkpoint
from ralph.workspace.file_index import LISTED, FileIndex, Tree
from ralph.workspace.repository import UnreadableError, display_path, unquote_path
from ralph.workspace.restore import Restoration, Restored

__all__ = ["Checkpoints", "FileChange", "forget_folder"]

_MOMENT = 1.0
"""Seconds for which a checkpoint counts as one of now, before an iteration."""

_NAMED = 5
_NOTED = 1000
_NOTE = "Left-Out: "
_OWN_FILES = "Apart: "
_REFS = "refs/ralph/"
_HEADS = "heads/"
_OLD_HEADS = f"{_REFS}{_HEADS}"
"""Where commits that were taken off a branch were kept before each run had a place of its own for them."""

_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?", re.ASCII)
_PLAIN_NAME = re.compile(r"[0-9A-Za-z_-]{1,100}", re.ASCII)


class FileChange(NamedTuple):
    """What became of one file between two checkpoints: lines of a file that is no text are None."""

    path: str
    added: int | None
    removed: int | None


class _Last(NamedTuple):
    """The last checkpoint, with the run that it is of, the commit that was checked out, its tree and its time."""

    run_id: str
    head: str | None
    tree: str
    checkpoint: Checkpoint
    at: float


class _Held(NamedTuple):
    """A checkpoint that a ref keeps."""

    tree: str
    commit: str
    ref: str

    @property
    def run(self) -> str:
        return self.ref.removeprefix(_REFS).partition("/")[0]


class Checkpoints:
    """The checkpoints of one workspace.

    Args:
        index: of its files. Each checkpoint says what the index left out when it was made: whoever goes back to it must
            not take away what it was never to hold.
    """

    def __init__(self, index: FileIndex) -> None:
        self._index = index
        self._lock = anyio.Lock()
        self._last: _Last | None = None

    @property
    def folder(self) -> Path:
        """Ralph's own folder for the workspace, out of the agent's reach."""
        return self._index.folder

    @property
    def read(self) -> tuple[int, int]:
        """How many files were read for the checkpoint under way, and of how many; zeros where that is not known."""
        return self._index.read, self._index.to_read

    async def take(self, run_id: str, name: str, *, head: str | None = None) -> Checkpoint:
        """Holds the files as they are now; the last checkpoint again where nothing has changed since.

        It never raises on what an agent may have done, and leaves out what it cannot hold.

        Args:
            name: of the checkpoint within its run, such as "3/after".
            head: the commit that is checked out.
        """
        async with self._lock:
            last = self._last if self._last and self._last.run_id == run_id else None
            if last is not None and name.endswith("/before") and monotonic() - last.at < _MOMENT:
                return last.checkpoint
            try:
                tree = await self._index.tree(head)
                same = last is not None and (last.head, last.tree) == (head, tree.id)
                commit = last.checkpoint.commit if last and same else await self._keep(tree, _ref(run_id, name), head)
            except (UnreadableError, OSError) as error:
                return Checkpoint(problem=f"No checkpoint could be made: {error}.")
            made = Checkpoint(commit=commit, problem=_told(tree.left_out))
            self._last = _Last(run_id, head, tree.id, made, monotonic())
            return made

    async def difference(self, before: str, after: str | None = None, *, limit: int | None = None) -> str:
        """What two checkpoints differ in, as git shows it; empty where one of them is not there any more.

        Args:
            after: None for the files as they are now.
            limit: in characters; of a longer text the beginning is given, and a line that says so.
        """
        lines = await self._compare(
            "-p", "-M", "--no-color", before=before, after=after, most=4 * limit if limit else LISTED
        )
        text = "".join(f"{line}\n" for line in lines)
        if limit is None or len(text) <= limit:
            return text
        return f"{text[:limit]}\n[the rest of the difference is left out]\n"

    async def files(self, before: str, after: str) -> list[FileChange]:
        """The files that two checkpoints differ in; none where one of them is not there any more."""
        found: list[FileChange] = []
        for line in await self._compare("--numstat", before=before, after=after, most=LISTED):
            added, removed, path = line.split("\t", 2)
            counts = (None, None) if added == "-" else (int(added), int(removed))
            found.append(FileChange(display_path(unquote_path(path)), *counts))
        return found

    async def holds(self, commit: str) -> bool:
        """Whether a checkpoint is still there."""
        try:
            return bool(_ID.fullmatch(commit)) and bool(await self._tree_of(commit))
        except (UnreadableError, OSError):
            return False

    async def changed(self, since: str) -> list[bytes]:
        """The paths, from the top, that differ now from a checkpoint; none where it is not there any more."""
        return [
            unquote_path(line) for line in await self._compare("--name-only", before=since, after=None, most=LISTED)
        ]

    async def find(self, run_id: str, beginning: str) -> str | None:
        """The checkpoint of a run whose commit's id begins so; None where there is none, or more than one."""
        try:
            held = await self._held(_ref(run_id, ""))
        except (UnreadableError, OSError):
            return None
        alike = {each.commit for each in held if beginning and each.commit.startswith(beginning)}
        return alike.pop() if len(alike) == 1 else None

    async def restore(self, commit: str, *, force: bool = False) -> Restored:
        """Gives the files back what a checkpoint holds, and takes away what was not there then.

        Branches, commits and the index stay as they are; so does what is ignored and what the checkpoint leaves out.
        The present state is held first, where no checkpoint has it yet.

        Args:
            force: also where the present state is of nobody's checkpoint, or something that cannot be held is in the
                way, which is put aside then.

        Raises:
            WorkspaceError: the checkpoint is not there, the files cannot be given back, or `force` would be needed.
        """
        async with self._lock:
            try:
                return await self._restore(commit, force=force)
            except (UnreadableError, OSError) as error:
                raise WorkspaceError(
                    f"The files cannot be restored to checkpoint {commit[:12]}: {error}.", "All checkpoints are kept."
                ) from error
            finally:
                self._last = None

    @staticmethod
    def heads(run_id: str) -> str:
        """What the refs of a run begin with that keep commits which were taken off a branch."""
        return _ref(run_id, _HEADS)

    async def forget(self, run_id: str) -> None:
        """Lets go of all checkpoints of a run, and of commits taken off a branch in it. What only they held is git's to
        clean up; without a repository, ours.
        """
        async with self._lock:
            try:
                prefix = _ref(run_id, "")
                refs = await self._index.users_git("for-each-ref", "--format=%(refname)", prefix, max_output=LISTED)
                if refs:
                    refs += await self._old_heads(prefix)
                    gone = "".join(f"delete {ref}\n" for ref in refs)
                    await self._index.users_git("update-ref", "--stdin", stdin=gone.encode())
                if refs and self._index.repository is None:
                    await self._index.own_git("gc", "--quiet", "--prune=now")
            except (UnreadableError, OSError):
                return

    async def _old_heads(self, prefix: str) -> list[str]:
        """The refs in the old place that belong to a run, being of commits that a checkpoint of it was made on."""
        try:
            lines = await self._index.users_git("for-each-ref", "--format=%(objectname) %(refname)", _OLD_HEADS)
            found = ["for-each-ref", "--format=%(parent)", prefix]
            made_on = set(await self._index.users_git(*found, max_output=LISTED)) if lines else set[str]()
        except UnreadableError:  # a checkpoint is damaged; it can go all the same
            return []
        return [ref for commit, ref in (line.split(" ", 1) for line in lines) if commit in made_on]

    async def _restore(self, commit: str, *, force: bool) -> Restored:
        target = await self._tree_of(commit) if _ID.fullmatch(commit) else None
        if target is None:
            raise WorkspaceError(
                f"Checkpoint {commit[:12]} no longer exists.", "`git for-each-ref refs/ralph` lists those that do."
            )
        left_out = dict.fromkeys(map(os.fsencode, await self._noted(commit, _NOTE)), "")
        async with self._as_of(commit):
            return await self._restore_tree(commit, Tree(target, left_out), force=force)

    async def _restore_tree(self, commit: str, target: Tree, *, force: bool) -> Restored:
        present = await self._index.tree()
        restoration = Restoration(self._index, present, target)
        await restoration.prepare(force=force)
        if not restoration.has_changes:
            return Restored()
        known = await self._held(_REFS)
        saved = next((held.commit for held in known if held.tree == present.id), None)
        if saved is None:
            if not force:
                raise restoration.refusal("has changes that no checkpoint holds", await self._unheld(present))
            run = next((held.run for held in known if held.commit == commit), "saved")
            saved = await self._keep(present, f"{_REFS}{run}/saved/{present.id[:12]}", None)
        restored = await restoration.apply()
        return restored._replace(saved=saved)

    async def _held(self, prefix: str) -> list[_Held]:
        """The checkpoints whose refs begin so."""
        lines = await self._index.refs("%(tree) %(objectname) %(refname)", prefix)
        return [held for held in (_Held(*line.split(" ", 2)) for line in lines) if f"/{_HEADS}" not in held.ref]

    async def _unheld(self, present: Tree) -> list[str]:
        """Some of the files that differ from the last checkpoint."""
        words = ("diff-tree", "-r", "--name-only", "--root", "HEAD", present.id)
        return [
            display_path(unquote_path(line)) for line in await self._index.own_git(*words, none=128, max_output=1 << 16)
        ]

    async def _compare(self, *how: str, before: str, after: str | None, most: int) -> list[str]:
        async with self._lock:
            try:
                if not _ID.fullmatch(before) or not _ID.fullmatch(after or before):
                    return []
                later = after or await self._now(before)
                words = ("diff-tree", "-r", "--no-ext-diff", "--no-textconv", *how, before, later)
                return await self._index.own_git(*words, max_output=most)
            except (UnreadableError, OSError):
                return []

    async def _keep(self, tree: Tree, ref: str, head: str | None) -> str:
        """A commit of the tree on a private ref."""
        left_out = map(os.fsdecode, tree.left_out)
        message = f"{ref}\n\n{_notes(_NOTE, left_out)}{_notes(_OWN_FILES, self._index.own_files)}".encode()
        try:
            (commit,) = await self._index.users_git(
                "commit-tree", tree.id, *(["-p", head] if head else []), stdin=message
            )
        except UnreadableError:  # the commit that is checked out may be broken
            (commit,) = await self._index.users_git("commit-tree", tree.id, stdin=message)
        try:
            await self._index.users_git("update-ref", ref, commit)
        except UnreadableError:  # a killed git may have left its lock on that very name
            await self._index.users_git("update-ref", f"{ref}-{commit[:12]}", commit)
        await self._index.remember(commit)
        return commit

    async def _tree_of(self, commit: str) -> str | None:
        found = await self._index.own_git("rev-parse", "--quiet", "--verify", f"{commit}^{{tree}}", none=1)
        return found[0] if found else None

    async def _noted(self, commit: str, note: str) -> list[str]:
        """The paths of which a checkpoint has that note; no others, for an agent may have made the commit."""
        lines = await self._index.own_git("cat-file", "commit", commit)
        return [path for line in lines if line.startswith(note) and (path := _path_in(line.removeprefix(note)))]

    async def _now(self, since: str) -> str:
        """The tree of the files as they are, to be compared with that of a checkpoint."""
        async with self._as_of(since):
            return (await self._index.tree()).id

    @asynccontextmanager
    async def _as_of(self, commit: str) -> AsyncGenerator[None]:
        """While it lasts, no tree holds what was Ralph's own when a checkpoint was made."""
        more = set(await self._noted(commit, _OWN_FILES)) - self._index.own_files
        self._index.own_files |= more
        try:
            yield
        finally:
            self._index.own_files -= more


def forget_folder(workspace: Path, state_dir: Path | None = None) -> None:
    """Removes what Ralph keeps of a workspace that is not there any more; it blocks."""
    shutil.rmtree(FileIndex(workspace, state_dir=state_dir).folder, ignore_errors=True)


def _ref(run_id: str, name: str) -> str:
    """The ref of a run's checkpoint; a run may have been called anything."""
    run = run_id if _PLAIN_NAME.fullmatch(run_id) else sha256(run_id.encode("utf-8", "replace")).hexdigest()
    return f"{_REFS}{run}/{name}"


def _notes(note: str, paths: Iterable[str]) -> str:
    """What a checkpoint does not hold, for those who go back to it."""
    return "".join(f"{note}{json.dumps(path)}\n" for path in sorted(paths)[:_NOTED])


def _path_in(noted: str) -> str:
    """The path that a note has; empty where it has none."""
    with suppress(ValueError, RecursionError):
        path: object = json.loads(noted)
        if isinstance(path, str) and b"\0" not in os.fsencode(path):
            return path
    return ""


def _told(left_out: dict[bytes, str]) -> str:
    """What a checkpoint leaves out, for a person."""
    if not left_out:
        return ""
    named = [f"{display_path(path)} ({reason})" for path, reason in sorted(left_out.items())[:_NAMED]]
    more = f" and {len(left_out) - _NAMED:,} more" if len(left_out) > _NAMED else ""
    return f"The checkpoint does not hold {', '.join(named)}{more}."
