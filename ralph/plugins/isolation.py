"""Isolation of plug-ins in a run: what raises there is left out, and recorded as that plug-in's problem."""

from collections.abc import Iterable, Iterator

from ralph.analysis.detectors import Detector
from ralph.analysis.result import Analysis, AnalysisContext, Analyzer, Reply, Signal
from ralph.decision.claims import Case, Claim
from ralph.plugins.discovery import Offer, failure, name_of
from ralph.plugins.providers import PromptContext
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
        try:
            said: object = self._offer.thing.claim(case)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - anything may come from foreign code
            self._offer.plugin.complain(f"The exit strategy {self.name} failed: {failure(error)}.")
            return None
        if said is None or isinstance(said, Claim):
            return said
        what = f"a {type(said).__name__}, which is not a claim"
        self._offer.plugin.complain(f"The exit strategy {self.name} returned {what}.")
        return None


class GuardedAnalyzer:
    """A plug-in's analyzer; an exception is recorded and left to `SeveralAnalyzers`."""

    def __init__(self, offer: Offer, analyzer: Analyzer) -> None:
        self._offer, self._analyzer = offer, analyzer

    def analyze(self, output: Output, status: Status, context: AnalysisContext) -> Analysis:
        try:
            return self._analyzer.analyze(output, status, context)
        except (Exception, SystemExit) as error:
            self._offer.plugin.complain(f"The analyzer {self._offer.thing.name} failed: {failure(error)}.")
            raise


def prompt_texts(offers: Iterable[Offer], context: PromptContext) -> list[str]:
    """Return the sections that plug-ins add to a prompt."""
    return [text for offer in offers if (text := _text(offer, context))]


def guarded_detector(offer: Offer) -> Detector:
    """Return a detector that records its exceptions and leaves them to the analyzer."""
    name = name_of(offer.thing)

    def detect(reply: Reply) -> Iterator[Signal]:
        try:
            yield from offer.thing(reply)
        except (Exception, SystemExit) as error:
            offer.plugin.complain(f"The detector {name} failed: {failure(error)}.")
            raise

    detect.__name__ = name
    return detect


def _text(offer: Offer, context: PromptContext) -> str:
    part = offer.thing
    try:
        said: object = part.text(context)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - anything may come from foreign code
        offer.plugin.complain(f"The prompt part {part.name} failed: {failure(error)}.")
        return ""
    if isinstance(said, str):
        return printable(said.strip(), _MOST)
    offer.plugin.complain(f"The prompt part {part.name} returned a {type(said).__name__}, which is not text.")
    return ""
