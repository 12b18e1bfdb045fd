"""Ratings on their way out, as text or Parquet."""
