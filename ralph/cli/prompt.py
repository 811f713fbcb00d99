"""The task of a run: from the command line, a file or standard input; and the plan that it names."""

import sys
from pathlib import Path
from shlex import quote

from ralph.errors import UsageError
from ralph.types.plan import read_plan

_MOST_BYTES = 1_000_000
_HOW = 'Give the task as an argument (`ralph run "Make the tests pass"`), with -f FILE, or with - from standard input.'


def read_prompt(text: str | None, file: Path | None, source: str | None = None) -> str:
    """Return the task; empty if a source of tasks gives it.

    Raises:
        UsageError: there is no task, there is more than one, or it cannot be read.
    """
    if text is not None and file is not None:
        raise UsageError("The task is given twice: as an argument and with -f.", "Give it once.")
    if source is not None:
        if text is not None or file is not None:
            raise UsageError("The task is given twice: with --task and in another way.", "Give it once.")
        return ""
    if file is not None and str(file) != "-":
        task, source = _from_file(file), f"The file {str(file)!r}"
    elif text == "-" or file is not None:
        task, source = _decoded(sys.stdin.buffer.read(_MOST_BYTES + 1), "Standard input"), "Standard input"
    elif text is None:
        raise UsageError("There is no task.", _HOW)
    elif len(text) < 200 and not any(map(str.isspace, text)) and Path(text).is_file():
        raise UsageError(f"The task {text!r} names a file.", f"`ralph run -f {quote(text)}` reads the task from it.")
    else:
        task, source = text, "The task"
    if not task.strip():
        raise UsageError(f"{source} is empty.", _HOW)
    return task


def look_at_plan(workspace: Path, name: str | None) -> None:
    """Warn about a named plan that does not exist yet: it counts as soon as the agent has written it.

    Raises:
        UsageError: the file exists, but no plan can be read from it.
    """
    if name is None:
        return
    plan = read_plan(workspace, name)
    named = f"The plan {name[:200]!r}"
    if plan is None:
        sys.stderr.write(f"ralph: {named} is not in the workspace yet; it counts once it is there.\n")
    elif plan.problem and not plan.items:
        raise UsageError(f"{named} cannot be used: {plan.problem}.", "Name a file of the workspace, or leave it out.")


def _from_file(path: Path) -> str:
    named = f"The file {str(path)!r}"
    try:
        with path.open("rb") as file:
            return _decoded(file.read(_MOST_BYTES + 1), named)
    except FileNotFoundError:
        raise UsageError(f"{named} does not exist.", "Name the file that holds the task.") from None
    except OSError as error:
        raise UsageError(f"{named} cannot be read: {error.strerror}.", "Name a file that can be read.") from error


def _decoded(content: bytes, named: str) -> str:
    if len(content) > _MOST_BYTES:
        raise UsageError(
            f"{named} is larger than {_MOST_BYTES:,} bytes.",
            "Keep what the agent should read in the workspace, and name it in the task.",
        )
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise UsageError(f"{named} is not UTF-8: line {line} has other bytes.", "Save it as UTF-8.") from None
