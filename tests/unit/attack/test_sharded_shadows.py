"""Releases of ratings in shards are made again, shard by shard, without some of the people."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from starshade.anonymize.predictive.predictive import PredictiveAnonymizer
from starshade.attack.knowledge import Knowledge
from starshade.attack.shadows.halves import HalvesAttack
from starshade.attack.shadows.inference import InferenceAttack
from starshade.attack.shadows.membership import MembershipAttack
from starshade.attack.shadows.play import play
from starshade.attack.sharded.shadows import play_shards
from starshade.attack.targets import Request
from starshade.engine.local import Local
from starshade.errors import ConfigError
from starshade.ratings.shards.kept import those_of
from starshade.ratings.shards.shards import Shards, open_shards
from starshade.ratings.shards.write import write_shards
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.table import Ratings
from starshade.ratings.vocabulary import Vocabulary
from starshade.release.match.match import LinkedShards
from starshade.release.table import Link, Release


def told(result: Any) -> Any:
    if isinstance(result, ConfigError):
        return str(result)
    said = result.to_dict() if hasattr(result, "to_dict") else vars(result)
    return str({name: value for name, value in said.items() if name != "seconds"})


@dataclass(frozen=True)
class Named:
    """Those who have an id of these."""

    users: Vocabulary

    @property
    def key(self) -> str:
        return str(list(self.users))

    def __call__(self, shard: Ratings) -> np.ndarray:
        return self.users.indices(shard.users) >= 0


@dataclass(frozen=True)
class Cut:
    """A method that is given a table, and makes the release of the same people in a store."""

    method: PredictiveAnonymizer
    store: Shards
    held: ExitStack

    def anonymize(self, ratings: Ratings, rng: Any = None) -> Release:
        people = those_of(self.store, Named(ratings.users), Local())
        release = self.held.enter_context(self.method.anonymize_shards(people, rng))
        assert release.private is not None
        assert release.private.divided is not None
        link: dict[str, int] = {}
        for part in release.private.divided():
            link |= {part.ratings.users[u]: int(r) for u, r in enumerate(part.record) if r >= 0}
        users = Vocabulary.of(link)
        record = np.array([link[user] for user in users])
        private = replace(release.private, link=Link(users, record), divided=None)
        return replace(release, private=private)


def attacks(method: Any, rounds: int) -> list[Any]:
    return [
        MembershipAttack(rounds=rounds, method=method),
        InferenceAttack(rounds=rounds, method=method, questions=3),
        HalvesAttack(known=1, rounds=rounds, method=method),
    ]


@settings(max_examples=15, deadline=None)
@given(
    st.integers(0, 9),
    st.sampled_from(["padded", "simple", "pooled"]),
    st.sampled_from([1, 2, 5]),
    st.sampled_from([None, 9, 25]),
    st.builds(
        Knowledge,
        known=st.integers(1, 3),
        ratings=st.booleans(),
        outside_top=st.integers(0, 2),
        except_items=st.sampled_from([(), ("3", "5")]),
    ),
    st.sampled_from(["keep", "drop"]),
)
def test_what_being_in_it_tells_is_that_of_the_same_releases_beside_one_table(
    tmp_path_factory, seed, profile, n, targets, knowledge, rare
):
    ratings = synthesize(n_users=60, n_items=15, n_ratings=330, rng=seed)
    path = tmp_path_factory.mktemp("shards") / "s"
    write_shards(ratings, path, n)
    shards = open_shards(path)
    method = PredictiveAnonymizer(k=3, profile=profile, factors=1, sweeps=2, rare_items=rare)
    release = method.anonymize(ratings, rng=seed)
    with ExitStack() as held:
        twins = attacks(Cut(method, shards, held), 2)
        whole = play(twins, release, knowledge, Request(ratings, targets, seed, None))
    linked = LinkedShards(shards, release)
    cut = play_shards(attacks(method, 2), linked, Local(), knowledge, targets, seed)
    assert [told(each) for each in cut] == [told(each) for each in whole]
