"""Frozen values that flow through the pipeline: output, usage, plan, changes, verification, requests."""
