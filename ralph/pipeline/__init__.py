"""The pure pipeline from a reply and its evidence to the record of an iteration, with its replay and explanation."""

from typing import TYPE_CHECKING

from ralph._lazy import lazy_exports

if TYPE_CHECKING:
    from ralph.pipeline.evaluate import Assessment, Progress, Rules, assess
    from ralph.pipeline.replay import Loop, Pass, Replay, Replayed

__all__ = ["Assessment", "Loop", "Pass", "Progress", "Replay", "Replayed", "Rules", "assess"]

__getattr__, __dir__ = lazy_exports(__name__)
