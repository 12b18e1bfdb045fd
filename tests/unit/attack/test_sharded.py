"""An attack on a store of shards finds, to the bit, what it finds on one table."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import fields, replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from starshade import budget
from starshade.attack.candidates.candidates import LabelAttack, Scoreboard, StructureAttack
from starshade.attack.candidates.homogeneity import HomogeneityAttack
from starshade.attack.fake_edges.fake_edges import FakeEdgesAttack
from starshade.attack.knowledge import Knowledge
from starshade.attack.likelihood import pools
from starshade.attack.likelihood.informed import Model
from starshade.attack.likelihood.likelihood import Likelihood
from starshade.attack.likelihood.sought import Sought
from starshade.attack.link_existence.link_existence import LinkExistence
from starshade.attack.padding.padding import PaddingAttack
from starshade.attack.scoreboard_rh.scoreboard_rh import ScoreboardRH
from starshade.attack.sharded.attack import attack_shards
from starshade.attack.sharded.drawing import draw_over
from starshade.attack.sharded.likelihood import _Weighed
from starshade.attack.view import look
from starshade.engine.journal import journal_in
from starshade.engine.local import Local
from starshade.errors import ConfigError, StarshadeError
from starshade.kernels.fingerprint import first_equal_row
from starshade.ratings.scale import Scale
from starshade.ratings.shards.equal import equal_rows
from starshade.ratings.shards.shards import open_shards
from starshade.ratings.shards.write import write_shards
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.table import Ratings
from starshade.release.folder import digest
from starshade.release.folder.digest import digest_of, digest_of_shards
from tests.strategies import ratings_tables, table

KNOWLEDGE = st.builds(
    Knowledge,
    known=st.integers(1, 3),
    wrong=st.integers(0, 1),
    wrong_kind=st.sampled_from(["value", "item"]),
    rating_error=st.sampled_from([0.0, 1.0]),
    day_error=st.sampled_from([None, 0, 14]),
    outside_top=st.integers(0, 1),
    about_count=st.booleans(),
)
ATTACKS = st.builds(
    ScoreboardRH,
    phi=st.sampled_from([0.0, 0.5, 1.5]),
    rho0=st.sampled_from([None, 0.7]),
    theta=st.sampled_from([0.3, 0.8, 1.0]),
    absent=st.booleans(),
) | st.builds(
    Likelihood,
    adversary=st.sampled_from(["informed", "plain"]),
    min_posterior=st.sampled_from([0.0001, 0.5, 1.0]),
    absent=st.booleans(),
)
AGREES = {"theta": st.sampled_from([0.4, 1.0]), "absent": st.booleans()}
ATTACKS |= st.builds(Scoreboard, rating_error=st.sampled_from([None, 1.0]), **AGREES)
ATTACKS |= st.builds(LabelAttack, tolerance=st.sampled_from([None, 1.0]), **AGREES)
ATTACKS |= st.builds(StructureAttack, **AGREES)
SHARED = {"sensitive": st.lists(st.integers(0, 5), max_size=2, unique=True), **AGREES}
HOMOGENEITY = st.builds(HomogeneityAttack, tolerance=st.sampled_from([None, 1.0]), **SHARED)
HOMOGENEITY |= st.builds(HomogeneityAttack, by=st.just("structure"), **SHARED)
#: what is measured of the run, not of the data
MEASURED = {"seconds", "read_seconds", "postings_per_second"}


@pytest.fixture(scope="module", autouse=True)
def _small_pools():
    """Pools of candidates for tables of a few people."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pools, "_FIRST", (2, 3, 5))
        yield


def tried(work):
    try:
        return work()
    except StarshadeError as error:
        return str(error)


def assert_same_result(found, whole):
    told, expected = (
        {key: value for key, value in each.to_dict().items() if key not in MEASURED}
        for each in (found, whole)
    )
    differ = {key: (told.get(key), value) for key, value in expected.items() if told[key] != value}
    assert not differ
    assert told.keys() == expected.keys()
    for field in fields(whole.per_target):
        one, other = (getattr(each.per_target, field.name) for each in (found, whole))
        assert (one is None) == (other is None), field.name
        if one is not None:
            assert np.array_equal(one, other), field.name
            assert one.dtype == other.dtype, field.name


