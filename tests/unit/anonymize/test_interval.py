from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from starshade import budget
from starshade.anonymize.interval.interval import IntervalAnonymizer
from starshade.audit.verdict import Audit
from starshade.errors import ConfigError, UnmetError
from starshade.privacy.k_eps import KEpsAnonymity, KEpsLAnonymity
from starshade.ratings.read import read_ratings
from starshade.ratings.scale import Scale
from starshade.ratings.select import top_items
from starshade.ratings.table import Ratings
from starshade.release.table import Release
from tests.naive import interval as naive
from tests.naive.records import released_rows, rows_of
from tests.naive.spread import spread
from tests.strategies import ratings_tables, table

FIVE = Scale(1, 5, 1)
RULES = st.sampled_from(["strict", "ignore", "zero"])
EPS = st.sampled_from([0, 0.5, 1, 1.3, 2, 4, 7])


def anonymized(
    ratings: Ratings, seed: int = 0, **settings: Any
) -> tuple[Release, list[list[float | None]], list[list[float | None]]]:
    """The release, the rows that went into it and the rows that came out, user by user."""
    method = IntervalAnonymizer(**{"k": 2, "eps": 1, "rare_items": "keep", **settings})
    release = method.anonymize(ratings, rng=seed)
    assert release.private is not None
    assert release.private.original is not None
    return release, rows_of(release.private.original), released_rows(release)


def usable(ratings: Ratings, k: int) -> bool:
    return int((ratings.user_support > 0).sum()) >= k


def balls(
    rows: list[list[float | None]], scale: Scale, eps: float, nulls: str, sensitive: int | None
) -> list[list[int]]:
    open_rows = [[v for i, v in enumerate(row) if i != sensitive] for row in rows]
    how = (eps, nulls, scale.cost_of_null, scale.null_level)
    everybody = range(len(rows))
    return [
        [b for b in everybody if naive.near(open_rows[a], open_rows[b], *how)] for a in everybody
    ]


@given(
    ratings_tables(min_users=2, with_days=False),
    st.integers(2, 5),
    EPS,
    RULES,
    st.sampled_from(["whole", "cluster"]),
)
def test_every_record_has_k_others_near(
    ratings: Ratings, k: int, eps: float, nulls: str, partition: str
) -> None:
    if not usable(ratings, k):
        return
    release, _, after = anonymized(ratings, k=k, eps=eps, nulls=nulls, partition=partition)
    assert min(len(b) for b in balls(after, ratings.scale, eps, nulls, None)) >= k
    assert KEpsAnonymity(k, eps, nulls=nulls).check(release).satisfied  # type: ignore[arg-type]


@given(ratings_tables(min_users=2, with_days=False), st.integers(2, 4), EPS, RULES, st.integers())
def test_clusters_never_distort_more_than_the_whole(
    ratings: Ratings, k: int, eps: float, nulls: str, seed: int
) -> None:
    if not usable(ratings, k):
        return
    how = {"k": k, "eps": eps, "nulls": nulls, "seed": abs(seed) % 2**63}
    cost = {}
    for partition in ("whole", "cluster"):
        _, before, after = anonymized(ratings, partition=partition, **how)
        cost[partition] = naive.distortion(before, after, ratings.scale.cost_of_null)
    assert cost["cluster"] <= cost["whole"] + 1e-6


@given(ratings_tables(scales=(FIVE, Scale(-10, 10)), min_users=3, max_items=4), st.integers(2, 3))
def test_ignored_nulls_stay_and_nothing_is_invented(ratings: Ratings, k: int) -> None:
    if not usable(ratings, k):
        return
    _, before, after = anonymized(ratings, k=k, nulls="ignore")
    pairs = [(a, b) for x, y in zip(before, after, strict=True) for a, b in zip(x, y, strict=True)]
    assert all((a is None) == (b is None) for a, b in pairs)


