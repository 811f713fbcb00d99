"""The parts for Ralph's loop: a verifier of the agent's documents, and an analyzer of its replies."""
