"""Scores answers against ground truth: accuracy, completeness, attribution, each with its evidence."""
