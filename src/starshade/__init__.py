"""Attack, check, anonymize, measure and publish rating data (lazy door)."""
