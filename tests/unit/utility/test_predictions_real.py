"""What the paper found on Netflix, on MovieLens 100K: an order of magnitude, not its digits."""

from __future__ import annotations

from pathlib import Path

import pytest

from starshade.anonymize.predictive.predictive import PredictiveAnonymizer
from starshade.ratings.holdout import hold_out
from starshade.ratings.read import read_ratings
from starshade.utility.held_out.nearest import SelfRank, SimilarUserDeviation
from starshade.utility.held_out.pairwise_dissimilarity import PairwiseDissimilarity
from starshade.utility.held_out.recommender_error import RecommenderError
from starshade.utility.held_out.top_n import TopN
from starshade.utility.rating_histogram import RatingHistogram

pytestmark = pytest.mark.real


def test_padded_and_simple_on_movielens(ml100k_dir: Path) -> None:
    train, probe = hold_out(read_ratings(ml100k_dir / "u.data"), 0.1, rng=0)
    given = {"original": train, "probe": probe}
    padded, simple = (
        PredictiveAnonymizer(k=50, profile=profile, rare_items="keep").anonymize(train, rng=0)
        for profile in ("padded", "simple")
    )
    ours, theirs = (RecommenderError().measure(made, **given).figures for made in (padded, simple))
    assert ours["rmse_original"] <= 0.93
    assert ours["rmse_original"] == theirs["rmse_original"]
    assert ours["probe_left_out"] == 0
    # Table 1: original < padded << simple, where null counts as 0
    assert 1 < ours["rmse_ratio_release"] < 1.06
    assert theirs["rmse_ratio_release"] > 1.2
    assert 1 < theirs["rmse_ratio_refit"] < 1.1
    # Table 3: the most similar profile is a little worse than one's own
    near = SimilarUserDeviation().measure(padded, **given).figures
    assert ours["rmse_release"] < near["similar_user_deviation_release"] < 1.1
    # Fig 5: people's own profile is among the nearest
    assert SelfRank().measure(padded, **given).figures["self_rank_median"] <= 20
    # Fig 4: the distribution within clusters lies to the left
    pairs = PairwiseDissimilarity().measure(padded, **given)
    assert pairs.figures["dissimilarity_within"] < pairs.figures["dissimilarity_all"]
    assert sum(pairs.within[:6]) > sum(pairs.all_pairs[:6])
    # Table 2: no null is left, and the mass is at 3 and 4
    after = RatingHistogram().measure(padded, **given).after
    assert after[0] == 0
    assert after[3] + after[4] > 0.6
    lists = TopN().measure(padded, **given).figures
    assert 0.1 < lists["top_n_agreement_release"] <= 1
