"""`ralph config show`: the settings in force, and where each comes from."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ralph.cli.options import AsJson, Folder

if TYPE_CHECKING:
    from pydantic import BaseModel

__all__ = ["app"]

app = typer.Typer(add_completion=False, help="Show the settings in force.", no_args_is_help=True)


@app.callback()
def config() -> None:
    """Show the settings in force."""


@app.command()
def show(*, directory: Folder = Path(), as_json: AsJson = False) -> None:
    """List every setting, its value with secrets masked, and where it comes from."""
    import json

    from ralph.cli.assemble import frozen_settings, redactor_for
    from ralph.cli.output import console, print_json, print_table
    from ralph.cli.plugin_loading import load_plugins
    from ralph.cli.settings import own_sources, read_settings, workspace_folder
    from ralph.cli.trust import is_trusted
    from ralph.cli.user_file import user_file
    from ralph.watch.terminal import one_line

    folder = workspace_folder(directory)
    found = read_settings(folder, own="shown")
    plugins = load_plugins(found, folder)
    values = frozen_settings(found.settings, redactor_for(found.settings, plugins), plugins)
    rows = [(key, value, _origin(key, found.origins)) for key, value in _leaves(found.settings, values)]
    untrusted = [source.name for source in own_sources(folder) if not is_trusted(source)]
    if as_json:
        settings = {key: {"value": value, "source": source} for key, value, source in rows}
        print_json({"settings": settings, "untrusted": untrusted, "user_file": str(user_file())})
        return
    shown = [
        (key, "unset" if value is None else one_line(json.dumps(value, ensure_ascii=False), 80), source)
        for key, value, source in rows
    ]
    print_table(("setting", "value", "from"), shown)
    for name in untrusted:
        console().print(f"\n{name} needs your consent before a run uses it: give it with --trust.")
    console().print(f"\nYour own settings for all folders: {user_file()}")


def _leaves(model: "BaseModel", values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Each setting's full name and its value."""
    from pydantic import BaseModel

    for name in type(model).model_fields:
        inner = getattr(model, name)
        if isinstance(inner, BaseModel):
            yield from _leaves(inner, values[name], f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", values[name]


def _origin(key: str, origins: Mapping[str, str]) -> str:
    """Where a setting's value comes from; the last source that said anything of it."""
    said = [source for known, source in origins.items() if known == key or known.startswith(f"{key}.")]
    return said[-1] if said else "default"
