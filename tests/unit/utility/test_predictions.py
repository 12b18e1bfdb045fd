from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from starshade.errors import ConfigError
from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings
from starshade.ratings.vocabulary import Vocabulary
from starshade.release.table import Release
from starshade.rng import Rng
from starshade.utility.held_out.nearest import SelfRank, SimilarUserDeviation
from starshade.utility.held_out.pairwise_dissimilarity import PairwiseDissimilarity
from starshade.utility.held_out.probe import linked_probe
from starshade.utility.held_out.recommender_error import (
    RecommenderError,
    TargetDeviation,
    as_ratings,
)
from starshade.utility.held_out.top_n import TopN
from tests.naive import predictions as naive
from tests.naive.released_rows import expected, reading, row_of_users, rows_of
from tests.strategies import table
from tests.unit.utility.cases import (
    draw_values,
    probe_of,
    probed,
    profile_releases,
    profiled,
    releases,
)


@dataclass(frozen=True)
class Means:
    """A recommender that can be worked out by hand: `tests.naive.predictions.means`."""

    name: str = "means"

    def fit(self, ratings: Ratings, rng: Rng = None) -> Mean:
        if not ratings.n_ratings:
            raise ConfigError("no rating to learn from")
        return Mean(naive.means(ratings.dense()), ratings.scale.minimum, ratings.scale.maximum)


@dataclass(frozen=True, eq=False)
class Mean:
    table: np.ndarray
    low: float
    high: float

    def predict(self, users, items):
        return np.clip(self.table[users, items], self.low, self.high)

    def rows(self, users):
        return self.table[users]


MEANS = Means()


@dataclass
class Case:
    """A release, laid out the slow way."""

    release: Release
    original: Ratings
    probe: Ratings

    def __post_init__(self) -> None:
        release, original = self.release, self.original
        scale, n = release.scale, release.classes.n_items
        rows = rows_of(release)
        self.width = scale.width
        told = [[expected(row.get(i), scale.minimum) for i in range(n)] for row in rows]
        self.shown = np.array(told, dtype=float).reshape(-1, n)
        self.read = np.array(
            [[reading(r.get(i), scale.minimum, scale.null_level) for i in range(n)] for r in rows]
        ).reshape(-1, n)
        link = dict(zip(release.private.link.users, row_of_users(release), strict=True))
        self.row = {original.users.index(user): row for user, row in link.items()}
        self.items = [original.items.index(key) for key in release.classes.items]
        values = self.probe.dense()
        cells = [
            (u, i, float(values[u, i]))
            for u in range(original.n_users)
            for i in range(original.n_items)
            if not np.isnan(values[u, i])
        ]
        self.asked = [
            (u, self.items.index(i), v) for u, i, v in cells if u in self.row and i in self.items
        ]
        self.true = [v for _, _, v in self.asked]
        self.users = sorted({u for u, _, _ in self.asked})
        self.dense = original.dense()
        self.first = [
            next(r for r, other in enumerate(rows) if repr(other) == repr(row)) for row in rows
        ]
        self.distinct = sorted(set(self.first))

    @property
    def refit(self) -> np.ndarray | None:
        if np.isnan(self.shown).all():
            return None
        return naive.means(self.shown)

    def people(self) -> dict[int, np.ndarray]:
        """What the owner knows of each person asked, on the released items."""
        manifest, rows = self.release.manifest, self.dense
        if manifest.layout == "profile" and manifest.profile != "simple":
            rows = self.padded()
        return {u: rows[u][self.items] for u in self.users}

    def padded(self) -> np.ndarray:
        scale = self.original.scale
        return naive.padded(self.dense, naive.means(self.dense), scale.minimum, scale.maximum)


def near(value: float | None) -> object:
    return None if value is None else pytest.approx(value, rel=1e-9, abs=1e-9)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    if draw(st.booleans()):
        return Case(*draw(probed()))
    release, original = draw(profile_releases())
    free = [tuple(cell) for cell in np.argwhere(np.isnan(original.dense())).tolist()]
    assume(free)
    cells = sorted(draw(st.sets(st.sampled_from(free), min_size=1, max_size=12)))
    return Case(release, original, probe_of(original, draw_values(draw, original, cells)))


