"""Similarity of two texts: by words, by a model, or by both; each with its own calibration."""
