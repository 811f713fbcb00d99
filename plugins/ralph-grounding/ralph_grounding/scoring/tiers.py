"""Tiers: what a score is called."""

from ralph_grounding.result import Tier
from ralph_grounding.settings import TierSettings

__all__ = ["tier_of"]


def tier_of(score: float, tiers: TierSettings) -> Tier:
    """The highest tier whose lowest score this one reaches: 84.9 is good, 85 is excellent. Any score at all has one."""
    if score >= tiers.excellent:
        return "excellent"
    if score >= tiers.good:
        return "good"
    if score >= tiers.fair:
        return "fair"
    return "poor"
