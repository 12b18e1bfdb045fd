"""The measures that ``starshade list measures`` names."""

from __future__ import annotations

from starshade.registry import Entry

_SETTINGS = "starshade.utility.settings"

#: those that may be given a probe: ratings that were held out before the release was made
PROBED = (
    Entry(
        name="recommender-error",
        module="starshade.utility.held_out.recommender_error",
        cls="RecommenderError",
        settings=_SETTINGS,
        summary="RMSE and MAE of a recommender on the release against one on the original.",
        source="Chang et al. 2010, section 7.2",
    ),
    Entry(
        name="target-deviation",
        module="starshade.utility.held_out.recommender_error",
        cls="TargetDeviation",
        settings=_SETTINGS,
        summary="Error of predictions from each person's own profile.",
        source="Chang et al. 2010, section 7.1",
    ),
    Entry(
        name="similar-user-deviation",
        module="starshade.utility.held_out.nearest",
        cls="SimilarUserDeviation",
        settings=_SETTINGS,
        summary="Error of predictions from the profile most similar to each person.",
        source="Chang et al. 2010, section 7.4, Table 3",
    ),
    Entry(
        name="self-rank",
        module="starshade.utility.held_out.nearest",
        cls="SelfRank",
        settings=_SETTINGS,
        summary="Rank of each person's own profile by similarity among all profiles.",
        source="Chang et al. 2010, section 7.4, Fig 5",
    ),
    Entry(
        name="rating-histogram",
        module="starshade.utility.rating_histogram",
        cls="RatingHistogram",
        settings=_SETTINGS,
        summary="Shares of null and of each rating before and after.",
        source="Chang et al. 2010, Table 2",
    ),
    Entry(
        name="pairwise-dissimilarity",
        module="starshade.utility.held_out.pairwise_dissimilarity",
        cls="PairwiseDissimilarity",
        settings=_SETTINGS,
        summary="Dissimilarity of people, over all pairs and within classes.",
        source="Chang et al. 2010, section 7.3, Fig 4",
    ),
    Entry(
        name="top-n-agreement",
        module="starshade.utility.held_out.top_n",
        cls="TopN",
        settings=_SETTINGS,
        summary="Agreement of recommendations by the release and the original.",
        source="starshade",
    ),
)

ENTRIES = (
    Entry(
        name="what-remains",
        module="starshade.utility.what_remains",
        cls="WhatRemains",
        settings=_SETTINGS,
        summary="Utility: ratings recoverable from the release, compared with item means.",
        source="starshade",
    ),
    Entry(
        name="discernibility",
        module="starshade.utility.losses",
        cls="Discernibility",
        settings=_SETTINGS,
        summary="DM: the sum of squared class sizes.",
        source="Bayardo & Agrawal 2005; Riyana & Natwichai 2018, Eq. 1",
    ),
    Entry(
        name="class-size",
        module="starshade.utility.losses",
        cls="AverageClassSize",
        settings=_SETTINGS,
        summary="C_AVG: the average class size as a multiple of k.",
        source="LeFevre, DeWitt & Ramakrishnan 2006; Riyana & Natwichai 2018, Eq. 2",
    ),
    Entry(
        name="generalization-loss",
        module="starshade.utility.losses",
        cls="GeneralizationLoss",
        settings=_SETTINGS,
        summary="GenILoss: the average width of a cell against the width of its column.",
        source="Iyengar 2002; Riyana & Natwichai 2018, Eq. 3",
    ),
    Entry(
        name="distortion",
        module="starshade.utility.losses",
        cls="Distortion",
        settings=_SETTINGS,
        summary="Ratings of single records moved, suppressed or imputed.",
        source="Sun & Sun 2013, Def. 4, 5",
    ),
    Entry(
        name="disclosure-shares",
        module="starshade.utility.losses",
        cls="DisclosureShares",
        settings=_SETTINGS,
        summary="Shares of users with a disclosed rating, or with a disclosed existence of one.",
        source="starshade",
    ),
    Entry(
        name="query-error",
        module="starshade.utility.query_error",
        cls="QueryError",
        settings=_SETTINGS,
        summary="Error of averages of an attribute by query.",
        source="Riyana & Natwichai 2018, section 5.2.2, Eq. 7",
    ),
    *PROBED,
)

#: those that ask for no ratings
OF_THE_RELEASE = ("discernibility", "class-size", "disclosure-shares")
