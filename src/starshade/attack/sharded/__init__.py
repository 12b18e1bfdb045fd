"""Attacks on a store of shards: jobs over shards, with the answers of one table to the bit."""
