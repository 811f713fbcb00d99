"""`ralph score`: answers held against ground truth. One module a command, imported when that command is called."""