@settings(max_examples=25, deadline=None)
@given(
    ratings_tables(max_users=24),
    KNOWLEDGE,
    ATTACKS,
    st.sampled_from([1, 2, 7]),
    st.sampled_from([None, 1, 5]),
    st.integers(0, 9),
)
def test_shards_change_no_answer(tmp_path_factory, ratings, knowledge, attack, n, targets, seed):
    assert_shards_change_nothing(tmp_path_factory, ratings, knowledge, attack, n, targets, seed)


def test_the_bound_counts_the_fewest_equal_records(tmp_path_factory):
    rows = [{0: 1.0}, {1: 2.0}, {0: 1.0}, {1: 2.0}, {0: 1.0}]
    ratings = table(rows, Scale(1, 5, 1))
    arguments = Knowledge(known=1), LabelAttack(), 3, None, 0
    result = assert_shards_change_nothing(tmp_path_factory, ratings, *arguments)
    assert result.bound == 1 / 2


@settings(max_examples=25, deadline=None)
@given(
    ratings_tables(max_users=16, max_items=4),  # so few that several candidates have much in common
    KNOWLEDGE,
    HOMOGENEITY,
    st.integers(1, 5),
    st.sampled_from([None, 5]),
    st.integers(0, 9),
)
def test_what_candidates_share_is_found_over_any_cut(
    tmp_path_factory, ratings, knowledge, attack, n, targets, seed
):
    assert_shards_change_nothing(tmp_path_factory, ratings, knowledge, attack, n, targets, seed)


@settings(max_examples=25, deadline=None)
@given(
    ratings_tables(max_users=16, max_items=5),
    KNOWLEDGE,
    st.builds(
        Likelihood,
        adversary=st.sampled_from(["informed", "informed", "plain"]),
        min_posterior=st.sampled_from([0.0001, 0.3, 0.5]),
        absent=st.just(True),
    ),
    st.integers(1, 5),
    st.sampled_from([None, 5]),
    st.integers(0, 9),
)
def test_strangers_are_weighed_over_any_cut(
    tmp_path_factory, ratings, knowledge, attack, n, targets, seed
):
    assert_shards_change_nothing(tmp_path_factory, ratings, knowledge, attack, n, targets, seed)


@settings(max_examples=25, deadline=None)
@given(
    ratings_tables(max_users=16, max_items=5),
    KNOWLEDGE,
    st.booleans(),
    st.integers(1, 5),
    st.integers(0, 9),
)
def test_how_likely_a_stranger_is_is_the_same_to_the_bit(
    tmp_path_factory, ratings, knowledge, absent, n, seed
):
    """Figures rarely tell: somebody must be named for it who else is not."""
    path = tmp_path_factory.mktemp("store") / "s"
    write_shards(ratings, path, n)
    view = look(ratings, None, None)
    users = np.flatnonzero(knowledge.eligible_users(ratings))
    if not ratings.has_days:
        knowledge = replace(knowledge, dates=False)
    if not len(users):
        return
    known = knowledge.draw(ratings, users, seed)
    goal = Sought(view, absent=absent, strangers=True)
    whole = Model(view, knowledge).weigh(known, goal)
    shards, attack = open_shards(path), Likelihood(absent=True)
    drawn = draw_over(shards, Local(), knowledge, None, seed)
    alike = equal_rows(shards, Local())
    found = _Weighed(attack, shards, Local(), drawn, alike).found(absent=absent)
    for name in ("tied", "mass", "right", "stranger"):
        assert np.array_equal(found[name], whole[name]), name


@settings(max_examples=15, deadline=None)
@given(
    ratings_tables(max_users=16, max_items=5),
    st.builds(LinkExistence, prior=st.sampled_from([None, 0.0, 0.3, 1.0]))
    | st.builds(PaddingAttack, classes=st.sampled_from([None, 2, 4])),
    st.integers(1, 5),
    st.integers(0, 9),
)
def test_everybody_is_a_group_over_any_cut(tmp_path_factory, ratings, attack, n, seed):
    path = tmp_path_factory.mktemp("store") / "s"
    write_shards(ratings, path, n)
    whole, found = (
        tried(lambda: _without_times(attack.run(ratings, rng=seed))),
        tried(lambda: _without_times(attack_shards(attack, open_shards(path), rng=seed))),
    )
    assert found == whole


