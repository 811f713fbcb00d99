"""The rules that turn an analyzed iteration into a decision: breaker, limits, claims and the ordered table."""
