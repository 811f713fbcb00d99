"""The three scores, their tiers, and the one that they combine to."""
