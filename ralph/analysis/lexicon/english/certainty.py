"""English words of certainty and doubt."""

from ralph.analysis.lexicon.base import Words, alone

__all__ = ["CERTAINTY"]

CERTAINTY: Words = {
    "certain": alone("confident", "sure", "certainly", "absolutely"),
    "likely": alone("likely", "probably"),
    "unsure": alone(
        *("unsure", "uncertain", "unclear", "not certain", "not clear", "don't know", "do not know", "no idea"),
        *("not confident", "not sure", "unconfident", "doesn't know", "can't tell", "cannot tell", "unlikely"),
        *("not entirely certain", "not completely certain", "not quite certain", "can't be certain"),
        *("cannot be certain", "dont know", "no confidence", "hard to say"),
    ),
    "hedge": {
        "might": ("might", "might be"),
        "could": ("could", "could be"),
        **alone("maybe", "approximately", "roughly", "basically", "i think", "perhaps"),
        "doubt": ("doubt", "doubts", "doubtful"),
    },
    "certainty": {
        **alone("definitely", "certainly", "absolutely", "undoubtedly", "assured", "guaranteed"),
        "without doubt": ("without doubt", "without a doubt", "without any doubt", "no doubt", "beyond doubt"),
    },
    "plain": alone(
        *("make sure", "makes sure", "making sure", "made sure", "be sure to", "to be sure", "could not"),
        *("most likely to", "make certain", "made certain", "making certain", "make absolutely sure"),
        *("make doubly sure",),
    ),
    "lost": alone(
        *("not sure what to do", "don't know what to do", "do not know what to do", "no idea what to do"),
        *("not sure how to proceed", "don't know how to proceed", "unsure what to do", "unsure how to proceed"),
        *("not sure where to start", "don't know where to start", "not sure how to continue"),
    ),
}
