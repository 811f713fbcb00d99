"""The agent's activity: announcements of the next step, work done or in progress, idleness, questions, certainty.

An iteration that ends with an announcement is not the end of the work, whatever was said before. An announcement of
the end is not one: "Let me summarize", "I'll finish with a short report". Nor is one that waits for the answer to a
question.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from operator import itemgetter

from ralph.analysis.lexicon import Role
from ralph.analysis.metrics import CERTAINTY_STEP, LIKELY, SURE, UNSURE
from ralph.analysis.result import AGAINST, Reply, Signal
from ralph.analysis.state import completion_signal
from ralph.analysis.text import Reading, Span
from ralph.analysis.vocabulary import Hit, Scope
from ralph.system.text import pattern

_BACK = 300  # characters of a line that are read before a word, and as many after it
_ITEM = pattern(r"\s{0,8}(?:[-*+•]\s|\d{1,3}[.)]\s|\|)")


def line_start(prose: str, position: int) -> int:
    """Return where the line around a position begins, at most 300 characters before."""
    floor = position - _BACK if position > _BACK else 0
    return prose.rfind("\n", floor, position) + 1 or floor


def line_end(prose: str, position: int) -> int:
    """Return where the line around a position ends, at most 300 characters after."""
    end = prose.find("\n", position, position + _BACK)
    return end if end >= 0 else min(len(prose), position + _BACK)


def in_list(prose: str, position: int) -> bool:
    """Return True if a position is in an item of a list, or a row of a table."""
    return _ITEM.match(prose, line_start(prose, position)) is not None


def ends_of(hits: Sequence[Hit], count: int) -> Sequence[Hit]:
    """Return the hits, or of many the first `count` and the last `count`."""
    return hits if len(hits) <= 2 * count else (*hits[:count], *hits[-count:])


_LOOKED_AT = 100  # announcements that are examined, from the end
_BEFORE = 200
_CLOSES = 90  # characters after an announcement in which it may turn out to announce the end
_EMPHASIS = " \t\n*_"
_CLAIMING: tuple[Role, ...] = ("keyword", "achieve", "closed", "nothing left")
_MARK = pattern(r"[,;:—–，、；：(-]|\b(?:so|and|but|then)\b")
_WORD = pattern(r"[a-z0-9']+|[\u3400-\u9fff]{1,2}")
_END = itemgetter(1)
# The beginning of a sentence that offers something.
_IF_YOU_LIKE = pattern(
    r"\W*(?:(?:(?:just )?let me know if you|if you (?:want|like|wish|prefer|would like|need)|if you'd (?:like|prefer)"
    r"|if wanted|si (?:quieres|lo deseas|prefieres)|wenn (?:du (?:willst|möchtest|magst)|sie (?:möchten|wollen))"
    r"|falls gewünscht)\b|(?:如果?|若)[您你]?(?:需要|愿意|願意|想要|有需))"
)
_REST = pattern(
    r"\b(?:rest|remaining|others?|left|two|three|four|five|six)\b|剩|其余|其餘|其他|\b(?:demás|resto|übrigen)\b"
)
_COMMAND = pattern(r"\s{0,4}(?:\[\w{2,12}\]\s)?[$❯]\s\S")


def detect_announcements(reply: Reply) -> Iterable[Signal]:
    """Find the last announcement of further work; it contradicts if no claim can follow it."""
    scope = reply.scope
    announced = (_announced_action(scope), _last_command(scope.reading), _final_colon(scope))
    found = max(filter(None, announced), key=_END, default=None)
    if found is None:
        return ()
    later = scope.any_within(_CLAIMING, (found[1], len(scope.reading.prose)))
    return (Signal("announcement", "", *found, 0 if later else AGAINST, "The agent announces its next step."),)


def announcement_end(reply: Reply) -> int:
    """Return where the last announcement ends; claims before it do not count."""
    signal = reply.signals.first("announcement")
    return signal.end if signal else 0


def _announced_action(scope: Scope) -> Span | None:
    """Return the last sentence that announces an action, from the announcing words on."""
    for hit in reversed(scope.of("act")[-_LOOKED_AT:]):
        if _announces(scope, hit):
            return hit.start, scope.reading.sentence(hit.start)[1]
    return None


def _announces(scope: Scope, hit: Hit) -> bool:
    """Return True if the words open a clause outside of a list, and do not announce the end."""
    reading = scope.reading
    if in_list(reading.prose, hit.start) or reading.in_heading(hit.start):
        return False
    begin, end = reading.sentence(hit.start)
    clause = _MARK.split(reading.prose[max(begin, hit.start - _BEFORE) : hit.start])[-1]
    # up to two words may open the clause, or the name of a stage
    if len(_WORD.findall(clause)) > 2 and not scope.within("stage", (hit.start - len(clause), hit.start)):
        return False
    return not (_is_offer(scope, (begin, end)) or scope.within("closer", (hit.start, min(end, hit.end + _CLOSES))))


def _is_offer(scope: Scope, sentence: Span) -> bool:
    """Return True for an offer of something extra, not the rest of the work: "If you like, I'll add a chart"."""
    if _IF_YOU_LIKE.match(scope.reading.prose, sentence[0]) is None:
        return False
    return not (scope.within("resume", sentence) or _REST.search(scope.reading.prose, *sentence))


def _last_command(reading: Reading) -> Span | None:
    """Return the last line that is only a shell command: a transcript shows tool calls so."""
    if "$" not in reading.unfenced and "❯" not in reading.unfenced:
        return None
    at = reading.unfenced.rfind("] $ ")
    tail = reading.unfenced.rstrip()
    for place in (at, len(tail) - 1):
        begin = reading.unfenced.rfind("\n", max(0, place - 500), max(0, place)) + 1
        if place > 0 and _COMMAND.match(reading.unfenced, begin):
            end = reading.unfenced.find("\n", begin)
            return begin, end if end >= 0 else len(reading.unfenced)
    return None


def _final_colon(scope: Scope) -> Span | None:
    """Return the last sentence if the reply ends in a colon."""
    tail = scope.reading.text.rstrip(_EMPHASIS)
    if not tail.endswith((":", "：")):
        return None
    begin = scope.reading.sentence(len(tail) - 1)[0]
    return None if scope.within("closer", (begin, len(tail))) else (begin, len(tail))


_WORK_LOOKED_AT, _WORK_REPORTED = 50, 3  # words of one role that are examined, and that are reported


def detect_work(reply: Reply) -> Iterable[Signal]:
    """Find the first words of each kind about work: done (neither negated nor in the future), going on, to come."""
    scope = reply.scope
    work = scope.of("work")[:_WORK_LOOKED_AT]
    done = (hit for hit in work if not (scope.negated(hit) or scope.before("future", hit, 4)))
    for hit in islice(done, _WORK_REPORTED):
        yield Signal.at(hit, "work", 0, "Reports work.", state="progress")
    for hit in scope.of("ongoing")[:_WORK_REPORTED]:
        yield Signal.at(hit, "ongoing", 0, "Reports work in progress.", state="progress")
    for hit in scope.of("more")[:_WORK_REPORTED]:
        yield Signal.at(hit, "more_to_come", 0, "Names further work.", state="progress")


_IDLE_LOOKED_AT = 20


def detect_idleness(reply: Reply) -> Iterable[Signal]:
    """Find words by which the agent says that it did nothing.

    `idle` is "nothing to do", or "already" before a word of completion; `unchanged` is a negated word of change, such
    as "did not modify"; `watching` is "still running".
    """
    scope = reply.scope
    yield from _idle(reply)
    for hit in scope.of("change")[:_IDLE_LOOKED_AT]:
        if scope.negated(hit) and not scope.before("condition", hit, 4):
            yield Signal.at(hit, "unchanged", 0, "Says that nothing was changed.")
            break
    for hit in scope.of("watching")[:_IDLE_LOOKED_AT]:
        if not scope.negated(hit, 1) and not scope.before("future", hit, 4):
            yield Signal.at(hit, "watching", 0, "Says that something still runs.")
            break


def _idle(reply: Reply) -> Iterable[Signal]:
    """Yield the first idle word of each name; else a keyword that says that no work is left."""
    hits = [hit for hit in reply.scope.of("idle")[:_IDLE_LOOKED_AT] if _is_idle(reply.scope, hit)]
    first = {hit.name: hit for hit in reversed(hits)}
    for hit in first.values():
        yield Signal.at(hit, "idle", 0, "Says that there was nothing to do.")
    for signal in () if first else reply.signals.of("completion_keyword"):
        keyword = reply.words.keywords.get(signal.name)
        if keyword and keyword.group == "no_more_work":
            yield signal._replace(kind="idle", weight=0, why="Says that there was nothing to do.", state=None)
            return


def _is_idle(scope: Scope, hit: Hit) -> bool:
    """Return True if a word says that nothing was to do; "already" does so only before a word of completion."""
    if scope.negated(hit, 1) or scope.before("future", hit, 4) or scope.before("condition", hit, 4):
        return False
    return hit.name != "already" or scope.after("keyword", hit, 2) is not None


_TAIL = 400  # most characters of a question, and between two things at the end of a reply
_SENTENCES = 4  # sentences before the last one in which a question may stand
_MARKS = "?？"
_LIST_ITEM = pattern(r"\s*(?:[-*+•]|\(?[a-z0-9]{1,2}[.):、])\s")
_WHY = pattern(r"\W*(?:why|how come|what if|so what|¿?por qué|为什么|為什麼)\b")
# The beginning of a sentence about what follows from an answer.
_IF_SO = pattern(
    r"\W*(?:(?:if (?:so|not|yes|no|it|they|that|this|there|we)|in that case|wenn (?:ja|nein|nicht|es)"
    r"|falls (?:ja|nein|nicht)|si (?:no|sí|es))\b|(?:如果)?(?:是的话|不是|可以的话|是的話|可以的話))"
)
# A reply with one of these signals may have answered the question at its beginning itself.
_ANSWERING = ("work", "announcement", "verified", "test_run", "completion_keyword", "completion_claim")
_PLEAS: frozenset[Role] = frozenset({"plea", "pleading"})
_PERSON: tuple[Role, ...] = ("person", "offer", "obstacle", "leave")


def detect_questions(reply: Reply) -> Iterable[Signal]:
    """Find the question to a user with which the reply ends."""
    prose = reply.reading.prose
    if not ("?" in prose or "？" in prose or reply.scope.has(_PLEAS)):
        return
    finished = completion_signal(reply.signals).detected
    span = _question(reply, finished=finished)
    if span is None and (early := _early_question(reply.scope)) and not _is_answered(reply, early):
        span = early
    if span:
        yield Signal("question", "", *span, -40, "It asks the user.", "question")


def _is_answered(reply: Reply, span: Span) -> bool:
    """Return True if work is reported outside of a question's sentence, or announced without an answer."""
    reports = (signal for signal in reply.signals.of(*_ANSWERING) if not span[0] <= signal.start < span[1])
    return any(signal.kind != "announcement" or not _awaits(reply.scope, signal) for signal in reports)


