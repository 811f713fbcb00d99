"""`ralph man`: the manual page, from the same source as the help."""

import re
import sys
from collections.abc import Iterator
from typing import Any

import typer

_EXIT_CODES = (
    *(("0", "completed"), ("1", "an internal error"), ("2", "wrong usage or configuration")),
    ("3", "stuck, or nothing but tests is left"),
    ("4", "the circuit breaker is open"),
    ("5", "a limit was reached"),
    ("6", "no executor can work: missing, not logged in, refused"),
    ("7", "the agent needs you"),
    ("130, 143", "ended by SIGINT or SIGTERM"),
)


def man() -> None:
    """Print the manual page: `ralph man > ~/.local/share/man/man1/ralph.1`, then `man ralph`."""
    sys.stdout.write("\n".join(_page()) + "\n")


def _page() -> Iterator[str]:
    from ralph import __version__
    from ralph.cli.commands import GROUPS, command

    group = command()
    context = typer.Context(group, info_name="ralph")
    yield f'.TH RALPH 1 "" "ralph {__version__}" "User Commands"'
    yield from (".SH NAME", f"ralph \\- {_text(group.help)}", ".SH SYNOPSIS", ".B ralph", "COMMAND [ARGUMENTS]")
    for title, names in GROUPS.items():
        yield f'.SH "{title.upper()}"'
        for name in names:
            yield from _command(f"ralph {name}", group.get_command(context, name), name)
    yield ".SH EXIT STATUS"
    for code, meaning in _EXIT_CODES:
        yield from (".TP", f".B {code}", _text(meaning))


def _command(path: str, command: Any, name: str) -> Iterator[str]:
    from ralph.cli.examples import EXAMPLES

    context = typer.Context(command, info_name=path)
    usage = " ".join(command.collect_usage_pieces(context))
    yield from (f'.SS "{_text(path)} {_text(usage)}"', _text(command.help))
    for parameter in command.params:
        if (record := parameter.get_help_record(context)) and not getattr(parameter, "hidden", False):
            yield from (".TP", f".B {_text(re.sub(' <.*>', '', record[0]))}", _text(record[1]))
    for inner, each in getattr(command, "commands", {}).items():
        yield from _command(f"{path} {inner}", each, "")
    for example in EXAMPLES.get(name, ()):
        yield from (".PP", ".RS", f".B {_text(example)}", ".RE")


def _text(text: str | None) -> str:
    """Return a text on one line, with what roff would read as its own escaped."""
    line = " ".join((text or "").split()).replace("\\", "\\e").replace("-", "\\-").replace('"', "\\(dq")
    line = re.sub(r"[^\x00-\x7f]", lambda found: f"\\[u{ord(found[0]):04X}]", line)
    return f"\\&{line}" if line.startswith((".", "'")) else line
