"""What adversaries know, and what it fits."""
