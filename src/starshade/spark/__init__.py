"""Ratings on a Spark cluster: the same questions and answers as on one machine.

::

    import starshade as ss
    import starshade.spark

    with starshade.spark.open(session, "/shared/ratings") as (shards, engine):
        print(ss.attack_shards(ss.ScoreboardRH(), shards, targets=1000, rng=1, engine=engine))

The store lies where the driver and all executors see it under the same name; they need this version
of starshade (docs/guides/spark.md).
"""

from starshade.spark.store import open as open  # noqa: A004 - it is always said with its module
