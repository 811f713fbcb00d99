"""Text as the scorers see it: tokens, sentences and paragraphs, each with its place in the text."""

from ralph_grounding.text.language import guess_language
from ralph_grounding.text.sentences import Span, paragraphs, sentences, trimmed
from ralph_grounding.text.tokens import Token, tokens

__all__ = ["Span", "Token", "guess_language", "paragraphs", "sentences", "tokens", "trimmed"]
