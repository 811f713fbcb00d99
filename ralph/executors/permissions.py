"""The permission policy, which decides which of an agent's tools may run.

**It is a guard rail, not a sandbox.** It keeps a well-meaning agent from pushing, from reading keys and from writing
outside its workspace. Shell commands are judged by their text, and a program can do what its text does not show.
Against a malicious agent, run Ralph in a container.

Modes:

workspace
    The default. Everything is allowed except: writing outside the workspace and the folder for temporary files (agents
    and compilers need that one); pushing with git; reading and writing credential stores, wherever they lie in the home
    folder; the cloud's metadata service; what works outside of the session, such as crontab; and what only the user
    could confirm.
approve-all
    Everything is allowed. Patterns to deny still hold.
read-only
    Reading files (except credentials) and pages, and shell commands that are known to only read.

Patterns are added by `deny` (asked first) and `allow` (overrides the mode, not `deny`):

| pattern | matches |
|---|---|
| `shell` | any shell command; likewise `write`, `read`, `url`, `mcp`, `custom-tool` … |
| `shell(git push)` | a command whose words begin so, git's own options left out; `*` in a word matches anything |
| `write(docs/*.md)`, `read(~/.ssh)` | files, or all in folders, as in `.gitignore`; `/` is the disk's top |
| `url(example.com)` | a host and its sub-domains |
| `mcp(server)`, `mcp(server/tool)`, `custom-tool(name)` | all tools of a server, or one; a tool of ours |

Every simple command of a shell text must pass, including those in substitutions, subshells and `sh -c`; so must every
file that its redirections and its words name, and every host in its URLs.
"""

import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Self, get_args

from pydantic import BaseModel

from ralph.errors import UnknownNameError, UsageError
from ralph.executors.accesses import GIT_READERS, Access, PermissionRequest, accesses
from ralph.executors.shell_text import UnreadableScriptError
from ralph.system.files import home_folders
from ralph.system.patterns import is_literal, path_matcher, takes
from ralph.types import evolve
from ralph.types.choices import PermissionMode

DENIED_COMMANDS = (
    *("shell(git push)", "shell(git send-pack)", "shell(git subtree push)", "shell(git lfs push)"),
    *("shell(git svn dcommit)", "shell(git credential*)", "shell(git config --global)", "shell(git config --system)"),
    *("shell(gh auth)", "shell(secret-tool)", "shell(security *-password)", "shell(security dump-keychain)"),
    *("shell(at)", "shell(batch)", "shell(crontab)", "shell(launchctl)", "shell(loginctl enable-linger)"),
    *("shell(systemctl --user)", "shell(systemd-run)"),
)
"""The shell commands that are denied in the modes "workspace" and "read-only"."""

_DENIED_OPTIONS = {("git", "config"): ("--global", "--system"), ("systemctl",): ("--user",)}
"""Options that are denied wherever they stand, also shortened."""

CREDENTIALS = (
    *(".ssh", ".aws", ".azure", ".gnupg", ".kube", ".netrc", ".npmrc", ".pypirc", ".git-credentials", ".vault-token"),
    *(".config/gh", ".config/gcloud", ".config/git/credentials", ".config/github-copilot", ".config/op"),
    *(".docker/config.json", ".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials", ".password-store"),
    *(".local/share/keyrings", ".copilot/config.json", "Library/Keychains", ".terraform.d/credentials.tfrc.json"),
    *(".pgpass", ".my.cnf", ".claude", ".claude.json", ".codex"),
)
"""Paths in the home folder that may not be read or written in the modes "workspace" and "read-only"."""

_CREDENTIAL_NAMES = frozenset({
    ".ssh",
    ".aws",
    ".gnupg",
    ".netrc",
    ".git-credentials",
    ".password-store",
    "keychains",
    "keyrings",
    "shadow",
})
_METADATA_HOSTS = frozenset({"169.254.169.254", "metadata.google.internal", "fd00:ec2::254"})
_TOOL_KINDS = frozenset({"mcp", "custom-tool", "memory"})
_KINDS = frozenset({"shell", "write", "read", "url", "mcp", "custom-tool", "memory", "hook"})

_READERS = frozenset(
    {"[", "basename", "cat", "cd", "cmp", "cut", "date", "df", "diff", "dirname", "du", "echo", "egrep", "false"}
    | {"fgrep", "file", "find", "grep", "head", "id", "jq", "ls", "md5sum", "nl", "printf", "ps", "pwd", "readlink"}
    | {"realpath", "rg", "sha256sum", "sort", "stat", "tail", "test", "tr", "tree", "true", "type", "uname", "uniq"}
    | {"wc", "which", "whoami"}
)
_BRACES = re.compile(r"\{[^{}]*\}")
_NOT_READING = re.compile(r"-(exec|execdir|ok|okdir|delete|fprint.*|fls|o.*|O.*|-output.*|-pre.*|-open-files.*)")