def _without_times(result):
    return repr({key: value for key, value in result.to_dict().items() if key not in MEASURED})


def assert_shards_change_nothing(factory, ratings, knowledge, attack, n, targets, seed):
    path = factory.mktemp("store") / "s"
    write_shards(ratings, path, n)
    whole = tried(lambda: attack.run(ratings, knowledge, targets=targets, rng=seed))
    found = tried(
        lambda: attack_shards(attack, open_shards(path), knowledge, targets=targets, rng=seed)
    )
    if isinstance(whole, str):
        assert found == whole
    else:
        assert_same_result(found, whole)
    return found


def test_candidates_that_differ_in_what_is_known_alone_are_not_identical(tmp_path):
    ratings = Ratings.from_arrays(list("abab"), list("xxyy"), [3, 4, 1, 1], scale="1:5:1")
    write_shards(ratings, tmp_path / "s", 2)
    attack, knowledge = HomogeneityAttack(by="structure"), Knowledge(known=1)
    whole = attack.run(ratings, knowledge, rng=0)
    found = attack_shards(attack, open_shards(tmp_path / "s"), knowledge, rng=0)
    assert found.profile_disclosed.rate == 0
    assert_same_result(found, whole)


def test_a_class_may_begin_in_another_shard_than_the_target(tmp_path):
    ratings = Ratings.from_arrays(["a", "b"], ["x", "x"], [3, 3], scale="1:5:1")
    write_shards(ratings, tmp_path / "s", 2)
    whole = Likelihood().run(ratings, Knowledge(known=1), rng=0)
    found = attack_shards(Likelihood(), open_shards(tmp_path / "s"), Knowledge(known=1), rng=0)
    assert whole.class_contents_known.rate == 1
    assert_same_result(found, whole)


def test_whoever_is_far_behind_the_absent_is_weighed_all_the_same(tmp_path):
    users, rated = ["a"] * 40 + ["b"] * 160 + ["c"], [*range(200), 0]
    ratings = Ratings.from_arrays(users, rated, [5] * 201, scale="1:5:1")
    write_shards(ratings, tmp_path / "s", 3)
    attack, knowledge = (
        Likelihood(adversary="plain", absent=True, min_posterior=0.5),
        Knowledge(known=40),
    )
    whole = attack.run(ratings, knowledge, rng=0)
    found = attack_shards(attack, open_shards(tmp_path / "s"), knowledge, rng=0)
    assert found.false_match_absent.rate == 1
    assert_same_result(found, whole)


@pytest.fixture(scope="module")
def many():
    return synthesize(n_users=600, n_items=80, n_ratings=12_000, rng=1)


@pytest.mark.parametrize("n", [1, 7])
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    "attack",
    [
        ScoreboardRH(absent=True),
        Likelihood(absent=True),
        LabelAttack(),
        HomogeneityAttack(sensitive=[0, 7]),
    ],
)
def test_long_tails_and_many_people(tmp_path, many, n, threads, attack):
    write_shards(many, tmp_path / "s", n)
    knowledge = Knowledge(known=4, wrong=1, day_error=14)
    whole = attack.run(many, knowledge, targets=200, rng=3)
    with budget.limits(threads=threads):
        found = attack_shards(attack, open_shards(tmp_path / "s"), knowledge, targets=200, rng=3)
    assert_same_result(found, whole)


