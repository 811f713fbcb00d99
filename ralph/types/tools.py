"""The use of a tool in the words that every display shows: edit src/a.py, $ pytest -q, search 'foo'."""

import json
import re
import shlex
from typing import Any, cast

from ralph.system.text import one_line, pattern, some_of
from ralph.types.output import ToolCall

_COMMAND = ("command", "cmd", "script")
_PATH = ("path", "file_path", "filePath", "notebook_path", "absolute_path", "file", "filename", "dir_path", "paths")
_PATTERN = ("pattern", "query", "regex", "search_term")
_ADDRESS = ("url", "uri", "prompt")
_ABOUT = ("description", "intent", "title", "question", "skill", "name", "prompt", "input", "text")

_FORMS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("$ {}", _COMMAND, "bash shell sh powershell execute command_execution local_shell run_shell_command exec_command"),
    ("edit {}", _PATH, "edit multiedit notebookedit str_replace insert replace apply_patch file_change patch"),
    ("write {}", _PATH, "create write write_file create_file"),
    ("read {}", _PATH, "view read read_file read_many_files notebookread"),
    ("list {}", _PATH, "ls list list_dir list_directory"),
    ("delete {}", _PATH, "delete delete_file"),
    ("move {}", _PATH, "move rename"),
    ("search '{}'", _PATTERN, "grep rg search search_file_content grep_search"),
    ("find {}", _PATTERN, "glob find file_search"),
    ("fetch {}", _ADDRESS, "fetch web_fetch webfetch"),
    ("search the web for '{}'", _PATTERN, "web_search websearch google_web_search"),
    ("ask a helper: {}", _ABOUT, "task agent collab_tool_call"),
    ("intend: {}", _ABOUT, "report_intent"),
    ("type into the shell: {}", ("input",), "write_bash write_powershell write_stdin"),
    ("wait for the shell", (), "read_bash read_powershell bashoutput"),
    ("end the shell", (), "stop_bash stop_powershell killshell"),
    ("update the to-do list", (), "todowrite update_todo write_todos update_plan"),
    ("think", (), "think"),
)
"""The words of a tool, the arguments that may stand in them, and the names of such tools, in small letters."""

_BY_NAME = {name: (words, keys) for words, keys, names in _FORMS for name in names.split()}
_ANY = tuple(dict.fromkeys((*_COMMAND, *_PATH, *_PATTERN, *_ADDRESS, *_ABOUT)))
_KEY = pattern(r'\s*[{,]\s*"([^"\\]{1,100})"\s*:\s*')
_LINE_OF_SHELL = pattern(r"(?:/\S{1,100}/)?(?:ba|z|da)?sh\s+-l?c\s+(.*)", re.DOTALL)
_PATCHED = pattern(r"^\*\*\* (?:Update|Add|Delete) File: (.{1,500})$", re.MULTILINE)
_DECODER = json.JSONDecoder(strict=False)


def tool_text(call: ToolCall, workspace: str | None = None, most: int = 120) -> str:
    """Return the use of a tool as people read it: a verb and its object, in one harmless line; never JSON.

    Args:
        workspace: the folder to which paths are shown relative; None shows them as they are.
        most: characters of the line.
    """
    given, name = _arguments(call.arguments), call.name.lower()
    if name.startswith("str_replace_"):  # one tool that views, creates and edits
        name = str(given.pop("command", "edit"))
    words, keys = _BY_NAME.get(name) or (one_line(call.name, 40).removeprefix("mcp__").replace("__", " ") + " {}", _ANY)
    before, _, after = words.rpartition("{}") if keys else (words, "", "")
    value = next((said for key in keys if (said := _said(given.get(key), words=keys is _COMMAND))), "")
    if keys is _COMMAND:
        value = _command(value, workspace)
    value = one_line(_near(value, workspace), 2_000)
    if keys is _PATH and len(value) > (room := max(most - len(before), 3)):  # the file's name is at its end
        value = f"{value[: room // 2 - 1]}…{value[-(room // 2) :]}"
    if not value or value.lower().startswith(before):
        return one_line(value or before.rstrip(" ':$") or "run a command", most)
    where = _near(_said(given.get("path")), workspace) if keys is _PATTERN else "."
    return one_line(f"{before}{value}{after}{'' if where in {'', '.'} else f' in {where}'}", most)


def _arguments(text: str) -> dict[str, Any]:
    """Return the arguments by name: of JSON that was cut those before the cut, of other text all that it may be."""
    try:
        value = _DECODER.decode(text)
    except (ValueError, RecursionError):
        value = _before_the_cut(text)
    if isinstance(value, list):
        listed = cast("list[object]", value)
        each = [cast("dict[str, object]", item).get("path") for item in listed if isinstance(item, dict)]
        return {"path": each if any(each) else value}
    if isinstance(value, dict):
        found = cast("dict[str, Any]", value)
        patch = _PATCHED.findall(_said(found.get("patch") or found.get("input")))
        return {**found, "path": patch} if patch else found
    said = text.strip().strip("`")
    return {"path": patch} if (patch := _PATCHED.findall(said)) else dict.fromkeys(_ANY, said)


def _before_the_cut(text: str) -> dict[str, Any] | None:
    """Return the whole arguments of JSON without its end, and the beginning of a text that was cut."""
    found: dict[str, Any] = {}
    place = len(text) - len(text.lstrip("[ \n"))
    while key := _KEY.match(text, place):
        try:
            found[key[1]], place = _DECODER.raw_decode(text, key.end())
        except (ValueError, RecursionError):
            rest = text[key.end() :]
            if rest.startswith('"'):
                found[key[1]] = rest[1:].replace("\\n", "\n").replace('\\"', '"').rstrip("\\") + "…"
            break
    return found if found or text.lstrip().startswith(("{", "[")) else None


def _said(value: object, *, words: bool = False) -> str:
    """Return an argument as text: of a list the words of a command, or the first items and the number of the others."""
    if isinstance(value, list):
        texts = [each for each in cast("list[object]", value) if isinstance(each, str)]
        return " ".join(texts) if words else some_of(texts, 3)
    return str(value) if isinstance(value, str | int | float) else ""


def _command(text: str, workspace: str | None) -> str:
    """Return the first line of what a shell is to do: without the shell itself and the way to the workspace."""
    if found := _LINE_OF_SHELL.fullmatch(text):
        try:
            text = shlex.split(found[1])[0]
        except (ValueError, IndexError):
            text = found[1]
    for there in (f"cd {workspace} && ", f'cd "{workspace}" && ', f"cd '{workspace}' && "):
        text = text.removeprefix(there)
    first, _, more = text.strip().partition("\n")
    return f"{first} …" if more.strip() else first


def _near(text: str, workspace: str | None) -> str:
    """Return a text that names files of the workspace relative to it."""
    if workspace is None or len(workspace) < 2:
        return text
    return "." if text == workspace else text.replace(f"{workspace.rstrip('/')}/", "")
