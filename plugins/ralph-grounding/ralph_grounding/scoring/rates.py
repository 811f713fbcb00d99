"""Rates: the shares of an answer's statements that the ground truth supports, and that contradict it."""

from ralph_grounding.result import Feedback, Scores

__all__ = ["with_rates"]


def with_rates(scores: Scores, feedback: Feedback, *, grounded: bool) -> Scores:
    """Return the scores with the rates.

    Args:
        scores: the scores.
        feedback: on the same answer.
        grounded: its statements were looked up in ground truth.
    """
    against = {one.position.start for one in feedback.claims.contradicts}
    if grounded:
        supported = len(feedback.highlights.highlights)
        total = supported + len(against) + len(feedback.claims.not_in_ground_truth)
        rates = (100 * supported / total, 100 * len(against) / total) if total else (None, None)
    else:
        matches = scores.completeness.matches if scores.completeness else ()
        conflicting = sum(bool(one.conflicts) for one in matches)
        rates = (None, 100 * conflicting / len(matches) if matches else None)
    return scores.model_copy(update={"support_rate": rates[0], "contradiction_rate": rates[1]})
