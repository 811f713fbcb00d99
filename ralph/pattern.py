"""Regular expressions that are compiled when they are first used.

Compiling those of all detectors would take longer than importing everything else, and most replies need few
of them: who writes of no test runner needs none of forty runners' lines.
"""

import re
from typing import Any, cast

__all__ = ["pattern"]


def pattern(source: str, flags: int = 0) -> re.Pattern[str]:
    """What `re.compile` gives, but a mistake in the source shows with the first use."""
    return cast("re.Pattern[str]", _Late(source, flags))


class _Late:
    """Stands for a compiled pattern. What is asked of it is kept, so that it is as fast as the pattern itself."""

    def __init__(self, source: str, flags: int) -> None:
        self._source = source
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        found = getattr(re.compile(self._source, self._flags), name)
        setattr(self, name, found)
        return found
