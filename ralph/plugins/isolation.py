"""Isolation of plug-ins in a run: what raises there is left out, and recorded as that plug-in's problem."""

from collections.abc import Callable, Iterable, Iterator
from types import NoneType
from typing import cast

from ralph.analysis.detectors import Detector
from ralph.analysis.result import Analysis, AnalysisContext, Analyzer, Reply, Signal
from ralph.decision.claims import Case, Claim
from ralph.plugins.discovery import PARTS, Offer, failure, name_of
from ralph.plugins.providers import Delivery, PromptContext
from ralph.status import Status
from ralph.system.text import printable
from ralph.types.output import Output

_MOST = 4_000
"""Characters of one part of the prompt."""


class GuardedStrategy:
    """A plug-in's exit strategy; if it raises, or returns something else than a claim, it sees no claim."""

    def __init__(self, offer: Offer) -> None:
        self._offer = offer
        self.name: str = offer.thing.name

    def claim(self, case: Case) -> Claim | None:
        said = _given(self._offer, lambda: self._offer.thing.claim(case), (Claim, NoneType), "a claim")
        return said if isinstance(said, Claim) else None


class GuardedAnalyzer:
    """A plug-in's analyzer; if it raises, or returns something else than an analysis, it has no say."""

    def __init__(self, offer: Offer, analyzer: Analyzer) -> None:
        self._offer, self._analyzer = offer, analyzer

    def analyze(self, output: Output, status: Status, context: AnalysisContext) -> Analysis:
        said = _given(self._offer, lambda: self._analyzer.analyze(output, status, context), (Analysis,), "an Analysis")
        return cast("Analysis", said)  # `SeveralAnalyzers` leaves out what is not one


def prompt_texts(offers: Iterable[Offer], context: PromptContext) -> list[str]:
    """Return the sections that plug-ins add to a prompt."""
    said = (_given(each, lambda each=each: each.thing.text(context), (str,), "text") for each in offers)
    return [text for each in said if isinstance(each, str) and (text := printable(each.strip(), _MOST))]


def guarded_detector(offer: Offer) -> Detector:
    """Return a detector that records its exceptions and leaves them to the analyzer."""

    def detect(reply: Reply) -> Iterator[Signal]:
        try:
            yield from offer.thing(reply)
        except BaseException as error:
            _complain(offer, f"failed: {failure(error)}")
            raise

    detect.__name__ = name_of(offer.thing)
    return detect


def announce(offers: Iterable[Offer], delivery: Delivery, record: object) -> list[str]:
    """Call the plug-ins' functions for deliveries; return the problems of those that failed. Blocks."""
    problems: list[str] = []
    for offer in offers:
        try:
            offer.thing(delivery, record)
        except BaseException as error:  # noqa: BLE001 - anything may come from foreign code
            _complain(offer, f"failed: {failure(error)}")
            problems.append(f"{offer.plugin.title} failed: {failure(error)}")
    return problems


def _given(offer: Offer, ask: Callable[[], object], kinds: tuple[type, ...], meant: str) -> object:
    """Return what a plug-in's part answers if it is of one of the kinds; else record the problem and return None."""
    try:
        said = ask()
    except BaseException as error:  # noqa: BLE001 - anything may come from foreign code
        _complain(offer, f"failed: {failure(error)}")
        return None
    if isinstance(said, kinds):
        return said
    _complain(offer, f"returned a {type(said).__name__}, which is not {meant}")
    return None


def _complain(offer: Offer, problem: str) -> None:
    offer.plugin.complain(f"The {PARTS[offer.hook].kind} {name_of(offer.thing)} {problem}.")
