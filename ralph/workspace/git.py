"""A workspace under git: its commit, the files that differ from it, and new files."""

import os
import re
from collections import deque
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from time import monotonic
from typing import Literal, NamedTuple

from ralph.decision.backing import IGNORED
from ralph.errors import WorkspaceError
from ralph.system.patterns import path_matcher
from ralph.system.text import counted, some_of
from ralph.types import evolve
from ralph.types.output import Changes, Checkpoint
from ralph.workspace.base import CommitResult, PlainWorkspace, Snapshot, fingerprint, summarize
from ralph.workspace.branch import Branch
from ralph.workspace.checkpoints import Checkpoints
from ralph.workspace.file_index import FileIndex
from ralph.workspace.gate import ANY, GitError
from ralph.workspace.nested import Nested, state_of
from ralph.workspace.protection import Protection
from ralph.workspace.repository import Look, Repository, display_path, operation_in_progress, unquote_path
from ralph.workspace.scan import ContentHashes, check_cancelled, in_thread
from ralph.workspace.users_work import History, UsersWork

NESTED = 16

_CLEAN = "clean"
_SUBMODULES = 50
_FEW = 100
_PATIENCE = 10.0
"""Seconds for a list of ignored files."""

_REBUILT = (
    *("build/", "dist/", "out/", "target/", "bin/", "obj/", "tmp/", "temp/", "logs/", "coverage/", "htmlcov/"),
    *(".cache/", ".next/", ".nuxt/", ".output/", ".turbo/", ".parcel-cache/", ".svelte-kit/", ".eggs/", "*.egg-info/"),
    *("*.log", "*.tmp", "*.pid", "*.o", "*.a", "*.so", "*.class", "*.tsbuildinfo", ".eslintcache", "coverage.*"),
)
"""Ignored files and folders that tools make, and may remove."""
_MANY = 1000
_MOMENT = 1.0
"""Seconds for which a look at the files is still one at the present files."""

_Between = dict[str, tuple[str, str]]
"""The content hashes in two commits, by path."""

_COUNT = re.compile(r"\A(?:Modified|Changed) \d+ files?\b")
"""The count in the summary of one iteration; a commit may have more files."""

_NEW_REPOSITORY = "a new nested repository, whose settings git would follow"
_FILTERED = "only --commit-hooks runs the filter that git has for them"
_INSIDE = "work in a repository of its own, which is not committed there"
_REMEDY = "Fix that, then commit it yourself: the files are as the run left them."


class _Seen(NamedTuple):
    """A snapshot with the look that it was made from, and its time."""

    snapshot: Snapshot
    look: Look
    at: float


