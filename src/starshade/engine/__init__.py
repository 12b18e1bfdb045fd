"""Who calls jobs over shards, and what of them is finished.

A job is a pure function of one shard and small tables, and gives small tables; what shards gave is
merged in the order of the shards, exactly. So an engine decides only who calls the function, where
and when: `Local` on this machine, another one elsewhere, with the same answers to the bit.
"""
