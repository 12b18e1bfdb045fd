"""A release of one table, as if it had been made of a store of shards."""

from __future__ import annotations

from dataclasses import replace

from starshade.engine.local import Local
from starshade.ratings.shards.shards import Shards
from starshade.release.match.match import LinkedShards, people_of
from starshade.release.table import Release


def made_of(shards: Shards, release: Release) -> LinkedShards:
    """Say that a release was made of these shards; shadow releases are made of the same."""
    linked = LinkedShards(shards, release)
    assert release.private is not None
    private = replace(release.private, partitions=people_of(linked, Local()).ends)
    return LinkedShards(shards, replace(release, private=private))
