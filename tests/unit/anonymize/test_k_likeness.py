from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from starshade import budget
from starshade.anonymize.hierarchy.file import parse_hierarchy
from starshade.anonymize.hierarchy.hierarchy import Dgh
from starshade.anonymize.k_likeness import KLikeness
from starshade.anonymize.order import by_content, seeded_order
from starshade.errors import ConfigError, UnmetError
from starshade.privacy.k_anonymity import KAnonymity
from starshade.ratings.scale import Scale
from starshade.ratings.select import listed_items, top_items
from tests.naive.generalize import generalized, ndgh, records
from tests.naive.k_anonymity import contents
from tests.naive.k_likeness import k_likeness
from tests.strategies import ratings_tables, table

STARS = Scale(1, 5, 1)
NOTHING = frozenset([None])


def some(n: int = 40, items: int = 5, *, scale: Scale = STARS, seed: int = 0):
    rng = np.random.default_rng(seed)
    levels = scale.levels if scale.step is not None else np.linspace(-10, 10, 9)
    rows = [
        {int(i): float(rng.choice(levels)) for i in np.flatnonzero(rng.random(items) < 0.7)}
        for _ in range(n)
    ]
    return table(rows, scale, n_items=items)


@given(ratings_tables(min_users=2, with_days=False), st.integers(2, 4), st.integers(0, 9))
def test_a_release_says_what_the_twins_say(ratings, k, seed):
    """Groups, cells, classes and link, on every scale, beside the naive method."""
    kept = ratings.drop_empty_users()
    assume(kept.n_users >= k)
    met = by_content(kept, seed)
    kept = met.ratings
    null = kept.scale.null_level
    rows = np.array([[null if v is None else v for v in row] for row in records(kept)])
    if kept.scale.step is not None:  # compared in steps: 0.1 + 0.2 has no place here
        rows = np.round((rows - null) / kept.scale.step)
    order = seeded_order(kept.n_users, seed, "k-likeness")
    groups = k_likeness(rows, k, order)
    release = KLikeness(k, "ndgh", rare_items="keep").anonymize(ratings, rng=seed)
    told = contents(release.classes)
    for group, row in zip(groups, generalized(kept, groups, ndgh), strict=True):
        for user in group:
            own = release.class_of_record[release.private.link.record[met.users[user]]]
            assert told[own] == tuple(NOTHING if cell is None else cell for cell in row)
    assert release.exact.groups == len(groups)


@given(ratings_tables(min_users=2, with_days=False), st.integers(2, 4))
def test_every_release_is_k_anonymous(ratings, k):
    for hierarchy in ("ndgh", "dgh"):
        try:
            release = KLikeness(k, hierarchy).anonymize(ratings, rng=1)
        except (ConfigError, UnmetError):
            assume(False)
        assert KAnonymity(k).check(release).satisfied
        assert release.n_records == release.manifest.records == len(release.private.link.users)


def test_the_manifest_says_what_was_done_and_nothing_private(tmp_path):
    path = tmp_path / "mine.txt"
    path.write_text("[null,2] [3,5]\n[null,5]\n")
    ratings = some()
    method = KLikeness(3, str(path), items=listed_items(["1", "3"]))
    release = method.anonymize(ratings, rng=424_242)
    manifest = release.manifest
    assert manifest.method == "k-likeness"
    assert manifest.config == {
        "k": 3,
        "hierarchy": "file",
        "levels": ["[null,2] [3,5]", "[null,5]"],
        "items": "listed:2",
    }
    assert [(c.model, c.parameters) for c in manifest.claims] == [("k-anonymity", {"k": 3})]
    public = json.dumps(manifest.model_dump(mode="json"))
    assert "424242" not in public
    assert "mine" not in public
    assert release.private.seed == 424_242
    assert release.private.config["item_keys"] == ["1", "3"]
    assert release.exact.users_without_rating == ratings.n_users - release.n_records


def test_a_file_and_the_ready_made_hierarchy_of_the_same_levels_agree(tmp_path):
    path = tmp_path / "b.txt"
    path.write_text("[0,2] [3,5]\n[0,5]\n")
    by_file = KLikeness(4, str(path)).anonymize(some(), rng=3)
    ready = KLikeness(4, "dgh-b").anonymize(some(), rng=3)
    assert contents(by_file.classes) == contents(ready.classes)
    method = KLikeness(4, path)
    assert isinstance(method.hierarchy, Dgh)
    path.unlink()  # it was read when the method was made
    release = method.anonymize(some(), rng=3)
    assert contents(release.classes) == contents(ready.classes)
    # what the owner's receipt holds is enough to make the hierarchy again
    told = release.private.config["levels"]
    assert parse_hierarchy("\n".join(told)).levels == method.hierarchy.levels


@pytest.mark.parametrize("scale", [STARS, Scale(0.5, 5, 0.5), Scale(-10, 10)])
def test_same_seed_same_release_at_any_number_of_threads(scale):
    ratings = some(300, scale=scale)
    releases = []
    for threads in (1, 2):
        with budget.limits(threads=threads):
            releases.append(KLikeness(3).anonymize(ratings, rng=5))
    one, two = releases
    assert contents(one.classes) == contents(two.classes)
    assert one.private.link.record.tolist() == two.private.link.record.tolist()
    other = KLikeness(3).anonymize(ratings, rng=6)
    assert contents(one.classes) != contents(other.classes)


def test_a_generator_is_a_seed_too():
    ratings = some()
    one = KLikeness(3).anonymize(ratings, rng=np.random.default_rng(1))
    two = KLikeness(3).anonymize(ratings, rng=np.random.default_rng(1))
    assert contents(one.classes) == contents(two.classes)


def test_what_is_out_of_range_is_refused_at_once():
    for wrong, message in (
        ({"k": 1}, "k = 1: must be a whole number, 2 or more"),
        ({"k": 2.5}, "whole number"),
        ({"k": 5, "hierarchy": "dgh-q"}, "neither a known name nor a file"),
        ({"k": 5, "rare_items": "maybe"}, "must be drop or keep"),
        ({"k": 5, "attributes": "some"}, "must be none, generalized or exact"),
    ):
        with pytest.raises(ConfigError, match=message):
            KLikeness(**wrong)


def test_what_the_data_cannot_give_is_refused():
    ratings = some(20)
    with pytest.raises(ConfigError, match="k = 50, records = 20"):
        KLikeness(50).anonymize(ratings)
    with pytest.raises(ConfigError, match="top:6"):
        KLikeness(2, items=top_items(6)).anonymize(ratings)
    with pytest.raises(ConfigError, match="not for scale"):
        KLikeness(2, "dgh-a").anonymize(some(20, scale=Scale(0.5, 5, 0.5)))
    with budget.limits(memory=10), pytest.raises(ConfigError, match="20 records x 5 items"):
        KLikeness(2).anonymize(ratings)


def test_where_nobody_left_a_cell_empty_null_needs_no_place(tmp_path):
    path = tmp_path / "survey.txt"
    path.write_text("[1,2] [3,5]\n[1,5]\n")
    full = table([{0: 1, 1: 5}, {0: 2, 1: 4}, {0: 5, 1: 1}, {0: 4, 1: 2}], STARS)
    release = KLikeness(2, str(path)).anonymize(full, rng=0)
    assert not release.classes.symbols.null.any()
    with pytest.raises(ConfigError, match="null"):
        KLikeness(2, str(path), rare_items="keep").anonymize(some(), rng=0)
