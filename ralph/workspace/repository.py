"""A repository, read and changed through the gate for git: status, commits, differences, nested repositories."""

import os
import re
import stat
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from hashlib import sha256
from pathlib import Path
from typing import Literal

from ralph.errors import WorkspaceError
from ralph.system.files import read_regular
from ralph.system.text import some_of
from ralph.workspace.gate import (
    Confine,
    Git,
    GitError,
    environment,
    first_line,
    git_program,
    in_sandbox,
    make_view,
    read_list,
    read_settings,
    require_plain,
)
from ralph.workspace.git_settings import LISTS, OF_WORKTREE, SPARSE, is_on, is_shared, kept, listed, users_settings
from ralph.workspace.lock import state_folder
from ralph.workspace.scan import ABSENT

_ESCAPED = re.compile(rb'\\([abtnvfr"\\]|[0-7]{3})')
_ESCAPES = dict(zip(b'abtnvfr"\\', b'\a\b\t\n\v\f\r"\\', strict=True))


def display_path(path: bytes) -> str:
    """Return a path as text that can be stored; bytes that are not UTF-8 become escapes."""
    return path.decode("utf-8", "backslashreplace")


def unquote_path(path: str) -> bytes:
    """Return the path that git printed, in quotes and with escapes if it has special characters."""
    if not path.startswith('"'):
        return os.fsencode(path)

    def character(escape: re.Match[bytes]) -> bytes:
        code = escape[1]
        return bytes([_ESCAPES[code[0]] if len(code) == 1 else int(code, 8) & 0xFF])

    return _ESCAPED.sub(character, path[1:-1].encode("ascii", "replace"))


EMPTY_TREES = {
    "sha1": "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "sha256": "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}

STATUS = (
    *("status", "--porcelain=v2", "--branch", "--untracked-files=all", "--no-renames", "--no-ahead-behind"),
    *("--ignore-submodules=dirty", "--"),
)
"""The arguments of `git status`; the paths to limit it to follow them."""


@dataclass(slots=True)
class Look:
    """The differences of the files from the commit that is checked out, and from the last tree.

    Attributes:
        committed: content hashes in the commit, by path, of the paths that differ from it or from the index.
        changed: the paths that differ from the last tree.
        missing: those that are in the commit but not in the tree.
        untracked: the new ones that are not in the index.
        hashes: the present content hashes of paths in which the tree is ahead of the index.
    """

    committed: dict[bytes, str] = field(default_factory=dict[bytes, str])
    changed: list[bytes] = field(default_factory=list[bytes])
    missing: list[bytes] = field(default_factory=list[bytes])
    untracked: set[bytes] = field(default_factory=set[bytes])
    hashes: dict[bytes, str] = field(default_factory=dict[bytes, str])


