"""How alike two texts are: by words, by a model, by both; each with its own calibration."""
