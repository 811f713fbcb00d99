"""Responses from a file."""

from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from ralph.errors import UsageError, plainly
from ralph_grounding.materials import AIResponse

__all__ = ["read_responses"]

_LONGEST = 32 * 1024 * 1024
_FORM = 'Each line must be a JSON object with at least "query_id" and "response".'


def read_responses(path: Path) -> Iterator[AIResponse]:
    """Read the responses of a JSON lines file, one at a time, with at most one line in memory. Skips empty lines.

    Raises:
        UsageError: the file cannot be read, or a line is not a response; the responses before it have been yielded.
    """
    try:
        with path.open("rb") as file:
            number = 0
            while line := file.readline(_LONGEST + 1):
                number += 1
                if len(line) > _LONGEST:
                    raise _wrong(path, number, f"it is longer than {_LONGEST // 2**20} MB")
                line = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
                if line.strip():
                    yield _response(line, path, number)
    except OSError as error:
        problem = f"The responses in {path} cannot be read: {error.strerror or error}."
        raise UsageError(problem, "Give a file of JSON lines.") from None


def _response(line: bytes, path: Path, number: int) -> AIResponse:
    try:
        return AIResponse.model_validate_json(line)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        message = plainly(first["msg"][:200])
        raise _wrong(path, number, f"{place}: {message}" if place else message) from None


def _wrong(path: Path, number: int, problem: str) -> UsageError:
    return UsageError(f"Line {number} of {path} is not a response: {problem}.", _FORM)
