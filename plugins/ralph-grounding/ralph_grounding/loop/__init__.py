"""Where it meets the loop: a verifier of what an agent wrote, and an analyzer of what it replies."""
