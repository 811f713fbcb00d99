"""Consent to a workspace's own settings: asked for once, and remembered until those settings change.

What comes with a cloned repository must not run a program or send data elsewhere because someone typed `ralph run`
in it. Consent is kept in the user's state folder: for each place a hash of what it said.
"""

import hashlib
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from ralph.errors import UntrustedSettingsError
from ralph.settings import Source, untrusted_keys

__all__ = ["FileSource", "is_agreed", "is_trusted", "remember", "require_trust"]

_MOST_BYTES = 4_000_000


@dataclass(frozen=True, slots=True)
class FileSource(Source):
    """A source that is a whole file; consent is to its very bytes, of any other source to its values."""

    content: bytes


def require_trust(source: Source, *, trust: bool, ask: bool = True) -> None:
    """Returns when what a workspace's own source sets may be used.

    Args:
        trust: consent was given on the command line.
        ask: whether to ask at a terminal where it was not.

    Raises:
        UntrustedSettingsError: nobody consented.
    """
    if is_trusted(source):
        return
    keys = untrusted_keys(source)
    if not trust and not (ask and _agrees(source, keys)):
        raise UntrustedSettingsError(source.name, keys)
    remember(source)


def is_agreed(program: Path, content: bytes, *, trust: bool, ask: bool) -> bool:
    """Whether a file of the workspace may be run as a plug-in: consent is to its very bytes.

    Args:
        trust, ask: as in `require_trust`.
    """
    source = FileSource(str(program), {}, content)
    if _known().get(source.name) == _hash(source):
        return True
    if trust or (ask and _agrees_to_run(source)):
        remember(source)
        return True
    return False


def is_trusted(source: Source) -> bool:
    """Whether a source says nothing that needs consent, or has it."""
    return not untrusted_keys(source) or _known().get(source.name) == _hash(source)


def remember(source: Source) -> None:
    """Notes consent to what a source says now. Where it cannot be noted, it is asked for again."""
    known = _known()
    known[source.name] = _hash(source)
    path = _path()
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = path.with_name(f"{path.name}.new")
        draft.write_text(json.dumps(known, indent=1, sort_keys=True), encoding="utf-8")
        draft.replace(path)
    except OSError as error:
        print(f"ralph: The consent to {source.name} could not be remembered: {error}.", file=sys.stderr)  # noqa: T201


def _agrees(source: Source, keys: tuple[str, ...]) -> bool:
    """Asks at the terminal, showing the values: consent to what one has not seen is none."""
    if not _somebody_is_there():
        return False
    import typer

    from ralph.records.projection import printable

    typer.echo(f"{source.name} comes with the workspace and can run programs or send data elsewhere:", err=True)
    for key in keys:
        typer.echo(f"  {key} = {printable(json.dumps(_value(source, key), ensure_ascii=False), 500)}", err=True)
    return typer.confirm("Use these settings, now and until they change?", err=True)


def _agrees_to_run(source: FileSource) -> bool:
    """Asks at the terminal, naming the file: it is too long to be shown."""
    if not _somebody_is_there():
        return False
    import typer

    lines = source.content.count(b"\n") + 1
    typer.echo(f"{source.name} comes with the workspace and is a plug-in: a program of {lines} lines.", err=True)
    return typer.confirm("Have you read it, and may it run, now and until it changes?", err=True)


def _somebody_is_there() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def _value(source: Source, key: str) -> object:
    value: Any = source.values
    for part in key.split("."):
        value = cast("dict[str, Any]", value).get(part) if isinstance(value, dict) else None
    return value


def _hash(source: Source) -> str:
    if isinstance(source, FileSource):
        return hashlib.sha256(source.content).hexdigest()
    said = json.dumps(source.values, sort_keys=True, default=str)
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()


def _known() -> dict[str, str]:
    try:
        with _path().open(encoding="utf-8") as file:
            known = json.loads(file.read(_MOST_BYTES))
    except (OSError, ValueError, RecursionError):
        return {}
    return cast("dict[str, str]", known) if isinstance(known, dict) else {}


def _path() -> Path:
    from platformdirs import user_state_path

    return user_state_path("ralph", appauthor=False) / "trusted.json"
