"""Feedback for readers: the claims as a checklist, and the parts of a response that the ground truth supports."""

from ralph_grounding.feedback.claims import claim_feedback
from ralph_grounding.feedback.highlights import highlight_feedback
from ralph_grounding.feedback.together import give_feedback

__all__ = ["claim_feedback", "give_feedback", "highlight_feedback"]
