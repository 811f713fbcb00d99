"""Consent to a workspace's own settings: given once, and remembered until those settings change.

A cloned repository must not run a program, send data elsewhere or loosen a limit only because someone typed `ralph run`
in it: without consent it can only tighten. Each setting declares what that means for it, with the markers of
`ralph.system.declarations`. Consent is stored in the user's state folder, as a hash of the settings by their place.
"""

import hashlib
import json
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from pydantic import ValidationError

from ralph.errors import UntrustedSettingsError
from ralph.settings.model import Setting, Settings, governing, value_at
from ralph.settings.sources import FileSource, Source
from ralph.system.declarations import HARMLESS, Tighter
from ralph.system.text import printable

if TYPE_CHECKING:
    from ralph.settings.loading import SettingsFound

Ask = Callable[[Source, tuple[str, ...]], bool]
"""Asks the user for consent to the named settings of a source; without names, to running the file as a plug-in."""

_MOST_BYTES = 4_000_000
_SHOWN = 80
_JUDGING = ("analysis.", "keywords", "noise", "preset", "promise", "strategy")
_JUDGES = "can change what counts as done or stuck"
_ACTS = "can run programs, send data elsewhere, cost more or hide something"


def untrusted_keys(source: Source) -> tuple[str, ...]:
    """Return the keys in a workspace's own settings that need the user's consent."""
    found = {each.key: each for key, _ in leaves(source.values) if (each := governing(key))}
    if all(each.marked(HARMLESS) for each in found.values()):
        return ()
    try:
        settings = Settings.model_validate(source.values)
    except ValidationError:  # what they mean is not known, and the user's own may hide that they are not valid
        settings = None
    return tuple(sorted(key for key, each in found.items() if not _only_tightens(each, settings)))


def _only_tightens(setting: Setting, settings: Settings | None) -> bool:
    """Return whether a workspace may set a setting to its value in `settings` without consent; None is not known."""
    if setting.tighter is None or settings is None:
        return setting.marked(HARMLESS)
    return setting.tighter.permits(
        value_at(settings, setting.key), setting.field.get_default(call_default_factory=True)
    )


def reasons_for(source: Source, keys: Iterable[str]) -> list[str]:
    """Return, in words, the reasons why keys of a source need consent."""
    values = dict(leaves(source.values))
    rules = {key: rule for key in keys if (rule := governing(key))}
    groups: dict[str, list[str]] = {}
    for key in (key for key, rule in rules.items() if rule.tighter is None):
        does = _JUDGES if key.startswith(_JUDGING) else _ACTS
        groups.setdefault(does, []).append(key)
    looser = [
        f"{key} = {printable(json.dumps(values.get(key), default=str), _SHOWN)} is {_than(rule.tighter)} the default"
        f"{f' of {rule.default}' if rule.default else ''}"
        for key, rule in rules.items()
        if rule.tighter is not None
    ]
    return [*looser, *(f"{_subject(group, rules)} {does}" for does, group in groups.items())]


def _subject(keys: Sequence[str], of: Collection[str]) -> str:
    """Return the keys, or a pronoun if they are all that the message names."""
    return ", ".join(keys) if len(keys) < len(of) else "it" if len(keys) == 1 else "they"


def _than(tighter: Tighter) -> str:
    return {"less": "more than", "more": "less than"}.get(str(tighter.order), "looser than")


def overridden(own: Iterable[Source], found: "SettingsFound") -> Iterator[tuple[str, str, Any]]:
    """Yield source, key and value of what a workspace's own sources set tighter than the user, whose value wins."""
    sources = list(own)
    names = {source.name for source in sources}
    for source in sources:
        try:
            settings = Settings.model_validate(source.values)
        except ValidationError:
            continue
        for key, value in leaves(source.values):
            rule, by = governing(key), found.origins.get(key)
            if rule is None or rule.tighter is None or rule.is_list or by is None or by in names:
                continue
            theirs, now = value_at(settings, rule.key), value_at(found.settings, rule.key)
            if theirs != now and rule.tighter.permits(theirs, now):
                yield source.name, key, value


def require_trust(source: Source, *, trust: bool, ask: Ask | None = None) -> None:
    """Return if the settings of a workspace's own source may be used.

    Args:
        trust: the user has consented on the command line.
        ask: asks the user if not.

    Raises:
        UntrustedSettingsError: there is no consent.
    """
    if is_trusted(source):
        return
    keys = untrusted_keys(source)
    if not trust and not (ask and ask(source, keys)):
        raise UntrustedSettingsError(source.name, keys, reasons_for(source, keys))
    remember(source)


def is_agreed(program: Path, content: bytes, *, trust: bool, ask: Ask | None = None) -> bool:
    """Return whether a file of the workspace may be run as a plug-in; consent covers exactly its bytes.

    `trust` and `ask` are as in `require_trust`.
    """
    source = FileSource(str(program), {}, content)
    if _known().get(source.name) == _hash(source):
        return True
    if trust or (ask and ask(source, ())):
        remember(source)
        return True
    return False


def is_trusted(source: Source) -> bool:
    """Return whether a source has consent, or sets nothing that needs it."""
    return not untrusted_keys(source) or _known().get(source.name) == _hash(source)


def remember(source: Source) -> None:
    """Store the consent to what a source sets now. If it cannot be stored, the user is asked again next time."""
    known = _known()
    known[source.name] = _hash(source)
    path = _path()
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = path.with_name(f"{path.name}.new")
        draft.write_text(json.dumps(known, indent=1, sort_keys=True), encoding="utf-8")
        draft.replace(path)
    except OSError as error:
        print(f"ralph: The consent to {source.name} could not be stored: {error}.", file=sys.stderr)  # noqa: T201


def leaves(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each value of a table of tables with its full key."""
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from leaves(cast("Mapping[str, Any]", value), f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _hash(source: Source) -> str:
    if isinstance(source, FileSource):
        return hashlib.sha256(source.content).hexdigest()
    said = json.dumps(source.values, sort_keys=True, default=str)
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()


def _known() -> dict[str, str]:
    known: object = None
    with suppress(OSError, ValueError, RecursionError), _path().open(encoding="utf-8") as file:
        known = json.loads(file.read(_MOST_BYTES))
    return cast("dict[str, str]", known) if isinstance(known, dict) else {}


def _path() -> Path:
    from platformdirs import user_state_path

    return user_state_path("ralph", appauthor=False) / "trusted.json"
