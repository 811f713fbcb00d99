"""The permission policy as Codex enforces it: by its sandbox, and by its rules for commands.

The sandbox holds whatever a command is called: what may be written, what may not even be read, and whether the network
may be used. The rules match a command's first words, and only Codex's home folder can hold them, so they are given only
if that folder belongs to Ralph. A pattern to deny that neither can enforce is an error at the start, not silence.
"""

import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from ralph.errors import UsageError
from ralph.executors import CREDENTIALS, DENIED_COMMANDS, PermissionPolicy

__all__ = ["quoted", "require_keepable", "rules", "sandbox_settings"]

_SPELLED_OUT = {
    "git credential*": ("git credential", "git credential-store", "git credential-cache"),
    "security *-password": ("security find-generic-password", "security find-internet-password"),
}
"""A rule knows no wildcard: what is denied by one is denied by the commands that it is about."""

_PROFILE = "ralph"
_KEPT_ANYHOW = {"custom-tool", "memory", "hook"}
"""Codex is given no tools of ours, remembers nothing between sessions, and runs no hooks of a workspace."""


def sandbox_settings(
    policy: PermissionPolicy,
    workspace: Path,
    *,
    network: bool,
    folders: Iterable[Path] = (),
    secret: Iterable[Path] = (),
) -> list[str]:
    """Return Codex's settings, `key=value` in TOML, that make its sandbox enforce the policy.

    What is not there is not hidden: the sandbox fails where it is to hide two files of one missing folder.

    Args:
        policy: to be enforced.
        workspace: absolute.
        network: whether commands may use it where the policy does not forbid it.
        folders: what belongs to the workspace and lies elsewhere.
        secret: what must not be read.
    """
    denied = [(kind, argument) for kind, argument in map(_parsed, policy.deny) if kind in {"read", "write"}]
    if policy.mode == "approve-all" and not denied:
        return ['sandbox_mode="danger-full-access"']
    writing = policy.mode != "read-only" and ("write", "") not in denied
    places: dict[str, str] = {":root": "write" if policy.mode == "approve-all" and writing else "read"}
    if writing and policy.mode == "workspace":
        places |= dict.fromkeys(map(str, [*_temporary(), *folders, *_allowed("write", policy, workspace)]), "write")
    if policy.mode != "approve-all":
        opened = {*_allowed("read", policy, workspace), *_allowed("write", policy, workspace)}
        places |= {str(place): "none" for place in _credentials() if place not in opened and place.exists()}
    for kind, argument in denied:
        place = _place(argument, workspace)
        if argument and (kind == "write" or place.exists()):
            places[str(place)] = "none" if kind == "read" else "read"
    places |= {str(place): "none" for place in secret if place.exists()}
    inside = {".": "write", ".git": "write"} if writing else {".": "read"}
    connected = policy.mode == "approve-all" or (network and writing)
    return [
        f'default_permissions="{_PROFILE}"',
        f'permissions.{_PROFILE}.filesystem={{{_pairs(places)}, ":workspace_roots"={{{_pairs(inside)}}}}}',
        f"permissions.{_PROFILE}.network.enabled={str(connected).lower()}",
    ]


def rules(policy: PermissionPolicy) -> str:
    """Return the rules for commands, in the language of Codex's `.rules` files."""
    words = [argument for kind, argument in map(_parsed, policy.deny) if kind == "shell"]
    if policy.mode != "approve-all":
        words += [each for each in _denied_commands() if f"shell({each})" not in policy.allow]
    return "".join(
        f'prefix_rule(pattern={json.dumps(each.split())}, decision="forbidden", '
        f'justification="the policy of this run denies it")\n'
        for each in dict.fromkeys(map(_command, words))
    )


def require_keepable(policy: PermissionPolicy, *, ruled: bool, network: bool, boxed: bool = False) -> None:
    """Raise `UsageError` for a pattern to deny that Codex cannot enforce.

    Args:
        policy: to be enforced.
        ruled: whether Codex is given rules for commands.
        network: as for `sandbox_settings`.
        boxed: whether Codex runs in Ralph's sandbox, where its own does not work.
    """
    for pattern in policy.deny:
        kind, argument = _parsed(pattern)
        if kind == "shell" and not ruled:
            raise UsageError(
                f"Codex enforces {pattern!r} by a rule in its home folder, and that folder is yours.",
                "Remove the pattern, or use an endpoint or a key: the run then has a home folder of its own.",
            )
        kept = {
            "shell": bool(argument) and "*" not in _command(argument),
            "read": bool(argument) and "*" not in argument and not boxed,
            "write": "*" not in argument and (not boxed or policy.mode == "read-only"),
            "url": not boxed and (policy.mode == "read-only" or (policy.mode == "workspace" and not network)),
            "mcp": ruled,  # a home folder of Ralph's own has no servers
        }
        if not kept.get(kind, kind in _KEPT_ANYHOW):
            raise UsageError(
                f"Codex has no way to deny {pattern!r}.",
                "Remove the pattern, or use an executor that enforces every one.",
            )


def quoted(value: str) -> str:
    """Return a text as TOML writes it."""
    return json.dumps(value.encode("utf-8", "replace").decode(), ensure_ascii=False).replace("\x7f", "\\u007F")


def _pairs(table: Mapping[str, str]) -> str:
    return ", ".join(f"{quoted(key)}={quoted(value)}" for key, value in table.items())


def _temporary() -> Iterator[Path]:
    yield from dict.fromkeys(Path(place).resolve() for place in (tempfile.gettempdir(), "/tmp"))  # noqa: S108


def _denied_commands() -> Iterator[str]:
    for pattern in DENIED_COMMANDS:
        _, argument = _parsed(pattern)
        yield from _SPELLED_OUT.get(argument, (argument,))


def _credentials() -> Iterator[Path]:
    return (Path.home() / name for name in CREDENTIALS)


def _allowed(wanted: str, policy: PermissionPolicy, workspace: Path) -> Iterator[Path]:
    for kind, argument in map(_parsed, policy.allow):
        if kind == wanted and argument and "*" not in argument:
            yield _place(argument, workspace)


def _place(argument: str, workspace: Path) -> Path:
    return workspace / Path(argument).expanduser()


def _command(argument: str) -> str:
    return argument.removesuffix(":*").removesuffix(" *")


def _parsed(pattern: str) -> tuple[str, str]:
    kind, _, rest = pattern.strip().partition("(")
    return kind, rest.removesuffix(")")
