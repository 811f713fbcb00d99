from pathlib import Path

import pytest

from ralph.errors import UsageError
from ralph.executors.copilot.cli import permission_flags
from ralph.executors.permissions import PermissionPolicy

WORKSPACE = Path("/srv/space")


def flags(mode: str = "workspace", **patterns: tuple[str, ...]) -> list[str]:
    return permission_flags(PermissionPolicy.named(mode, **patterns), WORKSPACE)


def test_the_default_keeps_to_the_workspace_and_pushes_nothing():
    found = flags()
    assert "--allow-all-tools" in found
    assert "--deny-tool=shell(git push:*)" in found
    assert "--deny-tool=shell(gh auth:*)" in found
    assert "--deny-url=http://169.254.169.254" in found
    assert not {"--allow-all", "--allow-all-paths", "--yolo"} & set(found)


def test_read_only_leaves_neither_shell_nor_writing():
    found = flags("read-only")
    assert {"--deny-tool=write", "--deny-tool=shell"} <= set(found)
    assert any(flag.startswith("--available-tools=view,") for flag in found)


def test_approve_all_keeps_the_patterns_to_deny():
    assert flags("approve-all", deny=("shell(npm publish)",)) == ["--allow-all", "--deny-tool=shell(npm publish:*)"]


def test_a_pattern_to_allow_lifts_a_general_one():
    assert "--deny-tool=shell(git push:*)" not in flags(allow=("shell(git push)",))
    assert "--add-dir=/data" in flags(allow=("write(/data)",))
    assert "--add-dir=/srv/space/sub" in flags(allow=("write(sub)", "read(/elsewhere)"))
    assert not any("elsewhere" in flag for flag in flags(allow=("read(/elsewhere)",)))


@pytest.mark.parametrize(
    ("pattern", "flag"),
    [
        ("shell", "shell"),
        ("shell(rm)", "shell(rm:*)"),
        ("shell(git subtree push)", "shell(git subtree:*)"),
        ("shell(git credential*)", "shell(git credential:*)"),
        ("shell(security *-password)", "shell(security:*)"),
        ("url(example.com)", "url(example.com)"),
        ("mcp(server)", "server"),
        ("mcp(server/tool)", "server(tool)"),
    ],
)
def test_patterns_become_the_clis(pattern: str, flag: str):
    assert f"--deny-tool={flag}" in flags("approve-all", deny=(pattern,))


@pytest.mark.parametrize("pattern", ["custom-tool(x)", "memory", "hook"])
def test_what_cannot_occur_needs_no_flag(pattern: str):
    assert flags("approve-all", deny=(pattern,)) == ["--allow-all"]


@pytest.mark.parametrize("pattern", ["read(secrets)", "write(docs)", "write", "mcp"])
def test_what_the_cli_cannot_keep_is_refused(pattern: str):
    with pytest.raises(UsageError, match=r"no way to deny .*copilot-sdk") as caught:
        flags(deny=(pattern,))
    assert repr(pattern) in str(caught.value)
