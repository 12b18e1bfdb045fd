"""`reproduce_pa`: every table and figure of PA §7."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter

from starshade.arguments import typed
from starshade.audit.attempts import check_ks, seeds_of, size_of
from starshade.audit.reproduction.figures import Skipped
from starshade.audit.reproduction.pa import measured
from starshade.audit.reproduction.pa.checks import check_all
from starshade.audit.reproduction.pa.figures import (
    bins_figure,
    error_figure,
    histogram_of,
    pair_figure,
    rank_figure,
    sizes_of_bins,
)
from starshade.audit.reproduction.pa.measured import LINES, measure_errors, padding
from starshade.audit.reproduction.pa.result import PredictiveStudy
from starshade.errors import ConfigError
from starshade.naming import called
from starshade.progress import announced
from starshade.ratings.holdout import hold_out
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.table import Ratings
from starshade.recommend.factors import Factors
from starshade.recommend.padded import Padded
from starshade.release.folder.receipt import digest_of
from starshade.rng import Rng, generator, resolve_seed

_NO_LEVELS = Skipped("Table 2", "histogram", "a scale without steps has no levels to count")
_USERS, _ITEMS = 2_000, 2_000  # of the ratings that are made up where no data are given


@typed
@announced("study: Chang et al.")
def reproduce_pa(
    ratings: Ratings | None = None,
    *,
    n_users: int | None = None,
    n_items: int | None = None,
    ks: Sequence[int] = measured.KS,
    runs: int = 3,
    share: float = 0.1,
    rng: Rng = None,
) -> PredictiveStudy:
    """Run the experiments of Chang, Thompson, Wang and Yao on any ratings.

    Parameters
    ----------
    ratings : Ratings, optional
        None: made-up ratings like Netflix's.
    n_users, n_items : int, optional
        How many to make up where none are given; None: 2,000 of each. The Netflix Prize's size
        is 480,189 and 17,770.
    ks : sequence of int
        Least sizes of a group, each at least 2.
    runs : int
        How often everything is done, each time with a seed of its own, at least 1.
    share : float
        Of the ratings, held out, above 0 and below 1.
    rng : int, Generator or None

    Returns
    -------
    PredictiveStudy
        Tables 1-3 and Figs 3-5 with the paper's numbers, and its sentences held against ours.

    Raises
    ------
    ConfigError
        A parameter out of range, no ratings, or too few to hold any out.
    """
    if runs < 1:
        raise ConfigError(f"{called('runs')} {runs}: at least 1")
    tried, seed, started = check_ks(ks), resolve_seed(rng), perf_counter()
    synthetic = ratings is None
    if ratings is None:
        size = {"n_users": n_users or _USERS, "n_items": n_items or _ITEMS}
        ratings = synthesize("netflix", **size, rng=generator(seed, "made-up ratings"))
    if not ratings.n_ratings:
        raise ConfigError("without ratings there is nothing to reproduce")
    seeds = seeds_of(seed, runs)
    errors = measure_errors(ratings, LINES, tried, seeds, share)
    padded = _padded(ratings, share, seeds[0])
    histogram = histogram_of(padded, seeds[0])
    bins = sizes_of_bins(padded, seeds[0])
    figures = (
        *bins_figure(bins),
        *pair_figure(errors.pairs),
        *rank_figure(errors.ranks),
        *error_figure(errors.rows),
    )
    return PredictiveStudy(
        data={**size_of(ratings), "synthetic": synthetic},
        tables=errors.rows,
        histogram=histogram,
        releases=errors.releases,
        figures=figures,
        checks=check_all(errors.rows, histogram, bins, errors.pairs, errors.ranks),
        skipped=(*errors.skipped, *(() if histogram else (_NO_LEVELS,))),
        runs=runs,
        share=share,
        seconds=perf_counter() - started,
        seed=seed,
        digest=digest_of(ratings),
    )


def _padded(ratings: Ratings, share: float, seed: int) -> Padded:
    """Pad what the first run did not hold out."""
    train, _ = hold_out(ratings, share, rng=seed)
    fitted = padding().fit(train, rng=seed)
    assert isinstance(fitted, Factors)
    return Padded(train, fitted)
