"""`ralph completion`: a shell's completion of commands, options, runs, settings and the names of plug-ins."""

import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

import typer

from ralph.errors import RalphError, UsageError

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

_HOOKS = {
    "--analyzer": "ralph_analyzers",
    "--display": "ralph_displays",
    "--executor": "ralph_executors",
    "--strategy": "ralph_strategies",
    "--verifier": "ralph_verifiers",
}
_SAFE = re.compile(r"[\w.-]{1,100}")
_MOST = 100

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


def runs(context: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """Return the newest runs, with their states."""
    from ralph.cli.lookup import configured_store
    from ralph.store import file_of
    from ralph.store.run_list import listed_runs

    with suppress(RalphError):
        path = file_of(configured_store(context.params.get("store"), Path.cwd()))
        found = (listed_runs(path, _MOST, active=True) if path else None) or []
        about = [("last", "the last run of this folder")]
        about += [
            (run.id, f"{run.stop_reason or run.state}, {run.started_at.astimezone():%d %b %H:%M}") for run in found
        ]
        return [each for each in about if _SAFE.fullmatch(each[0]) and each[0].startswith(incomplete)]
    return []


def values_of(flag: str, kind: object) -> Callable[[str], list[str]] | None:
    """Return what completes the value of a setting's flag; None for any text."""
    if hook := _HOOKS.get(flag):
        return lambda incomplete: _starting(_names(hook), incomplete)
    choices = [each for part in (kind, *get_args(kind)) if get_origin(part) is Literal for each in get_args(part)]
    return (lambda incomplete: _starting(map(str, choices), incomplete)) if choices else None


def setting_keys(incomplete: str) -> list[str]:
    """Return the full keys of settings."""
    from ralph.settings import Settings, settings_in

    return _starting((each.key for each in settings_in(Settings) if each.section is None), incomplete)


def known_plugins(incomplete: str) -> list[str]:
    """Return the plug-ins of Ralph, by their short names."""
    from ralph.plugins.install import KNOWN

    return _starting((name.removeprefix("ralph-") for name in KNOWN), incomplete)


def _names(hook: str) -> Sequence[str]:
    from ralph.cli.plugins import plugins_of

    with suppress(RalphError):
        return [*plugins_of(Path.cwd(), usable=True).named(hook)]
    return []


def _starting(found: Iterable[Any], incomplete: str) -> list[str]:
    return [each for each in found if _SAFE.fullmatch(each) and each.startswith(incomplete)]
