"""The choice of claims to ask a judge about: those with a doubtful offline verdict."""

import re
from bisect import bisect_right

from ralph_grounding.result import ClaimJudgement
from ralph_grounding.text.sentences import Span

__all__ = ["is_doubtful"]

_BELOW, _ABOVE = 0.2, 0.1
"""The distances from the threshold within which a similarity decides little; a paraphrase is below it."""

_CUE = re.compile(
    r"\b(?:not|no|never|none|without|except|excluding|unless|only|until|however|but|although|may|might|could|should|"
    r"perhaps|probably|reportedly|allegedly|rumou?red|planned|expected|myth|false|wrong|incorrect|mistaken(?:ly)?|"
    r"formerly|previously|used to|no longer|contrary|instead|rather than|if|nicht|kein\w{0,2}|nie|ohne|außer|nur|aber|"
    r"falsch|vielleicht|früher|statt|wenn|pas|jamais|sans|sauf|seulement|mais|faux|peut-être|autrefois|si|nunca|sin|"
    r"salvo|solo|pero|falso|quizás?|antes|mai|senza|tranne|ma|forse|prima)\b|n['’]t\b",
    re.IGNORECASE,
)
"""Words that turn or weaken what a sentence says, which a comparison of words may misread."""


def is_doubtful(judgement: ClaimJudgement, answer: str, sentences: list[Span], threshold: float) -> bool:
    """Return True if the offline verdict on a claim may be wrong.

    It may if no sentence decides, if the similarity is near the threshold, or if a negation, hedge, condition or
    correction stands in the sentence of the verdict or the next one.

    Args:
        judgement: the offline judgement.
        answer: the whole answer.
        sentences: those of the answer, in order.
        threshold: a found claim exceeds it.
    """
    if judgement.unsure or -_BELOW <= judgement.similarity - threshold <= _ABOVE:
        return True
    if not judgement.matched_text:
        return False
    first = max(bisect_right(sentences, judgement.position.start, key=lambda span: span.start) - 1, 0)
    last = max(bisect_right(sentences, judgement.position.end - 1, key=lambda span: span.start), first + 1)
    near = sentences[first : last + 1]
    return any(_CUE.search(answer, span.start, span.end) for span in near)
