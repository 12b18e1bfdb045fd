"""The independent verifier: its own reading and counts of what was written."""
