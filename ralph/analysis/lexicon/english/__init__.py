"""English."""

from ralph.analysis.lexicon.base import Lexicon, merged
from ralph.analysis.lexicon.english.certainty import CERTAINTY
from ralph.analysis.lexicon.english.completion import COMPLETION, KEYWORDS
from ralph.analysis.lexicon.english.faults import FAULTS
from ralph.analysis.lexicon.english.limits import LIMITS
from ralph.analysis.lexicon.english.talk import TALK

__all__ = ["ENGLISH"]

ENGLISH = Lexicon(language="en", keywords=KEYWORDS, words=merged(COMPLETION, CERTAINTY, FAULTS, LIMITS, TALK))
