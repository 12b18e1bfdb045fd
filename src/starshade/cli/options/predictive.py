"""What ``starshade anonymize --method predictive`` lets one set."""

from __future__ import annotations

import click

__all__ = ["PREDICTIVE", "PROFILES"]

PROFILES = ["padded", "simple", "model", "pooled"]

PREDICTIVE = [
    click.option(
        "--profile",
        type=click.Choice(PROFILES),
        help="predictive: a group's cell is the mean of ratings and predictions, of the ratings "
        "alone, of predictions alone, or the prediction for all members as one. [default: padded]",
    ),
    click.option(
        "--dissimilarity",
        metavar="NAME",
        help="predictive: how unlike two users are: euclidean, weighted-sq (the paper's), "
        "weighted, closeness-0.5, closeness-1.0. [default: euclidean]",
    ),
    click.option(
        "--clip",
        type=click.Choice(["mean", "cells"]),
        help="predictive: clip means to the scale, or every prediction before. [default: mean]",
    ),
    click.option(
        "--grouping",
        type=click.Choice(["exchange", "t-means"]),
        help="predictive: users exchanged between groups while that lessens their error, or the "
        "paper's clusters. [default: exchange, where distances are euclidean]",
    ),
    click.option(
        "--weights",
        type=click.Choice(["support", "uniform"]),
        help="predictive: an item counts as often as it was rated, or all count alike. "
        "[default: support for exchange, uniform for t-means]",
    ),
    click.option(
        "--recommender",
        metavar="NAME",
        help="predictive: what predicts: regularized-svd, implicit-als, surprise-svd (both extra "
        "compare), lenskit-biased-mf (extra lenskit). [default: regularized-svd]",
    ),
    click.option(
        "--factors", type=int, help="predictive: factors of the recommender. [default: 3]"
    ),
    click.option(
        "--regularization",
        type=float,
        help="predictive: how strongly factors are held back. [default: 0.055; other "
        "recommenders: their own]",
    ),
    click.option(
        "--sweeps",
        type=int,
        help="predictive: rounds of fitting, at most. [default: 16; other recommenders: their own]",
    ),
    click.option(
        "--no-biases",
        "biases",
        flag_value=False,
        default=None,
        type=bool,
        help="predictive: no bias for users and items, as in the paper.",
    ),
    click.option(
        "--b",
        type=int,
        help="predictive, simple: items known together that l profiles must show. [default: 1]",
    ),
    click.option(
        "--min-raters",
        type=int,
        help="predictive, simple: members who must have rated an item to show it. [default: 1]",
    ),
    click.option(
        "--profile-step",
        "step",
        type=float,
        help="predictive: step of released levels. [default: a part of the scale's step that makes "
        "up to 100; 0.05 for 1 to 5]",
    ),
]
