"""The accesses that a tool of the agent requests: commands, files, hosts and tools.

A permission is decided over each of them.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise, takewhile
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import BaseModel

from ralph.executors.shell_text import Command, UnreadableScriptError, commands

_MOST_PATHS = 4_000
_LONGEST_PATH = 4_096
_LONGEST_URL = 2_000

_NO_FILES = re.compile(r"/dev/(null|zero|full|random|urandom|tty|std(in|out|err)|fd/\d+)")
_BETWEEN_PATHS = re.compile(r"""[\s'"(),;:=<>|&`@\[\]{}]+""")
_URL = re.compile(r"https?://[^\s'\"<>|;)]{1,2000}")

_WRITE_ALL = frozenset({
    "chgrp",
    "chmod",
    "chown",
    "mkdir",
    "mkfifo",
    "mv",
    "rm",
    "rmdir",
    "shred",
    "tee",
    "touch",
    "truncate",
    "unlink",
})
_WRITE_LAST = frozenset({"cp", "install", "ln", "rsync", "scp"})
_WRITE_OPTIONS = {
    "cp": ("-t", "--target-directory"),
    "curl": ("-o", "--output", "--output-dir"),
    "git": ("-o", "--output"),
    "install": ("-t", "--target-directory"),
    "ln": ("-t", "--target-directory"),
    "mv": ("-t", "--target-directory"),
    "sort": ("-o", "--output"),
    "tar": ("-C", "--directory"),
    "unzip": ("-d",),
    "wget": ("-O", "-P", "--output-document", "--directory-prefix"),
}
_GIT_FOLDERS = frozenset({"-C", "--git-dir", "--work-tree"})
_GIT_VALUED = _GIT_FOLDERS | {"-c", "--namespace", "--exec-path", "--config-env"}
GIT_READERS = frozenset(
    {"blame", "cat-file", "describe", "diff", "grep", "log", "ls-files", "ls-tree", "merge-base", "rev-list"}
    | {"rev-parse", "shortlog", "show", "status"}
)
"""The commands of git that change nothing."""


class PermissionRequest(BaseModel, frozen=True):
    """A tool use that an agent requests.

    Attributes:
        kind: "shell", "write", "read", "url", "mcp", "custom-tool", "memory", "hook" or another of the agent's.
        command: the shell text.
        paths: the files that a "write" or "read" is about; relative ones lie in the workspace.
        url: the page that a "url" is about.
        tool: "server/tool" for "mcp", the tool's name otherwise.
        read_only: the agent declares that it only reads.
    """

    kind: str
    command: str = ""
    paths: tuple[str, ...] = ()
    url: str = ""
    tool: str = ""
    read_only: bool = False


@dataclass(frozen=True, slots=True)
class Access:
    """One thing that a request would touch; exactly one of `words`, `path` and `name` is set.

    Attributes:
        words: of a shell command; the program without its folder, git without git's own options.
        path: of a file, links resolved.
        name: a host, "server/tool", or a tool's name.
        said: as the agent wrote it, for the message.
        guessed: a shell command that may be one: it stands among the arguments of `env`, `find` and the like.
        read_only: the asker says that it only reads.
    """

    kind: str
    words: tuple[str, ...] = ()
    path: Path | None = None
    name: str = ""
    said: str = ""
    guessed: bool = False
    read_only: bool = False


def accesses(request: PermissionRequest, workspace: Path, home: Path) -> Iterator[Access]:
    """Yield everything that the request would touch. Raises `UnreadableScriptError` for a text that cannot be read."""
    if request.kind == "shell":
        yield from _Shell(workspace, home).accesses(request.command)
        return
    for said in request.paths:
        if path := _resolved(said, workspace, home):
            yield Access(request.kind, path=path, said=said)
    if request.url:
        yield Access(request.kind, name=_host(request.url), said=request.url[:_LONGEST_URL])
    if not request.paths and not request.url:
        yield Access(request.kind, name=request.tool, said=request.tool, read_only=request.read_only)


class _Shell:
    """Walks through a script's commands and keeps track of the folder that they work in."""

    def __init__(self, workspace: Path, home: Path) -> None:
        self._folder, self._home = workspace, home
        self._paths = 0

    def accesses(self, script: str) -> Iterator[Access]:
        for command in commands(script):
            said = " ".join(command.words)[:200]
            for words in _spoken(command):
                yield Access("shell", words=words, said=said, guessed=command.guessed)
            yield from self._files("write", [*command.writes, *_written(command)])
            yield from self._files("read", [*command.reads, *self._named(command)])
            for word in command.words:
                for url in _URL.findall(word):
                    yield Access("url", name=_host(url), said=url)
            if command.program in {"cd", "pushd"} and not command.guessed:
                target = (_operands(command) or ["~"])[-1]
                self._folder = _resolved(target, self._folder, self._home) or self._folder

    def _files(self, kind: str, said: list[str]) -> Iterator[Access]:
        for text in said:
            self._paths += 1
            if self._paths > _MOST_PATHS:
                raise UnreadableScriptError("it names too many files")
            if not _NO_FILES.fullmatch(text) and (path := _resolved(text, self._folder, self._home)):
                yield Access(kind, path=path, said=text[:200])

    def _named(self, command: Command) -> list[str]:
        """Return everything in the words that looks like a path, inside other text too."""
        found = {word for word in command.words[1:] if _looks_like_path(word)}
        for word in command.words[1:]:
            if len(word) > 1 and ("/" in word or "." in word or "~" in word):
                parts = _BETWEEN_PATHS.split(_at_home(word, self._home))
                found.update(part for part in parts if _looks_like_path(part))
        return sorted(found)


def _spoken(command: Command) -> Iterator[tuple[str, ...]]:
    """Yield a command's words as patterns see them, and the command behind a git alias that is given on the way."""
    words = command.words
    if not words:
        return
    program = command.program.removesuffix(".exe")
    if program != "git":
        yield (program, *words[1:])
        return
    at = _git_begins(words)
    for option, value in pairwise(words[1:at]):
        if option == "-c" and value.startswith("alias."):
            yield ("git", *value.partition("=")[2].lstrip("!").removeprefix("git ").split())
    yield ("git", *words[at:])


def _git_begins(words: list[str]) -> int:
    """Return the index at which git's own options end."""
    at = 1
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in _GIT_VALUED else 1
    return at


def _written(command: Command) -> list[str]:
    program, words = command.program, command.words
    targets = [
        word.removeprefix(option).removeprefix("=") or following
        for option in _WRITE_OPTIONS.get(program, ())
        for word, following in zip(words[1:], [*words[2:], ""], strict=False)
        if word == option or (word.startswith(f"{option}=" if option.startswith("--") else option))
    ]
    operands = _operands(command)
    if program in _WRITE_ALL:
        targets += operands
    elif program in _WRITE_LAST:
        targets += operands[-1:] if len(operands) > 1 else []
    elif program == "git":
        targets += _git_written(words)
    elif program == "find":
        targets += _found_and_changed(words)
    elif program == "dd":
        targets += [word.removeprefix("of=") for word in words if word.startswith("of=")]
    elif program in {"sed", "perl"} and any(word.startswith(("-i", "--in-place", "-pi")) for word in words):
        targets += operands if {"-e", "-f"} & set(words) else operands[1:]
    return [target for target in targets if target]


def _git_written(words: list[str]) -> list[str]:
    """Return the folders that git is told to work in or to create; none if it only reads there."""
    at = _git_begins(words)
    task = words[at] if at < len(words) else ""
    folders = [value for option, value in pairwise(words[:at]) if option in _GIT_FOLDERS]
    folders += [value for option, _, value in (word.partition("=") for word in words[:at]) if option in _GIT_FOLDERS]
    operands = [word for word in words[at + 1 :] if not word.startswith("-")]
    made = operands[1:] if task == "clone" else operands if task in {"init", "worktree"} else []
    made += _config_files(words[at + 1 :]) if task == "config" else []
    return [] if task in GIT_READERS else [*folders, *made]


def _config_files(words: list[str]) -> Iterator[str]:
    """Yield the files that `git config` works on; reading one counts as writing it."""
    for word, following in zip(words, [*words[1:], ""], strict=True):
        option, given, value = word.partition("=")
        if word == "-f" or (option.startswith("--fil") and "--file".startswith(option)):
            yield value if given else following
        elif word.startswith("-f"):
            yield word[2:]


def _found_and_changed(words: list[str]) -> list[str]:
    """Return the folders in which `find` begins, if it changes what it finds."""
    changes = "-delete" in words or any(
        option in {"-exec", "-execdir", "-ok", "-okdir"} and program in _WRITE_ALL
        for option, program in pairwise(words)
    )
    begun = [word for word in words[1:] if word not in {"-H", "-L", "-P"}]
    return ([*takewhile(lambda word: not word.startswith(("-", "(", "!")), begun)] or ["."]) if changes else []


def _operands(command: Command) -> list[str]:
    words = command.words[1:]
    if "--" in words:
        after = words.index("--")
        return [word for word in words[:after] if not word.startswith("-")] + words[after + 1 :]
    return [word for word in words if not word.startswith("-")]


def _looks_like_path(text: str) -> bool:
    return len(text) > 1 and ("/" in text or text.startswith((".", "~")))


def _at_home(text: str, home: Path) -> str:
    return text.replace("${HOME}", str(home)).replace("$HOME", str(home))


def _resolved(said: str, folder: Path, home: Path) -> Path | None:
    """Return the named file with links followed; None for a text that cannot be a path."""
    text = _at_home(said, home).replace("$PWD", str(folder)).replace("${PWD}", str(folder))
    if text == "~" or text.startswith("~/"):
        text = str(home) + text[1:]
    if not text or len(text) > _LONGEST_PATH or "\0" in text:
        return None
    try:
        return Path(os.path.realpath(folder / Path(text).expanduser()))
    except (OSError, RuntimeError, ValueError):
        return Path(os.path.normpath(folder / text))


def _host(url: str) -> str:
    try:
        return (urlsplit(url[:_LONGEST_URL]).hostname or "").rstrip(".")
    except ValueError:
        return ""
