"""What comes in: the `Ratings` table, its scale, readers, writers, store, synthetic data."""
