"""Chinese, traditional and simplified."""

from ralph.analysis.lexicon.base import Lexicon, merged
from ralph.analysis.lexicon.chinese.claims import CLAIMS
from ralph.analysis.lexicon.chinese.completion import COMPLETION, KEYWORDS
from ralph.analysis.lexicon.chinese.idleness import IDLENESS
from ralph.analysis.lexicon.chinese.talk import TALK

__all__ = ["CHINESE"]

CHINESE = Lexicon(language="zh", keywords=KEYWORDS, words=merged(COMPLETION, IDLENESS, TALK), claims=CLAIMS)
