"""The source of a task's files: a git address or a local repository, and this machine's mirror of it.

The mirror is a bare repository of Ralph's own, out of the agents' reach. Only Ralph's settings hold in it, and every
call goes through the gate for git: nothing that a repository or its server names is run. A local repository is read
and written through its view, so that neither its hooks nor its settings hold. Branches of the source lie below
`refs/remotes/origin/`, the saved work of runs below `refs/ralph/runs/`.
"""

import os
import re
import shlex
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from urllib.parse import urlsplit

import anyio

from ralph.errors import RalphError, UsageError, WorkspaceError
from ralph.fleet.task import SCP, Task, has_login
from ralph.system.files import lock
from ralph.workspace.gate import ANY, OURS, Git, GitError, environment, read_settings, settings_text
from ralph.workspace.git_settings import kept, listed
from ralph.workspace.repository import ID, Repository, find_repository

TOKEN, USER = "RALPH_GIT_TOKEN", "RALPH_GIT_USER"
"""The environment variables with the login for https. No agent gets the token, and nothing stores it."""

_LOOPBACK = frozenset(("localhost", "127.0.0.1", "::1"))
_NETWORK = 1800.0
"""Seconds that a call over the network may take."""

_BETWEEN_TRIES = 0.05
_HEAD = "refs/ralph/head"
_BRANCHES = ("+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*")
_COPIED = ("+refs/remotes/origin/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*")
_OWN = tuple(word for key, value in OURS for word in ("-c", f"{key}={value}"))
_BARE = (*_OWN, "-c", "core.bare=true", "-c", "transfer.unpackLimit=1", "-c", "core.logAllRefUpdates=false")
_FETCH = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-maintenance")
_PUSH = ("push", "--quiet", "--no-verify", "--no-recurse-submodules", "--no-signed")
_REJECTED = re.compile(r"\[rejected\].*\((?:non-fast-forward|fetch first)\)", re.DOTALL)
_PASSED_ON = ("GIT_SSH_COMMAND", "GIT_ASKPASS", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH")


@dataclass(frozen=True, slots=True)
class Source:
    """The place that a task's repository is at.

    Attributes:
        address: as it is given to git; without a login.
        protocol: the only one that git may use: "https", "ssh", "file", or "http" on this machine.
        local: the repository's folder, if it is on this machine.
    """

    address: str
    protocol: str
    local: Path | None = None

    @classmethod
    def parse(cls, text: str) -> "Source":
        """Return the source that an address or a path names.

        Raises:
            WorkspaceError: it is neither, or contains a password or token.
        """
        remedy = "Use https://HOST/PATH, ssh://HOST/PATH, USER@HOST:PATH, or the path of a repository on this machine."
        if text.startswith("file://"):
            text = text.removeprefix("file://")
        if "://" not in text and "::" not in text:
            if SCP.fullmatch(text) and not Path(text).exists():
                return cls(text, "ssh")
            if text and text.isprintable() and not text.startswith("-"):
                return cls(path := os.path.realpath(Path(text).expanduser()), "file", Path(path))
        with suppress(ValueError):
            parts = urlsplit(text)
            if has_login(text):
                raise WorkspaceError(
                    f"The address of a repository on {parts.hostname!r} contains a login.",
                    f"Remove it from the address, and set {TOKEN} in the worker's environment.",
                )
            secure = parts.scheme in {"https", "ssh"} or (parts.scheme == "http" and parts.hostname in _LOOPBACK)
            if secure and parts.hostname and not parts.hostname.startswith("-") and re.fullmatch(r"[!-~]+", text):
                return cls(text, parts.scheme)
        raise WorkspaceError(f"{text[:200]!r} is not an address or a path of a git repository.", remedy)

    @property
    def name(self) -> str:
        """The repository's short name, for folders."""
        last = re.split(r"[/:]", self.address.rstrip("/"))[-1].removesuffix(".git")
        return re.sub(r"[^\w.-]", "-", last, flags=re.ASCII).strip(".-")[:60] or "repository"

    def login(self) -> dict[str, str]:
        """Return git's variables for the network: the login for this host, from the environment, and ssh."""
        env = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
        env = {"GIT_SSH_COMMAND": "ssh -o BatchMode=yes"} | env | {"GIT_ALLOW_PROTOCOL": self.protocol}
        if self.protocol in {"http", "https"} and os.environ.get(TOKEN):
            parts = urlsplit(self.address)
            answer = f'!f() {{ test "$1" = get && printf "username=%s\\npassword=%s\\n" "$U" "${TOKEN}"; }}; U='
            user = shlex.quote(os.environ.get(USER) or "x-access-token")
            env |= {
                TOKEN: os.environ[TOKEN],
                "GIT_CONFIG_COUNT": "1",
                "GIT_CONFIG_KEY_0": f"credential.{parts.scheme}://{parts.netloc}.helper",
                "GIT_CONFIG_VALUE_0": f"{answer}{user}; f",
            }
        return env


def require_startable(tasks: Iterable[Task]) -> None:
    """Raise `UsageError` for a task that no worker could begin, before anything stores it: its address or a check."""
    from ralph.verifiers.command import parse_command

    seen: set[str | None] = {None}
    for task in tasks:
        try:
            if task.repository not in seen:
                Source.parse(task.repository or "")
                seen.add(task.repository)
            for command in task.verify:
                parse_command(command)
        except RalphError as error:
            raise UsageError(f"Task {task.name or task.task[:40]!r}: {error.problem}", error.remedy) from None


def pinned(folder: Path, state: Path) -> tuple[Repository, bool]:
    """Return the repository in a folder, read through its view, and whether it is a bare one.

    Raises:
        WorkspaceError: there is none.
    """
    if all((folder / name).exists() for name in ("HEAD", "objects", "refs")):
        settings = kept(listed(read_settings(folder / "config")))
        settings.pop("core.worktree", None)
        return Repository(folder, folder, settings=settings, users={}, state_dir=state), True
    if not folder.is_dir() or (found := find_repository(folder, state_dir=state)) is None:
        raise WorkspaceError(f"{str(folder)!r} is not a git repository.", "Check the path, or use `folder` instead.")
    return found[0], False


class Mirror:
    """This machine's copy of a source.

    Args:
        source: the source.
        state: the worker's folder of state.

    Attributes:
        path: the bare repository.
        git: runs git in it; without any protocol.
    """

    def __init__(self, source: Source, state: Path) -> None:
        self.source = source
        self._state = state
        self.path = state / "mirrors" / f"{source.name}-{sha256(source.address.encode()).hexdigest()[:16]}.git"
        self.git = Git(environment(GIT_DIR=str(self.path)), _BARE, timeout=_NETWORK, bounded=False)

    async def update(self) -> None:
        """Fetch the source's branches and tags, and its current commit.

        Raises:
            WorkspaceError: the source cannot be read.
        """
        try:
            async with self._locked():
                await self._init()
                if self.source.local is None:
                    asked = (*_FETCH, "--force", "--prune", "--refmap=", self.source.address)
                    await self.git(*asked, f"+HEAD:{_HEAD}", *_BRANCHES, env=self.source.login())
                else:
                    repository, _ = pinned(self.source.local, self._state)
                    await self.take(repository.git, f"+HEAD:{_HEAD}", *_BRANCHES, prune=True)
                await self.git("gc", "--quiet", "--auto", env={"GIT_CONFIG_COUNT": "0"})
        except (GitError, OSError) as error:
            raise WorkspaceError(
                f"The repository {self.source.address!r} cannot be read: {error}.",
                f"Check the address and the network; for a private one, set {TOKEN} or an ssh key for the worker.",
            ) from error

    async def take(self, git: Git, *refs: str, prune: bool = False) -> None:
        """Copy refs with their objects from another repository of this machine. Raises `GitError`."""
        await replace(git, timeout=_NETWORK, bounded=False, options=())(
            *_PUSH, "--force", *(("--prune",) if prune else ()), str(self.path), *refs, env=_FILE
        )

    async def copy_to(self, folder: Path, branch: str, commit: str) -> None:
        """Make a repository in an empty folder, with a commit checked out on a new branch.

        It has the source's branches and tags, and no object of another run; nothing in it is shared with the mirror.

        Raises:
            GitError: git fails.
        """
        where = {"GIT_DIR": str(folder / ".git"), "GIT_WORK_TREE": str(folder)}
        git = Git(environment(**where), _OWN, timeout=_NETWORK, bounded=False)
        await git("init", "--quiet", "--template=", "--initial-branch=main", str(folder))
        for key, value in (("url", self.source.address), ("fetch", "+refs/heads/*:refs/remotes/origin/*")):
            await git("config", f"remote.origin.{key}", value)
        info = folder / ".git" / "info"
        info.mkdir()
        (info / "attributes").write_text(_UNCONVERTED)
        await git(*_FETCH, str(self.path), *_COPIED, commit, env=_FILE)
        await git("checkout", "--quiet", "--no-recurse-submodules", "-b", branch, commit)

    async def commit_of(self, name: str) -> str:
        """Return the commit of a ref, or an empty text where the ref is missing."""
        return await self.git.line("rev-parse", "--quiet", "--verify", f"{name}^{{commit}}", none=ANY)

    async def base(self, ref: str) -> str:
        """Return the commit that a task begins with: a branch's, a tag's, one of its own, or the source's current one.

        Raises:
            WorkspaceError: the source does not have it.
        """
        names = (f"refs/remotes/origin/{ref}", f"refs/tags/{ref}") if ref else (_HEAD,)
        for name in (*names, *((ref,) if ID.fullmatch(ref) else ())):
            if found := await self.commit_of(name):
                return found
        raise WorkspaceError(
            f"The repository {self.source.address!r} has no branch, tag or commit {ref!r}."
            if ref
            else f"The repository {self.source.address!r} has no commit.",
            "Correct `ref` of the task." if ref else "Commit first.",
        )

    async def follows(self, commit: str, before: str) -> bool:
        """Return whether a commit is another one or comes after it."""
        try:
            await self.git("merge-base", "--is-ancestor", before, commit)
        except GitError:
            return False
        return True

    async def push(self, commit: str, branch: str) -> None:
        """Set a branch of the source to a commit that comes after its present one. Raises `GitError`."""
        try:
            await self._push(commit, f"refs/heads/{branch}")
        except GitError as error:
            if _REJECTED.search(str(error)):
                raise GitError("it has commits that are not in the result") from error
            raise

    async def _push(self, commit: str, target: str) -> None:
        if self.source.local is None:
            await self.git(*_PUSH, self.source.address, f"{commit}:{target}", env=self.source.login())
            return
        try:
            repository, bare = pinned(self.source.local, self._state)
        except WorkspaceError as error:
            raise GitError(error.problem.rstrip(".")) from error
        loud = (word for word in _FETCH if word != "--quiet")  # which would leave out why a branch is rejected
        words = (*loud, *(("--update-head-ok",) if bare else ()), str(self.path), f"{commit}:{target}")
        await repository.users_git(*words, env=_FILE)

    async def _init(self) -> None:
        if (self.path / "HEAD").exists():
            return
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        local = self.source.local
        algorithm = pinned(local, self._state)[0].algorithm if local else "sha1"
        words = ("init", "--quiet", "--bare", "--template=", f"--object-format={algorithm}", str(self.path))
        await Git(environment(), _OWN)(*words)
        with (self.path / "config").open("a", encoding="utf-8") as file:
            file.write(settings_text(_MIRRORS.items()))

    @asynccontextmanager
    async def _locked(self) -> AsyncGenerator[None]:
        """Wait until no other process or run updates the mirror."""
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = os.open(self.path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            while not lock(handle):  # noqa: ASYNC110 - another process has it
                await anyio.sleep(_BETWEEN_TRIES)
            yield
        finally:
            os.close(handle)


_UNCONVERTED = "* -text -crlf -eol -ident -filter -working-tree-encoding\n"
"""Attributes by which files are as they are committed: no line ending is changed, and no filter runs."""

_FILE: Mapping[str, str] = {"GIT_ALLOW_PROTOCOL": "file"}
_MIRRORS = {
    **dict(pair for pair in OURS if pair[0] not in {"core.bare", "gc.auto"}),
    "uploadpack.allowAnySHA1InWant": "true",
    "receive.fsckObjects": "false",
    "receive.autogc": "false",
    "receive.denyDeleteCurrent": "ignore",
}
"""The mirror's own settings, for the git that another git starts in it."""