@settings(max_examples=10, deadline=None)
@given(ratings_tables(max_users=24), st.sampled_from([1, 3]), st.sampled_from([100, 10**9]))
def test_equal_rows_are_found_whatever_shard_they_are_in(tmp_path_factory, ratings, n, memory):
    path = tmp_path_factory.mktemp("store") / "s"
    write_shards(ratings, path, n)
    with budget.limits(memory=memory):
        found = equal_rows(open_shards(path), Local())
    first = first_equal_row(ratings.indptr, ratings.columns, ratings.codes, ratings.days)
    copies = np.bincount(first)[first]
    assert found["repeats"].tolist() == np.flatnonzero(first != np.arange(len(first))).tolist()
    assert found["alike"].tolist() == np.flatnonzero(copies > 1).tolist()
    assert found["copies"].tolist() == copies[copies > 1].tolist()


def test_what_takes_one_table_says_so(tmp_path, many):
    write_shards(many, tmp_path / "s", 2)
    with pytest.raises(ConfigError, match="fake-edges: does not support partitioned stores"):
        attack_shards(FakeEdgesAttack(), open_shards(tmp_path / "s"), rng=1)


class Killed(Exception):  # noqa: N818 - it is no fault
    """Stands for a run that ends in the middle."""


def test_a_run_that_stopped_goes_on_where_it_was(tmp_path, many, monkeypatch):
    write_shards(many, tmp_path / "s", 5)
    shards = open_shards(tmp_path / "s")
    attack, knowledge = ScoreboardRH(), Knowledge(known=3)
    whole = attack.run(many, knowledge, targets=50, rng=4)
    opened, stop = [], 0
    honest = type(shards).shard

    def shard(self, number):
        opened.append(number)
        if len(opened) == stop:
            raise Killed
        return honest(self, number)

    monkeypatch.setattr(type(shards), "shard", shard)
    for at in (3, 9, 14, 22):
        opened.clear()
        stop = at
        with pytest.raises(Killed), journal_in(shards.path, resume=True) as journal:
            attack_shards(attack, shards, knowledge, targets=50, rng=4, engine=Local(journal))
        (left,) = shards.path.glob(".journal-*")
        assert left.stat().st_mode & 0o777 == 0o700
    stop = 0
    opened.clear()
    with journal_in(shards.path, resume=True) as journal:
        found = attack_shards(attack, shards, knowledge, targets=50, rng=4, engine=Local(journal))
    assert_same_result(found, whole)
    assert not list(shards.path.glob(".journal-*"))
    resumed = len(opened)
    opened.clear()
    shards = open_shards(shards.path)  # what was found of the one before is not known of it
    with journal_in(shards.path, resume=False) as journal:
        again = attack_shards(attack, shards, knowledge, targets=50, rng=4, engine=Local(journal))
    assert_same_result(again, whole)
    assert resumed < len(opened)


@pytest.mark.parametrize("block", [1, 7, 10_000])
def test_the_digest_is_that_of_one_table(tmp_path, many, monkeypatch, block):
    monkeypatch.setattr(digest, "_BLOCK", block)
    ages = pa.table({"age": [None if i % 3 else float(i) for i in range(30)]})
    some = many.keep_users(np.arange(30)).annotate(attributes=ages)
    write_shards(some, tmp_path / "s", 4)
    assert digest_of_shards(open_shards(tmp_path / "s")) == digest_of(replace(some))


INTERPRETED = """
import sys
from starshade.attack.candidates.homogeneity import HomogeneityAttack
from starshade.attack.knowledge import Knowledge
from starshade.attack.likelihood.likelihood import Likelihood
from starshade.attack.link_existence.link_existence import LinkExistence
from starshade.attack.padding.padding import PaddingAttack
from starshade.attack.scoreboard_rh.scoreboard_rh import ScoreboardRH
from starshade.attack.sharded.attack import attack_shards
from starshade.ratings.shards.shards import open_shards

for attack in (ScoreboardRH(absent=True), Likelihood(absent=True), HomogeneityAttack()):
    attack_shards(attack, open_shards(sys.argv[1]), Knowledge(known=2, wrong=1), rng=0)
"""


def test_nothing_is_looked_up_beyond_a_shard(tmp_path):
    """Compiled, what lies beyond an array is read as if it were there; interpreted, it is not."""
    write_shards(synthesize(n_users=24, n_items=8, n_ratings=80, rng=0), tmp_path / "s", 6)
    command = [sys.executable, "-c", INTERPRETED, str(tmp_path / "s")]
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
