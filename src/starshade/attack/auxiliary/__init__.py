"""Public ratings against data: whose record is it (NS §5)."""
