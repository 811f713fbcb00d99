"""GitHub Copilot, through its SDK and through its command line."""