@given(cases())
def test_errors_are_the_twins(case: Case) -> None:
    given = {"original": case.original, "probe": case.probe}
    found = RecommenderError(MEANS).measure(case.release, **given).figures
    target = TargetDeviation(MEANS).measure(case.release, **given).figures
    assert found["probe_ratings"] == len(case.asked)
    assert found["probe_left_out"] == case.probe.n_ratings - len(case.asked)
    if not case.asked:
        assert found["rmse_original"] is None
        assert set(target.values()) == {None}
        return
    scale, rows = case.release.scale, [case.row[u] for u, _, _ in case.asked]
    own = naive.means(case.dense)
    clip = (scale.minimum, scale.maximum)
    guesses = {
        "original": [float(np.clip(own[u, case.items[i]], *clip)) for u, i, _ in case.asked],
        "release": [case.read[r, i] for r, (_, i, _) in zip(rows, case.asked, strict=True)],
        "refit": None
        if case.refit is None
        else [
            float(np.clip(case.refit[r, c[1]], *clip))
            for r, c in zip(rows, case.asked, strict=True)
        ],
    }
    slow = {k: None if g is None else naive.rmse_mae(g, case.true) for k, g in guesses.items()}
    for reading_, errors in slow.items():
        for place, error in enumerate(("rmse", "mae")):
            own_error = None if errors is None else errors[place]
            assert found[f"{error}_{reading_}"] == near(own_error)
            base = slow["original"][place]
            if reading_ != "original":
                told = None if own_error is None or base == 0 else own_error / base
                assert found[f"{error}_ratio_{reading_}"] == near(told)
    assert target["target_deviation_release"] == near(slow["release"][0])
    assert target["target_deviation_refit"] == near(slow["refit"] and slow["refit"][0])


@given(cases())
def test_the_most_similar_profile_is_the_twins(case: Case) -> None:
    given = {"original": case.original, "probe": case.probe}
    found = SimilarUserDeviation(recommender=MEANS).measure(case.release, **given).figures
    if not case.asked:
        assert set(found.values()) == {None}
        return
    profiles = [case.shown[r] for r in case.distinct]
    scale = case.release.scale
    readings = {"release": [case.read[r] for r in case.distinct], "refit": None}
    if case.refit is not None:
        refit = np.clip(case.refit, scale.minimum, scale.maximum)
        readings["refit"] = [refit[r] for r in case.distinct]
    for name, told in readings.items():
        slow = told and naive.similar_user(case.people(), profiles, told, case.asked, case.width)
        assert found[f"similar_user_deviation_{name}"] == near(slow)
    assert found["similar_user_users"] == len(case.users)


@given(cases())
def test_ranks_are_the_twins(case: Case) -> None:
    given = {"original": case.original, "probe": case.probe}
    result = SelfRank(recommender=MEANS).measure(case.release, **given)
    found = result.figures
    if not case.asked:
        assert set(found.values()) == {None}
        assert result.within == ()
        return
    profiles = [case.shown[r] for r in case.distinct]
    own = {u: case.distinct.index(case.first[case.row[u]]) for u in case.users}
    ranks = naive.self_ranks(case.people(), profiles, own, case.width)
    percentile = [100 * rank / len(profiles) for rank in ranks]
    assert found == {
        "self_rank_mean": near(np.mean(percentile)),
        "self_rank_median": near(np.median(percentile)),
        "self_rank_first": near(np.mean([rank == 1 for rank in ranks])),
        "self_rank_users": len(ranks),
        "self_rank_profiles": len(profiles),
    }
    shares = [np.mean([p <= most + 1e-9 for p in percentile]) for most in range(1, 101)]
    assert result.within == pytest.approx(shares)
    assert result.within[-1] == 1


@given(cases())
def test_pairs_are_the_twins(case: Case) -> None:
    given = {"original": case.original, "probe": case.probe}
    assume(case.original.n_ratings)
    result = PairwiseDissimilarity(recommender=MEANS).measure(case.release, **given)
    rows = {u: case.padded()[u][case.items] for u in case.row}
    slow = naive.pair_histograms(rows, case.row, case.width)
    for name, shares in (("all", result.all_pairs), ("within", result.within)):
        total, bins = slow[name]
        pairs = sum(bins)
        assert result.figures[f"dissimilarity_{name}"] == near(total / pairs if pairs else None)
        assert shares == (pytest.approx([b / pairs for b in bins]) if pairs else ())
    assert result.figures["dissimilarity_users"] == len(case.row)
    assert result.figures["dissimilarity_pairs_within"] == sum(slow["within"][1])


@given(cases(), st.integers(1, 3))
def test_recommendations_are_the_twins(case: Case, n: int) -> None:
    given = {"original": case.original, "probe": case.probe}
    found = TopN(n, recommender=MEANS).measure(case.release, **given).figures
    rated = ~np.isnan(case.dense)
    users = [u for u in case.users if (~rated[u][case.items]).sum() >= n]
    if not users:
        assert set(found.values()) == {None}
        return
    own = naive.means(case.dense)
    for name, scores in (("release", case.read), ("refit", case.refit)):
        if scores is None:
            assert found[f"top_n_agreement_{name}"] is None
            continue
        shares = []
        for u in users:
            best = naive.top_n(own[u], rated[u], n)
            told = naive.top_n(scores[case.row[u]], rated[u][case.items], n)
            shares.append(len(best & {case.items[i] for i in told}) / n)
        assert found[f"top_n_agreement_{name}"] == near(np.mean(shares))
    assert found["top_n_users"] == len(users)


