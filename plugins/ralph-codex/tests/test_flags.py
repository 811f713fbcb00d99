"""How far Codex keeps a permission policy."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from ralph.errors import UsageError
from ralph.executors import DENIED_COMMANDS, PermissionPolicy
from ralph_codex import CodexExecutor
from ralph_codex.flags import quoted, rules, sandbox_settings

WORK = Path("/some/place")


def table(policy: PermissionPolicy, *, network: bool = False) -> dict[str, Any]:
    return tomllib.loads("\n".join(sandbox_settings(policy, WORK, network=network)))


def executor(**options: Any) -> CodexExecutor:
    return CodexExecutor(model="m", base_url="http://127.0.0.1:9/v1", **options)


@pytest.mark.parametrize("pattern", ["shell", "read", "url", "write(*.md)", "shell(git p* now)", "url(example.com)"])
def test_what_cannot_be_kept_is_refused(pattern: str):
    with pytest.raises(UsageError, match="no way to deny"):
        executor(permissions=PermissionPolicy(deny=(pattern,)), network=True)


@pytest.mark.parametrize(
    "pattern", ["shell(npm publish:*)", "write", "write(docs)", "read(~/x)", "mcp(server)", "memory"]
)
def test_what_can_be_kept_is_taken(pattern: str):
    assert executor(permissions=PermissionPolicy(deny=(pattern,))).permissions.deny == (pattern,)


def test_no_url_is_reached_without_the_network():
    policy = PermissionPolicy(deny=("url(example.com)",))
    assert executor(permissions=policy).permissions == policy
    with pytest.raises(UsageError, match="no way to deny"):
        executor(permissions=policy, network=True)


def test_commands_are_not_denied_by_a_rule_in_a_persons_own_home(tmp_path: Path):
    with pytest.raises(UsageError, match="home folder"):
        executor(permissions=PermissionPolicy(deny=("shell(npm publish)",)), home=tmp_path)


def test_an_endpoint_needs_a_model():
    with pytest.raises(UsageError, match="model"):
        CodexExecutor(base_url="http://127.0.0.1:9/v1")


def test_reading_writes_nowhere_and_talks_to_nobody():
    places = table(PermissionPolicy(mode="read-only"), network=True)["permissions"]["ralph"]
    assert set(places["filesystem"].pop(":workspace_roots").values()) == {"read"}
    assert set(places["filesystem"].values()) <= {"read", "none"}
    assert places["network"]["enabled"] is False


def test_denied_writing_leaves_reading_alone():
    places = table(PermissionPolicy(deny=("write",)))["permissions"]["ralph"]["filesystem"]
    assert "write" not in {*places.pop(":workspace_roots").values(), *places.values()}


def test_what_is_allowed_is_no_rule():
    assert '["git", "push"]' in rules(PermissionPolicy())
    assert '["git", "push"]' not in rules(PermissionPolicy(allow=("shell(git push)",)))
    assert '["npm", "publish"]' in rules(PermissionPolicy(mode="approve-all", deny=("shell(npm publish:*)",)))
    assert rules(PermissionPolicy(mode="approve-all")) == ""


def test_what_ralph_denies_by_a_wildcard_is_spelled_out_in_the_rules():
    written = rules(PermissionPolicy())
    assert '["git", "credential-store"]' in written
    assert '["security", "find-generic-password"]' in written
    assert "*" not in written
    kept = {pattern for pattern in DENIED_COMMANDS if f'"{pattern[6:-1].split()[-1].partition("*")[0]}' in written}
    assert kept | {"shell(security *-password)"} == set(DENIED_COMMANDS)


@pytest.mark.parametrize("value", ['a"b\\c', "é\n\x00\x7f", "日本", "x\ud800y", "'"])
def test_every_text_is_written_as_toml_has_it(value: str):
    assert tomllib.loads(f"key={quoted(value)}")["key"] == value.replace("\ud800", "?")
