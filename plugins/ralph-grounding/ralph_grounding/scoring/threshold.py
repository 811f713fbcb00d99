"""Where found begins: strictly above the threshold, whatever the last bits of a floating point number say."""

__all__ = ["is_above"]

_DIGITS = 6


def is_above(similarity: float, threshold: float) -> bool:
    """Whether a calibrated similarity is above the threshold; both are rounded to six decimals first."""
    return round(similarity, _DIGITS) > round(threshold, _DIGITS)
