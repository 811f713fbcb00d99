"""Spanish: completion, negation, and talk with a person. It has no words of certainty or errors yet."""

from ralph.analysis.lexicon.base import Lexicon, merged
from ralph.analysis.lexicon.spanish.claims import CLAIMS
from ralph.analysis.lexicon.spanish.completion import COMPLETION, KEYWORDS
from ralph.analysis.lexicon.spanish.idleness import IDLENESS
from ralph.analysis.lexicon.spanish.talk import TALK

__all__ = ["SPANISH"]

SPANISH = Lexicon(language="es", keywords=KEYWORDS, words=merged(COMPLETION, IDLENESS, TALK), claims=CLAIMS)
