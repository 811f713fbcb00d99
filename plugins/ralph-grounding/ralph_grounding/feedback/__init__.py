"""Feedback for readers: the claims as a checklist, and the parts of a response that the ground truth supports."""

from ralph_grounding.feedback.compose import claim_feedback, give_feedback, highlight_feedback

__all__ = ["claim_feedback", "give_feedback", "highlight_feedback"]
