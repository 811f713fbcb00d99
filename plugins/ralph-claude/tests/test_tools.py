"""Claude Code's tools in Ralph's words."""

from pathlib import Path
from typing import Any

import pytest

from ralph.executors import Allowed, PermissionPolicy, PermissionRequest
from ralph_claude.tools import requested


@pytest.mark.parametrize(
    ("tool", "given", "request_"),
    [
        ("Bash", {"command": "ls; rm x"}, PermissionRequest(kind="shell", command="ls; rm x")),
        ("Monitor", {"command": "tail -f x"}, PermissionRequest(kind="shell", command="tail -f x")),
        ("Bash", {"command": 7}, PermissionRequest(kind="shell")),
        ("Write", {"file_path": "/w/a"}, PermissionRequest(kind="write", paths=("/w/a",), tool="Write")),
        ("NotebookEdit", {"notebook_path": "n"}, PermissionRequest(kind="write", paths=("n",), tool="NotebookEdit")),
        ("Read", {"file_path": "~/.netrc"}, PermissionRequest(kind="read", paths=("~/.netrc",), tool="Read")),
        ("Glob", {"pattern": "/etc/*"}, PermissionRequest(kind="read", paths=("/etc/*",), tool="Glob")),
        ("Grep", {"pattern": "/etc"}, PermissionRequest(kind="read", paths=(".",), tool="Grep")),
        ("WebFetch", {"url": "http://x/y"}, PermissionRequest(kind="url", url="http://x/y", tool="WebFetch")),
        ("WebSearch", {"query": "x"}, PermissionRequest(kind="url", tool="WebSearch")),
        ("mcp__shop__add__all", {}, PermissionRequest(kind="mcp", tool="shop/add__all")),
        ("Agent", {"prompt": "x"}, PermissionRequest(kind="custom-tool", tool="Agent", read_only=True)),
        ("Unheard", {}, PermissionRequest(kind="custom-tool", tool="Unheard")),
    ],
)
def test_requests(tool: str, given: dict[str, Any], request_: PermissionRequest) -> None:
    assert requested(tool, given) == request_


@pytest.mark.parametrize(
    ("tool", "given", "workspace", "reading"),
    [
        ("Read", {"file_path": "a"}, True, True),
        ("Read", {"file_path": "~/.ssh/id"}, False, False),
        ("Glob", {"pattern": "**/*", "path": "~/.aws"}, False, False),
        ("Write", {"file_path": "a"}, True, False),
        ("Write", {"file_path": "/etc/a"}, False, False),
        ("Bash", {"command": "git push"}, False, False),
        ("Bash", {"command": "git log"}, True, True),
        ("WebFetch", {"url": "http://169.254.169.254/x"}, False, False),
        ("Agent", {}, True, True),
        ("Unheard", {}, True, False),
    ],
)
def test_what_the_policies_say(
    tool: str, given: dict[str, Any], workspace: bool, reading: bool, tmp_path: Path
) -> None:
    request = requested(tool, given)
    verdicts = [PermissionPolicy.named(mode).decide(request, Path("/w")) for mode in ("workspace", "read-only")]
    assert [isinstance(verdict, Allowed) for verdict in verdicts] == [workspace, reading]
