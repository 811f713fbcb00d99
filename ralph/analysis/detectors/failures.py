"""Failures: words that report an error, limits of a service, and replies that are nothing but an error message.

A loop's agent writes about rate limits, quotes them and builds them. So the words of a limit count only as a message,
which a program puts at the beginning of a line: after "API Error:" or a name, never within a sentence.

| where the line stands | words of `limit` | words of `limiting` |
|---|---|---|
| a short reply that reports no work, its first or last line | yes | yes, unless a noun follows ("rate limit tests") |
| the last paragraph of any other reply | yes | after a word of error |

A reply with a status block was ended by the agent itself and is not such a message.
"""

import re
from collections.abc import Iterable, Iterator

from ralph.analysis.detectors.activity import ends_of
from ralph.analysis.lexicon import Role
from ralph.analysis.reset_time import ends_of_limit
from ralph.analysis.result import Reply, Signal
from ralph.analysis.text import Span
from ralph.analysis.vocabulary import Hit, Scope
from ralph.status import StatusMissing
from ralph.system.text import pattern

_LOOKED_AT = 500  # error words that are examined, half of them from the end
# After an error word these say that there is none: "errors: 0", "Known issues: none so far".
_EMPTY = pattern(
    r"""(?:\s(?:tests?|checks?|cases?|count|found|remaining|left|detected|reported))?["'*_]{0,3}\s{0,3}[:=][*_]{0,3}
        (?:\s{0,3}[-*]\s|\s{0,3})[*_]{0,3}
        (?:0(?!\w|\.\d)
        |(?:null|nil|false|\[\]|\{\}|无|無|-)(?!\w|[ \t]*[a-z])
        |(?:none|no|nothing)(?:\s(?:so\sfar|found|known|remaining|left|detected|reported|yet))?(?!\w|[ \t]*[\w'-]))""",
    re.VERBOSE,
)
_NUMBER = pattern(r"\s?#\d")
_FAILING = pattern(r":?\s{0,2}[1-9]")  # makes "exit code" an error
_EMPTY_MARKS = " \t\n*_-:."  # what an empty section may hold
_READ = 2000  # characters of a section that are read


