"""Predictive anonymization of a store of shards: more ratings than memory holds.

::

    shard ── keep, order ──▶ records ── sweeps ──▶ items' factors      one matrix, whoever the users
                               │                        │
                               └── solve, cut by taste ─┴──▶ bucket ── group, profile ──▶ classes
                                                               │                            │
                           record of each user ◀── link, shard by shard ◀── merge by content ┘

Users are alike across shards, so grouping within shards would lose much. They are sent to *buckets*
first, as many as there are shards, by the same few directions in which groups are cut later; then
each bucket is grouped by the code of one table, with the items' factors and supports of all. What
leaves a shard or a bucket as an answer is as small as the items or the classes; rows, profiles and
links go through files, in a folder of the run that only its owner may read.

Of one shard the release is that of the table, byte for byte: the rows are in the same order, sums
are taken in the same, and there is one bucket. Of several shards it depends on how they are cut,
and on nothing else: not on threads, nor on when the run was killed and went on. What the split
loses is measured by ``benchmarks/sharded_release.py``: held-out ratings are 0.95 to 1.013 times as
far from their users' profiles, seven shards over one table; most where a bucket has hardly more
users than a group.
"""
