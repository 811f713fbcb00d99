"""The pure pipeline from a reply and its evidence to the record of an iteration, with its replay and explanation."""
