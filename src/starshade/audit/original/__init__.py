"""What a release was made of, as an audit asks it: one table, or shards."""
