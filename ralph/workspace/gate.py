"""The gate for git: every call of Ralph to `git`, with directories, settings, programs and protocols of Ralph's choice.

An agent may have rewritten a repository's folder, and may go on while git runs. So git never reads it as it is: not the
settings, hooks, attributes or `commondir` in it. Git's folders are named in the environment; what git takes for the
folder that all worktrees share is a `View`, a folder of Ralph's out of the agent's reach. It has Ralph's own settings,
with those few keys of the repository's and the user's that name no program, and links to the repository's refs and
objects. Settings of the machine and of the user are off, as are fetching, prompts and replaced objects.
"""

import os
import stat
import subprocess
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import chain, islice
from pathlib import Path

import anyio.to_thread

from ralph.errors import UsageError, WorkspaceError
from ralph.system.files import absolute_path, find_program, read_if_regular, read_regular
from ralph.system.process import run

READING = ("--literal-pathspecs",)

ANY = range(-64, 256)
"""Every exit status."""

Confine = Callable[[Sequence[str], Sequence[Path]], list[str]]
"""Returns the command line that starts a program in a sandbox, given the paths that it may write."""


def in_sandbox(argv: Sequence[str], writable: Sequence[Path], *, readable: Sequence[Path] = ()) -> list[str]:
    """Return the command line of git in bubblewrap: without network, sockets and home, it writes `writable` alone."""
    from ralph.system.bubblewrap import hidden
    from ralph.system.seccomp import filter_file

    seen = [Path(argv[0]), *map(Path, filter(None, [os.environ.get("GIT_EXEC_PATH")])), *readable]
    places = [("--ro-bind-try", str(place), str(place)) for place in seen]
    places += [("--bind-try", str(place), str(place)) for place in writable]
    apart = ("--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--ro-bind", "/", "/")
    own = ("--dev", "/dev", "--proc", "/proc", *hidden())
    bwrap = ("/bin/sh", "-c", 'exec "$@" 9<"$0"', filter_file(), find_program("bwrap") or "bwrap", "--seccomp", "9")
    return [*bwrap, *apart, *own, *chain.from_iterable(places), "--", *argv]


IDLE = 3.0
"""Seconds of a call from one check of what it does to the next: it may wait for a pipe that will never be written."""

_LOOKED_AT = 200_000
_NAMED = 3
_NOW = 20.0
"""Seconds that a call may take that blocks."""

_SETTINGS_READ = 256 * 1024
_LISTS_READ = 1024 * 1024


class GitError(Exception):
    """A failed git call; its text is git's complaint in one line."""


