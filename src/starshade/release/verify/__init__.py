"""The independent verifier: its own reading and its own counts of what was written (DESIGN §6.3)."""