class GitWorkspace(PlainWorkspace):
    """A folder in a git repository: its top, or a subfolder, and then only files below it count.

    A snapshot costs one `git status`, and one more for each submodule and each untracked nested repository in which
    something has changed, at most 16. A checkpoint right after it uses the same one. Ignored files do not count, and
    neither does staging. If the agent has removed or damaged the repository, the files are compared with the last
    checkpoint, and the snapshot says why.

    Besides those of `PlainWorkspace` it takes the repository, the folder's path `within` it (empty at its top), and
    `hooks`, the `commit_hooks` of `open_workspace`.
    """

    def __init__(
        self,
        path: Path,
        repository: Repository,
        *,
        within: str = "",
        noise: Iterable[str] = (),
        protect: Iterable[str] = (),
        own_files: Iterable[str] = (),
        state_dir: Path | None = None,
        checkpoints: bool = True,
        hooks: bool = False,
    ) -> None:
        super().__init__(path, noise=noise, own_files=own_files, state_dir=state_dir)
        self._index = FileIndex(
            path, repository, within=within, own_files=self.own_files, state_dir=state_dir, keeps=checkpoints
        )
        self.checkpoints = self._checkpoints = Checkpoints(self._index)
        servers = repository.common / "info" / "refs"  # which git writes by itself when it cleans up
        self.protection = self._protection = Protection(
            path, _gits_own(path, repository), protect, self._index.folder, but=[servers]
        )
        self._repository = repository
        self._within = within
        self._hooks = hooks
        self._committed = False
        self._branch = Branch(repository, self._index.folder / "commit")
        self._hashes = ContentHashes(path, repository.algorithm)
        self._rebuilt = path_matcher(_REBUILT)
        self._seen: _Seen | None = None
        self._first: dict[str, str] | None = None
        self._indexed: _Seen | None = None
        self._nested: set[bytes] = set()
        self._inner: dict[Path, tuple[object, tuple[Look, str | None]]] = {}
        self._repositories = Nested(repository.top, repository.git_dir, repository.common, walked=path)
        git = (path / ".git", repository.git_dir, repository.common)
        self._theirs = UsersWork(self._index.folder, git, History(repository))

    async def snapshot(self) -> Snapshot:
        try:
            head = await self._repository.head()
            look = await self._index.look(head)
        except (GitError, OSError) as error:
            return await self._without_git(f"Git cannot read the workspace ({error})")
        return await self._snapshot(look, head)

    async def _without_git(self, why: str) -> Snapshot:
        """Return a snapshot relative to the last checkpoint, or else one of the whole folder."""
        last = self._checkpoints.last if self.checkpoints else None
        if last is not None and last.commit:
            with suppress(GitError, OSError):
                look = await self._index.look(last.commit)
                problem = f"{why}, so its files are compared with the last checkpoint."
                return await self._snapshot(look, None, problem=problem)
        seen = await super().snapshot()
        return evolve(seen, problem=f"{why}, so its files are compared without it. {seen.problem}".strip())

    async def _snapshot(self, look: Look, head: str | None, *, problem: str = "") -> Snapshot:
        paths, commits = await self._differing(look)
        top = os.fsencode(f"{self._within}/") if self._within else b""
        hashes = {path: look.hashes[top + path] for path in paths if top + path in look.hashes}
        hashes |= await in_thread(len(paths) > _FEW, self._hashes, [path for path in paths if path not in hashes])
        found = {path: mark for path, mark in (hashes | commits).items() if look.committed.get(top + path) != mark}
        files = {display_path(path): mark for path, mark in found.items()}
        seen_by = "checkpoint" if problem else "git"
        if removed := self._index.removed:
            problem = f"Git waited for pipes, which are removed: {some_of(removed)}. {problem}".strip()
        made = Snapshot(fingerprint=fingerprint(head, files), head=head, files=files, seen_by=seen_by, problem=problem)
        self._first = made.files if self._first is None else self._first
        self._seen = _Seen(made, look, monotonic())
        return made

    async def checkpoint(
        self, run_id: str, iteration: int, moment: Literal["before", "after"], *, seen: Snapshot | None = None
    ) -> Checkpoint:
        if self.checkpoints is None:
            return Checkpoint()
        head = seen.head if seen is not None and seen.seen_by == "git" else None
        now = self._seen if self._seen and monotonic() - self._seen.at < _MOMENT else None
        fresh = now if now is not None and now.snapshot is seen else None
        before, indexed, self._indexed = self._checkpoints.last, self._indexed, None
        made = await self._checkpoints.take(
            run_id, f"{iteration}/{moment}", head=head, look=fresh.look if fresh else None
        )
        if made.commit:
            self._indexed = indexed if made is before else fresh
        removed, self._index.removed = self._index.removed, []
        said = f"Git waited for pipes, which are removed: {some_of(removed)}. {made.problem}".strip()
        return evolve(made, problem=said) if removed else made

    def acquire(self, run_id: str) -> None:
        super().acquire(run_id)
        self._branch.clear()

    async def guard(self, run_id: str) -> str:
        await self._branch.settle()
        if self._seen is not None and self._seen.snapshot.seen_by == "git":
            await self._theirs.note(run_id, self._seen.snapshot, self._ignored)
        return await super().guard(run_id)

    async def _ignored(self) -> list[str]:
        """Return the ignored files and folders that nothing makes anew, the outer ones first."""
        words = ("ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "--")
        with suppress(GitError):
            listed = await replace(self._repository.git, timeout=_PATIENCE)(*words, *filter(None, [self._within]))
            found = {display_path(short): path for short, path in self._own(map(unquote_path, listed)).items()}
            paths = sorted((path for path in found if not self._rebuilt(path)), key=lambda path: path.count("/"))
            return [os.fsdecode(os.fsencode(self._repository.top) + b"/" + found[path].rstrip(b"/")) for path in paths]
        return []

    def _apart(self) -> set[bytes]:
        return {*self._index.apart, *self._nested}

    async def changes(self, before: Snapshot, after: Snapshot) -> Changes:
        changes = await self._changes(before, after)
        return evolve(changes, lost=await self._lost(before, after)) if before.fingerprint else changes

    async def _lost(self, before: Snapshot, after: Snapshot) -> tuple[str, ...]:
        lost = await self._theirs.of_git(after)
        if candidates := self._theirs.missing(before, after):
            between, problem = await self._between(self._theirs.head, after.head)
            lost += self._theirs.lost(candidates, after, None if problem else between)
        for path in self._theirs.ignored_gone():
            lost.append(f"{display_path(os.fsencode(path.removeprefix(f'{self.path}/')))} {IGNORED}")
        return tuple(lost)

    async def _changes(self, before: Snapshot, after: Snapshot) -> Changes:
        if before.fingerprint is None or after.fingerprint is None:
            problem = after.problem or before.problem or "The folder was not read in the same way before."
            return summarize(after, (), problem=problem)
        if (changed := self._since_index(before, after)) is not None:
            commits, problem = await self._count(before.head, after.head)
            return summarize(after, changed, commits=commits, problem=problem)
        if before.seen_by != after.seen_by:
            return summarize(after, (), problem=after.problem or before.problem)
        if after.seen_by == "folder":
            return await super().changes(before, after)
        between, problem = await self._between(before.head, after.head)
        commits, uncounted = await self._count(before.head, after.head)
        clean = dict.fromkeys(before.files.keys() | after.files.keys(), (_CLEAN, _CLEAN))
        states = (clean | between).items()  # a path that differs from neither commit is compared by them
        changed = [path for path, (old, new) in states if before.files.get(path, old) != after.files.get(path, new)]
        return summarize(after, changed, commits=commits, problem=problem or uncounted)

    def _since_index(self, before: Snapshot, after: Snapshot) -> list[str] | None:
        """Return the changed paths if the index was made at one snapshot and compared at the other; needs no commit."""
        if self._indexed is None or self._seen is None:
            return None
        if self._indexed.snapshot is not before or self._seen.snapshot is not after:
            return None
        look, apart = self._seen.look, set(map(display_path, self._own(self._index.apart)))
        changed = set(map(display_path, self._own({path.removesuffix(b"/") for path in look.changed})))
        names = before.files.keys() | after.files.keys() | changed
        inner = tuple(f"{path}/" for path in apart)
        changed -= apart
        others = (path for path in names - changed if path in apart or path.startswith(inner))
        moved = [path for path in others if before.files.get(path) != after.files.get(path)]
        return moved + [path for path in changed if before.files.get(path, _CLEAN) != after.files.get(path)]

    async def commits_since(self, commit: str) -> int:
        then = await self._checkpoints.head_of(commit)
        words = ("rev-list", "--count", f"{then}..HEAD", "--")
        with suppress(GitError):
            return int(await self._repository.git.line(*words, none=ANY) or 0) if then else 0
        return 0

    async def reset_branch(self, run_id: str, commit: str) -> str:
        repository, git = self._repository, self._repository.git
        remedy = "The branch stays as it is; you can move it with `git reset`."
        if operation := operation_in_progress(repository):
            raise WorkspaceError(f"The branch cannot be moved: {operation} is in progress in {repository.top}.", remedy)
        try:
            then = await self._checkpoints.head_of(commit)
            now = await git.line("rev-parse", "--quiet", "--verify", "HEAD", none=ANY)
            if then == now:
                return ""
            common = await git.line("merge-base", then, now, none=ANY) if then and now else ""
            if not then or common != then:
                why = "the current commit does not come after the commit of the checkpoint"
                raise WorkspaceError(f"The branch cannot be moved: {why}.", remedy)
            repository.require_plain()
            await self._branch.move_back(then, now, f"{self._checkpoints.heads(run_id)}{now[:12]}")
        except (GitError, OSError) as error:
            raise WorkspaceError(f"The branch could not be moved: {error}.", remedy) from error
        return now

    async def require_author(self) -> None:
        await super().require_author()
        git = self._repository.open_git if self._hooks else self._repository.users_git
        if (unpinned := self._repository.unpinned) and not (self._hooks or self._repository.confine):
            raise WorkspaceError(
                f"The run would commit, but {unpinned}, following what an agent may plant there.",
                "Add --commit-hooks, with which your own git commits, or --sandbox bwrap; or leave out --commit; or "
                "run `git refs migrate --ref-format=files`.",
            )
        try:
            for who in ("AUTHOR", "COMMITTER"):
                await git("var", f"GIT_{who}_IDENT")
        except GitError as error:
            raise WorkspaceError(
                f"The run would commit, but git names no one for commits in {self.path}: "
                f"{str(error).partition(' ***')[0].lower()}.",
                "Set them: `git config --global user.name NAME` and `git config --global user.email ADDRESS`; "
                "or leave out --commit.",
            ) from error

    async def commit(self, since: str, message: str) -> CommitResult:
        try:
            self._repository.require_plain()
            look = await self._repository.status(self._within)
            dirty = {*look.committed, *look.changed, *look.untracked}
            paths = [path for path in await self._checkpoints.changed(since) if path in dirty]
            if paths and (operation := operation_in_progress(self._repository)):
                return CommitResult(message=f"The changes are not committed: {operation} is in progress.")
            left = {_NEW_REPOSITORY: await self._new_repositories(paths)}
            if paths and not self._hooks:
                left[_FILTERED] = await self._repository.filtered(_existing(self._repository.top, paths))
            out = frozenset(chain.from_iterable(left.values()))
            left[_INSIDE] = self._changed_inside()
            named = "; ".join(f"{some_of([*map(display_path, each)])}: {why}" for why, each in left.items() if each)
            if len(out) == len(paths):
                return CommitResult(message=named and f"Not committed: {named}.")
            kept = [path for path in paths if path not in out]
            did = "Added" if look.untracked.issuperset(kept) else "Changed"
            made = await self._commit(kept, _COUNT.sub(f"{did} {counted(len(kept), 'file')}", message))
            return made._replace(message=f"{made.message} (without {named})") if named else made
        except (GitError, OSError) as error:
            return CommitResult(message=f"The changes are not committed: {error}. {_REMEDY}")

    async def _new_repositories(self, paths: Iterable[bytes]) -> list[bytes]:
        """Return those of the paths that are repositories but no submodules of the last commit."""
        found = [path for path in paths if _is_repository(self._repository.top / os.fsdecode(path))]
        if not found:
            return found
        names = [os.fsdecode(path.rstrip(b"/")) for path in found]
        lines = await self._repository.git("ls-tree", "--full-tree", "HEAD", "--", *names, none=ANY)
        known = {unquote_path(line.partition("\t")[2]) for line in lines if line.startswith("160000 ")}
        return [path for path in found if path.rstrip(b"/") not in known]

    def _changed_inside(self) -> list[bytes]:
        """Return the nested repositories with uncommitted work that was not there when the run began or continued."""
        before, now = self._first or {}, self._seen.snapshot.files if self._seen else {}
        changed = {path for path, mark in now.items() if before.get(path) != mark}
        inner = ((path, f"{display_path(path)}/") for path in sorted(self._own(self._nested)))
        return [path for path, beginning in inner if any(name.startswith(beginning) for name in changed)]

    async def _commit(self, paths: Sequence[bytes], message: str) -> CommitResult:
        listed, note, problem = b"".join(path + b"\0" for path in paths), "", ""
        if self._hooks:
            commit, note, problem = await self._branch.commit_with_hooks(listed, message, self.path)
        else:
            if (commit := await self._branch.commit(listed, message)) is None:
                return CommitResult()
            if not self._committed and (left := self._repository.left_out("commit")):
                problem = f" (without {left}; with --commit-hooks your own git commits)"
            self._committed = True
        return CommitResult(commit, f"Committed{note} as {commit[:12]}: {message.partition(chr(10))[0]}{problem}")

    async def _differing(self, look: Look) -> tuple[list[bytes], dict[bytes, str]]:
        found = [*look.committed, *look.untracked]
        paths = {path.removesuffix(b"/") for path in found}
        commits: dict[bytes, str] = {}
        untracked = [path for path in look.changed if path.endswith(b"/")]
        queue = deque(self._inside(self._repository, b"", [*untracked, *(path + b"/" for path in self._index.apart)]))
        queued = set(queue)
        self._nested = set(queue)
        for _ in range(NESTED):
            if not queue:
                break
            path = queue.popleft()
            inner = self._repository.at(path) if self._own([path]) else None
            if inner is None:
                continue
            within, head = await self._status_of(inner)
            if path in paths:
                commits[path] = f"160000 {head}"
            paths.update(path + b"/" + name for name in (*within.committed, *within.untracked))
            more = [place for place in self._inside(inner, path + b"/", within.changed) if place not in queued]
            queue.extend(more)
            queued.update(more)
        own = await in_thread(len(paths) > _MANY, self._own, paths)
        return sorted(own), {own_path: commits[path] for own_path, path in own.items() if path in commits}

    def _inside(self, repository: Repository, base: bytes, found: Iterable[bytes]) -> list[bytes]:
        untracked = [path.removesuffix(b"/") for path in found if path.endswith(b"/")]
        links = self._repositories.in_index(repository.git_dir / "index")
        there = [path for path in links if os.path.lexists(repository.top / os.fsdecode(path) / ".git")]
        return [base + path for path in (*untracked, *there)]

    async def _status_of(self, inner: Repository) -> tuple[Look, str | None]:
        """Return the status and commit of a nested repository; git is asked only if something in it has changed."""
        try:
            state = await in_thread(True, state_of, inner, self._noise, self.path)  # noqa: FBT003
            before, found = self._inner.get(inner.top, (None, None))
            if found is None or before != state or state is None:
                found = await inner.status(), await inner.head()
                self._inner[inner.top] = state, found
        except GitError:
            return Look(), None
        return found

    def _own(self, paths: Iterable[bytes]) -> dict[bytes, bytes]:
        prefix = os.fsencode(f"{self._within}/") if self._within else b""
        counted: dict[bytes, bytes] = {}
        for number, path in enumerate(paths):
            check_cancelled(number)
            if path.startswith(prefix) and not self._noise(display_path(path[len(prefix) :])):
                counted[path[len(prefix) :]] = path
        return counted

    async def _between(self, before: str | None, after: str | None) -> tuple[_Between, str]:
        if after is None or before == after:
            return {}, ""
        try:
            found = await self._repository.differences(before, after, self._within)
            return {display_path(short): found[path] for short, path in self._own(found).items()}, ""
        except GitError as error:
            return {}, f"Git cannot tell what was committed ({error})."

    async def _count(self, before: str | None, after: str | None) -> tuple[int, str]:
        if after is None or before == after:
            return 0, ""
        try:
            return await self._repository.commits(before, after), ""
        except GitError as error:
            return 0, f"Git cannot tell what was committed ({error})."


def _gits_own(path: Path, repository: Repository) -> list[Path]:
    """Return the parts of a repository that git executes, or that choose what it executes."""
    heads = chain.from_iterable(
        (repository.common / "modules").glob(f"{depth}HEAD") for depth in ("*/", "*/*/", "*/*/*/")
    )
    submodules = (head.parent for head in islice(heads, _SUBMODULES))
    folders = dict.fromkeys((repository.common, repository.git_dir, *submodules))
    names = ("hooks", "config", "config.worktree", "info", "commondir", "gitdir")
    others = islice((repository.common / "worktrees").glob("*/HEAD"), _SUBMODULES)
    settings = [head.with_name("config.worktree") for head in others]
    return [path / ".git", *dict.fromkeys((*(folder / name for folder in folders for name in names), *settings))]


def _existing(top: Path, paths: Iterable[bytes]) -> list[bytes]:
    return [path for path in paths if os.path.lexists(top / os.fsdecode(path))]


def _is_repository(folder: Path) -> bool:
    return not folder.is_symlink() and os.path.lexists(folder / ".git")