@given(
    ratings_tables(scales=(FIVE, Scale(0.5, 5, 0.5), Scale(-10, 10)), min_users=4, with_days=False),
    st.sampled_from([0.3, 0.5, 1.0]),
    RULES,
    st.sampled_from(["whole", "cluster"]),
)
@settings(max_examples=60)
def test_sensitive_ratings_spread_in_every_ball_and_are_never_changed(
    ratings: Ratings,
    least: float,
    nulls: str,
    partition: str,
) -> None:
    if ratings.n_items < 2 or not usable(ratings, 2):
        return
    how: dict[str, Any] = {"l": least, "sensitive": ["2"], "nulls": nulls}
    try:
        release, before, after = anonymized(ratings, partition=partition, **how)
    except UnmetError:
        rated = ratings.drop_empty_users()
        everybody = spread([row[1] for row in rows_of(rated)])
        assert everybody is not None
        assert everybody < least
        return
    except ConfigError:  # above the bound of Theorem 1
        given = [row[1] for row in rows_of(ratings.drop_empty_users()) if row[1] is not None]
        assert max(given) - min(given) < 2 * least
        return
    assert [row[1] for row in after] == [row[1] for row in before]
    for ball in balls(after, ratings.scale, 1, nulls, 1):
        found = spread([after[i][1] for i in ball])
        assert len(ball) >= 2
        assert found is None or found >= least - 1e-6
    model = KEpsLAnonymity(2, 1, least, ["2"], nulls=nulls)  # type: ignore[arg-type]
    assert model.check(release).satisfied


@given(ratings_tables(scales=(FIVE,), min_users=6, max_items=4, with_days=False), st.integers(0, 9))
def test_clusters_never_distort_more_after_merging_either(ratings: Ratings, seed: int) -> None:
    if ratings.n_items < 2 or not usable(ratings, 2):
        return
    cost = {}
    for partition in ("whole", "cluster"):
        try:
            _, before, after = anonymized(
                ratings, seed, l=0.5, sensitive=["1"], partition=partition
            )
        except (ConfigError, UnmetError):
            return
        cost[partition] = naive.distortion(before, after, 5)
    assert cost["cluster"] <= cost["whole"] + 1e-6


@pytest.mark.parametrize("nulls", ["strict", "ignore", "zero"])
def test_an_epsilon_above_every_cost_changes_nothing(nulls: str) -> None:
    ratings = table([{0: 1.0}, {1: 5.0}, {0: 5.0, 1: 1.0}, {0: 3.0}], FIVE)
    _, before, after = anonymized(ratings, eps=5, nulls=nulls)
    assert after == before


def test_an_epsilon_as_wide_as_the_scale_moves_no_rating() -> None:
    ratings = table([{0: 1.0}, {0: 5.0}, {0: 5.0, 1: 1.0}, {0: 3.0, 1: 5.0}], FIVE)
    _, before, after = anonymized(ratings, eps=4)
    assert after == before


def test_where_it_holds_already_only_the_paper_s_way_moves_ratings() -> None:
    # each within 1 of its neighbours, but no two cliques of two: 1-2-3 and 3-4-5 share the 3
    ratings = table([{0: float(v)} for v in (1, 2, 3, 4, 5)], FIVE)
    assert anonymized(ratings)[1] == anonymized(ratings)[2]
    _, before, after = anonymized(ratings, partition="whole")
    assert before != after
    spread_too = {"k": 2, "eps": 1, "l": 0.4, "sensitive": ["2"]}
    rows = [{0: float(v), 1: float(1 + 3 * (v % 2))} for v in (1, 2, 3, 4, 5)]
    _, before, after = anonymized(table(rows, FIVE), **spread_too)
    assert before == after
    alike = [{**row, 1: 3.0 if u < 2 else row[1]} for u, row in enumerate(rows)]
    _, before, after = anonymized(table(alike, FIVE), **spread_too)
    assert before != after  # the first ball agrees on the sensitive item


