"""What a detector is."""

from collections.abc import Callable, Iterable

from ralph.analysis.signals import Reply, Signal

__all__ = ["Detector"]

Detector = Callable[[Reply], Iterable[Signal]]
"""Finds signals of one kind or of a few in a reply. It is pure, and linear in the length of the text. Detectors run in
order, and each sees what those before it found."""
