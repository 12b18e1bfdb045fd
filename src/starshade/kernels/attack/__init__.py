"""What adversaries know, and what it fits (SPEC §1)."""
