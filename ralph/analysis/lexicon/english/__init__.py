"""English."""

from ralph.analysis.lexicon.base import Lexicon, merged
from ralph.analysis.lexicon.english.ahead import AHEAD
from ralph.analysis.lexicon.english.certainty import CERTAINTY
from ralph.analysis.lexicon.english.claims import CLAIMS
from ralph.analysis.lexicon.english.completion import COMPLETION, KEYWORDS
from ralph.analysis.lexicon.english.faults import FAULTS
from ralph.analysis.lexicon.english.idleness import IDLENESS
from ralph.analysis.lexicon.english.impasses import IMPASSES, NO_NEWS
from ralph.analysis.lexicon.english.limits import LIMITS
from ralph.analysis.lexicon.english.obstacles import OBSTACLES
from ralph.analysis.lexicon.english.statements import STATEMENTS
from ralph.analysis.lexicon.english.talk import TALK
from ralph.analysis.lexicon.english.unfinished import UNFINISHED

__all__ = ["ENGLISH"]

ENGLISH = Lexicon(
    language="en",
    keywords=KEYWORDS,
    words=merged(COMPLETION, CERTAINTY, FAULTS, IDLENESS, IMPASSES, LIMITS, OBSTACLES, TALK),
    claims=merged(CLAIMS, STATEMENTS, UNFINISHED, AHEAD, NO_NEWS),
)
