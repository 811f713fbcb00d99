"""`ralph config show`: the settings in force, and the source of each."""

from collections.abc import Mapping
from pathlib import Path

import typer

from ralph.cli.options import AsJson, Folder

app = typer.Typer(add_completion=False, help="Show the settings in force.", no_args_is_help=True)


@app.callback()
def config() -> None:
    """Show the settings in force."""


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
    """Return the last source that sets any part of a setting."""
    said = [source for known, source in origins.items() if known == key or known.startswith(f"{key}.")]
    return said[-1] if said else "default"
