"""A run in its own worktree and on its own branch, next to the user's checkout.

At the end the work is kept, merged or discarded. Work that nothing else contains is never deleted: a merge with
conflicts changes nothing, and discarded work stays in the run's checkpoints.
"""

import os
import shlex
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import anyio.to_thread

from ralph.errors import WorkspaceError
from ralph.workspace.base import FOLDER, RESPONSE
from ralph.workspace.branch import Branch
from ralph.workspace.file_index import LISTED, FileIndex
from ralph.workspace.gate import ANY, GitError, read_list, settings_text
from ralph.workspace.lock import state_folder
from ralph.workspace.repository import Repository, find_repository, operation_in_progress, unquote_path

_STATUS = ("status", "--porcelain", "--ignore-submodules=dirty")
"""The list of uncommitted changes; git does not look into nested repositories, whose settings it would follow."""


@dataclass(frozen=True, slots=True)
class Worktree:
    """A worktree that Ralph made.

    Attributes:
        run_id: the run that it was made for.
        repository: the repository of `origin`.
        origin: the folder that the user named.
        top: the worktree.
        path: the folder in it that corresponds to `origin`: the run's workspace.
        branch: its own branch.
        onto: the branch that was checked out in `origin`; None for a detached HEAD or if it is unknown.
        missing: paths in `origin` that are not in the worktree, by the reason, such as "not committed".
        hooks: run the repository's hooks and filters, with the user's settings.
        ends: moves and deletes branches of the repository, and removes the worktree.
        folder: the worktree as it was found; no other folder is removed.
    """

    run_id: str
    repository: Repository
    origin: Path
    top: Path
    path: Path
    branch: str
    onto: str | None
    missing: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    hooks: bool = False
    ends: Branch = field(init=False)
    folder: os.stat_result = field(init=False)

    def __post_init__(self) -> None:
        scratch = FileIndex(self.path, state_dir=self.repository.state_dir).folder / "end"
        object.__setattr__(self, "ends", Branch(self.repository, scratch))
        object.__setattr__(self, "folder", self.top.lstat())

    @property
    def confined(self) -> bool:
        """Git runs in a sandbox, except where hooks are run."""
        return self.repository.confine is not None

    async def merge(self, *, completed: bool) -> str:
        """Merge the branch into the one that it came from, then remove it and the worktree.

        Returns what happened, with the commands to continue. The work of an incomplete run is not merged, and neither
        are conflicts.
        """
        if not completed:
            return await self.kept("The run is not completed, so it is not merged.")
        try:
            return await self._elsewhere() or await self._merge()
        except (GitError, OSError) as error:
            return await self.kept(f"It could not be merged: {error}.")

    async def discard(self, checkpoint: str | None) -> str:
        """Remove the worktree and the branch if the given checkpoint has all of their work. Returns what happened."""
        try:
            return await self._elsewhere() or await self._discard(checkpoint)
        except (GitError, OSError) as error:
            return await self.kept(f"It could not be discarded: {error}.")

    async def kept(self, why: str = "") -> str:
        """Return where the work is, and the commands to continue, including a commit if one is needed."""
        if elsewhere := await self._elsewhere():
            return f"{why} {elsewhere}".strip()
        top = shlex.quote(str(self.top))
        lines = [f"{why} The work is on {self.branch}, in {self.top}.".strip()]
        with suppress(GitError):
            if await self._uncommitted():
                lines.append(f"  commit it:   git -C {top} add -A && git -C {top} commit")
        lines.append(f"  merge it:    git merge {self.branch}")
        lines.append(f"  then remove: git worktree remove {top} && git branch -d {self.branch}")
        return "\n".join(lines)

    async def _merge(self) -> str:
        git = self.repository.users_git
        if await self._uncommitted():
            return await self.kept("Not everything in it is committed, so it is not merged.")
        if self.onto is None:
            return await self.kept("The branch to merge it into is unknown, so it is not merged.")
        if await git.line("symbolic-ref", "--quiet", "--short", "HEAD", none=ANY) != self.onto:
            return await self.kept(f"{self.origin} is no longer on {self.onto}, so it is not merged.")
        if operation := operation_in_progress(self.repository):
            return await self.kept(f"{operation.capitalize()} is in progress in {self.origin}, so it is not merged.")
        if not await git("rev-list", "--max-count=1", f"HEAD..{self.branch}"):
            return await self._remove(f"There is nothing to merge into {self.onto}.")
        try:
            await git("merge-tree", "--write-tree", "--name-only", "HEAD", self.branch)
        except GitError:
            return await self.kept(f"It does not merge into {self.onto} without conflicts, so nothing was changed.")
        try:
            note = await self._merge_branch()
        except GitError:
            if operation_in_progress(self.repository):  # a hook has refused the commit of what was merged by then
                await git("merge", "--abort")
            raise
        return await self._remove(f"The work is merged{note} into {self.onto}.")

    async def _merge_branch(self) -> str:
        if self.hooks:
            return await self.repository.with_hooks("merge", "--quiet", "--no-edit", self.branch, workspace=self.origin)
        await self.repository.require_no_filter(await self.repository.differences("HEAD", self.branch))
        await self.ends.merge(self.branch)
        left = self.repository.left_out("merge")
        is_commit = left and await self.repository.head() != await self.repository.git.line("rev-parse", self.branch)
        return f" without {left}," if is_commit else ""

    async def _discard(self, checkpoint: str | None) -> str:
        git = self.repository.users_git
        others = ("--not", "HEAD", f"--exclude={self.branch}", "--branches")
        work = await git("rev-list", "--max-count=1", self.branch, *others) or await self._uncommitted()
        if work and checkpoint is None:
            return await self.kept("No checkpoint contains all of it, so it is not discarded.")
        kept = ""
        if work and checkpoint:
            own = FileIndex(self.path, state_dir=self.repository.state_dir).folder
            entries = "\n".join(await self._hidden())
            kept = await self.ends.keep(own, checkpoint, entries, f"refs/ralph/{self.run_id}/discarded", self.branch)
        was = await self._clear(force=True)
        held = f" Its work is still kept: `git branch NAME {kept}` brings it back." if kept else ""
        return f"The worktree and {self.branch} (was {was}) are discarded.{held}"

    async def _hidden(self) -> list[str]:
        """Return the entries of the index for files that a sparse checkout leaves out."""
        lines = await self._inside().git("ls-files", "-t", "--stage", max_output=LISTED)
        return [line[2:] for line in lines if line.startswith("S ") and not self._exists(line.partition("\t")[2])]

    def _exists(self, quoted: str) -> bool:
        return os.path.lexists(self.top / os.fsdecode(unquote_path(quoted)))

    async def _remove(self, said: str) -> str:
        try:
            was = await self._clear(force=False)
        except (GitError, OSError) as error:
            return f"{said} {await self.kept(f'The worktree stays: {error}.')}"
        return f"{said} The worktree and {self.branch} (was {was}) are removed."

    async def _clear(self, *, force: bool) -> str:
        """Remove worktree and branch, without `force` only if no work is lost; return the short name of its commit."""
        git, git_dir = self.repository.git, self._inside().git_dir
        if (git_dir / "locked").exists():
            raise GitError("it is locked")
        if not force and ((git_dir / "modules").is_dir() or await self._uncommitted()):
            raise GitError("it has uncommitted work, or submodules")
        tip = await git.line("rev-parse", f"refs/heads/{self.branch}")
        if not force and await git("rev-list", "--max-count=1", tip, "--not", "HEAD"):
            raise GitError(f"{self.branch} has commits that are not merged")
        was = await git.line("rev-parse", "--short", tip)
        await anyio.to_thread.run_sync(self.ends.remove, self.top, git_dir, self.folder)
        await self.ends.delete(self.branch, tip)
        return was

    async def _elsewhere(self) -> str:
        if (inside := self._found()) is None:
            return ""
        now = await inside.git.line("symbolic-ref", "--quiet", "--short", "HEAD", none=ANY)
        said = f"{self.top} is on {now or 'no branch'} and not on {self.branch}: it stays."
        return "" if now == self.branch else said

    async def _uncommitted(self) -> list[str]:
        """Return git's list of uncommitted changes, without the answer that Ralph itself keeps in the workspace."""
        own = (self.path / FOLDER / RESPONSE).relative_to(self.top).as_posix()
        without = (":(top)", f":(top,exclude,literal){own}")
        return await self._inside().users_git(*_STATUS, "--untracked-files=all", "--", *without)

    def _inside(self) -> Repository:
        if (found := self._found()) is None:
            raise GitError("it is no longer a worktree")
        return found

    def _found(self) -> Repository | None:
        found = find_repository(self.top, state_dir=self.repository.state_dir, confined=self.confined)
        return found[0] if found else None


