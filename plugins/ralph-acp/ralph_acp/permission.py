"""Permission requests: decided by the policy without asking the user, and granted only once."""

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from ralph.executors import Denied, PermissionPolicy, PermissionRequest
from ralph.executors.program_output import as_json, mapping, objects, text
from ralph_acp.updates import ToolTold

__all__ = ["answer", "objection", "offers_once"]

_KINDS = {"edit": "write", "delete": "write", "move": "write", "read": "read", "search": "read"}
_PATH_KEY = re.compile(
    r"(?:path|file|file_?name|dir|directory|folder|root|source|target|destination)s?\Z", re.IGNORECASE
)
_MOST_PATHS = 1_000


def objection(tools: Sequence[ToolTold], policy: PermissionPolicy, workspace: Path) -> str:
    """Return the reason that a tool may not run; empty if it may.

    Args:
        tools: the same call, as it was announced and as the request tells it. Both have to pass: agents ask to "read"
            the folder that they are about to write to.
        policy: decides.
        workspace: absolute.
    """
    for request in _requests(tools):
        decision = policy.decide(request, workspace)
        if isinstance(decision, Denied):
            return decision.reason
    return ""


def answer(params: Mapping[str, Any], *, allowed: bool) -> dict[str, Any]:
    """Return the chosen option; if the right one is not offered, the request is cancelled."""
    wanted = "allow_once" if allowed else "reject_once"
    for option in objects(params.get("options")):
        if option.get("kind") == wanted and isinstance(option.get("optionId"), str):
            return {"outcome": {"outcome": "selected", "optionId": option["optionId"]}}
    return {"outcome": {"outcome": "cancelled"}}


def offers_once(params: Mapping[str, Any]) -> bool:
    """Return True if the request can be allowed only once."""
    return any(option.get("kind") == "allow_once" for option in objects(params.get("options")))


def _requests(tools: Sequence[ToolTold]) -> Iterator[PermissionRequest]:
    """Yield everything that the policy has to allow."""
    paths = tuple(_different(path for tool in tools for path in _paths(tool)))[:_MOST_PATHS]
    commands = _different(_command(tool.given or {}) for tool in tools)
    urls = _different(text((tool.given or {}).get("url")) for tool in tools)
    title = next((tool.title for tool in reversed(tools) if tool.title), "")
    unclear = PermissionRequest(kind="unclear", tool=title)
    kinds = _different(tool.kind for tool in tools if tool.kind != "other") or ["other"]
    for kind in kinds:
        match kind:
            case "execute":
                yield from [PermissionRequest(kind="shell", command=command) for command in commands] or [unclear]
            case "fetch":
                yield from [PermissionRequest(kind="url", url=url) for url in urls] or [unclear]
            case "search" | "read" if not paths:
                yield PermissionRequest(kind="read", paths=(".",))
            case "think":
                yield PermissionRequest(kind="custom-tool", tool=title, read_only=True)
            case "other":
                yield from (PermissionRequest(kind="shell", command=command) for command in commands)
                yield PermissionRequest(kind="write" if paths else "custom-tool", paths=paths, tool=title)
            case known if known in _KINDS and paths:
                yield PermissionRequest(kind=_KINDS[known], paths=paths)
            case _:
                yield unclear


def _paths(tool: ToolTold) -> Iterator[str]:
    """Yield every file that the call names anywhere."""
    for key, value in (tool.given or {}).items():
        if _PATH_KEY.search(key[-40:]):
            listed = cast("list[object]", value) if isinstance(value, list) else [value]
            yield from map(text, listed)
    yield from (text(place.get("path")) for place in (*objects(tool.locations), *objects(tool.content)))


def _command(given: Mapping[str, Any]) -> str:
    command = given.get("command")
    if isinstance(command, list):
        return shlex.join(map(as_json, cast("list[object]", command)))
    return text(command) or text(mapping(given.get("input")).get("command"))


def _different(texts: Iterable[str]) -> list[str]:
    return [each for each in dict.fromkeys(texts) if each]
