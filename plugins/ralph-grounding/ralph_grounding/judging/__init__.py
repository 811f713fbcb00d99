"""Judges: models that say whether an answer makes a claim, each verdict with a quotation that is checked."""
