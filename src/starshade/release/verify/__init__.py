"""The independent verifier: its own reading and counts of what was written (DESIGN §6.3)."""
