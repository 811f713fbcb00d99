"""The three scores, their tiers, and their combination."""
