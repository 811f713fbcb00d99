"""The evidence against a claim that the task is done: contradictions in the reply, and all doubts in one line.

An `EXIT_SIGNAL: true` beside any of this must be confirmed: `STATUS: IN_PROGRESS`, tests that fail, a recommendation
that names further work, words that say what is left. Anything that a reply calls optional does not count.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from pydantic import JsonValue

from ralph.analysis.result import AGAINST, Analysis
from ralph.status import StatusReport

__all__ = ["HOLDS", "OPEN", "contradictions", "open_boxes", "waiting"]

OPEN = "still open in the plan: "
HOLDS = "the analyzer "
"""The beginnings of doubts: an open item of the plan, and an analyzer that blocks the claim."""
_TOLD, _NAMED = 3, 200
"""Doubts in one line, and characters of each."""

_READ = 600
"""Characters that are read of a field of the status block."""
_BEHIND = 80
"""Characters after a contradicting word that are quoted with it."""
_BLOCK = frozenset({"exit_signal", "status_blocked"})
_NONE_LEFT = re.compile(
    r"\b(?:no|0|zero|nothing|none|without)\b(?: (?:further|other|more|additional))? ?(?:\w{1,20} )?"
    r"(?:remain(?:s|ing)?|left|outstanding|pending|next)\b"
    r"|(?:无需|無需|没有|沒有|无|無)\w{0,4}(?:下一|剩余|剩餘|后续|後續)\w?",
    re.IGNORECASE,
)
_PIECE = r"(?:epic|feature|item|iteration|loop|milestone|phase|section|sprint|stor(?:y|ies)|task)s?"
_DO = r"(?:add|build|complet|finish|fix|implement|mend|port|refactor|repair|tackl|writ)\w{0,4}"
_LEFT = re.compile(
    rf"\b(?:remain(?:s|ing)?|still (?:open|to do|missing|needed|needs|need|requires?)|left to {_DO}|left to do|not yet"
    rf"|continu(?:e|ing) (?:with|work\w*|{_DO}|to (?:the )?{_PIECE})"
    rf"|(?:another|following|next)(?: \w{{1,20}}){{0,2}}? {_PIECE}\b(?! (?:can|could|may|might)\b)"
    rf"|proceed (?:to|with)(?: \w{{1,20}}){{0,2}}? (?:{_DO}|{_PIECE})"
    rf"|(?:next(?: up)?:?|then)(?: (?!can|could|may|might)\w{{1,20}}){{0,2}}? {_DO}"
    rf"|{_DO}(?: \w{{1,20}}){{1,4}} next"
    rf"|(?:begin|move|moving|proceed|ready|start)(?: (?:for|on|start|the|to|with)){{0,3}} {_PIECE} ?#?\d[\d.]*"
    rf"|(?:{_PIECE} ?#?\d[\d.]*|[a-z]{{1,6}}-\d{{1,5}})(?: is| are)? (?:next|not started|open|pending)"
    rf"|{_PIECE} to follow"
    rf"|[1-9]\d{{0,3}}(?: \w{{1,20}})?? (?:more|open|pending|unchecked|unfinished)(?: {_PIECE})"
    r"|continuar con|(?<!no )quedan? (?:\d|por )|siguiente:)"
    r"(?!\w)|\bnext up:|\b(?<!no )to-?dos?:|\b(?<!no )(?-i:TODOs?)\b(?![-/\w]|\.\w)"
    r"|\b[1-9]\d{0,3} (?:more |open )?to-?dos?\b"
    r"|剩余|剩餘|尚未|未完成|下一(?:步|轮|輪|个|個|项|項|阶段|階段)|[还還]有 ?\d"
    r"|(?<![需须須用必])(?:继续|繼續)(?:实现|實作|實現|开发|開發|完成|处理|處理|进行|進行|阶段|階段)",
    re.IGNORECASE,
)
_SHARE = re.compile(rf"\b(\d{{1,4}}) ?(?:/|of|out of) ?(\d{{1,4}})(?: \w{{1,20}})? {_PIECE}\b", re.IGNORECASE)
"""A share of the pieces of work that are done, such as "3 of 7 tasks"."""
_OPTIONAL = re.compile(
    r"\b(?:optional(?:ly)?|future|later|nice.to.have|out of scope|not required|follow.ups?)\b|可选|可選|选做|選做",
    re.IGNORECASE,
)


def waiting(doubts: Sequence[str]) -> str:
    """Return why a claim does not count yet, in one line: who blocks it, or what speaks against it."""
    held = [doubt for doubt in doubts if doubt.startswith(HOLDS)]
    boxes = [doubt.removeprefix(OPEN) for doubt in doubts if doubt.startswith(OPEN)]
    others = [doubt for doubt in doubts if not doubt.startswith((HOLDS, OPEN))]
    told = [*held, *([open_boxes(boxes)] if boxes else []), *others]
    more = f"; and {len(told) - _TOLD} more" if len(told) > _TOLD else ""
    why = "; ".join(_short(doubt) for doubt in told[:_TOLD])
    return f"{'does not count' if held else 'waits for its confirmation'}: {why}{more}"


def open_boxes(items: Sequence[str]) -> str:
    """Return the open items of the plan in one line: their number, and the first."""
    counted = "one item of the plan is open" if len(items) == 1 else f"{len(items)} items of the plan are open"
    return f"{counted}{': ' if len(items) == 1 else ', the first: '}{_short(items[0])}"


def _short(text: str) -> str:
    words = " ".join(text[: 2 * _NAMED].split())
    return words if len(words) <= _NAMED else f"{words[: _NAMED - 1]}…"


def contradictions(text: str, analysis: Analysis) -> Iterator[str]:
    """Yield a sentence for each statement of the reply against being finished."""
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
        left = _LEFT.search(_NONE_LEFT.sub("", said)) or any(
            int(done) < int(all_) for done, all_ in _SHARE.findall(said)
        )
        if left and not _OPTIONAL.search(said):
            yield f"the status block says what is left: {said}"


def _in_words(text: str, analysis: Analysis) -> Iterator[str]:
    for piece in analysis.evidence:
        if piece.weight <= AGAINST and piece.signal not in _BLOCK:
            said = " ".join(text[piece.start : piece.end + _BEHIND].split()) or piece.text
            if not _OPTIONAL.search(said):
                yield said
