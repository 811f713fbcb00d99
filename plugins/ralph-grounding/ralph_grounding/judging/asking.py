"""Asking a judge: which claims, at what cost, and what becomes of its verdicts."""

from collections.abc import Sequence
from typing import NamedTuple, Self
from weakref import WeakValueDictionary

import anyio

from ralph.errors import UsageError
from ralph.types import evolve
from ralph_grounding.endpoint import sendable
from ralph_grounding.errors import ProviderError
from ralph_grounding.judging.base import Judge, JudgeQuestion, Tokens, Verdict, VerdictCache
from ralph_grounding.judging.doubt import is_doubtful
from ralph_grounding.judging.quotes import find_quote
from ralph_grounding.result import ClaimJudgement, Conflict, Judged, JudgeUse, TextPosition
from ralph_grounding.settings import JudgeSettings
from ralph_grounding.telemetry import count_error
from ralph_grounding.text.sentences import Span, sentences, trimmed

__all__ = ["Judging"]

_MISTAKES: frozenset[str] = frozenset({"key", "model"})
"""Failures of every further question, too."""
_FREE: frozenset[str] = frozenset({"unreachable", "rate_limit", "key", "refused", "too_long", "model"})
"""Failures that cost nothing: the endpoint took no question. Of others the estimated cost counts."""
_PATIENCE = 5
"""The number of failures in a row, each after its retries, after which the judge is asked no more."""
_LONGEST_TROUBLE = 300
_MILLION = 1_000_000


class _Excerpt(NamedTuple):
    """The part of an answer that the judge reads, and where it begins there."""

    text: str
    start: int
    whole: bool


class Judging:
    """A judge with its cache, its budget and its failures. Use it in `async with`, which opens the judge.

    A failure never raises: the offline verdict stands, and the claim says why.

    Args:
        judge: the judge.
        settings: mode, prices and limits.
        threshold: the similarity that a found claim exceeds.
        cache: earlier verdicts; None for none.
        only_estimate: count the questions, their tokens and their cost, but ask nothing.

    Raises:
        UsageError: there is a cost limit, but no price.
    """

    def __init__(
        self,
        judge: Judge,
        settings: JudgeSettings,
        *,
        threshold: float = 0.75,
        cache: VerdictCache | None = None,
        only_estimate: bool = False,
    ) -> None:
        self.judge, self.only_estimate = judge, only_estimate
        self._settings, self._threshold, self._cache = settings, threshold, cache
        self._prices = _prices(settings)
        if settings.max_cost is not None and self._prices is None:
            raise UsageError(
                "A cost limit needs the judge's prices.",
                "Set plugins.grounding.judge.input_price and output_price, per million tokens.",
            )
        self._limiter = anyio.Semaphore(settings.concurrency)
        self._spent = self._reserved = 0.0
        self._asking: WeakValueDictionary[str, anyio.Lock] = WeakValueDictionary()
        self._failures = 0
        self._ended = ""
        self.used = self._use(Tokens(), kept=None, sent=False)
        """The sum over all answers so far."""
        self.trouble = ""
        """The reason that the last verdict was not taken; empty if all were."""

    async def __aenter__(self) -> Self:
        await self.judge.__aenter__()
        self.used = evolve(self.used, judge=self.judge.name)
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self.judge.__aexit__(*raised)

    @property
    def identity(self) -> list[str]:
        """The judge, its version and the mode: all that verdicts depend on besides the answers."""
        return [self.judge.name, self.judge.version, self._settings.mode]

    async def judged(
        self, question: str, answer: str, judgements: Sequence[ClaimJudgement]
    ) -> tuple[tuple[ClaimJudgement, ...], JudgeUse]:
        """Return the judgements with the judge's verdicts, and what these took."""
        found = list(judgements)
        cut = sentences(answer)
        uses: list[JudgeUse] = []

        async def ask(place: int) -> None:
            found[place], use = await self._one(question, answer, judgements[place])
            uses.append(use)

        async with anyio.create_task_group() as group:
            for place, judgement in enumerate(judgements):
                if self._settings.mode == "all" or is_doubtful(judgement, answer, cut, self._threshold):
                    group.start_soon(ask, place)
        self.used = _sum(self.used, uses)
        return tuple(found), _sum(self._use(Tokens(), kept=None, sent=False), uses)

    async def _one(self, question: str, answer: str, offline: ClaimJudgement) -> tuple[ClaimJudgement, JudgeUse]:
        part = _excerpt(sendable(answer), offline.position, self._settings.max_answer)
        asked = JudgeQuestion(question, offline.claim, part.text)
        key = self._key(asked)
        async with self._asking.setdefault(key, anyio.Lock()), self._limiter:
            kept = await self._cache.verdict(key) if self._cache else None
            if self.only_estimate:
                return offline, self._use(Tokens() if kept else self.judge.tokens(asked), kept=kept, sent=not kept)
            verdict, sent = (kept, False) if kept else await self._asked(asked)
        use = self._use(Tokens() if kept else Tokens(verdict.input_tokens, verdict.output_tokens), kept=kept, sent=sent)
        noted = Judged(judge=self.judge.name, offline=offline.outcome, cached=kept is not None)
        trouble, place = _checked(verdict, part)
        if trouble:
            self.trouble = trouble[:_LONGEST_TROUBLE]
            noted = evolve(noted, trouble=self.trouble)
            return evolve(offline, judged=noted), evolve(use, untaken=1)
        if self._cache and not kept:
            await self._cache.keep_verdict(key, self.judge.name, verdict)
        return _joined(offline, verdict, place, answer, noted), use

    def _key(self, asked: JudgeQuestion) -> str:
        return JudgeQuestion(self.judge.name, self.judge.version, asked.key).key

    async def _asked(self, asked: JudgeQuestion) -> tuple[Verdict, bool]:
        """Ask the judge within the budget; a failure is a verdict without an outcome. Return also if it was asked."""
        if self._ended:
            return Verdict(outcome=None, trouble=self._ended), False
        estimated = self.judge.tokens(asked)
        expected = self._cost(estimated._replace(output=self._settings.max_tokens))
        limit = self._settings.max_cost
        if limit is not None and self._spent + self._reserved + expected > limit:
            return Verdict(outcome=None, trouble=f"the cost limit of {limit:g} is reached"), False
        self._reserved += expected
        try:
            verdict = await self.judge.verdict(asked)
            self._failures = 0
        except ProviderError as error:
            verdict = self._failed(error.kind, error.problem, estimated)
        except Exception as error:  # noqa: BLE001 - a judge of a plug-in may raise anything, and must not end the batch
            name = type(error).__name__
            verdict = self._failed(name, f"it failed: {name}: {error}", estimated)
        finally:
            self._reserved -= expected
        self._spent += self._cost(Tokens(verdict.input_tokens, verdict.output_tokens))
        return verdict, True

    def _failed(self, kind: str, problem: str, estimated: Tokens) -> Verdict:
        count_error(kind)
        self._failures += 1
        if kind in _MISTAKES or self._failures >= _PATIENCE:
            self._ended = f"it is asked no more after this failure: {problem}"
        spent = Tokens() if kind in _FREE else estimated
        return Verdict(outcome=None, trouble=problem, input_tokens=spent.input, output_tokens=spent.output)

    def _use(self, tokens: Tokens, *, kept: Verdict | None, sent: bool) -> JudgeUse:
        return JudgeUse(
            judge=self.judge.name,
            questions=int(sent),
            cached=int(kept is not None),
            input_tokens=tokens.input,
            output_tokens=tokens.output,
            cost=None if self._prices is None else self._cost(tokens),
        )

    def _cost(self, tokens: Tokens) -> float:
        each = self._prices or (0.0, 0.0)
        return (tokens.input * each[0] + tokens.output * each[1]) / _MILLION


