"""One plug-in: what it is, where it comes from, and what is wrong with it."""

import logging
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ralph.errors import in_words
from ralph.plugins.markers import API_VERSION
from ralph.system.text import printable

if TYPE_CHECKING:
    from pydantic import BaseModel

__all__ = ["Plugin", "failure"]

_logger = logging.getLogger("ralph.plugins")

_TOLD = 500
_MOST = 50
"""Problems of one plug-in that are written down."""


@dataclass(slots=True, eq=False)
class Plugin:
    """A plug-in, loaded or not.

    Attributes:
        name: that of its entry point, and of its table in the settings.
        source: where it comes from: what the entry point names, or a file.
        implementation: what its hooks are functions of; None where it could not be loaded.
        own: its own settings; None where it has none, or lacks some that it needs.
        lacks: what is missing in its settings; empty where nothing is.
        problems: what is wrong with it, for people.
    """

    name: str
    source: str
    distribution: str = ""
    version: str = ""
    built_in: bool = False
    implementation: object = None
    own: "BaseModel | None" = None
    lacks: str = ""
    problems: list[str] = field(default_factory=list[str])

    @property
    def title(self) -> str:
        """What a person tells it from others by."""
        if self.built_in:
            return "Ralph itself"
        where = f"{self.distribution} {self.version}".strip() or self.source
        return f"the plug-in {self.name!r} ({where})"

    def load(self, implementation: Callable[[], object]) -> None:
        """Imports it. What that prints is none of the program's output, and what it raises is the plug-in's problem."""
        try:
            with redirect_stdout(sys.stderr):
                loaded = implementation()
        except (Exception, SystemExit) as error:
            _logger.debug("the plug-in %s cannot be loaded", self.name, exc_info=True)
            self.problems.append(f"It cannot be loaded: {failure(error)}.")
            return
        try:
            version: object = getattr(loaded, "RALPH_API", API_VERSION)
        except Exception as error:  # noqa: BLE001 - anything may come from foreign code
            self.problems.append(f"It cannot be read: {failure(error)}.")
            return
        if version != API_VERSION:
            self.problems.append(
                f"It is made for version {printable(str(version), 40)} of the hooks, and these are version "
                f"{API_VERSION}: another release of it, or of Ralph, may fit."
            )
        elif issubclass(type(loaded), type):
            self.problems.append("It is a class: name an instance of it, or a module.")
        else:
            self.implementation = loaded

    def complain(self, problem: str) -> None:
        """Writes down a problem, once."""
        if problem not in self.problems and len(self.problems) < _MOST:
            self.problems.append(problem)


def failure(error: BaseException) -> str:
    """What went wrong in foreign code, in one line without secrets and without a full stop."""
    from ralph.system.redact import Redactor

    return printable(" ".join(Redactor()(in_words(error)[: 4 * _TOLD]).split()), _TOLD)