class Allowed(BaseModel, frozen=True):
    """The tool may run."""


class Denied(BaseModel, frozen=True):
    """The tool may not run; the agent gets the reason."""

    reason: str


class PermissionPolicy(BaseModel, frozen=True):
    """Decides what an agent may do; see the module for the modes and the patterns.

    Raises:
        UnknownNameError: a pattern of an unknown kind.
        UsageError: a pattern that cannot be read.
    """

    mode: PermissionMode = "workspace"
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()

    @classmethod
    def named(cls, mode: str, *, allow: tuple[str, ...] = (), deny: tuple[str, ...] = ()) -> Self:
        """Return the policy of a mode that the user named. Raises `UnknownNameError` for an unknown one."""
        if mode not in get_args(PermissionMode):
            raise UnknownNameError("permission mode", mode, get_args(PermissionMode))
        return cls.model_validate({"mode": mode, "allow": allow, "deny": deny})

    @property
    def asks(self) -> bool:
        """True if the user asks for something other than the default."""
        return self != PermissionPolicy()

    def for_reading(self) -> Self:
        """Return the policy of a turn that only looks, such as a review.

        What this one denies stays denied; what it allows beyond its mode does not stay allowed, and no host may be
        reached.
        """
        return evolve(self, mode="read-only", allow=(), deny=(*self.deny, "url"))

    def model_post_init(self, context: object, /) -> None:
        for option, texts in (("--allow", self.allow), ("--deny", self.deny)):
            for text in texts:
                Pattern.parse(text, option)

    def decide(self, request: PermissionRequest, workspace: Path, home: Path | None = None) -> Allowed | Denied:
        """Decide on a request.

        Args:
            request: hostile; nothing in it makes this raise or take long.
            workspace: absolute.
            home: the user's home folder, if it is not this process's; credentials are protected in both, and in the
                one that the system's records name if `HOME` is another.
        """
        where = _Where(workspace.resolve(), (home or Path.home()).resolve())
        try:
            for access in accesses(request, where.workspace, where.home):
                if reason := self._objection(access, where):
                    return Denied(reason=reason)
        except UnreadableScriptError as error:
            if self.mode != "approve-all" or self.deny:
                return Denied(reason=f"The command cannot be checked: {error}. Split it into several.")
        return Allowed()

    def _objection(self, access: Access, where: "_Where") -> str:
        for text in self.deny:
            if Pattern.parse(text).matches(access, where):
                return f"{_bounded(access.said)!r} is denied by the pattern {text}."
        if self.mode == "approve-all" or any(Pattern.parse(text).matches(access, where) for text in self.allow):
            return ""
        return _generally(access, where) or (_only_reading(access) if self.mode == "read-only" else "")


@dataclass(frozen=True)
class _Where:
    workspace: Path
    home: Path

    @cached_property
    def homes(self) -> tuple[Path, ...]:
        return (self.home, *home_folders())

    @cached_property
    def temporary(self) -> tuple[Path, ...]:
        return (Path(tempfile.gettempdir()).resolve(), Path("/tmp").resolve())  # noqa: S108 - it is only compared


@dataclass(frozen=True)
class Pattern:
    """A pattern of `allow` or `deny`: a kind of access, and its argument if it has one."""

    kind: str
    argument: str | None

    @classmethod
    def parse(cls, text: str, option: str = "permissions") -> Self:
        """Read a pattern. Raises `UsageError` for one that cannot be read, and names the option."""
        match = re.fullmatch(r"([a-z-]+)(?:\((.+)\))?", text.strip())
        if match is None:
            remedy = "Write it like shell(git push), write(docs), url(example.com) or mcp(server/tool)."
            raise UsageError(f"{option}: {text!r} cannot be read as a pattern.", remedy)
        if match[1] not in _KINDS:
            raise UnknownNameError("kind of permission", match[1], _KINDS)
        if match[1] in {"read", "write"} and match[2] and not (is_literal(match[2]) or takes(match[2])):
            raise UsageError(f"{option}: {text!r} can match no path.", "Write the path as in .gitignore.")
        return cls(match[1], match[2])

    def matches(self, access: Access, where: _Where) -> bool:
        if self.kind != access.kind:
            return False
        if self.argument is None:
            return True
        if access.words:
            begins = self.argument.removesuffix(":*").split()
            pairs = zip(access.words, begins, strict=False)
            return len(access.words) >= len(begins) and all(fnmatchcase(word[:4096], wanted) for word, wanted in pairs)
        if access.path is not None:
            return self._covers(access.path, where)
        names = (access.name, access.name.partition("/")[0]) if access.kind == "mcp" else (access.name,)
        within = access.kind == "url" and access.name.endswith(f".{self.argument}")
        return within or any(fnmatchcase(name, self.argument) for name in names)

    def _covers(self, path: Path, where: _Where) -> bool:
        argument = self.argument or ""
        folder, pattern = where.workspace, argument
        if argument.startswith(("~/", "/")):
            folder = where.home if argument.startswith("~") else Path("/")
            pattern = argument.removeprefix("~")
        while pattern.startswith(("./", "../")):
            step, pattern = pattern.split("/", 1)
            folder, pattern = (folder.parent if step == ".." else folder), pattern if "/" in pattern else f"/{pattern}"
        if is_literal(pattern) and path.is_relative_to((folder / pattern.strip("/")).resolve()):
            return True
        return path.is_relative_to(folder) and path_matcher([pattern])(str(path.relative_to(folder)))