@given(releases())
def test_a_release_is_read_as_ratings(case) -> None:
    release, _ = case
    read = as_ratings(release)
    n = release.classes.n_items
    rows = rows_of(release)
    slow = [[expected(row.get(i), release.scale.minimum) for i in range(n)] for row in rows]
    np.testing.assert_allclose(read.dense(), np.array(slow, dtype=float).reshape(-1, n))
    assert read.items == release.classes.items
    assert (np.diff(read.levels) > 0).all()


EVERY = (RecommenderError, TargetDeviation, SimilarUserDeviation, SelfRank, TopN)


def example() -> Case:
    """Ten people in two groups, on a release of profiles."""
    rows = [{i: 1.0 + (u + i) % 5 for i in range(6) if (u + 2 * i) % 3} for u in range(10)]
    original = table(rows, Scale(1, 5, 1), n_items=6)
    levels = [[5, 6, 7, 8, 9, 9], [9, 8, 7, 6, 5, 4]]
    release = profiled(original, levels, [0] * 5 + [1] * 5, 0.5)
    free = np.argwhere(np.isnan(original.dense())).tolist()
    cells = {tuple(cell): 1.0 + sum(cell) % 5 for cell in free}
    return Case(release, original, probe_of(original, cells))


@pytest.mark.parametrize("measure", EVERY)
def test_a_refit_that_is_too_large_is_left_out_with_the_reason(measure, monkeypatch) -> None:
    case = example()
    given = {"original": case.original, "probe": case.probe}
    whole = measure(recommender=MEANS, **({"n": 1} if measure is TopN else {}))
    before = whole.measure(case.release, **given)
    assert not any(v is None for v in before.figures.values())
    fresh = replace(case.release)  # what was trained is kept by release
    monkeypatch.setattr("starshade.utility.held_out.recommender_error._BYTES", 10**17)
    after = whole.measure(fresh, **given)
    learned = {name for name in before.figures if name.endswith("_refit")}
    assert {n for n, v in after.figures.items() if v is None} == learned
    assert all(after.figures[n] == before.figures[n] for n in before.figures.keys() - learned)
    if learned:
        assert "No refit: training on the release's 12 cells would take" in str(after)


def test_fewer_people_are_asked_and_always_the_same() -> None:
    case = example()
    given = {"original": case.original, "probe": case.probe}
    for measure, name in (
        (SimilarUserDeviation(users=3, recommender=MEANS), "similar_user_users"),
        (SelfRank(users=3, recommender=MEANS), "self_rank_users"),
        (TopN(1, users=3, recommender=MEANS), "top_n_users"),
        (PairwiseDissimilarity(users=3, recommender=MEANS), "dissimilarity_users"),
    ):
        found = measure.measure(case.release, **given).figures
        assert found[name] == 3
        assert measure.measure(case.release, **given).figures == found


def test_clusters_are_taken_whole_until_the_sample_is_full() -> None:
    case = example()
    given = {"original": case.original, "probe": case.probe}
    pairs = [
        PairwiseDissimilarity(users=users, recommender=MEANS)
        .measure(case.release, **given)
        .figures["dissimilarity_pairs_within"]
        for users in (3, 5, 7, 10)
    ]
    assert pairs == [3, 10, 11, 20]


def test_settings_out_of_range_are_refused() -> None:
    for wrong in (
        lambda: SelfRank("cosine"),
        lambda: SelfRank(users=0),
        lambda: SimilarUserDeviation(users=1.5),
        lambda: PairwiseDissimilarity(users=1),
        lambda: PairwiseDissimilarity("cosine"),
        lambda: TopN(0),
        lambda: TopN(users=0),
    ):
        with pytest.raises(ConfigError):
            wrong()
    case = example()
    with pytest.raises(ConfigError, match="recommender 'magic': unknown"):
        RecommenderError("magic").measure(case.release, original=case.original, probe=case.probe)


def test_an_original_with_people_who_were_not_released() -> None:
    case = example()
    wide = replace(
        case.original,
        users=Vocabulary(np.arange(1, 12)),
        indptr=np.append(case.original.indptr, case.original.indptr[-1]),
    )
    probe = probe_of(wide, {(10, 0): 3.0, (0, 0): 2.0})
    asked = linked_probe(case.release, wide, probe)
    assert asked is not None
    assert (asked.users.tolist(), asked.left_out) == ([0], 1)
    found = RecommenderError(MEANS).measure(case.release, original=wide, probe=probe).figures
    assert (found["probe_ratings"], found["probe_left_out"]) == (1, 1)
