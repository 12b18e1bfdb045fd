"""Scoreboard-RH, its scores, and the trade-off of its error rates (NS §4, §5)."""
