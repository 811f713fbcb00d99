"""Commands of `ralph score`. Each command is a module that is imported when it is called."""
