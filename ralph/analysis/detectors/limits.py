"""Replies that are no reply: a service's limit or missing login, or an error of the agent program.

A loop's agent writes about rate limits, quotes them and builds them; so the words count only where they are the
message, which a program puts at the head of a line: behind "API Error:" or a name, never within a sentence.

| where the line stands | words of `limit` | words of `limiting` |
|---|---|---|
| a short reply that tells of no work, its first or last line | yes | yes, unless a noun follows ("rate limit tests") |
| the last paragraph of any other reply | yes | behind a word of error |

A reply with a status block was ended by the agent itself and is none of these.
"""

from collections.abc import Iterable, Iterator

from ralph.analysis.lexicon import Role
from ralph.analysis.reset_time import ends_of_limit
from ralph.analysis.scope import Scope
from ralph.analysis.signals import Reply, Signal
from ralph.analysis.text import Span
from ralph.analysis.vocabulary import Hit
from ralph.status import StatusMissing
from ralph.system.text import pattern

__all__ = ["detect_limits"]

_SHORT = 600
"""Characters up to which a reply can be a message and nothing else."""
_LINE = 300
"""Characters of a line in which the message is looked for."""
_TRACE = 6_000
"""Characters up to which a reply that opens with a traceback is nothing but that."""
_OF_LIMITS: frozenset[Role] = frozenset({"limit", "limiting"})
_LABELS = frozenset((
    *("error", "errors", "err", "failed", "failure", "fatal", "exception", "warning", "warn", "sorry", "unexpected"),
    *("api", "http", "https", "status", "code", "request", "stream", "response", "message", "type", "provider"),
    *("model", "server", "service", "agent", "cli", "ai", "account", "organization", "max", "pro", "free", "plan"),
    *("claude", "anthropic", "opus", "sonnet", "openai", "codex", "copilot", "github", "gemini", "google", "cursor"),
    *("amp", "opencode", "kimi", "qwen", "returned", "received", "got", "exceeded", "retry", "retrying", "limit"),
    *("the", "a", "an", "this", "your", "you", "ve", "have", "has", "been", "is", "was", "with", "by", "from", "last"),
    *(
        "hit",
        "reached",
        "used",
        "up",
        "out",
        "of",
        "run",
        "re",
        "exhausted",
        "currently",
        "temporarily",
        "hourly",
        "daily",
        "weekly",
        "monthly",
        "unable",
        "does",
        "to",
        "authenticate",
    ),
    *("respond", "process", "complete", "connect", "call", "i", "m", "s", "but"),
))
"""What may stand before the message in its line."""
_RAISED = pattern(r"\b[\w.]{0,60}(?:error|exception)\b")
_LABEL = pattern(
    r"\W{0,8}(?:\w{0,30}error|fatal|failed|failure)\b[^\n.]{0,60}[:·–—-]\s{0,3}(?:you\s(?:\w{1,12}\s){0,2})?"
)
_WORD = pattern(r"[^\W\d_]+")
_FAILURE = pattern(
    r"\b(?:error|err|failed|failure|fatal|exception|[45]\d\d|hit|reached|exceeded|exhausted|used up|out of)\b"
)
_NOUN = pattern(
    r"[\s*_-]{1,3}(?:errors?|handl\w+|responses?|messages?|cases?|tests?|checks?|logic|middleware|headers?|support|"
    r"feature|users?|requests?|state|page|config\w*|rules?|keys?|module|class|function|is|are|was|were|when|should|must|can|will|works?|"
    r"and|or|per|of|to|at|that|which)\b"
)
"""What follows on words that are no message but a part of a sentence."""
_ITEM = pattern(r"\s*(?:[-*+•]\s|\d{1,3}[.)]\s|#)")
_MARKS = r"[\s*_❌✗✘⚠⛔\[(️]{0,8}"
_ERRORS = (
    *(r"api[ -]error\b", r"[\w.]{0,60}(?:error|exception):", r"error\s\d{3}\b", r"fatal(?: error)?:", r"panic:"),
    *(r"error (?:occurred|running|executing|invoking|calling|connecting)\b", r"unhandled \w{1,20}", r"npm err!"),
    *(r"uncaught \w{1,30}", r"(?:execution|internal server|network) error\b", r"request timed out\b"),
    *(r"connection (?:error|refused|reset)\b", r"prompt is too long\b", r"context length exceeded\b"),
    *(r"segmentation fault\b", r"command failed\b", r"no response (?:requested|from)\b", r"no (?:content|output)\)"),
    *(
        r"empty (?:response|result)\b",
        r"traceback \(most recent",
        r"node:internal\b",
        r"thread '[^'\n]{1,60}' panicked",
    ),
    *(
        r"an (?:unexpected |unknown |internal |critical ){1,2}error\b",
        r"<--- last few gcs",
        r"connection failed\b",
        r"[错錯][误誤][:：]",
    ),
    *(r"stream (?:disconnected|error|closed)\b", r"[\w/.: -]{1,60}: (?:command )?not found\b"),
)
_ERROR = pattern(_MARKS + f"(?:{'|'.join(_ERRORS)})")
"""How an error of a program begins."""