async def make_worktree(
    folder: Path, run_id: str, *, state_dir: Path | None = None, hooks: bool = False, confined: bool = False
) -> Worktree:
    """Create a worktree at the current commit, in the user's state folder, on the branch `ralph/<run>`.

    Args:
        state_dir: another folder instead of the user's state folder.
        hooks: run the repository's hooks and filters, with the user's settings.
        confined: run git in a sandbox (bubblewrap), except where hooks are run.

    Raises:
        WorkspaceError: the folder is not under git, has no commit yet, or git refuses.
    """
    found = find_repository(folder, state_dir=state_dir, confined=confined)
    if found is None:
        raise WorkspaceError(f"{folder} is not under git, so it cannot have a worktree.", "Leave out --worktree.")
    repository, within = found
    git = repository.users_git
    branch, top = f"ralph/{run_id}", (state_dir or state_folder()) / "worktrees" / run_id
    try:
        top.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not await git.line("rev-parse", "--quiet", "--verify", "HEAD^{commit}", none=ANY):
            raise WorkspaceError(f"{repository.top} has no commit yet, so it cannot have a worktree.", "Commit first.")
        onto = await git.line("symbolic-ref", "--quiet", "--short", "HEAD", none=ANY)
        missing = await _missing(repository, within)
        await _add(repository, folder, branch, top, hooks=hooks)
        path = top / within
        path.mkdir(parents=True, exist_ok=True)
    except (GitError, OSError) as error:
        shutil.rmtree(top, ignore_errors=True)
        raise WorkspaceError(
            f"No worktree can be made of {repository.top}: {error}.", "Leave out --worktree."
        ) from error
    return Worktree(run_id, repository, folder, top, path, branch, onto or None, missing, hooks=hooks)


