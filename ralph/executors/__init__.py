"""Executors: the interchangeable parts that hand a prompt to an agent."""