def detect_limits(reply: Reply) -> Iterable[Signal]:
    """The message that the reply is, if it is one, with the time that it names; or the error that it is."""
    if not isinstance(reply.status, StatusMissing):
        return
    scope = reply.scope
    if scope.has(_OF_LIMITS) and (message := _message(scope, told=_tells(reply))):
        hit, line = message
        yield Signal.at(hit, "limited", -40, f"The service's own words: {hit.name}.", state="limited")
        yield from ends_of_limit(reply.reading.text, line)
    elif (span := _only_error(reply.reading.text, reply.reading.lower)) and not _tells(reply):
        yield Signal("only_error", "", *span, 0, "It is an error, nothing else.", "error")


def _tells(reply: Reply) -> bool:
    """Whether it tells of work."""
    return bool(reply.signals.of("work", "more_to_come", "completion_keyword"))


def _message(scope: Scope, *, told: bool) -> tuple[Hit, Span] | None:
    """The words of a limit at the head of a line, and what is read for its end."""
    prose = scope.reading.prose
    begin, end = len(prose) - len(prose.lstrip()), len(prose.rstrip())
    whole = end - begin <= _SHORT and not told
    for line in _lines(prose, (begin, end), whole=whole):
        ours = (hit for hit in scope.within("limiting", line) if _is_meant(prose, line, hit, whole=whole))
        for hit in (*scope.within("limit", line), *ours):
            if _heads(prose, line, hit):
                return hit, (begin, end) if whole else line
    return None


def _is_meant(prose: str, line: Span, hit: Hit, *, whole: bool) -> bool:
    """Whether words that others use as well are the message: no noun follows, or words of error stand before them."""
    if whole:
        return _NOUN.match(prose, hit.end) is None
    return _FAILURE.search(prose, line[0], hit.start) is not None


def _lines(prose: str, text: Span, *, whole: bool) -> Iterator[Span]:
    """The last line, if it is a paragraph of its own or the reply is short; of a short reply the first line, too."""
    begin, end = text
    last = max(begin, prose.rfind("\n", max(begin, end - _LINE - 1), end) + 1)
    if whole:
        first = prose.find("\n", begin, begin + _LINE)
        yield begin, min(end, first if first >= 0 else begin + _LINE)
    if end - last <= _LINE and (whole or prose[max(begin, last - 2) : last].isspace()):
        yield last, end


def _heads(prose: str, line: Span, hit: Hit) -> bool:
    """Whether nothing but labels stands before the words in their line, which is no heading and no item of a list."""
    label = prose[line[0] : hit.start]
    if len(label) > 80 or _ITEM.match(prose, line[0]):
        return False
    return _LABEL.fullmatch(label) is not None or all(word in _LABELS for word in _WORD.findall(_RAISED.sub("", label)))


def _only_error(text: str, lower: str) -> Span | None:
    """Where the error stands that is the whole reply."""
    most = _TRACE if "traceback (most recent" in lower[:200] else _SHORT
    if len(text.strip()) > most or not _ERROR.match(lower):
        return None
    return 0, min(len(text), 200)
