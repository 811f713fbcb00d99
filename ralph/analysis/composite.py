"""Further analyzers beside the first: each has its say on a completion, and a namespace for what it finds.

The first analyzer's conclusions stay what they are. A further one may support a completion or hold it back
(`Analysis.opinion`); `ralph.decision.claims` decides what becomes of that. One that raises, gives no `Analysis`, or
finds too much to be kept has no say in that reply, and a warning says so.
"""

import json
from collections.abc import Mapping
from typing import Any, cast

from ralph.analysis.result import Analysis, AnalysisContext, Analyzer, Further
from ralph.errors import in_words
from ralph.status import Status
from ralph.system.text import storable
from ralph.types import evolve
from ralph.types.output import Output

__all__ = ["SeveralAnalyzers"]

_MOST = 100_000
"""Characters of JSON that are kept of one analyzer's results for one reply."""
_TOLD = 300


class SeveralAnalyzers:
    """An analyzer that asks others, too.

    Args:
        first: whose analysis it is.
        further: the others by name.
    """

    def __init__(self, first: Analyzer, further: Mapping[str, Analyzer]) -> None:
        self._first, self._further = first, dict(further)

    def analyze(self, output: Output, status: Status, context: AnalysisContext) -> Analysis:
        """The first one's analysis, with what the others say in `further`."""
        analysis = self._first.analyze(output, status, context)
        found: dict[str, Further] = {}
        warnings: list[str] = []
        for name, analyzer in self._further.items():
            try:
                found[name] = _kept(analyzer.analyze(output, status, context))
            except (Exception, SystemExit) as error:  # noqa: BLE001 - anything may come from foreign code
                warnings.append(f"The analyzer {name} failed: {storable(in_words(error)[:_TOLD])}.")
        return evolve(analysis, further=found, warnings=(*analysis.warnings, *warnings))


def _kept(said: object) -> Further:
    """What an analyzer said as it is kept: what differs from an empty analysis. Raises where that cannot be kept."""
    if not isinstance(said, Analysis):
        raise TypeError(f"it gave an object of type {type(said).__name__}, which is no Analysis")
    found = _storable(said.model_dump(mode="json", exclude_defaults=True))
    if len(json.dumps(found, allow_nan=False)) > _MOST:
        raise ValueError(f"its results are longer than {_MOST:,} characters")
    return Further.model_validate(found)


def _storable(value: Any) -> Any:
    """A JSON value without what no store can hold."""
    match value:
        case str():
            return storable(value)
        case dict():
            return {storable(name): _storable(each) for name, each in cast("dict[str, Any]", value).items()}
        case list():
            return [_storable(each) for each in cast("list[Any]", value)]
        case _:
            return value