class Repository:
    """A repository pinned to its folders, so that the agent cannot redirect it.

    Args:
        top: the folder that its paths start from.
        git_dir: git's folder.
        common: the folder that all its worktrees share; by default `git_dir`.
        settings: those of its own settings that Ralph regards; None for none.
        users: those of the user's; None to read them.
        state_dir: the folder for the views of repositories; None for the user's state folder.
        confine: starts git in a sandbox; None for no sandbox.

    Attributes:
        algorithm: of its ids, sha1 or sha256.
        git: reads the repository.
        users_git: changes it in the user's name, without running anything but git.
        open_git: changes it as the user's git does, with their settings, the repository's own, hooks and filters.
    """

    def __init__(
        self,
        top: Path,
        git_dir: Path,
        *,
        common: Path | None = None,
        settings: Mapping[str, str] | None = None,
        users: Mapping[str, str] | None = None,
        state_dir: Path | None = None,
        confine: Confine | None = None,
    ) -> None:
        self.top = top
        self.git_dir = git_dir
        self.common = common or git_dir
        self.algorithm = (settings or {}).get("extensions.objectformat", "sha1")
        self.confine = confine
        self._settings, self._given = settings or {}, users
        self.state_dir = state_dir
        self._pack: tuple[tuple[int, ...], dict[str, str]] = ((), {})

    @cached_property
    def settings(self) -> dict[str, str]:
        """The user's and the repository's settings that Ralph regards."""
        return {**self._users, **self._settings}

    @cached_property
    def _users(self) -> Mapping[str, str]:
        return users_settings(self.git_dir, self.common) if self._given is None else self._given

    @cached_property
    def excluded(self) -> bytes:
        """The list of ignored paths that the settings name, or the user's, and then the repository's own."""
        return self._users_list("core.excludesfile", "ignore") + read_list(self.common / "info" / "exclude")

    @cached_property
    def users_attributes(self) -> bytes:
        """The machine's attributes, and then those that the settings name, or the user's."""
        machines = b"" if "GIT_ATTR_NOSYSTEM" in os.environ else read_list(Path("/etc/gitattributes"))
        return machines + self._users_list("core.attributesfile", "attributes")

    def _users_list(self, key: str, name: str) -> bytes:
        named = self.settings.get(key)
        own = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "git" / name
        return read_list(Path(os.path.realpath(self.top / Path(named).expanduser() if named else own)))

    @cached_property
    def git(self) -> Git:
        return Git(self._pinned, confine=self.confine, require=self._require_index)

    @cached_property
    def users_git(self) -> Git:
        who = {name: value for name, value in os.environ.items() if name.startswith(_IDENTITY)}
        state = self.state_dir or state_folder()
        writable = (self.common, self.git_dir, self.top, state / "checkpoints", state / "worktrees")
        env, require = self._pinned | who, self.require_plain
        return Git(env, (), timeout=300.0, confine=self.confine, writable=writable, require=require)

    @cached_property
    def open_git(self) -> Git:
        users = (*_IDENTITY, "GIT_EXEC_PATH", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM")
        own = {
            name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name.startswith(users)
        }
        where = {"GIT_DIR": str(self.git_dir), "GIT_WORK_TREE": str(self.top)}
        env = own | where | {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
        return Git(env, (), timeout=300.0, bounded=False, require=self.require_plain)

    def _require_index(self) -> None:
        """Refuse an index that git would wait for; raises `GitError`."""
        index = self.git_dir / "index"
        with suppress(OSError):  # git reports what it cannot open
            if not stat.S_ISREG(index.stat().st_mode):
                raise GitError(f"{str(index)!r} is no file; remove it, and `git reset` makes it anew")

    def require_plain(self) -> None:
        """Refuse links and pipes where git writes; raises `GitError`."""
        require_plain(self.common, self.git_dir)

    @cached_property
    def _pinned(self) -> dict[str, str]:
        """The environment that names git's folders; making it blocks for some milliseconds."""
        name = sha256(os.fsencode(self.common)).hexdigest()[:32]
        folder = (self.state_dir or state_folder()) / "git" / name
        try:
            shared = {key: value for key, value in self.settings.items() if is_shared(key)}
            view = make_view(folder, self.common, shared, self.excluded, self.users_attributes)
        except OSError as error:
            raise GitError(f"{str(folder)!r} cannot be written: {error.strerror}") from error
        where = {"GIT_DIR": str(self.git_dir), "GIT_COMMON_DIR": str(view), "GIT_WORK_TREE": str(self.top)}
        for number, (key, value) in enumerate(self.sparse.items()):
            where |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
        return environment(**where, GIT_CONFIG_COUNT=str(len(self.sparse)))

    @property
    def unpinned(self) -> str:
        """A clause that says why Ralph cannot write refs without a path that may lead elsewhere; empty if it can."""
        if self.settings.get("extensions.refstorage", "files") == "files":
            return ""
        return f"the refs of {str(self.top)!r} are in the reftable format, which git alone writes"

    @property
    def sparse(self) -> dict[str, str]:
        """The settings of a sparse checkout, which may be this worktree's alone."""
        return {key: value for key, value in self.settings.items() if key in SPARSE}

    @property
    def borrowed(self) -> dict[str, str]:
        """The variable by which git finds the repository's objects from another one."""
        path = str(self.common / "objects")
        quoted = path.replace("\\", "\\\\").replace('"', '\\"')
        return {"GIT_ALTERNATE_OBJECT_DIRECTORIES": f'"{quoted}"' if set(path) & set(':"\n') else path}

    async def head(self) -> str | None:
        """Return the commit that is checked out, read without git; None before the first. Raises as `tip` does."""
        name, found = self.tip()
        return found if name else await self.git.line("rev-parse", "--quiet", "--verify", "HEAD", none=(1,)) or None

    def tip(self) -> tuple[str, str | None]:
        """Return the name of the branch, or HEAD, and its commit, from files; an empty name if it is not in files.

        Raises:
            GitError: the folder is no longer a repository.
        """
        if not (self.common / "objects").is_dir():
            raise GitError(f"not a git repository: {str(self.git_dir)!r}")
        name = "HEAD"
        for _ in range(_LINKED):
            text = first_line(self.git_dir / name) or (first_line(self.common / name) if name != "HEAD" else "")
            if ID.fullmatch(text):
                return name, text
            if not text and name != "HEAD":
                return name, self.packed().get(name)
            name = text.removeprefix("ref:").strip()
            if not text.startswith("ref:") or not name.startswith("refs/") or ".." in name:
                raise GitError(f"not a git repository: its HEAD is {text[:40]!r}")
            if name == "refs/heads/.invalid":
                return "", None
        raise GitError("its HEAD leads nowhere")

    def packed(self) -> Mapping[str, str]:
        """Return the ids of the refs that git has put into one file, by name; it is read again if it has changed."""
        path = self.common / "packed-refs"
        try:
            there = path.lstat()
            state = (there.st_ino, there.st_size, there.st_mtime_ns, there.st_ctime_ns)
            if state != self._pack[0]:
                pairs = _PACKED.findall(read_regular(path, _PACKED_READ))
                self._pack = state, {os.fsdecode(name): tip.decode() for tip, name in pairs}
        except OSError:
            return {}
        return self._pack[1]

    async def status(self, within: str = "") -> Look:
        """Return what differs from HEAD in index or files, and new files; in a folder if given. Raises `GitError`."""
        return read_look(await self.git(*STATUS, *filter(None, [within])))

    async def commits(self, before: str | None, after: str) -> int:
        """Return the number of commits in one commit's history but not in another's."""
        return int(await self.git.line("rev-list", "--count", f"{before}..{after}" if before else after, "--") or 0)

    async def differences(self, before: str | None, after: str, within: str = "") -> dict[bytes, tuple[str, str]]:
        """Return the content hashes, before and after, of paths that differ between two commits."""
        words = ("diff-tree", "-r", "--raw", "--no-abbrev", "--no-renames", "--no-ext-diff", "--no-textconv")
        found: dict[bytes, tuple[str, str]] = {}
        for line in await self.git(*words, before or EMPTY_TREES[self.algorithm], after, "--", *filter(None, [within])):
            fields, _, path = line.removeprefix(":").partition("\t")
            old_mode, new_mode, old_id, new_id, _ = fields.split(" ")
            found[unquote_path(path)] = (_hash(old_mode, old_id), _hash(new_mode, new_id))
        return found

    def at(self, path: bytes) -> "Repository | None":
        """Return the repository in a folder of this one; None if none exists, or the path leads outside."""
        folder = self.top / os.fsdecode(path)
        settings = dict[str, str]()
        try:
            if not folder.resolve().is_relative_to(self.top) or not (folder / ".git").exists():
                return None
            git_dir, common = _folders(folder / ".git")
        except (OSError, RuntimeError, ValueError, GitError):
            return None
        if not any(common.is_relative_to(place) for place in (self.top, self.common)):
            return None
        with suppress(GitError):
            settings = _settings(folder, git_dir, common)
        for key in LISTS:  # it may name any file of the user's
            settings.pop(key, None)
        return Repository(
            folder,
            git_dir,
            common=common,
            settings=settings,
            users=self._users,
            state_dir=self.state_dir,
            confine=self.confine,
        )

    async def with_hooks(
        self,
        command: Literal["commit", "merge", "worktree"],
        *arguments: str,
        workspace: Path,
        env: Mapping[str, str] | None = None,
        alias: str = "",
    ) -> str:
        """Run a command as the user's git does, with the repository's hooks, except those in the workspace.

        With `alias`, that shell function runs it. Returns a phrase for the user if hooks were left out, else the empty
        string. The error names the hooks that may be the cause: a hook's own message need not name it.
        """
        folder = (self.top / await self.open_git.line("rev-parse", "--git-path", "hooks")).resolve()
        git, word = self.open_git, command
        if alias:
            git, word = replace(git, options=("-c", f"alias.ralph-{command}=!{alias}")), f"ralph-{command}"
        if folder.is_relative_to(workspace) and not folder.is_relative_to(self.common):
            await git("-c", f"core.hooksPath={os.devnull}", word, *arguments, env=env)
            return " without the hooks, which lie in the workspace,"
        try:
            await git(word, *arguments, env=env)
        except GitError as error:
            hooks = [name for name in _HOOKS[command] if os.access(folder / name, os.X_OK)]
            runs = f", which runs the repository's hook {' and '.join(hooks)}," if hooks else ""
            raise GitError(f"`git {command}`{runs} refused: {error}") from error
        return ""

    def left_out(self, command: Literal["commit", "merge"]) -> str:
        """Return what of the user's does not run if Ralph commits by itself: hooks, signing; empty for nothing."""
        named = self.settings.get("core.hookspath")
        folder = self.top / Path(named).expanduser() if named else self.common / "hooks"
        hooks = [name for name in (*_HOOKS[command], f"post-{command}") if os.access(folder / name, os.X_OK)]
        parts = [f"the hook{'s' if hooks[1:] else ''} {', '.join(hooks)}"] if hooks else []
        return " and ".join([*parts, "signing"] if is_on(self.settings, "commit.gpgsign") else parts)

    async def filtered(self, paths: Sequence[bytes]) -> list[bytes]:
        """Return those paths that the attributes send through a filter, such as git-lfs. Raises `GitError`."""
        lines = await self.git("check-attr", "--stdin", "-z", "filter", stdin=b"".join(path + b"\0" for path in paths))
        values = "\n".join(lines).split("\0")[2::3]
        if len(values) != len(paths):
            raise GitError("git check-attr left out some files")
        return [path for path, value in zip(paths, values, strict=True) if value not in {"unspecified", "unset"}]

    async def require_no_filter(self, paths: Iterable[bytes]) -> None:
        """Raise `GitError` with some names if any of the paths needs a filter."""
        if found := await self.filtered([*paths]):
            names = some_of([*map(display_path, found)])
            raise GitError(f"only --commit-hooks runs the filter that git has for {names}")


_IDENTITY = ("GIT_AUTHOR_", "GIT_COMMITTER_")
ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?", re.ASCII)
_LINKED = 6
_PACKED_READ = 64 * 1024 * 1024
_PACKED = re.compile(rb"^([0-9a-f]{40,64}) (refs/[^\n]+)$", re.MULTILINE)


def _folders(dot_git: Path) -> tuple[Path, Path]:
    """Return git's folder and the one that all worktrees share, from `.git`. Raises `GitError` if it leads to none."""
    git_dir = dot_git
    if not dot_git.is_dir():
        text = first_line(dot_git)
        if not text.startswith("gitdir:"):
            raise GitError(f"{str(dot_git)!r} is not a repository")
        git_dir = Path(os.path.realpath(dot_git.parent / text.removeprefix("gitdir:").strip()))
    leads = first_line(git_dir / "commondir")
    common = Path(os.path.realpath(git_dir / leads)) if leads else git_dir
    if not first_line(git_dir / "HEAD") or not (common / "objects").is_dir():
        raise GitError(f"{str(git_dir)!r} is not a repository")
    return git_dir, common


def _settings(top: Path, git_dir: Path, common: Path) -> dict[str, str]:
    """Return the settings that Ralph regards. Raises `GitError`, also if they say that the files are elsewhere."""
    settings = kept(listed(read_settings(common / "config")))
    if is_on(settings, "extensions.worktreeconfig"):
        settings |= kept(listed(read_settings(git_dir / "config.worktree")), OF_WORKTREE)
    files = os.path.realpath(git_dir / settings.pop("core.worktree", top))
    if git_dir == common and files != os.path.realpath(top):
        raise GitError(f"its files are in {files!r}, as core.worktree in {str(common / 'config')!r} says")
    return settings


def _alternates(common: Path) -> list[Path]:
    """Return the further folders of objects that a repository names, as in a clone with `--reference`."""
    lines = read_list(common / "objects" / "info" / "alternates").decode("utf-8", "surrogateescape").splitlines()
    return [Path(os.path.realpath(common / "objects" / line)) for line in lines if line and not line.startswith("#")]


def find_repository(
    folder: Path, *, state_dir: Path | None = None, confined: bool = False
) -> tuple[Repository, str] | None:
    """Return a folder's repository and the folder's path in it, empty at the top.

    With `confined`, git runs in a sandbox.

    None without git, without a repository, and if the repository ignores the folder. Blocks for a few milliseconds.

    Raises:
        WorkspaceError: the folder is git's own, or the repository cannot be read.
    """
    if git_program() is None:
        return None
    for top in (folder, *folder.parents):
        if all((top / name).is_dir() for name in ("objects", "refs")) and (top / "HEAD").exists():
            raise WorkspaceError(
                f"{str(folder)!r} is git's own folder or a bare repository; there are no files to work on.",
                "Name a folder in which the repository is checked out.",
            )
        try:
            git_dir, common = _folders(top / ".git")
        except (GitError, OSError):
            continue
        break
    else:
        return None
    try:
        settings = _settings(top, git_dir, common)
        views = (state_dir or state_folder()) / "git"
        seen = (top, git_dir, common, views, *_alternates(common))
        confine = partial(in_sandbox, readable=seen) if confined else None
        repository = Repository(top, git_dir, common=common, settings=settings, state_dir=state_dir, confine=confine)
        within = "" if top == folder else folder.relative_to(top).as_posix()
        if within and replace(repository.git, options=()).now("check-ignore", "--quiet", "--", within).returncode == 0:
            return None
    except GitError as error:
        raise WorkspaceError(
            f"Git refuses to read {str(folder)!r}: {error}.", "Fix that, or name another folder."
        ) from error
    return repository, within


_FIELDS_BEFORE_PATH = {"1": 7, "u": 9, "?": 0}
"""The number of fields before the path, by the kind of a line of `git status`."""


def read_look(lines: list[str]) -> Look:
    """Parse the output of `git status`. Raises `GitError` if it is empty."""
    if not lines or not lines[0].startswith("# "):
        raise GitError("git status said nothing")
    look = Look()
    for line in lines:
        kind, _, rest = line.partition(" ")
        if kind not in _FIELDS_BEFORE_PATH or not rest:
            continue
        *fields, path = rest.split(" ", _FIELDS_BEFORE_PATH[kind])
        name = unquote_path(path)
        if kind == "?":
            look.untracked.add(name.removesuffix(b"/"))
            look.changed.append(name)
            continue
        state, mode, blob = fields[0], fields[2], fields[5]
        look.committed[name] = _hash(mode, blob)
        if state == "D.":
            look.missing.append(name)
        elif state[1] != ".":
            look.changed.append(name)
    return look


def _hash(mode: str, blob: str) -> str:
    return ABSENT if mode == ABSENT else f"{mode} {blob}"


_HOOKS = {
    "commit": ("pre-commit", "prepare-commit-msg", "commit-msg"),
    "merge": ("pre-merge-commit", "prepare-commit-msg", "commit-msg"),
    "worktree": ("post-checkout",),
}
"""The hooks of each command that can make it fail."""

_IN_PROGRESS = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply")


def operation_in_progress(repository: Repository) -> str:
    """Return the operation that git is in the middle of, such as "a merge"; empty if none exists."""
    name = next((name for name in _IN_PROGRESS if (repository.git_dir / name).exists()), "")
    return f"a {name.partition('_HEAD')[0].partition('-')[0].lower().replace('_', '-')}" if name else ""
