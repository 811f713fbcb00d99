"""Tiers: the names of score ranges."""

from ralph_grounding.result import Tier
from ralph_grounding.settings import TierSettings

__all__ = ["tier_of"]


def tier_of(score: float, tiers: TierSettings) -> Tier:
    """Return the highest tier with a minimum that the score reaches: 84.9 is good, 85 is excellent."""
    if score >= tiers.excellent:
        return "excellent"
    if score >= tiers.good:
        return "good"
    if score >= tiers.fair:
        return "fair"
    return "poor"
