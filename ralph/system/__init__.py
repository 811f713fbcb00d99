"""Processes, the sandbox, secrets, files and text: everything that touches the operating system."""
