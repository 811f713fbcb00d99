"""German: completion, what is left, and what keeps the agent from going on. It has no words of certainty or errors."""

from ralph.analysis.lexicon.base import Lexicon
from ralph.analysis.lexicon.german.claims import CLAIMS
from ralph.analysis.lexicon.german.completion import COMPLETION, KEYWORDS

__all__ = ["GERMAN"]

GERMAN = Lexicon(language="de", keywords=KEYWORDS, words=COMPLETION, claims=CLAIMS)
