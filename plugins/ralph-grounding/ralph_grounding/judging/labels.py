"""A file of labels, as CSV or JSON lines: each label is a line at its end, and the last line of a claim counts."""

import csv
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast, get_args

from ralph.errors import UsageError
from ralph_grounding.endpoint import fields
from ralph_grounding.result import Outcome

__all__ = ["LabelFile"]

_COLUMNS = ("key", "outcome", "query_id", "provider", "model", "claim")
_OUTCOMES: tuple[str, ...] = get_args(Outcome)
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
_MOST_BYTES = 256 * 1024 * 1024


class LabelFile:
    """Labels in a file that is made with the first one.

    Raises:
        UsageError: it ends in neither .csv nor .jsonl.
    """

    def __init__(self, path: Path) -> None:
        if path.suffix not in {".csv", ".jsonl"}:
            raise UsageError(f"{path} is not a file of labels.", "Name a file that ends in .csv or .jsonl.")
        self._path = path

    def labels(self) -> dict[str, Outcome]:
        """Read the labels by the keys of their questions; none if there is no file.

        Raises:
            UsageError: it cannot be read, or a line is not valid.
        """
        found: dict[str, Outcome] = {}
        for number, line in self._lines():
            key, outcome = line.get("key"), line.get("outcome")
            if not isinstance(key, str) or (outcome and outcome not in _OUTCOMES):
                raise UsageError(
                    f"Line {number} of {self._path} is not a label.",
                    f"It needs a key, and an outcome: {', '.join(_OUTCOMES)}, or empty.",
                )
            found.pop(key, None)
            if outcome:
                found[key] = cast("Outcome", outcome)
        return found

    def keep_label(self, key: str, outcome: Outcome | None, about: Mapping[str, str]) -> None:
        """Write a label at the end of the file; None takes the earlier one back.

        Args:
            key: the key of the question.
            outcome: the label.
            about: further columns, for readers.

        Raises:
            UsageError: the file cannot be written.
        """
        row = {"key": key, "outcome": outcome or "", **{name: about.get(name, "") for name in _COLUMNS[2:]}}
        try:
            with self._path.open("a", encoding="utf-8", errors="replace", newline="") as stream:
                if self._path.suffix == ".jsonl":
                    stream.write(json.dumps(row) + "\n")
                    return
                writer = csv.writer(stream)
                if not stream.tell():
                    writer.writerow(_COLUMNS)
                writer.writerow(map(_inert, row.values()))
        except OSError as error:
            raise UsageError(f"{self._path} cannot be written: {error.strerror or error}.", "Name another.") from None

    def _lines(self) -> Iterator[tuple[int, Mapping[str, Any]]]:
        try:
            if not self._path.exists():
                return
            if self._path.stat().st_size > _MOST_BYTES:
                raise UsageError(f"{self._path} is longer than {_MOST_BYTES // 2**20} MB.", "Name a file of labels.")
            with self._path.open(encoding="utf-8", newline="") as stream:
                if self._path.suffix == ".csv":
                    reader = csv.DictReader(stream)
                    yield from ((reader.line_num, line) for line in reader)
                else:
                    for number, line in enumerate(stream, start=1):
                        yield number, fields(json.loads(line))
        except (OSError, ValueError, csv.Error, RecursionError) as error:
            said = getattr(error, "strerror", None) or "it is not in the form that its name says"
            raise UsageError(f"{self._path} cannot be read: {said}.", "Name a file of labels.") from None


def _inert(text: str) -> str:
    """Return a text that no spreadsheet reads as a formula."""
    return f"'{text}" if text.startswith(_FORMULA) else text
