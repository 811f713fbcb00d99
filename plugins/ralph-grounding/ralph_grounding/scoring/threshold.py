"""The threshold: strictly above it, independent of rounding errors."""

__all__ = ["is_above"]

_DIGITS = 6


def is_above(similarity: float, threshold: float) -> bool:
    """Return True if a calibrated similarity is above the threshold; both are rounded to six decimals first."""
    return round(similarity, _DIGITS) > round(threshold, _DIGITS)
