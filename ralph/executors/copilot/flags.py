"""The permission policy as the Copilot CLI can keep it: by flags.

The CLI judges by itself, and in places more strictly than Ralph's policy: in the modes "workspace" and "read-only" the
agent does not get at files outside the workspace and the folder for temporary files, not even to read them; "read-only"
leaves it without a shell. In places it is more lax: a file that a shell command names by `~`, or within another shell's
text, is not seen (with 1.0.102), credentials included; of a command that is denied, only the first two words count. A
pattern that is to deny
something and for which the CLI has no flag is refused at the start rather than passed over.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from ralph.errors import UsageError
from ralph.executors.permissions import DENIED_COMMANDS, PermissionPolicy

__all__ = ["permission_flags"]

_READERS = ("view", "grep", "rg", "glob", "skill", "web_fetch")
_METADATA = ("http://169.254.169.254", "http://metadata.google.internal")


def permission_flags(policy: PermissionPolicy, workspace: Path, *, readers: Sequence[str] = _READERS) -> list[str]:
    """The command line's part that makes the CLI keep the policy.

    Args:
        readers: the tools that the mode "read-only" leaves.

    Raises:
        UsageError: a pattern to deny that the CLI cannot keep.
    """
    if policy.mode == "approve-all":
        general = ["--allow-all"]
    else:
        general = ["--allow-all-tools", "--allow-all-urls", "--disable-builtin-mcps"]
        general += [f"--deny-url={url}" for url in _METADATA]
    if policy.mode == "read-only":
        general += [f"--available-tools={','.join(readers)}", "--deny-tool=write", "--deny-tool=shell"]
    denied = [] if policy.mode == "approve-all" else [each for each in DENIED_COMMANDS if each not in policy.allow]
    tools = dict.fromkeys(rule for each in (*denied, *policy.deny) if (rule := _rule(each)))
    folders = [f"--add-dir={path}" for path in _opened(policy, workspace)]
    return [*general, *(f"--deny-tool={tool}" for tool in tools), *folders]


def _rule(pattern: str) -> str:
    """A pattern of ours as the CLI's, or the nearest one that denies no less; empty where what it denies cannot occur:
    the CLI is given no tools of ours, remembers nothing between sessions and runs no hooks of a workspace.
    """
    kind, argument = _parsed(pattern)
    match kind:
        case "shell":
            return f"shell({_command(argument)})" if argument else "shell"
        case "url":
            return f"url({argument})" if argument else "url"
        case "mcp" if argument:
            server, _, tool = argument.partition("/")
            return f"{server}({tool})" if tool else server
        case "custom-tool" | "memory" | "hook":
            return ""
        case _:
            raise UsageError(
                f"The Copilot CLI has no way to deny {pattern!r}.",
                "Remove the pattern, or use the executor copilot-sdk alone, which enforces every pattern.",
            )


def _command(argument: str) -> str:
    """The first two words, up to one with a wildcard, as the beginning of a command."""
    words = argument.removesuffix(":*").split()[:2]
    if len(words) == 2 and "*" in words[1]:
        words[1] = words[1].partition("*")[0]
    return f"{' '.join(filter(None, words))}:*"


def _opened(policy: PermissionPolicy, workspace: Path) -> Iterator[Path]:
    """The folders that are allowed for writing beside the workspace; the CLI allows reading along with it."""
    for pattern in policy.allow:
        kind, argument = _parsed(pattern)
        if kind == "write" and argument and "*" not in argument:
            yield workspace / Path(argument).expanduser()


def _parsed(pattern: str) -> tuple[str, str | None]:
    kind, _, rest = pattern.strip().partition("(")
    return kind, rest.removesuffix(")") or None
