"""Feedback for people: the claims as a check-list, and what of a response the ground truth bears out."""

from ralph_grounding.feedback.claims import claim_feedback
from ralph_grounding.feedback.highlights import highlight_feedback
from ralph_grounding.feedback.together import give_feedback

__all__ = ["claim_feedback", "give_feedback", "highlight_feedback"]