def _awaits(scope: Scope, act: Signal) -> bool:
    """Return True if an announcement waits for an answer: "Let me know and I'll go on", "If so, I'll …"."""
    before = scope.reading.sentence(act.start)[0], act.start
    return _IF_SO.match(scope.reading.prose, before[0]) is not None or bool(scope.within("plea", before))


def _question(reply: Reply, *, finished: bool) -> Span | None:
    """Return the question to a user with which the reply ends.

    A plea for the answer may follow it ("Please let me know."), or stand alone ("Please confirm that I may …"), and
    anything in the same paragraph. After finished work only a question whether to continue counts. A heading asks
    nothing.
    """
    scope, reading = reply.scope, reply.reading
    end = _end(reading, len(reading.prose))
    last = _begin(reading, end), end
    span = _final_question(scope, last, finished=finished)
    if span is None:
        for before in _sentences_before(reading, last):
            asks = _asks(reading, before) and _addresses_user(scope, before)
            if asks or (not finished and scope.within("pleading", before)):
                span = before
                break
    if span is None or reading.in_heading(span[0]):
        return None
    if finished and (scope.within("offer", span) or not scope.within("resume", span)):
        return None
    return span if reading.text[slice(*span)].strip() else None


def _final_question(scope: Scope, last: Span, *, finished: bool) -> Span | None:
    """Return the question of the last sentence, or of one shortly before a plea."""
    reading = scope.reading
    if _asks(reading, last):
        return last if _addresses_user(scope, last) or not _in_list(reading, last) else None
    if not scope.within("plea", last):
        return None
    for before in _sentences_before(reading, last):
        if _asks(reading, before) or (scope.within("pleading", before) and not finished):
            return before[0], last[1]
    return last if scope.within("pleading", last) and not finished else None