def test_a_found_scale_does_not_tell_a_rating_that_was_moved_away(tmp_path: Path) -> None:
    users = np.repeat(np.arange(20), 2)
    values = np.tile([2.0, 3.0, 3.0, 4.0], 10)
    values[7] = 9.0  # one person's, and nobody else's
    ratings = Ratings.from_arrays(users, np.tile([0, 1], 20), values)
    assert ratings.scale.maximum == 9
    release = IntervalAnonymizer(k=5, eps=1).anonymize(ratings, rng=1)
    shown = max(v for row in released_rows(release) for v in row if v is not None)
    assert release.manifest.scale.maximum == shown < 9
    release.save(tmp_path / "out", private=tmp_path / "out.json")
    found = Audit(known=[1], shadows=0).run(
        ratings, tmp_path / "out", private=tmp_path / "out.json", rng=1
    )
    assert all(claim["holds"] for claim in found.claims)
    assert found.utility["distortion"] >= 9 - shown
    declared = Ratings.from_arrays(users, np.tile([0, 1], 20), values, scale="1:9:1")
    assert IntervalAnonymizer(k=5, eps=1).anonymize(declared, rng=1).manifest.scale.maximum == 9


@pytest.mark.parametrize("l", [0.0, 0.1])
def test_no_rounding_error_shows_which_ratings_were_moved(l: float) -> None:  # noqa: E741
    values = np.round(np.random.default_rng(3).uniform(-5, 5, 90), 2)
    ratings = Ratings.from_arrays(
        np.repeat(np.arange(30), 3), np.tile([0, 1, 2], 30), values, scale="-5:5"
    )
    _, before, after = anonymized(ratings, k=3, eps=0.7, l=l, sensitive=["2"] if l else [])
    shown = {v for row in after for v in row if v is not None}
    assert len(shown - {v for row in before for v in row}) > 3
    assert all(value == round(value, 2) for value in shown)
    assert "-0.0" not in map(str, shown)


@pytest.mark.parametrize("maximum", [1e7, 1e8, 1e9])
def test_large_real_scales_are_verified_by_the_same_measure(tmp_path: Path, maximum: float) -> None:
    rng = np.random.default_rng(0)
    for turn in range(5):
        values = np.round(maximum * 0.7 + rng.uniform(0, 5, 60), 2)
        ratings = Ratings.from_arrays(
            np.repeat(np.arange(30), 2), np.tile([0, 1], 30), values, scale=f"0:{maximum:.0f}"
        )
        IntervalAnonymizer(k=3, eps=0.7).anonymize(ratings, rng=0).save(tmp_path / f"{turn}")


def test_an_empty_pattern_is_a_pattern() -> None:
    ratings = table([{2: 1.0}, {2: 2.0}, {0: 5.0, 2: 3.0}, {0: 5.0, 2: 4.0}], FIVE, n_items=3)
    _, before, after = anonymized(ratings, sensitive=["3"])
    assert after == before


def test_a_small_pattern_is_repaired_to_the_nearest_where_that_costs_less() -> None:
    """u4 has a rating (1) too many, u5 lacks the one on item 1: each is a cell of cost 5."""
    rows: list[dict[int, float]] = [{0: 4.0}, {0: 4.0}, {0: 4.0}, {0: 4.0, 1: 1.0}, {2: 5.0}]
    _, _, after = anonymized(
        table([*rows, {2: 5.0, 0: 3.0}, {2: 5.0, 0: 3.0}], FIVE), partition="whole"
    )
    assert after[3] == [4.0, None, None]
    assert after[4] == [3.0, None, 5.0]


def test_on_equal_cost_nothing_is_invented() -> None:
    _, _, after = anonymized(table([{0: 4.0, 1: 1.0}, {0: 4.0}], FIVE))
    assert after == [[4.0, None], [4.0, None]]


