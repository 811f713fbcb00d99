"""The decision after an iteration: breaker, limits, claims of completion and the ordered table of rules."""
