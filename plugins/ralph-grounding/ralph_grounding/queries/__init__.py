"""Questions and their expected answers: from a file, or made by rules from the ground truth."""

from ralph_grounding.queries.file import read_queries, with_claims
from ralph_grounding.queries.making import make_queries

__all__ = ["make_queries", "read_queries", "with_claims"]
