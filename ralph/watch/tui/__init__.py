"""The terminal app of `ralph watch`: all runs of a store, and one run in detail, live. Needs the extra `tui`."""
