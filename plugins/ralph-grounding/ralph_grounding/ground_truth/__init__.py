"""Ground truth: the pages that answers are held against, and their readers.

The package exports the values alone; import a reader from its module, because readers are slow to load.
"""

from ralph_grounding.ground_truth.pages import Chunk, Entity, GroundTruth, Page, ReadingLimits, SourceClaim

__all__ = ["Chunk", "Entity", "GroundTruth", "Page", "ReadingLimits", "SourceClaim"]
