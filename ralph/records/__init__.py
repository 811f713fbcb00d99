"""Durable records and events of a run, and what displays show of them."""
