"""The runtime's requests for a permission, in Ralph's words."""

from typing import Any

import pytest

from ralph.executors.copilot.sdk import requested
from ralph.executors.permissions import PermissionRequest


@pytest.mark.parametrize(
    ("wire", "request_"),
    [
        (
            {"kind": "shell", "fullCommandText": "ls; rm x", "commands": [{"identifier": "ls"}], "possiblePaths": []},
            PermissionRequest(kind="shell", command="ls; rm x"),
        ),
        (
            {
                "kind": "write",
                "fileName": "/w/a",
                "fileEdits": [{"before": {"path": "/w/a"}, "after": {"path": "/etc/b"}}, {"after": None}],
            },
            PermissionRequest(kind="write", paths=("/w/a", "/w/a", "/etc/b")),
        ),
        ({"kind": "read", "path": "/w/a"}, PermissionRequest(kind="read", paths=("/w/a",))),
        ({"kind": "url", "url": "http://x/y"}, PermissionRequest(kind="url", url="http://x/y")),
        (
            {"kind": "mcp", "serverName": "s", "toolName": "t", "readOnly": True},
            PermissionRequest(kind="mcp", tool="s/t", read_only=True),
        ),
        ({"kind": "custom-tool", "toolName": "t"}, PermissionRequest(kind="custom-tool", tool="t")),
        ({}, PermissionRequest(kind="")),
    ],
)
def test_requests_are_understood(wire: dict[str, Any], request_: PermissionRequest) -> None:
    assert requested(wire) == request_