def _generally(access: Access, where: _Where) -> str:
    """Return the objection of both modes, "workspace" and "read-only"; empty for none."""
    rules: dict[str, Callable[[Access, _Where], str]] = {
        "shell": _command_objection,
        "read": _credential_objection,
        "write": _write_objection,
        "url": _host_objection,
    }
    if rule := rules.get(access.kind):
        return rule(access, where)
    if access.kind in _TOOL_KINDS:
        return ""
    return f"A request of the kind {_bounded(access.kind)!r} needs the user's answer, and no one is there."


def _command_objection(access: Access, where: _Where) -> str:
    if _has_denied_option(access.words) or any(Pattern.parse(text).matches(access, where) for text in DENIED_COMMANDS):
        only = "only the user pushes, handles credentials, and sets up what works outside of this session"
        return f"{_bounded(access.said)!r} is not allowed here: {only}."
    return ""


def _has_denied_option(words: tuple[str, ...]) -> bool:
    return any(
        words[: len(begins)] == begins and len(word) > 3 and option.startswith(word)
        for begins, options in _DENIED_OPTIONS.items()
        for word in words[len(begins) :]
        for option in options
    )


def _credential_objection(access: Access, where: _Where) -> str:
    path = access.path
    if path is None:
        return ""
    lowered, workspace = Path(str(path).lower()), Path(str(where.workspace).lower())
    inside = path.is_relative_to(where.workspace)
    stores = [Path(str(home / store).lower()) for home in where.homes for store in CREDENTIALS]
    if inside:  # an agent's own folder for worktrees may lie beside its credentials
        stores = [store for store in stores if not workspace.is_relative_to(store)]
    named = _CREDENTIAL_NAMES & set(lowered.parts) and not inside
    if named or any(lowered.is_relative_to(store) or _may_match(lowered, store) for store in stores):
        return f"{_bounded(access.said)!r} holds credentials, which are out of bounds."
    return ""


def _may_match(path: Path, store: Path) -> bool:
    """Return True if a shell may find something in a store by a path with wildcards or braces, such as `~/.s*/id`."""
    parts = zip(store.parts, path.parts[: len(store.parts)], strict=False)
    found = (fnmatchcase(name, _BRACES.sub("*", part)) and (name[0] != "." or part[0] in ".[{") for name, part in parts)
    return len(path.parts) >= len(store.parts) and all(found)


def _write_objection(access: Access, where: _Where) -> str:
    if objection := _credential_objection(access, where):
        return objection
    if access.path is None or any(access.path.is_relative_to(good) for good in (where.workspace, *where.temporary)):
        return ""
    return f"{_bounded(access.said)!r} lies outside the workspace; write inside {where.workspace}."


def _host_objection(access: Access, _where: _Where) -> str:
    if access.name in _METADATA_HOSTS:
        return f"{access.name} hands out the machine's credentials, which are out of bounds."
    return ""


def _only_reading(access: Access) -> str:
    if access.kind in {"read", "url"} or access.read_only or access.guessed:
        return ""
    if access.words and access.words[0] in _READERS | {"git"}:
        known = access.words[0] != "git" or (len(access.words) > 1 and access.words[1] in GIT_READERS)
        if known and not any(_NOT_READING.fullmatch(word) for word in access.words[1:]):
            return ""
    return f"{_bounded(access.said)!r} may change something, and only reading is allowed here."


def _bounded(text: str) -> str:
    return text if len(text) <= 120 else f"{text[:117]}…"