async def _missing(repository: Repository, within: str) -> dict[str, tuple[str, ...]]:
    below = ("--", *([within] if within else []))
    lines = await repository.users_git(*_STATUS, "--ignored", *below, none=ANY)
    found = {
        "not committed": tuple(line[3:] for line in lines if not line.startswith("!!")),
        "ignored by git": tuple(line[3:] for line in lines if line.startswith("!!")),
    }
    if (repository.top / ".gitmodules").exists():
        staged = await repository.git("ls-files", "--stage", *below, max_output=LISTED)
        found["submodules"] = tuple(line.partition("\t")[2] for line in staged if line.startswith("160000 "))
    return {reason: paths for reason, paths in found.items() if paths}


async def _add(repository: Repository, folder: Path, branch: str, top: Path, *, hooks: bool) -> None:
    words = ("--quiet", "-b", branch, str(top), "HEAD")
    if hooks:
        await repository.with_hooks("worktree", "add", *words, workspace=folder)
        return
    files = [*map(unquote_path, await repository.git("ls-tree", "-r", "--name-only", "--full-tree", "HEAD"))]
    lists = [repository.top / os.fsdecode(path) for path in files if path.endswith(b".gitattributes")]
    attributes = (repository.users_attributes, *map(read_list, (*lists, repository.common / "info" / "attributes")))
    if any(b"filter" in each for each in attributes):
        await repository.require_no_filter(files)
    (repository.common / "worktrees").mkdir(exist_ok=True)
    await repository.users_git("worktree", "add", *words)
    _settle(top / ".git", settings_text(repository.sparse.items()))


def _settle(dot_git: Path, settings: str) -> None:
    """Give a worktree its settings, and rewrite the file that leads to it: git wrote the way through Ralph's view."""
    git_dir = Path(dot_git.read_text().removeprefix("gitdir: ").strip()).resolve()
    dot_git.write_text(f"gitdir: {git_dir}\n")
    if settings:
        (git_dir / "config.worktree").write_text(settings)


def find_worktree(
    origin: Path, path: Path, run_id: str, onto: str | None = None, *, hooks: bool = False, confined: bool = False
) -> Worktree | None:
    """Return the worktree of an earlier process's run in `path`; None if it no longer exists.

    It must belong to the repository of `origin`, but not be that repository's own folder.
    """
    repository, inside = find_repository(origin, confined=confined), find_repository(path)
    if repository is None or inside is None:
        return None
    if inside[0].common != repository[0].common or inside[0].top == repository[0].top:
        return None
    return Worktree(run_id, repository[0], origin, inside[0].top, path, f"ralph/{run_id}", onto, hooks=hooks)