def _prices(settings: JudgeSettings) -> tuple[float, float] | None:
    if settings.nli:
        return 0.0, 0.0
    if settings.input_price is None or settings.output_price is None:
        return None
    return settings.input_price, settings.output_price


def _sum(first: JudgeUse, others: Sequence[JudgeUse]) -> JudgeUse:
    """Add the uses; the cost is unknown if one is."""
    uses = [first, *others]
    costs = [use.cost for use in uses if use.cost is not None]
    return JudgeUse(
        judge=first.judge,
        questions=sum(use.questions for use in uses),
        cached=sum(use.cached for use in uses),
        untaken=sum(use.untaken for use in uses),
        input_tokens=sum(use.input_tokens for use in uses),
        output_tokens=sum(use.output_tokens for use in uses),
        cost=sum(costs) if len(costs) == len(uses) else None,
    )


def _excerpt(answer: str, position: TextPosition, most: int) -> _Excerpt:
    """Cut a long answer to what surrounds a position."""
    if len(answer) <= most:
        return _Excerpt(answer, 0, whole=True)
    middle = (position.start + position.end) // 2
    start = max(0, min(middle - most // 2, len(answer) - most))
    span = trimmed(answer, Span(start, start + most))
    return _Excerpt(answer[span.start : span.end], span.start, whole=False)


def _checked(verdict: Verdict, part: _Excerpt) -> tuple[str, TextPosition | None]:
    """Return the reason for not taking a verdict, or else the place of its quotation in the whole answer."""
    if verdict.outcome is None:
        return verdict.trouble or "it gave no verdict", None
    if verdict.outcome == "absent":
        return ("" if part.whole else "it read only a part of the answer, and the claim is not in that part"), None
    if not verdict.quote.strip():
        return "it quotes nothing", None
    found = find_quote(sendable(verdict.quote), part.text)
    if found is None:
        return "its quotation is not in the answer", None
    return "", TextPosition(start=part.start + found.start, end=part.start + found.end)


def _joined(
    offline: ClaimJudgement, verdict: Verdict, place: TextPosition | None, answer: str, noted: Judged
) -> ClaimJudgement:
    """Return the judgement with the judge's verdict instead of the offline one."""
    quote = answer[place.start : place.end] if place else ""
    judged = evolve(noted, outcome=verdict.outcome, quote=quote)
    if place is None:
        return evolve(offline, found=False, conflicts=(), judged=judged)
    conflicts = ()
    if verdict.outcome == "contradicted":
        conflicts = offline.conflicts or (Conflict(kind="meaning", expected=offline.claim, said=quote, position=place),)
    return evolve(offline, found=not conflicts, conflicts=conflicts, matched_text=quote, position=place, judged=judged)
