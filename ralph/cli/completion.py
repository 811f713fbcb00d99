"""`ralph completion`: a shell's completion of commands, options, runs, settings and the names of plug-ins."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from ralph.errors import UsageError

VARIABLE = "_RALPH_COMPLETE"
"""The variable with which a shell asks for completions."""

_ASKED = f"{VARIABLE}=complete_fish _TYPER_COMPLETE_FISH_ACTION=get-args _TYPER_COMPLETE_ARGS="
_SCRIPTS = {
    "bash": f"""\
_ralph() {{
    local value about
    COMPREPLY=()
    while IFS=$'\\t' read -r value about; do
        COMPREPLY+=("$value")
    done < <({_ASKED}"${{COMP_LINE:0:$COMP_POINT}}" ralph 2>/dev/null)
}}
complete -o bashdefault -o default -F _ralph ralph
""",
    "zsh": f"""\
#compdef ralph
_ralph() {{
    local value about
    local -a found
    while IFS=$'\\t' read -r value about; do
        found+=("${{value//:/\\\\:}}${{about:+:$about}}")
    done < <({_ASKED}"${{(j: :)words[1,CURRENT]}}" ralph 2>/dev/null)
    if (( $#found )); then _describe -V ralph found; else _files; fi
}}
if [[ $funcstack[1] == _ralph ]]; then _ralph "$@"; else compdef _ralph ralph; fi
""",
    "fish": f"""\
function __ralph_complete
    set -l found ({_ASKED}(commandline -cp) ralph 2>/dev/null)
    if test (count $found) -gt 0
        string join \\n -- $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete --command ralph --no-files --arguments '(__ralph_complete)'
""",
}
"""None of them evaluates what Ralph prints."""

Shell = Annotated[str | None, typer.Argument(metavar="SHELL", help="bash, zsh or fish; by default the one you use.")]


def completion(*, shell: Shell = None) -> None:
    """Print the script with which a shell completes commands, options, runs and names.

    For bash, write it to ~/.local/share/bash-completion/completions/ralph; for zsh, to a file _ralph in a folder of
    $fpath; for fish, to ~/.config/fish/completions/ralph.fish.
    """
    name = shell or Path(os.environ.get("SHELL", "")).name
    if name not in _SCRIPTS:
        raise UsageError(f"There is no completion for the shell {name[:40]!r}.", "Name bash, zsh or fish.")
    sys.stdout.write(_SCRIPTS[name])


def complete() -> int:
    """Answer a shell that asks for completions."""
    from typer.completion import get_completion_inspect_parameters, shell_complete

    from ralph.cli.commands import command

    get_completion_inspect_parameters()  # it makes the shells known
    return shell_complete(command(), {}, "ralph", VARIABLE, os.environ[VARIABLE])
