"""What a reply says against its own claim that the task is done.

An `EXIT_SIGNAL: true` beside any of this is asked for a confirmation: `STATUS: IN_PROGRESS`, tests that fail, a
recommendation that names work to come, words that say what is left. What a reply calls optional is left out.
"""

import re
from collections.abc import Iterator, Mapping

from pydantic import JsonValue

from ralph.analysis.result import Analysis
from ralph.analysis.signals import AGAINST
from ralph.status import StatusReport

__all__ = ["contradictions"]

_READ = 600
"""Characters of a field of the status block that are read."""
_BEHIND = 80
"""Characters behind a word that speaks against a claim which belong to it."""
_BLOCK = frozenset({"exit_signal", "status_blocked"})
_NONE_LEFT = re.compile(
    r"\b(?:no|0|zero|nothing|none|without)(?: (?:further|other|more|additional))? ?(?:\w{1,20} )?"
    r"(?:remain(?:s|ing)?|left|outstanding|pending|next)\b"
    r"|(?:无需|無需|没有|沒有|无|無)\w{0,4}(?:下一|剩余|剩餘|后续|後續)\w?",
    re.IGNORECASE,
)
_LEFT = re.compile(
    r"\b(?:remain(?:s|ing)?|still (?:open|to do|missing|needed|needs|need|requires?)|left to (?:do|implement|fix)"
    r"|continue with|not yet"
    r"|(?:next (?:task|loop|iteration|story|phase|item)|proceed (?:to|with)):?(?: \w{1,20}){0,3}?"
    r" (?:add|build|complete|finish|fix|implement|mend|port|repair|test|write|task|story|phase|item|iteration)\w{0,4}"
    r")\b"
    r"|\b(?<!no )to-?dos?:|\b(?<!no )(?-i:TODOs?)\b(?![-/\w]|\.\w)|\b[1-9]\d{0,3} (?:more |open )?to-?dos?\b"
    r"|剩余|剩餘|尚未|未完成|下一(?:步|轮|輪|个|個)",
    re.IGNORECASE,
)
_OPTIONAL = re.compile(
    r"\b(?:optional(?:ly)?|future|later|nice.to.have|out of scope|not required|follow.ups?)\b|可选|可選|选做|選做",
    re.IGNORECASE,
)


def contradictions(text: str, analysis: Analysis) -> Iterator[str]:
    """A sentence for each thing that the reply says against being finished."""
    status = analysis.status
    if isinstance(status, StatusReport):
        yield from _in_block(status.status, status.fields)
    if rest := next(_in_words(text, analysis), ""):
        yield f"the reply says what is left: {rest}"


def _in_block(word: str, fields: Mapping[str, JsonValue]) -> Iterator[str]:
    if word.strip().upper().replace(" ", "_") == "IN_PROGRESS":
        yield "the status block says IN_PROGRESS"
    if str(fields.get("TESTS_STATUS", "")).strip().upper().startswith("FAIL"):
        yield "the status block says that tests fail"
    for name in ("RECOMMENDATION", "NEXT_STEP", "NEXT_STEPS"):
        said = " ".join(str(fields.get(name, ""))[:_READ].split())
        if _LEFT.search(_NONE_LEFT.sub("", said)) and not _OPTIONAL.search(said):
            yield f"the status block says what is left: {said}"


def _in_words(text: str, analysis: Analysis) -> Iterator[str]:
    for piece in analysis.evidence:
        if piece.weight <= AGAINST and piece.signal not in _BLOCK:
            said = " ".join(text[piece.start : piece.end + _BEHIND].split()) or piece.text
            if not _OPTIONAL.search(said):
                yield said
