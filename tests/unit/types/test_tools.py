"""The use of a tool in words, for the arguments of each executor."""

import json

import pytest

from ralph.types.output import ToolCall
from ralph.types.tools import tool_text

PATCH = "*** Begin Patch\n*** Update File: src/a.py\n@@\n-x\n+y\n*** Add File: b.py\n+z\n*** End Patch"
CUT = json.dumps({"command": "create", "path": "/ws/src/new.py", "file_text": 'say "hi"\n' * 500})[:2_000]
CUT_COMMAND = json.dumps({"description": "Write it", "command": "cat > a.txt <<'END'\n" + "x" * 5_000})[:2_000]

USES: list[tuple[str, object, str]] = [
    # Copilot's SDK and CLI
    ("bash", {"command": "pytest -q", "description": "Run the tests"}, "$ pytest -q"),
    ("bash", {"command": "cd /ws && make"}, "$ make"),
    ("bash", {"command": "cd /elsewhere && make"}, "$ cd /elsewhere && make"),
    ("bash", {"command": "python - <<'END'\nprint(1)\nEND"}, "$ python - <<'END' …"),
    ("view", {"path": "/ws/README.md", "view_range": [1, 40]}, "read README.md"),
    ("view", {"path": "/ws"}, "read ."),
    ("edit", {"path": "/ws/src/a.py", "old_str": "x", "new_str": "y"}, "edit src/a.py"),
    ("create", {"path": "/ws/b.py", "file_text": "{}"}, "write b.py"),
    ("str_replace_editor", {"command": "view", "path": "/ws/a.py"}, "read a.py"),
    ("str_replace_editor", {"command": "str_replace", "path": "/ws/a.py"}, "edit a.py"),
    ("grep", {"pattern": "foo", "path": "/ws/src"}, "search 'foo' in src"),
    ("grep", {"pattern": "foo", "path": "/ws"}, "search 'foo'"),
    ("glob", {"pattern": "**/*.py"}, "find **/*.py"),
    ("apply_patch", PATCH, "edit src/a.py, b.py"),
    ("apply_patch", {"input": PATCH}, "edit src/a.py, b.py"),
    ("web_fetch", {"url": "https://example.org/a"}, "fetch https://example.org/a"),
    ("read_bash", {"shellId": "1", "delay": 5}, "wait for the shell"),
    ("report_intent", {"intent": "Fixing mean"}, "intend: Fixing mean"),
    ("create", CUT, "write src/new.py"),
    ("bash", CUT_COMMAND, "$ cat > a.txt <<'END' …"),
    # Claude Code
    ("Bash", {"command": "ls -la"}, "$ ls -la"),
    ("Read", {"file_path": "/ws/a.py"}, "read a.py"),
    ("Grep", {"pattern": "foo", "path": "src"}, "search 'foo' in src"),
    ("Task", {"description": "Look around", "prompt": "…"}, "ask a helper: Look around"),
    ("TodoWrite", {"todos": [{"content": "x"}]}, "update the to-do list"),
    ("mcp__github__list_issues", {"owner": "me"}, "github list_issues"),
    ("mcp__docs__look_up", {"query": "loops"}, "docs look_up loops"),
    # Codex
    ("command_execution", {"command": "/bin/bash -lc 'pytest -q'"}, "$ pytest -q"),
    ("command_execution", {"command": "bash -lc 'an unfinished"}, "$ 'an unfinished"),
    ("file_change", [{"path": "/ws/a.py", "kind": "update"}, {"path": "/ws/b.py", "kind": "add"}], "edit a.py, b.py"),
    ("web_search", {"query": "anyio"}, "search the web for 'anyio'"),
    # agents of the protocol ACP
    ("execute", {"command": ["npm", "test"]}, "$ npm test"),
    ("execute", "`npm test`", "$ npm test"),
    ("edit", "Edit src/a.py", "Edit src/a.py"),
    ("read", {"absolute_path": "/ws/a.py"}, "read a.py"),
    ("think", "", "think"),
    ("Ask the user", {"question": "Which?"}, "Ask the user Which?"),
    # anything
    ("bash", {}, "run a command"),
    ("bash", "", "run a command"),
    ("bash", "{", "run a command"),
    ("edit", {"path": {"odd": 1}}, "edit"),
    ("grep", {}, "search"),
    ("tool", "", "tool"),
    ("deploy", {"target": {"host": "x"}}, "deploy"),
    ("deploy", '{"a": ' * 5_000, "deploy"),
    ("bash", {"command": "echo \x1b[2J\u202ehi\x07\rx"}, "$ echo hi x"),
    ("\x1b[31mevil\u202e", {"path": "a"}, "evil a"),
]


@pytest.mark.parametrize(("name", "arguments", "said"), USES)
def test_a_tool_is_shown_as_people_read_it(name: str, arguments: object, said: str) -> None:
    given = arguments if isinstance(arguments, str) else json.dumps(arguments)
    assert tool_text(ToolCall(id="1", name=name, arguments=given), "/ws") == said


def test_the_line_is_bounded_and_never_json() -> None:
    for name in ("bash", "edit", "anything", "x" * 2_000):
        for key in ("command", "path", "other"):
            shown = tool_text(ToolCall(id="1", name=name, arguments=json.dumps({key: '{"a": 1}' * 300})), most=60)
            assert 0 < len(shown) <= 60
    assert tool_text(ToolCall(id="1", name="edit", arguments='{"path": "/ws/a.py"}')) == "edit /ws/a.py"
