"""Scoreboard-RH, its scores, and its two errors against each other (NS §4, §5)."""
