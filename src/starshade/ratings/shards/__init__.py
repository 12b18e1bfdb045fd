"""A store of more ratings than memory holds: shards of users, each a store, under one manifest.

::

    shards.json         counts, scale, lineage, report; size and CRC-32 of the files beside it;
                        of each shard its users, its ratings and the SHA-256 of its own manifest
    items.*, names.*    the items of all shards, and their names
    levels.npy          what a code stands for, in every shard
    shard-00000/ …      a range of users in canonical order, as `starshade.ratings.store` writes it

A shard is checked when it is opened, by itself: whoever works on one reads no other.
"""