def _early_question(scope: Scope) -> Span | None:
    """Return a question near the beginning, or one that begs for its answer anywhere.

    What follows explains it. A question for the reason of something is one that the agent asks itself.
    """
    reading = scope.reading
    begin = len(reading.prose) - len(reading.prose.lstrip())
    first = min(begin + _TAIL, len(reading.prose))
    marks = [place for mark in _MARKS if (place := reading.prose.find(mark, begin, first)) >= 0]
    for place in (*(hit.start for hit in scope.of("pleading")[:_SENTENCES]), *marks):
        start, end = reading.sentence(place)
        span = start, _end(reading, end)
        if not _asks(reading, span) or reading.in_heading(start) or _in_list(reading, span):
            continue
        if not _WHY.match(reading.prose, start):
            return span
    return None


def _sentences_before(reading: Reading, last: Span) -> Iterator[Span]:
    """Yield the sentences of the paragraph before the last one, from the end, but at least one."""
    begin = last[0]
    for index in range(_SENTENCES):
        end = _end(reading, begin)
        if not end or (index and "\n\n" in reading.prose[end:begin]):
            return
        begin = _begin(reading, end)
        yield begin, end


def _asks(reading: Reading, span: Span) -> bool:
    return span[1] > span[0] and reading.prose[span[1] - 1] in _MARKS


