"""Checks of a store of shards: jobs over shards, with the verdicts of one table to the bit."""
