"""`ralph config`: the settings in force with the source of each, and changes to a file of settings."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from ralph.cli.options import AsJson, Folder, completing

app = typer.Typer(add_completion=False, help="Show the settings in force, or change them.", no_args_is_help=True)

Key = Annotated[
    str,
    typer.Argument(
        metavar="KEY", help="The full name, such as limits.max_iterations.", autocompletion=completing("setting_keys")
    ),
]
Values = Annotated[list[str], typer.Argument(metavar="VALUE...", help="The value; several for a list.")]
Yours = Annotated[bool, typer.Option("--user", help="In your own file, for all folders; else in this folder's.")]


@app.callback()
def config() -> None:
    """Show the settings in force, or change them."""


@app.command()
def show(*, directory: Folder = Path(), as_json: AsJson = False) -> None:
    """List every setting, its value with secrets masked, where it comes from, and consent to it."""
    import json

    from ralph.cli.output import console, print_json, print_table
    from ralph.cli.settings import value_in
    from ralph.loop.assembly import frozen_settings, redactor_for
    from ralph.plugins.loading import load_plugins
    from ralph.settings import (
        Settings,
        is_trusted,
        overridden,
        own_sources,
        read_settings,
        settings_in,
        untrusted_keys,
        user_file,
        workspace_folder,
    )
    from ralph.system.text import one_line

    folder = workspace_folder(directory)
    found = read_settings(folder, own="shown")
    plugins = load_plugins(found, folder)
    values = frozen_settings(found.settings, redactor_for(found.settings, plugins), plugins)
    keys = [each.key for each in settings_in(Settings) if each.section is None]
    rows = [(key, value_in(values, key), _origin(key, found.origins)) for key in keys]
    own = own_sources(folder)
    untrusted = [source.name for source in own if not is_trusted(source)]
    asked = {source.name: untrusted_keys(source) for source in own}
    consent = {
        key: {"consent": "needed" if source in untrusted else "given"}
        for key, _, source in rows
        if any(f"{key}.".startswith(f"{each}.") for each in asked.get(source, ()))
    }
    looser = {key: f"{source} has {json.dumps(value)}" for source, key, value in overridden(own, found)}
    if as_json:
        more = {key: {**consent.get(key, {}), **({"tighter": looser[key]} if key in looser else {})} for key in keys}
        settings = {key: {"value": value, "source": source, **more[key]} for key, value, source in rows}
        print_json({"settings": settings, "untrusted": untrusted, "user_file": str(user_file())})
        return
    shown = [
        (
            key,
            "unset" if value is None else one_line(json.dumps(value, ensure_ascii=False), 80),
            f"{source} (consent {consent[key]['consent']})" if key in consent else source,
        )
        for key, value, source in rows
    ]
    print_table(("setting", "value", "from"), shown)
    for key, text in looser.items():
        console().print(f"\n{key}: {one_line(text, 200)}, which is tighter; what you say yourself wins.")
    for name in untrusted:
        console().print(f"\n{name} needs your consent before a run uses it: give it with --trust.")
    console().print(f"\nYour own settings for all folders: {user_file()}")


def _origin(key: str, origins: Mapping[str, str]) -> str:
    said = [source for known, source in origins.items() if known == key or known.startswith(f"{key}.")]
    return said[-1] if said else "default"


@app.command()
def get(*, key: Key, directory: Folder = Path(), as_json: AsJson = False) -> None:
    """Print the value of one setting, or of a section; secrets are masked."""
    import json
    import sys

    from ralph.cli.output import print_json
    from ralph.cli.settings import value_in
    from ralph.errors import UnknownNameError
    from ralph.loop.assembly import frozen_settings, redactor_for
    from ralph.plugins.loading import load_plugins
    from ralph.settings import Settings, read_settings, settings_in, workspace_folder

    folder = workspace_folder(directory)
    found = read_settings(folder, own="shown")
    plugins = load_plugins(found, folder)
    known = {each.key for each in settings_in(Settings)}
    if key not in known and not key.startswith("plugins."):
        raise UnknownNameError("setting", key, known)
    value: Any = value_in(frozen_settings(found.settings, redactor_for(found.settings, plugins), plugins), key)
    if as_json:
        print_json({"key": key, "value": value, "source": _origin(key, found.origins)})
    else:
        shown = value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)
        sys.stdout.write(f"{shown}\n")


@app.command("set")
def set_(*, key: Key, values: Values, user: Yours = False, directory: Folder = Path(), as_json: AsJson = False) -> None:
    """Write a setting into the folder's ralph.toml, or into your own file; the rest of it stays as it is."""
    from ralph.cli.edit_settings import changed_file
    from ralph.cli.output import print_json, print_paragraph
    from ralph.settings import user_file, workspace_folder

    folder = workspace_folder(directory)
    path = user_file() if user else folder / "ralph.toml"
    line = changed_file(path, key, values, folder)
    if as_json:
        print_json({"file": str(path), "key": key, "line": line})
    else:
        print_paragraph(f"{path}: {key}: {line}")