@dataclass(frozen=True, slots=True)
class Git:
    """The user's git in one place.

    Attributes:
        env: the whole environment, which names git's folders.
        options: git's own, before the command.
        timeout: in seconds.
        bounded: a call that does nothing for `IDLE` seconds has failed.
        confine: starts git in a sandbox; None for no sandbox.
        writable: the folders that git may write there.
        require: called before every call; it raises `GitError` to refuse it.
        remove: called with pipes that git may wait for; then the call is made once more. None for an error.
    """

    env: Mapping[str, str]
    options: Sequence[str] = READING
    timeout: float = 120.0
    bounded: bool = True
    confine: Confine | None = None
    writable: tuple[Path, ...] = ()
    require: Callable[[], None] | None = None
    remove: Callable[[Sequence[Path]], None] | None = None

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
        command = next((word for word in arguments if not word.startswith("-")), "")
        argv = self._argv(arguments)
        if self.require:
            self.require()
        given = {**self.env, **(env or {})}
        try:
            done = await run(
                argv,
                cwd=_NEUTRAL,
                env=given,
                stdin=stdin or None,
                timeout=self.timeout,
                max_output=max_output,
                idle=IDLE if self.bounded else None,
            )
        except UsageError as error:
            raise GitError(error.problem.rstrip(".")) from error
        if done.timed_out and done.duration < self.timeout:
            pipes = await anyio.to_thread.run_sync(_pipes, Path(given.get("GIT_WORK_TREE", os.devnull)))
            if pipes and self.remove:
                self.remove(pipes)
                again = replace(self, remove=None)
                return await again(*arguments, stdin=stdin, none=none, env=env, max_output=max_output)
            found = f": {', '.join(map(repr, map(str, pipes[:_NAMED])))}; remove it" if pipes else ""
            raise GitError(f"git {command} waits for something, as a pipe in the place of a file makes it{found}")
        if done.timed_out:
            raise GitError(f"git {command} took more than {self.timeout:.0f} s")
        if done.code and done.code not in none:
            said = complaint(done.stderr or done.stdout)
            raise GitError(said or f"git {command} ended with status {done.code}")
        if done.code or not done.stdout:
            return []
        lines = (done.stdout[: max_output // 2] if done.stdout_truncated else done.stdout).split("\n")
        return lines if lines[-1] and not done.stdout_truncated else lines[:-1]

    async def line(self, *arguments: str, none: Collection[int] = ()) -> str:
        """Return the first line that git prints; empty if it prints none."""
        return next(iter(await self(*arguments, none=none)), "")

    def now(
        self, *arguments: str, stdin: bytes = b"", check: bool = False, timeout: float = _NOW
    ) -> "subprocess.CompletedProcess[bytes]":
        """Run a short query; blocks. Raises `GitError` if git cannot be run, is slow, or to `check` it, fails."""
        try:
            done = subprocess.run(
                self._argv(arguments),
                cwd=_NEUTRAL,
                env=self.env,
                input=stdin,
                capture_output=True,
                timeout=timeout,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise GitError(str(error)) from error
        if check and done.returncode:
            said = complaint(done.stderr.decode("utf-8", "replace"))
            raise GitError(said or f"it ended with status {done.returncode}")
        return done

    def _argv(self, arguments: Sequence[str]) -> list[str]:
        argv = [git_program(confined=self.confine is not None) or "git", *self.options, *arguments]
        return self.confine(argv, self.writable) if self.confine else argv


def _pipes(top: Path) -> list[Path]:
    """Return pipes where git reads: in its folder, or by the names of its lists."""
    files = (Path(folder, name) for folder, _, names in os.walk(top) for name in names)
    gits = (path for path in islice(files, _LOOKED_AT) if path.name.startswith(".git") or ".git" in path.parts)
    return [path for path in gits if path.is_fifo() and not path.is_symlink()]


_NEUTRAL = Path(Path.cwd().anchor)
"""The folder that git runs in; it goes by its variables alone."""


def git_program(*, confined: bool = False) -> str | None:
    """Return the path of git; None if it is not installed. In a sandbox, one outside of the home folder comes first."""
    return _git_program(os.environ.get("PATH"), confined=confined)


@lru_cache(maxsize=4)
def _git_program(path: str | None, *, confined: bool) -> str | None:
    if confined and path:
        from ralph.system.bubblewrap import programs

        covered = {*map(str, programs())}
        shown = os.pathsep.join(entry for entry in path.split(os.pathsep) if entry.rstrip("/") not in covered)
        if found := find_program("git", {"PATH": shown}):
            return found
    return find_program("git", None if path is None else {"PATH": path})


def require_git(where: Path) -> None:
    """Raise `WorkspaceError` if git, in the home folder, does not work in a sandbox that shows a folder; blocks."""
    from ralph.system.bubblewrap import programs

    program = git_program(confined=True)
    if program is None or Path(program).parent not in {*programs()} or not find_program("bwrap"):
        return
    asked = Git(environment(GIT_DIR=os.devnull), (), confine=partial(in_sandbox, readable=(where,)))
    try:
        asked.now("--version", check=True)
    except GitError as error:
        raise WorkspaceError(
            f"Git, {program!r}, does not work in the sandbox, which has no home folder: {error}.",
            "Install git outside of your home folder, as in /usr/bin, and keep that on PATH; or leave --sandbox out.",
        ) from error


def environment(**more: str) -> dict[str, str]:
    """Return the environment for git: nothing that changes the repository, runs a program or asks for anything."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("GIT_", "SSH_ASKPASS")) or name == "GIT_EXEC_PATH"
    }
    return kept | {"PATH": absolute_path(os.environ.get("PATH"))} | _FIXED | more


_FIXED = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_PROTOCOL_FROM_USER": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_EDITOR": "false",
    "GIT_PAGER": "cat",
    "LC_ALL": "C",
    "LANGUAGE": "",
}

OURS = (
    ("core.bare", "false"),
    ("core.hooksPath", os.devnull),
    ("core.fsmonitor", "false"),
    ("core.attributesFile", os.devnull),
    ("core.excludesFile", os.devnull),
    ("core.quotePath", "true"),
    ("core.sshCommand", "false"),
    ("core.askPass", "false"),
    ("protocol.allow", "never"),
    ("submodule.recurse", "false"),
    ("diff.ignoreSubmodules", "dirty"),
    ("commit.gpgSign", "false"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
)
"""Settings of every call, besides the ones that are kept."""


def settings_text(settings: Iterable[tuple[str, str]]) -> str:
    """Return settings as the text of a settings file."""
    lines: list[str] = []
    for key, value in settings:
        section, _, name = key.partition(".")
        quoted = value.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t")
        lines.append(f'[{section}]\n\t{name} = "{quoted}"\n')
    return "".join(lines)


def read_list(path: Path) -> bytes:
    """Return a list of paths or attributes; empty if it cannot be read, or is no file."""
    try:
        return read_regular(path, _LISTS_READ) + b"\n"
    except (OSError, ValueError):
        return b""


def first_line(path: Path) -> str:
    """Return the first line of a small file; empty if it cannot be read, or is no file."""
    return os.fsdecode(read_settings(path)).partition("\n")[0]


def read_settings(path: Path) -> bytes:
    """Return the text of a settings file; empty if it does not exist or is no file."""
    return read_if_regular(path, _SETTINGS_READ)


_SHARED = ("refs", "packed-refs", "reftable", "logs", "objects", "worktrees", "shallow")


def make_view(folder: Path, common: Path, settings: Mapping[str, str], excluded: bytes, attributes: bytes) -> Path:
    """Make the folder that git takes for the one that a repository's worktrees share; blocks.

    Args:
        folder: where; out of the agent's reach.
        common: the repository's own.
        settings: of the user and the repository, those that are kept.
        excluded: the list of ignored paths.
        attributes: those of the user, which the repository's own precede.
    """
    (folder / "info").mkdir(parents=True, exist_ok=True, mode=0o700)
    given = (*settings.items(), *OURS, ("core.attributesFile", str(folder / "info" / "users-attributes")))
    _replace(folder / "config", settings_text(given).encode("utf-8", "surrogateescape"))
    _replace(folder / "info" / "users-attributes", attributes)
    _replace(folder / "info" / "exclude", excluded)
    _replace(folder / "info" / "attributes", read_list(common / "info" / "attributes"))
    for name in _SHARED:
        link, target = folder / name, str(common / name)
        if not link.is_symlink() or os.readlink(link) != target:  # noqa: PTH115
            link.unlink(missing_ok=True)
            with suppress(FileExistsError):  # another process of Ralph was faster
                link.symlink_to(target)
    return folder


def _replace(path: Path, content: bytes) -> None:
    """Write a file at once: another process may be reading it."""
    if read_list(path) == content + b"\n":
        return
    new = path.with_name(f"{path.name}.{os.getpid()}")
    new.write_bytes(content)
    new.replace(path)


_WRITTEN = frozenset(("index", "packed-refs", "shallow", "refs", "logs", "reftable", "worktrees"))
"""Names that git writes in a repository besides objects and names in capitals, such as HEAD and MERGE_MSG."""


def require_plain(*folders: Path) -> None:
    """Refuse git's folders if a link or a pipe in them stands where git writes: it would write elsewhere, or wait.

    Blocks for a moment.

    Raises:
        GitError: there is one; it names it.
    """
    places = [path for folder in dict.fromkeys(folders) for path in _entries(folder)]
    pending = [path for path in places if path.name.isupper() or path.name in _WRITTEN]
    others = {path for path in pending if path.name == "worktrees"}  # their own folders are looked at with them
    while pending:
        path = pending.pop()
        try:
            about = path.lstat()
        except OSError:  # git has just removed it, or cannot write it, either
            continue
        if stat.S_ISDIR(about.st_mode):
            pending += _entries(path) if path not in others else ()
        elif not stat.S_ISREG(about.st_mode) or about.st_nlink > 1:
            raise GitError(f"{str(path)!r} is a link or no file of its own, so git would write elsewhere; remove it")


def _entries(folder: Path) -> list[Path]:
    with suppress(OSError):
        return list(folder.iterdir())
    return []


def complaint(stderr: str) -> str:
    """Return git's complaint in one line without a full stop and without its hints."""
    lines = [line.strip() for line in stderr[:4000].splitlines() if line.strip() and not line.startswith("hint:")]
    return " ".join(lines[:3])[:500].removeprefix("error: ").removeprefix("fatal: ").rstrip(".")