def test_many_equal_people_in_many_patterns_are_left_alone() -> None:
    rng = np.random.default_rng(0)
    kinds = rng.integers(0, 6, (40, 8))
    rows = [{i: float(v) for i, v in enumerate(kind) if v} for kind in kinds for _ in range(5)]
    _, before, after = anonymized(table(rows, FIVE), k=5)
    assert after == before


def random_table(n: int, m: int, seed: int) -> Ratings:
    rng = np.random.default_rng(seed)
    codes = rng.integers(1, 6, (n, m)) * (rng.random((n, m)) < 0.8)
    return table([{i: float(v) for i, v in enumerate(row) if v} for row in codes], FIVE, n_items=m)


def test_large_patterns_are_cut_into_blocks_and_still_pass(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("starshade.anonymize.interval.groups._PATTERNS", 4)
    release, _, _ = anonymized(random_table(200, 7, 1), k=4, partition="whole")
    assert KEpsAnonymity(4, 1).check(release).satisfied
    for few in (1, 3):  # patterns added up at once
        monkeypatch.setattr("starshade.anonymize.interval.groups._AT_ONCE", few)
        again, _, _ = anonymized(random_table(200, 7, 1), k=4, partition="whole")
        assert again.classes.codes.tolist() == release.classes.codes.tolist()
        assert again.classes.columns.tolist() == release.classes.columns.tolist()


def test_a_large_table_is_searched_less_and_still_not_worse(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ratings = random_table(300, 6, 2)
    _, before, whole = anonymized(ratings, k=4, partition="whole")
    for module in ("interval", "groups"):
        monkeypatch.setattr(f"starshade.anonymize.interval.{module}._LARGE_TABLE", 10)
    monkeypatch.setattr("starshade.anonymize.interval.groups._NODE", 8)
    _, _, after = anonymized(ratings, k=4)
    assert naive.distortion(before, after, 5) < naive.distortion(before, whole, 5)


def test_one_thread_or_many_and_the_seed_decide() -> None:
    ratings = random_table(400, 5, 3)
    rows = anonymized(ratings, seed=1)[2]
    with budget.limits(threads=1):
        assert anonymized(ratings, seed=1)[2] == rows
    assert any(anonymized(ratings, seed=s)[2] != rows for s in range(2, 5))


def test_merging_needs_more_than_one_round_and_ends() -> None:
    """Alike people with one and the same sensitive rating, and far off others."""
    rows = [{0: float(v), 1: float(s)} for v, s in [(1, 1)] * 6 + [(3, 1)] * 6 + [(5, 5)] * 4]
    release, before, after = anonymized(table(rows, FIVE), l=1.5, sensitive=["2"])
    assert KEpsLAnonymity(2, 1, 1.5, ["2"]).check(release).satisfied
    assert after != before


def test_a_spread_that_nobody_reaches_is_unmet_and_said() -> None:
    rows = [{0: 1.0, 1: 3.0}, {0: 1.0, 1: 4.0}, {0: 1.0, 1: 3.0}, {0: 1.0}]
    assert spread([3, 4, 3, None]) == pytest.approx(1.7321, abs=0.02)
    with pytest.raises(UnmetError, match=r"l = 2: .* sensitive item 1 of the 1 given is 1\.7"):
        anonymized(table(rows, FIVE), l=2, sensitive=["2"])


def test_l_above_its_bound_is_refused_with_the_bound() -> None:
    rows = [{0: 1.0, 1: 3.0}, {0: 1.0, 1: 5.0}]
    with pytest.raises(ConfigError, match=r"half of that, 1 \(Theorem 1\)"):
        anonymized(table(rows, FIVE), l=1.5, sensitive=["2"])


def test_a_sensitive_item_that_is_rare_is_refused() -> None:
    rows = [{0: 1.0, 1: 3.0}, {0: 1.0}, {0: 2.0}]
    with pytest.raises(ConfigError, match=r"sensitive item 1 of the 1 given .* fewer than k = 2"):
        anonymized(table(rows, FIVE), sensitive=["2"], rare_items="drop")
    assert anonymized(table(rows, FIVE), sensitive=["2"])[2][0][1] == 3.0


def test_nobody_rated_an_open_item_of_a_real_scale() -> None:
    rows = table([{1: 0.25}, {1: 3.5}, {1: -2.0}, {1: 4.0}], Scale(-10, 10, None), n_items=2)
    release, before, after = anonymized(rows, l=1, sensitive=["2"], partition="whole")
    assert after == before
    assert release.manifest.records == 4


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"k": 1}, "k = 1"),
        ({"eps": -1}, "eps = -1"),
        ({"eps": float("nan")}, "eps = nan"),
        ({"l": -1}, "l = -1"),
        ({"l": 1}, "no item is sensitive"),
        ({"nulls": "none"}, "must be strict, ignore or zero"),
        ({"partition": "half"}, "must be cluster or whole"),
        ({"rare_items": "some"}, "must be drop or keep"),
        ({"attributes": "generalized"}, "must be none or exact"),
        ({"sensitive": "12"}, "list of item ids"),
    ],
)
def test_wrong_settings_are_refused(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        IntervalAnonymizer(**{"k": 2, "eps": 1, **settings})


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"k": 9}, "k = 9, records = 4"),
        ({"sensitive": ["9"]}, "sensitive item 1 of the 1 given is not among the items"),
        ({"sensitive": ["1", "1"]}, "given more than once"),
        ({"sensitive": ["1", "2", "3", "4"]}, "all items are"),
        ({"items": top_items(99)}, "top:99"),
    ],
)
def test_requests_that_the_data_cannot_have_are_refused(
    settings: dict[str, Any], words: str
) -> None:
    with pytest.raises(ConfigError, match=words):
        anonymized(random_table(4, 4, 5), **settings)


