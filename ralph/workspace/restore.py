"""Restoring: changing the present files to those of another tree, touching only what differs.

Nothing is written through a link, and nothing is overwritten or removed that the present tree does not contain.
"""

import os
import shutil
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import anyio.to_thread

from ralph.errors import WorkspaceError
from ralph.workspace.file_index import FileIndex, Tree
from ralph.workspace.protection import new_aside
from ralph.workspace.repository import display_path, some_of, unquote_path
from ralph.workspace.scan import ABSENT, passes_link

_REPOSITORY = "160000"


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

    @property
    def has_changes(self) -> bool:
        return bool(self._gone or self._written)

    async def prepare(self, *, force: bool) -> None:
        """Compute the steps. Raises `WorkspaceError` if something is in the way, unless forced."""
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

    def refusal(self, why: str, paths: list[str]) -> WorkspaceError:
        """Return the error that says why the files stay as they are."""
        return WorkspaceError(
            f"{self._index.top} {why}{f': {some_of(paths)}' if paths else ''}.",
            "With --force they are saved elsewhere first, and Ralph says how to get them back.",
        )

    async def apply(self) -> Restored:
        """Take the steps. Raises `GitError` or `OSError` if one fails."""
        aside = await anyio.to_thread.run_sync(self._put_aside) if self._in_the_way else None
        await anyio.to_thread.run_sync(self._remove)
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
        """Write the target tree's files through a temporary index."""
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
        gone = set(self._gone)
        found: dict[bytes, None] = {}
        for path in added:
            parts = path.split(b"/")
            for depth in range(1, len(parts) + 1):
                place = b"/".join(parts[:depth])
                kind = self._kind(place)
                if kind is None or place in gone:
                    break
                if not stat.S_ISDIR(kind) or (place == path and self._anything_else(place, gone)):
                    found[place] = None
                    break
        return list(found)

    def _anything_else(self, folder: bytes, gone: set[bytes]) -> bool:
        """Return whether a folder contains more than files to be removed."""
        root = os.fsencode(self._index.top) + b"/"
        for where, _, names in os.walk(root + folder):
            if any(os.path.join(where, name)[len(root) :] not in gone for name in names):  # noqa: PTH118
                return True
        return False

    def _kind(self, path: bytes) -> int | None:
        try:
            return os.lstat(os.fsencode(self._index.top) + b"/" + path).st_mode
        except OSError:
            return None

    def _put_aside(self) -> Path:
        aside = new_aside(self._index.folder)
        for path in map(os.fsdecode, self._in_the_way):
            (aside / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.move(self._index.top / path, aside / path)
        return aside

    def _remove(self) -> None:
        """Remove files and then empty folders; failures are detected afterwards."""
        root = os.fsencode(self._index.top) + b"/"
        links: dict[bytes, bool] = {b"": False}
        for path in self._gone:
            with suppress(OSError):
                if not passes_link(root, path, links):
                    os.unlink(root + path)  # noqa: PTH108  bytes are no Path
                    self._remove_empty(root, path)

    def _remove_empty(self, root: bytes, path: bytes) -> None:
        folder = path.rpartition(b"/")[0]
        while folder and os.fsdecode(folder) not in self._index.kept_folders:
            os.rmdir(root + folder)  # noqa: PTH106
            folder = folder.rpartition(b"/")[0]
