"""The gate for git: every call to the user's `git`, and the repository as read through it.

A `Git` calls the program in one place with one environment. With the options `SAFE` it executes nothing that a
repository brings along: no hook, file-system monitor, filter or diff program; it fetches nothing and never asks for a
password. `Repository.users_git` calls git as the user would, with identity, settings, filters and hooks, after the
protected paths were restored; hooks in the workspace itself are not run, because the agent can change them.
"""

import os
import re
import subprocess
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from ralph.errors import UsageError, WorkspaceError
from ralph.system.files import read_regular
from ralph.system.process import run
from ralph.workspace.scan import ABSENT

SAFE = (
    *("-c", "core.fsmonitor=false"),
    *("-c", f"core.hooksPath={os.devnull}"),
    *("-c", "core.quotePath=true"),
    *("-c", "protocol.allow=never"),
)
READING = (*SAFE, "--no-optional-locks", "--literal-pathspecs")
_KEPT = ("GIT_EXEC_PATH", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_CEILING_DIRECTORIES")

_NAMED = 5

ANY = range(-64, 256)
"""Every exit status."""


class GitError(Exception):
    """A failed git call; its text is git's complaint in one line."""


@dataclass(frozen=True, slots=True)
class Git:
    """The user's git in one place.

    Attributes:
        cwd: the folder to run in.
        env: the whole environment.
        options: git's own, before the command.
        timeout: in seconds.
    """

    cwd: Path
    env: Mapping[str, str]
    options: Sequence[str] = READING
    timeout: float = 120.0

    async def __call__(
        self,
        *arguments: str,
        stdin: bytes = b"",
        none: Collection[int] = (),
        env: Mapping[str, str] | None = None,
        max_output: int = 32 * 1024 * 1024,
    ) -> list[str]:
        """Return the lines that git prints; of more than `max_output` bytes those in the first half.

        An exit status in `none` means an empty result. `env` has variables in addition.

        Raises:
            GitError: git fails, cannot be run, or times out.
        """
        argv = ["git", *self.options, *arguments]
        command = next((word for word in arguments if not word.startswith("-")), "")
        given = {**self.env, **(env or {})}
        try:
            done = await run(
                argv, cwd=self.cwd, env=given, stdin=stdin or None, timeout=self.timeout, max_output=max_output
            )
        except UsageError as error:
            raise GitError(error.problem.rstrip(".")) from error
        if done.timed_out:
            raise GitError(f"git {command} took more than {self.timeout:.0f} s")
        if done.code and done.code not in none:
            said = _complaint(done.stderr or done.stdout)
            raise GitError(said or f"git {command} ended with status {done.code}")
        if done.code or not done.stdout:
            return []
        lines = (done.stdout[: max_output // 2] if done.stdout_truncated else done.stdout).split("\n")
        return lines if lines[-1] and not done.stdout_truncated else lines[:-1]

    async def line(self, *arguments: str, none: Collection[int] = ()) -> str:
        """Return the first line that git prints, or the empty string."""
        return next(iter(await self(*arguments, none=none)), "")


def run_git_now(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run a short git query in a folder; blocks. Raises `OSError` if git is not installed."""
    return subprocess.run(
        ["git", *SAFE, "--no-optional-locks", *arguments],
        cwd=folder,
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="surrogateescape",
        check=False,
    )


def environment() -> dict[str, str]:
    """Return the environment for git, without variables that change the repository or the output."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name in _KEPT}
    return kept | {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C", "LANGUAGE": ""}


def _complaint(stderr: str) -> str:
    """Return git's complaint in one line without a full stop and without its hints."""
    lines = [line.strip() for line in stderr[:4000].splitlines() if line.strip() and not line.startswith("hint:")]
    return " ".join(lines[:3])[:500].removeprefix("error: ").removeprefix("fatal: ").rstrip(".")


_ESCAPED = re.compile(rb'\\([abtnvfr"\\]|[0-7]{3})')
_ESCAPES = dict(zip(b'abtnvfr"\\', b'\a\b\t\n\v\f\r"\\', strict=True))


def display_path(path: bytes) -> str:
    """Return a path as text that can be stored and printed; bytes that are not UTF-8 become escapes."""
    return path.decode("utf-8", "backslashreplace")


def some_of(names: Sequence[str]) -> str:
    """Return the first five of some names, and the number of the others, as text for the user."""
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def unquote_path(path: str) -> bytes:
    """Return the path that git printed, in quotes and with escapes if it has special characters."""
    if not path.startswith('"'):
        return os.fsencode(path)

    def character(escape: re.Match[bytes]) -> bytes:
        code = escape[1]
        return bytes([_ESCAPES[code[0]] if len(code) == 1 else int(code, 8) & 0xFF])

    return _ESCAPED.sub(character, path[1:-1].encode("ascii", "replace"))


_EMPTY_TREES = {
    "sha1": "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "sha256": "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}
_SETTINGS_READ = 256 * 1024

STATUS = (
    *("status", "--porcelain=v2", "--branch", "--untracked-files=all", "--no-renames", "--no-ahead-behind"),
    *("--ignore-submodules=dirty", "--"),
)
"""The arguments of `git status`; the paths to limit it to follow them."""


class Status(NamedTuple):
    """The difference from the commit that is checked out.

    Attributes:
        head: that commit; None before the first one.
        paths: the paths that differ, from the repository's top. One that ends in a slash is an untracked nested
            repository.
        untracked: those of them that are not in the index.
    """

    head: str | None
    paths: list[bytes]
    untracked: Sequence[bytes] = ()


class Repository:
    """A repository pinned to its folders, so that the agent cannot redirect it.

    Args:
        top: the folder that its paths start from.
        git_dir: git's folder, or the file that names it.
        settings: the files with the repository's own settings; without them, each status asks git.
        algorithm: of its ids, sha1 or sha256.
        common: the folder that all its worktrees share; by default `git_dir`.

    Attributes:
        git: reads the repository.
        users_git: changes it as its user would.
    """

    def __init__(
        self,
        top: Path,
        git_dir: Path,
        settings: Sequence[Path] = (),
        algorithm: str = "sha1",
        *,
        common: Path | None = None,
    ) -> None:
        self.top = top
        self.git_dir = git_dir
        self.common = common or git_dir
        self.algorithm = algorithm
        self._settings = tuple(settings)
        where = {"GIT_DIR": str(git_dir), "GIT_WORK_TREE": str(top)}
        self.git = Git(top, environment() | where)
        who = {name: value for name, value in os.environ.items() if name.startswith(("GIT_AUTHOR_", "GIT_COMMITTER_"))}
        self.users_git = Git(top, environment() | who | where, (), timeout=300.0)

    async def status(self, within: str = "") -> Status:
        """Return what differs from HEAD in the index or on disk, and new files; only below a folder, if given.

        Raises:
            GitError: git fails, as in the other methods.
        """
        return read_status(await self.git(*STATUS, *_below(within), env=await self._without_filters()))

    async def commits(self, before: str | None, after: str) -> int:
        """Return the number of commits in one commit's history but not in another's."""
        return int(await self.git.line("rev-list", "--count", f"{before}..{after}" if before else after, "--") or 0)

    async def differences(self, before: str | None, after: str, within: str = "") -> dict[bytes, tuple[str, str]]:
        """Return the content hashes, before and after, of paths that differ between two commits."""
        words = ("diff-tree", "-r", "--raw", "--no-abbrev", "--no-renames", "--no-ext-diff", "--no-textconv")
        found: dict[bytes, tuple[str, str]] = {}
        for line in await self.git(*words, before or _EMPTY_TREES[self.algorithm], after, "--", *_below(within)):
            fields, _, path = line.removeprefix(":").partition("\t")
            old_mode, new_mode, old_id, new_id, _ = fields.split(" ")
            found[unquote_path(path)] = (_hash(old_mode, old_id), _hash(new_mode, new_id))
        return found

    def nested(self) -> list[bytes]:
        """Return the paths of checked-out submodules that `.gitmodules` names; blocks."""
        try:
            lines = read_regular(self.top / ".gitmodules", _SETTINGS_READ).splitlines()
        except OSError:
            return []
        settings = (line.partition(b"=") for line in lines)
        paths = {value.strip().strip(b'"').rstrip(b"/") for key, _, value in settings if key.strip().lower() == b"path"}
        return sorted(path for path in paths if path and self.at(path) is not None)

    def at(self, path: bytes) -> "Repository | None":
        """Return the repository in a folder of this one; None if none exists, or the path leads outside."""
        folder = self.top / os.fsdecode(path)
        try:
            if not folder.resolve().is_relative_to(self.top) or not (folder / ".git").exists():
                return None
        except (OSError, RuntimeError, ValueError):
            return None
        return Repository(folder, folder / ".git", algorithm=self.algorithm)

    async def _without_filters(self) -> dict[str, str]:
        """Return variables that disable the filters in the repository's own settings.

        Git would run them on changed files. This runs git only if the settings may name filters.
        """
        if not self._may_filter():
            return {}
        words = ("config", "--null", "--show-scope", "--name-only", "--get-regexp", r"^filter\.")
        out = await self.git(*words, none=(1,))
        fields = "\n".join(out).split("\0")
        own = {key for scope, key in zip(fields[::2], fields[1::2], strict=False) if scope in {"local", "worktree"}}
        names = sorted({key.removeprefix("filter.").rpartition(".")[0] for key in own})
        harmless = (("clean", ""), ("smudge", ""), ("process", ""), ("required", "false"))
        settings = [(f"filter.{name}.{key}", value) for name in names for key, value in harmless]
        env = {"GIT_CONFIG_COUNT": str(len(settings))}
        for number, (key, value) in enumerate(settings):
            env |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
        return env

    def _may_filter(self) -> bool:
        if not self._settings:
            return True
        for number, path in enumerate(self._settings):
            try:
                text = read_regular(path, _SETTINGS_READ).lower()
            except FileNotFoundError:
                if number == 0:
                    return True
            except OSError:
                return True
            else:
                if b"filter" in text or b"include" in text or len(text) == _SETTINGS_READ:
                    return True
        return False

    async def with_hooks(
        self,
        command: Literal["commit", "merge", "worktree"],
        *arguments: str,
        workspace: Path,
        env: Mapping[str, str] | None = None,
    ) -> str:
        """Run a command as the user, with the repository's hooks, except those that the agent can change.

        Returns a phrase for the user if hooks were left out, else the empty string. The error names the hooks that may
        be the cause: a hook's own message need not name it.
        """
        folder = (self.top / await self.users_git.line("rev-parse", "--git-path", "hooks")).resolve()
        if folder.is_relative_to(workspace) and not folder.is_relative_to(self.common):
            await self.users_git("-c", f"core.hooksPath={os.devnull}", command, *arguments, env=env)
            return " without the hooks, which lie in the workspace,"
        try:
            await self.users_git(command, *arguments, env=env)
        except GitError as error:
            hooks = [name for name in _HOOKS[command] if os.access(folder / name, os.X_OK)]
            runs = f", which runs the repository's hook {' and '.join(hooks)}," if hooks else ""
            raise GitError(f"`git {command}`{runs} refused: {error}") from error
        return ""


def find_repository(folder: Path) -> tuple[Repository, str] | None:
    """Return a folder's repository and the folder's path in it, empty at the top.

    None without git, without a repository, and if the repository ignores the folder. Blocks for a few milliseconds.

    Raises:
        WorkspaceError: the folder is git's own, or git refuses to read the repository.
    """
    try:
        asked = run_git_now(
            *(folder, "rev-parse", "--is-inside-git-dir", "--show-object-format"),
            *("--absolute-git-dir", "--git-common-dir", "--show-prefix"),
        )
    except OSError:
        return None
    if asked.returncode != 0:
        refusal = _complaint(asked.stderr)
        if "not a git repository" in refusal:
            return None
        raise WorkspaceError(f"Git refuses to read {str(folder)!r}: {refusal}", "Fix that, or name another folder.")
    inside, algorithm, where, common, prefix = asked.stdout.split("\n", 4)
    if inside == "true":
        raise WorkspaceError(
            f"{str(folder)!r} is git's own folder or a bare repository; there are no files to work on.",
            "Name a folder in which the repository is checked out.",
        )
    within = prefix.removesuffix("\n").rstrip("/")
    if within and run_git_now(folder, "check-ignore", "--quiet", ".").returncode == 0:
        return None
    top = folder.parents[within.count("/")] if within else folder
    shared = (folder / common).resolve()
    settings = (shared / "config", Path(where) / "config.worktree")
    return Repository(top, Path(where), settings, algorithm, common=shared), within


_FIELDS_BEFORE_PATH = {"1": 7, "u": 9, "?": 0}
"""The number of fields before the path, by the kind of a line of `git status`."""


def read_status(lines: list[str]) -> Status:
    """Parse the output of `git status`. Raises `GitError` if it is empty."""
    if not lines or not lines[0].startswith("# "):
        raise GitError("git status said nothing")
    head: str | None = None
    paths: list[bytes] = []
    untracked: list[bytes] = []
    for line in lines:
        kind, _, rest = line.partition(" ")
        if kind == "#" and rest.startswith("branch.oid "):
            head = None if rest.endswith("(initial)") else rest.rpartition(" ")[2]
        elif kind in _FIELDS_BEFORE_PATH and rest:
            paths.append(unquote_path(rest.split(" ", _FIELDS_BEFORE_PATH[kind])[-1]))
            if kind == "?":
                untracked.append(paths[-1])
    return Status(head, paths, untracked)


def _below(within: str) -> tuple[str, ...]:
    return (within,) if within else ()


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
