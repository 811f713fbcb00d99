"""The loop: one iteration after another, until a decision ends the run."""
