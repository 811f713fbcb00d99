"""Which environment variables the agent and the verifiers are given.

All but those whose names look secret, such as NPM_TOKEN, and that the program does not need itself: an agent that runs
unattended has no business with them, and what it prints ends up in a model's context. Or, by a strict list, only those
that are named, with what no program can do without.
"""

from collections.abc import Collection, Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Annotated

from pydantic import AfterValidator, BaseModel, Field, field_validator

from ralph.redact import is_secret_name

__all__ = ["ESSENTIAL", "Names", "Variables", "apart", "values_of"]

ESSENTIAL = (
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "PWD", "TERM", "TZ", "LANG", "LANGUAGE", "LC_*"),
    *("TMPDIR", "TMP", "TEMP", "XDG_*_HOME", "XDG_RUNTIME_DIR"),
    *("SYSTEMROOT", "SYSTEMDRIVE", "COMSPEC", "PATHEXT", "WINDIR", "USERPROFILE", "APPDATA", "LOCALAPPDATA"),
)
"""Given in any case; `*` matches anything."""

_OWN = ("RALPH_STORE", "RALPH_PLUGINS__*")
"""Not called secrets, but addresses that may hold a password; they are nobody's business but Ralph's."""


def _require_names(text: str) -> str:
    if "=" in text or "\0" in text:
        raise ValueError("no variable can have this name; give only names, without values, as in CARGO_*")
    return text


Names = Annotated[str, AfterValidator(_require_names)]
"""The name of a variable, or several joined by commas; `*` matches anything."""


def apart(names: Iterable[str]) -> tuple[str, ...]:
    """Names, those that were joined by commas each by itself."""
    return tuple(name.strip() for each in names for name in each.split(",") if name.strip())


def values_of(environ: Mapping[str, str], names: Collection[str]) -> list[str]:
    """The values of the variables that names mean, in which `*` matches anything."""
    return [value for name, value in environ.items() if _any(name, names)]


class Variables(BaseModel, frozen=True, extra="forbid"):
    """Which of Ralph's own environment variables are passed on.

    Both lists hold names, in which `*` matches anything: `CARGO_*`; several may be joined by commas.
    """

    only: tuple[Names, ...] | None = Field(
        default=None,
        description="A strict list: only these variables, and those that every program needs, are passed on.",
    )
    keep: tuple[Names, ...] = Field(
        default=(), description="Variables passed on although their names look secret: NPM_TOKEN."
    )

    @field_validator("only", "keep")
    @classmethod
    def _apart(cls, names: tuple[str, ...] | None) -> tuple[str, ...] | None:
        return None if names is None else apart(names)

    def of(self, environ: Mapping[str, str], needed: Collection[str] = ()) -> dict[str, str]:
        """Those of an environment that are passed on.

        Args:
            needed: the names of those without which the program cannot work, a login's for example.
        """
        return {name: value for name, value in environ.items() if name in needed or self._passes(name)}

    def _passes(self, name: str) -> bool:
        if self.only is not None:
            return _any(name, ESSENTIAL) or _any(name, self.only) or _any(name, self.keep)
        return _any(name, self.keep) or not (_any(name, _OWN) or is_secret_name(name))


def _any(name: str, patterns: Collection[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