def _in_list(reading: Reading, span: Span) -> bool:
    """Return True if a sentence is an item of a list; the item's number is a sentence of its own."""
    line = reading.prose.rfind("\n", max(0, span[0] - 8), span[0]) + 1
    return (line > 0 or span[0] < 8) and _LIST_ITEM.match(reading.prose, line) is not None


def _addresses_user(scope: Scope, span: Span) -> bool:
    """Return True if a sentence addresses a user; "- What happens if …?" is about the work."""
    return scope.any_within(_PERSON, span)


def _end(reading: Reading, before: int) -> int:
    """Return where the last word or mark before a position ends."""
    return len(reading.prose[max(0, before - _TAIL) : before].rstrip(" \t\n*_)")) + max(0, before - _TAIL)


def _begin(reading: Reading, end: int) -> int:
    """Return where the sentence begins that ends at a position."""
    return max(reading.sentence(end - 1)[0], end - _TAIL) if end else 0


_CLAUSE = 12  # words on either side of an unsure word in which a certain one counts
_AROUND = 200


_CUES: frozenset[Role] = frozenset({"unsure", "certain", "likely"})


def detect_certainty(reply: Reply) -> Iterable[Signal]:
    """Find the cue that sets the level of certainty, and every other hedge and certainty once."""
    scope = reply.scope
    cue, level = _cue(scope)
    if cue:
        why = f"Sets the agent's certainty to {level}."
        yield Signal("certainty_cue", cue.name, cue.start, cue.end, level, why, amount=level)
    in_heading = scope.reading.in_heading  # a heading says nothing about the agent
    hedges = [hit for hit in scope.of("hedge") if not in_heading(hit.start)]
    sure = [hit for hit in scope.of("certainty") if not (in_heading(hit.start) or scope.negated(hit, 1))]
    for hit in _first_of_each(hedges):
        yield Signal.at(hit, "hedge", -CERTAINTY_STEP, "Sounds unsure.")
    for hit in _first_of_each(sure):
        if not (cue and hit.name == cue.name):
            yield Signal.at(hit, "certainty", CERTAINTY_STEP, "Sounds sure.")


def _first_of_each(hits: Iterable[Hit]) -> Iterable[Hit]:
    """Return the first hit of each name, in order."""
    found: dict[str, Hit] = {}
    for hit in hits:
        found.setdefault(hit.name, hit)
    return found.values()


def _cue(scope: Scope) -> tuple[Hit | None, int]:
    """Return the cue and its level: a high word without a low one in its clause, else a low or a likely one."""
    if not scope.has(_CUES):
        return None, 0
    in_heading = scope.reading.in_heading
    unsure = [hit for hit in scope.of("unsure") if not in_heading(hit.start)]
    high: list[Hit] = []
    for hit in scope.of("certain"):
        if scope.negated(hit):
            unsure.append(hit)
        elif not in_heading(hit.start) and not _is_talk(scope, hit):
            high.append(hit)
    doubted = {scope.before("certain", hit, _CLAUSE) for hit in unsure}
    doubted |= {scope.after("certain", hit, _CLAUSE) for hit in unsure}
    high = [hit for hit in high if hit not in doubted]
    likely = [hit for hit in scope.of("likely") if not in_heading(hit.start) and not scope.negated(hit)]
    for hits, level in ((high, SURE), (unsure, UNSURE), (likely, LIKELY)):
        if hits:
            return hits[0], level
    return None, 0


def _is_talk(scope: Scope, hit: Hit) -> bool:
    """Return True if a word only addresses the user: "Sure, I can do that", "Are you sure?"."""
    prose = scope.reading.prose
    begin, end = scope.reading.sentence(hit.start)
    opens = hit.name == "sure" and not prose[max(begin, hit.start - _AROUND) : hit.start].strip()
    asked = prose[hit.end : min(end, hit.end + _AROUND)].rstrip().endswith(("?", "？"))
    return asked or (opens and prose[hit.end : hit.end + 1] in {",", "!", ".", ":"})
