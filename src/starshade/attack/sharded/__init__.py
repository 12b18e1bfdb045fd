"""Attacks on a partitioned store: jobs over partitions, bit-identical to one table."""