def detect_errors(reply: Reply) -> Iterable[Signal]:
    """Find error words that report an error: not negated, not repaired, and not an empty heading.

    The seven patterns of the error words are those of the Ralph Runtime guide.
    """
    scope = reply.scope
    for hit in ends_of(scope.of("fault"), _LOOKED_AT // 2):
        if _is_reported(scope, hit):
            yield Signal.at(hit, "error", -10, f"Reports an error ({hit.name}).")
    for hit in scope.of("fatal")[:_LOOKED_AT]:
        if _is_reported(scope, hit):
            yield Signal.at(hit, "fatal_error", -30, "This error ends the work.")


def _is_reported(scope: Scope, hit: Hit) -> bool:
    """Return True if an error word reports an error."""
    if _is_absent(scope, hit):
        return False
    repairs = (scope.before("mended", hit, 4), scope.after("mended", hit, 4)) if scope.of("mended") else ()
    if any(word and not scope.negated(word) for word in repairs):  # not "the error is not resolved"
        return False
    prose = scope.reading.prose
    if _EMPTY.match(prose, hit.end) or (hit.name == "issue" and _NUMBER.match(prose, hit.end)):
        return False
    if prose.startswith("exit", hit.start) and not _FAILING.match(prose, hit.end):
        return False
    return not scope.reading.in_heading(hit.start) or _has_content(scope, hit)


def _is_absent(scope: Scope, hit: Hit) -> bool:
    """Return True for "No errors", "not a bug", "did not find any problems"; not "did not fix the bug"."""
    if scope.before("absence", hit, 4):
        return True
    negation = scope.negated(hit, 5)
    if negation is None:
        return False
    return " any " in scope.reading.prose[negation.end : hit.start] or scope.negated(hit, 1) is not None


def _has_content(scope: Scope, heading: Hit) -> bool:
    """Return True if the section under a heading says more than that there is nothing."""
    begin, end = scope.reading.section(heading.start)
    content = scope.reading.prose[begin : min(end, begin + _READ)].strip(_EMPTY_MARKS)
    if not content:
        return False
    start = scope.reading.prose.index(content, begin)
    return not any(hit.start == start for hit in scope.within("nothing", (start, start + 20)))


_SHORT = 600  # most characters of a reply that is only a message
_LINE = 300  # characters of a line in which the message is sought
_TRACE = 6_000  # most characters of a reply that is only a traceback
_OF_LIMITS: frozenset[Role] = frozenset({"limit", "limiting"})
# words that may precede the message in its line
_LABELS = frozenset((
    *("error", "errors", "err", "failed", "failure", "fatal", "exception", "warning", "warn", "sorry", "unexpected"),
    *("api", "http", "https", "status", "code", "request", "stream", "response", "message", "type", "provider"),
    *("model", "server", "service", "agent", "cli", "ai", "account", "organization", "max", "pro", "free", "plan"),
    *("claude", "anthropic", "opus", "sonnet", "openai", "codex", "copilot", "github", "gemini", "google", "cursor"),
    *("amp", "opencode", "kimi", "qwen", "returned", "received", "got", "exceeded", "retry", "retrying", "limit"),
    *("the", "a", "an", "this", "your", "you", "ve", "have", "has", "been", "is", "was", "with", "by", "from", "last"),
    *("hit", "reached", "used", "up", "out", "of", "run", "re", "exhausted", "currently", "temporarily", "hourly"),
    *("daily", "weekly", "monthly", "unable", "does", "to", "authenticate"),
    *("respond", "process", "complete", "connect", "call", "i", "m", "s", "but"),
))
_RAISED = pattern(r"\b[\w.]{0,60}(?:error|exception)\b")
_LABEL = pattern(
    r"\W{0,8}(?:\w{0,30}error|fatal|failed|failure)\b[^\n.]{0,60}[:·–—-]\s{0,3}(?:you\s(?:\w{1,12}\s){0,2})?"
)
_WORD = pattern(r"[^\W\d_]+")
_FAILURE = pattern(
    r"\b(?:error|err|failed|failure|fatal|exception|[45]\d\d|hit|reached|exceeded|exhausted|used up|out of)\b"
)
# After these words the sentence continues: it is no message.
_NOUN = pattern(
    r"[\s*_-]{1,3}(?:errors?|handl\w+|responses?|messages?|cases?|tests?|checks?|logic|middleware|headers?|support|"
    r"feature|users?|requests?|state|page|config\w*|rules?|keys?|module|class|function|is|are|was|were|when|should|must|can|will|works?|"
    r"and|or|per|of|to|at|that|which)\b"
)
_ITEM = pattern(r"\s*(?:[-*+•]\s|\d{1,3}[.)]\s|#)")
_MARKS = r"[\s*_❌✗✘⚠⛔\[(️]{0,8}"
_ERRORS = (
    *(r"api[ -]error\b", r"[\w.]{0,60}(?:error|exception):", r"error\s\d{3}\b", r"fatal(?: error)?:", r"panic:"),
    *(r"error (?:occurred|running|executing|invoking|calling|connecting)\b", r"unhandled \w{1,20}", r"npm err!"),
    *(r"uncaught \w{1,30}", r"(?:execution|internal server|network) error\b", r"request timed out\b"),
    *(r"connection (?:error|refused|reset)\b", r"prompt is too long\b", r"context length exceeded\b"),
    *(r"segmentation fault\b", r"command failed\b", r"no response (?:requested|from)\b", r"no (?:content|output)\)"),
    *(r"empty (?:response|result)\b", r"traceback \(most recent", r"node:internal\b", r"[错錯][误誤][:：]"),
    *(r"thread '[^'\n]{1,60}' panicked", r"<--- last few gcs", r"connection failed\b"),
    r"an (?:unexpected |unknown |internal |critical ){1,2}error\b",
    *(r"stream (?:disconnected|error|closed)\b", r"[\w/.: -]{1,60}: (?:command )?not found\b"),
)
_ERROR = pattern(_MARKS + f"(?:{'|'.join(_ERRORS)})")  # The beginning of a program's error.


def detect_limits(reply: Reply) -> Iterable[Signal]:
    """Find the message of a limit that the reply is, with the time it names; or the error that it is."""
    if not isinstance(reply.status, StatusMissing):
        return
    scope = reply.scope
    if scope.has(_OF_LIMITS) and (message := _message(scope, reports_work=_reports_work(reply))):
        hit, line = message
        yield Signal.at(hit, "limited", -40, f"A message of the service: {hit.name}.", state="limited")
        yield from ends_of_limit(reply.reading.text, line)
    elif (span := _only_error(reply.reading.text, reply.reading.lower)) and not _reports_work(reply):
        yield Signal("only_error", "", *span, 0, "The reply is only an error message.", "error")


def _reports_work(reply: Reply) -> bool:
    """Return True if the reply reports work."""
    return bool(reply.signals.of("work", "more_to_come", "completion_keyword"))


def _message(scope: Scope, *, reports_work: bool) -> tuple[Hit, Span] | None:
    """Return the words of a limit at the beginning of a line, and the span to search for its end."""
    prose = scope.reading.prose
    begin, end = len(prose) - len(prose.lstrip()), len(prose.rstrip())
    whole = end - begin <= _SHORT and not reports_work
    for line in _lines(prose, (begin, end), whole=whole):
        # common words are a message if no noun follows, or if words of error precede them
        common = (
            hit
            for hit in scope.within("limiting", line)
            if (not _NOUN.match(prose, hit.end) if whole else _FAILURE.search(prose, line[0], hit.start))
        )
        for hit in (*scope.within("limit", line), *common):
            if _begins_line(prose, line, hit):
                return hit, (begin, end) if whole else line
    return None


def _lines(prose: str, text: Span, *, whole: bool) -> Iterator[Span]:
    """Yield the last line if it is a paragraph or the reply is short; of a short reply the first line, too."""
    begin, end = text
    last = max(begin, prose.rfind("\n", max(begin, end - _LINE - 1), end) + 1)
    if whole:
        first = prose.find("\n", begin, begin + _LINE)
        yield begin, min(end, first if first >= 0 else begin + _LINE)
    if end - last <= _LINE and (whole or prose[max(begin, last - 2) : last].isspace()):
        yield last, end


def _begins_line(prose: str, line: Span, hit: Hit) -> bool:
    """Return True if only labels precede the words in their line, which is neither a heading nor an item."""
    label = prose[line[0] : hit.start]
    if len(label) > 80 or _ITEM.match(prose, line[0]):
        return False
    return _LABEL.fullmatch(label) is not None or all(word in _LABELS for word in _WORD.findall(_RAISED.sub("", label)))


def _only_error(text: str, lower: str) -> Span | None:
    """Return the beginning of a reply that is only an error."""
    most = _TRACE if "traceback (most recent" in lower[:200] else _SHORT
    if len(text.strip()) > most or not _ERROR.match(lower):
        return None
    return 0, min(len(text), 200)
