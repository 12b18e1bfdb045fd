"""Releases of random halves of the people in shards, made shard by shard."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from starshade.anonymize.k_likeness import KLikeness
from starshade.anonymize.predictive.predictive import PredictiveAnonymizer
from starshade.attack.knowledge import Knowledge
from starshade.attack.shadows import inference, predicates, profile_predicates, seen
from starshade.attack.shadows.facts import Told
from starshade.attack.shadows.halves import in_half, on_catalogue
from starshade.attack.shadows.inference import InferenceAttack
from starshade.attack.shadows.linkability import LinkabilityAttack
from starshade.attack.shadows.membership import MembershipAttack
from starshade.attack.shadows.play import play
from starshade.attack.shadows.predicates import PredicatesAttack, SingledOut
from starshade.attack.shadows.seen import Seen, Wanted
from starshade.attack.sharded.attack import attack_shards
from starshade.attack.sharded.half import InHalf
from starshade.attack.sharded.shadows import play_shards
from starshade.attack.sharded.view import SeenShards
from starshade.attack.targets import Request
from starshade.audit.shadows import measure_by_shadows
from starshade.engine.local import Local
from starshade.errors import ConfigError, EngineError, InputError, OutputError, StarshadeError
from starshade.ratings.shards.kept import those_of
from starshade.ratings.shards.shards import Shards, open_shards
from starshade.ratings.shards.write import write_shards
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.table import Ratings
from starshade.ratings.vocabulary import Vocabulary
from starshade.release.table import Link, Release
from tests.made import made_of
from tests.strategies import ratings_tables


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

    def __getattr__(self, name: str) -> Any:
        return getattr(self.method, name)

    def anonymize(self, ratings: Ratings, rng: Any = None) -> Release:
        items = self.store.items.indices(ratings.items)
        people = those_of(self.store, Named(ratings.users), Local(), items)
        release = self.held.enter_context(on_catalogue(self.method).anonymize_shards(people, rng))
        assert release.private is not None
        assert release.private.divided is not None
        link: dict[str, int] = {}
        for part in release.private.divided():
            link |= {part.ratings.users[u]: int(r) for u, r in enumerate(part.record) if r >= 0}
        users = Vocabulary.of(link)
        record = np.array([link[user] for user in users])
        private = replace(release.private, link=Link(users, record), divided=None)
        return replace(release, private=private)


def attacks(method: Any, shadows: int) -> list[Any]:
    return [
        MembershipAttack(shadows=shadows, method=method),
        InferenceAttack(shadows=shadows, method=method, questions=3),
        LinkabilityAttack(known=1, shadows=shadows, method=method),
        PredicatesAttack("", method.profile, shadows=shadows, method=method),
    ]


@settings(max_examples=3, deadline=None)
@given(
    st.integers(0, 9),
    st.sampled_from(["padded", "simple", "pooled"]),
    st.sampled_from([1, 3]),
    st.sampled_from([None, 9, 25]),
    st.builds(
        Knowledge,
        known=st.integers(1, 3),
        ratings=st.booleans(),
        outside_top=st.integers(0, 2),
        except_items=st.sampled_from([(), ("3", "5")]),
    ),
    st.sampled_from(["keep", "drop"]),
    st.sampled_from([4, 256]),
)
@example(1, "simple", 3, 9, Knowledge(known=2), "keep", 4)
def test_what_being_in_it_tells_is_that_of_the_same_releases_beside_one_table(
    tmp_path_factory, seed, profile, n, targets, knowledge, rare, most
):
    ratings = synthesize(n_users=60, n_items=15, n_ratings=330, rng=seed)
    path = tmp_path_factory.mktemp("shards") / "s"
    write_shards(ratings, path, n)
    shards = open_shards(path)
    method = PredictiveAnonymizer(k=3, profile=profile, factors=1, sweeps=2, rare_items=rare)
    release = method.anonymize(ratings, rng=seed)
    linked = made_of(shards, release)
    with ExitStack() as held, pytest.MonkeyPatch.context() as patch:
        patch.setattr(profile_predicates, "MOST_CLASSES", most)
        patch.setattr(predicates, "FEWEST", 1)
        twins = attacks(Cut(method, shards, held), 2)
        whole = play(twins, release, knowledge, Request(ratings, targets, seed, None))
        cut = play_shards(attacks(method, 2), linked, Local(), knowledge, targets, seed)
    assert isinstance(cut[-1], SingledOut)
    assert [told(each) for each in cut] == [told(each) for each in whole]


def alone(ask: Callable[[], Any]) -> str:
    """What came of it, without what differs from run to run."""
    try:
        return told(ask())
    except ConfigError as error:
        return str(error)


@settings(max_examples=6, deadline=None)
@given(
    ratings_tables(min_users=9, max_users=16),
    st.sampled_from([MembershipAttack(shadows=1), InferenceAttack(shadows=2, questions=2)]),
    st.sampled_from([1, 3]),
    st.sampled_from([None, 9]),
    st.builds(
        Knowledge,
        known=st.integers(1, 3),
        ratings=st.booleans(),
        outside_top=st.integers(0, 1),
        except_items=st.sampled_from([(), ("2",)]),
    ),
    st.sampled_from([1, 2**20]),
)
def test_what_ratings_as_they_are_tell_is_what_one_table_tells(
    tmp_path_factory, ratings, attack, n, targets, knowledge, together
):
    path = tmp_path_factory.mktemp("shards") / "s"
    write_shards(ratings, path, n)
    shards = open_shards(path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inference, "FEWEST", 1)  # so few people there are
        whole = alone(lambda: attack.run(ratings, knowledge, targets=targets, rng=3))
        patch.setattr(seen, "_TABLE", together)
        cut = alone(lambda: attack_shards(attack, shards, knowledge, targets=targets, rng=3))
    assert cut == whole


@pytest.mark.parametrize("n", [1, 2, 7])
def test_rows_in_shards_weigh_what_those_of_one_table_do(tmp_path: Path, n: int) -> None:
    ratings = synthesize(n_users=300, n_items=20, n_ratings=2_000, rng=1)
    write_shards(ratings, tmp_path / "s", n)
    shards = open_shards(tmp_path / "s")
    inside = in_half(ratings.users.fingerprints, 1, 3)
    half = ratings.keep_users(np.flatnonzero(inside))
    whole = Seen.of(half, half)
    parts = SeenShards(Seen.of(ratings, ratings).view, None, shards, Local(), InHalf(1, 3))
    told = Told(ratings, Knowledge(), 0)
    facts = told.of(np.flatnonzero(told.enough(4)), 4)
    wanted = Wanted.by([np.arange(-1, 20)] * len(facts))
    found = zip(parts.weighed(facts, wanted), whole.weighed(facts, wanted), strict=True)
    assert all(np.array_equal(one, other) for one, other in found)
    assert parts.item_means.tolist() == pytest.approx(whole.item_means.tolist())
    assert parts.counted.n_users == parts.records == inside.sum()


def test_ratings_as_they_are_take_no_method(tmp_path: Path) -> None:
    write_shards(synthesize(n_users=30, n_items=8, n_ratings=150, rng=1), tmp_path / "s", 2)
    attack = MembershipAttack(shadows=1, method=PredictiveAnonymizer(k=2))
    with pytest.raises(ConfigError, match="attacked without a method"):
        attack_shards(attack, open_shards(tmp_path / "s"))


def asked_in_shards(tmp_path: Path, n_users: int, attack: Any, **given: Any) -> Any:
    ratings = synthesize(n_users=n_users, n_items=8, n_ratings=5 * n_users, rng=1)
    release = PredictiveAnonymizer(k=2, factors=1, sweeps=1).anonymize(ratings, rng=0)
    write_shards(ratings, tmp_path / "s", 2)
    return attack_shards(attack, made_of(open_shards(tmp_path / "s"), release), **given)


@pytest.mark.parametrize(
    ("n_users", "method", "message"),
    [
        (30, None, "need the method and the settings"),
        (30, KLikeness(k=2), "the method does not support partitioned ratings"),
        (
            30,
            PredictiveAnonymizer(k=25, factors=1),
            r"\(half of the people\) cannot be made: no item",
        ),
        (
            *(30, PredictiveAnonymizer(k=25, factors=1, rare_items="keep")),
            r"\(half of the people\) cannot be made: k = 25",
        ),
        (
            30,
            PredictiveAnonymizer(k=2, profile="simple", min_raters=2),
            "min_raters 2: not supported",
        ),
    ],
)
def test_what_cannot_be_made_again_says_so(
    tmp_path: Path, n_users: int, method: Any, message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        asked_in_shards(tmp_path, n_users, MembershipAttack(shadows=1, method=method), rng=1)


def test_targets_are_some(tmp_path: Path) -> None:
    attack = MembershipAttack(shadows=4, method=PredictiveAnonymizer(k=2, factors=1, sweeps=1))
    result = asked_in_shards(tmp_path, 40, attack, targets=12, rng=1)
    assert (result.targets, result.ineligible) == (12, 28)
    (tmp_path / "again").mkdir()
    with pytest.raises(ConfigError, match="targets 0"):
        asked_in_shards(tmp_path / "again", 40, attack, targets=0)


@pytest.mark.parametrize("kind", [OutputError, InputError, EngineError])
def test_what_can_be_mended_is_no_answer(tmp_path: Path, kind: type[StarshadeError]) -> None:
    @dataclass(frozen=True)
    class Stopped(PredictiveAnonymizer):
        def anonymize_shards(self, *_: Any) -> Any:
            raise kind("no space left")

    method = Stopped(k=2, factors=1)
    with pytest.raises(kind, match=r"^no space left"):
        asked_in_shards(tmp_path, 30, MembershipAttack(shadows=1, method=method), rng=1)
    ratings = synthesize(n_users=30, n_items=8, n_ratings=150, rng=1)
    release = PredictiveAnonymizer(k=2, factors=1, sweeps=1).anonymize(ratings, rng=0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("starshade.audit.shadows.method_of", lambda *_: method)
        linked = made_of(open_shards(tmp_path / "s"), release)
        with pytest.raises(kind, match=r"^no space left"):
            measure_by_shadows(linked.release, linked.shards, shadows=1, seed=1)