def test_what_is_published_of_the_settings() -> None:
    ratings = random_table(60, 4, 6)
    release, _, _ = anonymized(ratings, k=3, l=0.5, sensitive=["2"], items=top_items(3))
    assert release.manifest.layout == "record"
    assert release.manifest.config == {
        "k": 3,
        "eps": 1.0,
        "l": 0.5,
        "nulls": "strict",
        "partition": "cluster",
        "items": "top:3",
        "sensitive": ["2"],
    }
    near, spreading = release.manifest.claims
    assert (near.model, near.parameters) == (
        "k-eps",
        {"k": 3, "eps": 1.0, "nulls": "strict", "sensitive": ["2"]},
    )
    assert (spreading.model, spreading.parameters) == ("k-eps-l", {**near.parameters, "l": 0.5})
    assert release.private is not None
    assert release.private.config["rare_items"] == "keep"
    plain, _, _ = anonymized(ratings)
    assert "l" not in plain.manifest.config
    assert "sensitive" not in plain.manifest.claims[0].parameters


def test_a_table_beyond_the_budget_is_refused() -> None:
    with (
        budget.limits(memory=100),
        pytest.raises(ConfigError, match="as full tables"),
    ):
        anonymized(random_table(60, 4, 6))


@pytest.mark.real
@pytest.mark.parametrize(("k", "eps"), [(5, 1), (20, 2)])
def test_movielens_top_20_in_clusters_is_a_quarter_cheaper(
    ml100k_dir: Path, k: int, eps: float
) -> None:
    ratings = read_ratings(ml100k_dir / "u.data")
    cost = {}
    for partition in ("whole", "cluster"):
        release, before, after = anonymized(
            ratings, k=k, eps=eps, partition=partition, items=top_items(20)
        )
        assert KEpsAnonymity(k, eps).check(release).satisfied
        cost[partition] = naive.distortion(before, after, 5)
    assert cost["cluster"] < 0.75 * cost["whole"]
