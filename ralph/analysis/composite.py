"""Further analyzers beside the first: each has an opinion on a completion, and a namespace for its findings.

The first analyzer's conclusions stay as they are. A further one may support a completion or hold it back
(`Analysis.opinion`); `ralph.decision.claims` decides what follows from that. One that raises, returns no `Analysis`, or
finds too much has no say in that reply, and a warning reports it.
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

_LONGEST = 100_000
"""Characters of JSON that are kept of one analyzer's results for one reply."""
_REASON_LENGTH = 300


class SeveralAnalyzers:
    """An analyzer that also asks others.

    Args:
        first: makes the analysis.
        further: the others by name.
    """

    def __init__(self, first: Analyzer, further: Mapping[str, Analyzer]) -> None:
        self._first, self._further = first, dict(further)

    def analyze(self, output: Output, status: Status, context: AnalysisContext) -> Analysis:
        """Return the first analyzer's analysis, with the results of the others in `further`."""
        analysis = self._first.analyze(output, status, context)
        found: dict[str, Further] = {}
        warnings: list[str] = []
        for name, analyzer in self._further.items():
            try:
                found[name] = _kept(analyzer.analyze(output, status, context))
            except (Exception, SystemExit) as error:  # noqa: BLE001 - anything may come from foreign code
                warnings.append(f"The analyzer {name} failed: {storable(in_words(error)[:_REASON_LENGTH])}.")
        return evolve(analysis, further=found, warnings=(*analysis.warnings, *warnings))


def _kept(said: object) -> Further:
    """Return an analyzer's result as far as it differs from an empty analysis.

    Raises:
        TypeError: it is not an `Analysis`.
        ValueError: it is too long.
    """
    if not isinstance(said, Analysis):
        raise TypeError(f"it gave an object of type {type(said).__name__}, not an Analysis")
    found = _storable(said.model_dump(mode="json", exclude_defaults=True))
    if len(json.dumps(found, allow_nan=False)) > _LONGEST:
        raise ValueError(f"its results are longer than {_LONGEST:,} characters")
    return Further.model_validate(found)


def _storable(value: Any) -> Any:
    """Return a JSON value without characters that no store can hold."""
    match value:
        case str():
            return storable(value)
        case dict():
            return {storable(name): _storable(each) for name, each in cast("dict[str, Any]", value).items()}
        case list():
            return [_storable(each) for each in cast("list[Any]", value)]
        case _:
            return value
