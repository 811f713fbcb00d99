"""Asking the user's git about a repository that an agent can do anything to.

Nothing that the repository's own settings name is run: no hook, no file system monitor, no filter, no program for
differences. Nothing is locked or written, nothing is fetched, nobody is asked for a password.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ralph.errors import WorkspaceError
from ralph.system.files import read_regular
from ralph.workspace.content_hash import ABSENT
from ralph.workspace.git_program import UnreadableError, ask, ask_now, complaint, environment, unquoted

__all__ = ["STATUS", "Repository", "Status", "UnreadableError", "find_repository", "read_status"]

_EMPTY_TREES = {
    "sha1": "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "sha256": "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}
_SETTINGS_READ = 256 * 1024

STATUS = (
    *("status", "--porcelain=v2", "--branch", "--untracked-files=all", "--no-renames", "--no-ahead-behind"),
    *("--ignore-submodules=dirty", "--"),
)
"""What git is asked for what differs; the paths that it is confined to follow."""


class Status(NamedTuple):
    """What differs from the commit that is checked out.

    Attributes:
        head: that commit; None before the first one.
        paths: of what differs, from the repository's top. One that ends in a slash is a repository of its own that
            this one does not track.
        untracked: those of them that the index does not have.
    """

    head: str | None
    paths: list[bytes]
    untracked: Sequence[bytes] = ()


class Repository:
    """A repository, pinned to its folders: what the agent does to them cannot lead to another one.

    Args:
        top: the folder that its paths start from.
        git_dir: the folder, or the file that names it, in which git keeps the repository.
        settings: the files with the repository's own settings; without them git is asked each time.
        algorithm: that of its ids, sha1 or sha256.
        common: the folder with what all its worktrees share; by default `git_dir`.
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
        self.env = environment() | {"GIT_DIR": str(git_dir), "GIT_WORK_TREE": str(top)}

    async def status(self, within: str = "") -> Status:
        """What differs from HEAD, in the index or on disk, and what is new and not ignored; below a folder if given.

        Raises:
            UnreadableError: it cannot be told.
        """
        env = self.env | await self._without_filters()
        return read_status(await self._git(*STATUS, *([within] if within else []), env=env))

    async def commits(self, before: str | None, after: str) -> int:
        """How many commits one commit has that another one has not. Raises `UnreadableError`."""
        out = await self._git("rev-list", "--count", f"{before}..{after}" if before else after, "--")
        return int(out[0]) if out else 0

    async def differences(self, before: str | None, after: str, within: str = "") -> dict[bytes, tuple[str, str]]:
        """The content marks before and after, by path, of what two commits differ in. Raises `UnreadableError`."""
        old = before or _EMPTY_TREES[self.algorithm]
        out = await self._git(
            *("diff-tree", "-r", "--raw", "--no-abbrev", "--no-renames", "--no-ext-diff", "--no-textconv"),
            *(old, after, "--", *([within] if within else [])),
        )
        found: dict[bytes, tuple[str, str]] = {}
        for line in out:
            fields, _, path = line.removeprefix(":").partition("\t")
            old_mode, new_mode, old_id, new_id, _ = fields.split(" ")
            found[unquoted(path)] = (_mark(old_mode, old_id), _mark(new_mode, new_id))
        return found

    def nested(self) -> list[bytes]:
        """The paths of the submodules that are checked out, as far as `.gitmodules` names them; it blocks."""
        try:
            lines = read_regular(self.top / ".gitmodules", _SETTINGS_READ).splitlines()
        except OSError:
            return []
        settings = (line.partition(b"=") for line in lines)
        paths = {value.strip().strip(b'"').rstrip(b"/") for key, _, value in settings if key.strip().lower() == b"path"}
        return sorted(path for path in paths if path and self.at(path) is not None)

    def at(self, path: bytes) -> "Repository | None":
        """The repository that lies in a folder of this one; None where there is none, or the path leads elsewhere."""
        folder = self.top / os.fsdecode(path)
        try:
            if not folder.resolve().is_relative_to(self.top) or not (folder / ".git").exists():
                return None
        except (OSError, RuntimeError, ValueError):
            return None
        return Repository(folder, folder / ".git", algorithm=self.algorithm)

    async def _without_filters(self) -> dict[str, str]:
        """The environment that takes the power from filters in the repository's own settings: they would be run on
        files that may have changed. It costs a process only where the settings could name any.
        """
        if not self._may_filter():
            return {}
        out = await self._git("config", "--null", "--show-scope", "--name-only", "--get-regexp", r"^filter\.", none=1)
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

    async def _git(self, *arguments: str, env: dict[str, str] | None = None, none: int = 0) -> list[str]:
        """The lines that git prints, as `ask` has them; nothing is locked for it."""
        own = ("--no-optional-locks", "--literal-pathspecs")
        return await ask(*own, *arguments, cwd=self.top, env=env or self.env, none=none)


def find_repository(folder: Path) -> tuple[Repository, str] | None:
    """The repository that a folder belongs to, and the folder's path in it, empty at the top.

    None where there is no git, no repository, or one that ignores the folder. It blocks for a few milliseconds.

    Raises:
        WorkspaceError: the folder is git's own, or git refuses to read the repository.
    """
    try:
        asked = ask_now(
            *(folder, "rev-parse", "--is-inside-git-dir", "--show-object-format"),
            *("--absolute-git-dir", "--git-common-dir", "--show-prefix"),
        )
    except OSError:
        return None
    if asked.returncode != 0:
        refusal = complaint(asked.stderr)
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
    if within and ask_now(folder, "check-ignore", "--quiet", ".").returncode == 0:
        return None
    top = folder.parents[within.count("/")] if within else folder
    shared = (folder / common).resolve()
    settings = (shared / "config", Path(where) / "config.worktree")
    return Repository(top, Path(where), settings, algorithm, common=shared), within


_FIELDS_BEFORE_PATH = {"1": 7, "u": 9, "?": 0}
"""Of each kind of line of `git status`: how many fields stand between the kind and the path."""


def read_status(lines: list[str]) -> Status:
    """What `git status` has printed. Raises `UnreadableError` where that is nothing."""
    if not lines or not lines[0].startswith("# "):
        raise UnreadableError("git status said nothing")
    head: str | None = None
    paths: list[bytes] = []
    untracked: list[bytes] = []
    for line in lines:
        kind, _, rest = line.partition(" ")
        if kind == "#" and rest.startswith("branch.oid "):
            head = None if rest.endswith("(initial)") else rest.rpartition(" ")[2]
        elif kind in _FIELDS_BEFORE_PATH and rest:
            paths.append(unquoted(rest.split(" ", _FIELDS_BEFORE_PATH[kind])[-1]))
            if kind == "?":
                untracked.append(paths[-1])
    return Status(head, paths, untracked)


def _mark(mode: str, blob: str) -> str:
    return ABSENT if mode == ABSENT else f"{mode} {blob}"
