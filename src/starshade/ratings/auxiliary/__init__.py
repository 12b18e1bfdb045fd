"""Public ratings of some people: what an adversary can look up (NS §5)."""
