"""`reproduce_ns`: every figure and table of NS §5."""

from __future__ import annotations

from time import perf_counter

from starshade.attack.sparsity.few_facts import few_facts
from starshade.attack.sparsity.information_gain import information_gain
from starshade.attack.sparsity.sparsity import Sparsity, about_one_star
from starshade.audit.attempts import size_of
from starshade.audit.reproduction.figures import Skipped
from starshade.audit.reproduction.ns.attacks import (
    attack_figures,
    error_figures,
    is_dated,
    run_settings,
)
from starshade.audit.reproduction.ns.checks import check_figures
from starshade.audit.reproduction.ns.result import Reproduction
from starshade.audit.reproduction.ns.statements import statements_of
from starshade.audit.reproduction.ns.tables import (
    activity_figures,
    gain_figure,
    sparsity_figure,
    theorem_rows,
)
from starshade.errors import ConfigError
from starshade.progress import announced
from starshade.ratings.habits import rated_outside_top
from starshade.ratings.table import Ratings
from starshade.rng import Rng, resolve_seed

__all__ = ["reproduce_ns"]


@announced("study: Narayanan & Shmatikov")
def reproduce_ns(ratings: Ratings, *, targets: int | None = 1000, rng: Rng = None) -> Reproduction:
    """Run Narayanan and Shmatikov's case study on any ratings.

    Parameters
    ----------
    ratings : Ratings
    targets : int or None
        Users attacked in each setting, and records whose neighbours are sought: a seeded sample
        of at most so many; None: all.
    rng : int, Generator or None

    Returns
    -------
    Reproduction
        Figs 1-12, the table of §5 and the theorems' bounds, the paper's numbers beside ours.

    Raises
    ------
    ConfigError
        No ratings, or `targets` below 1.

    Notes
    -----
    On other scales than 1-5 the paper's ±1 is a quarter of the scale's width. Figures that need
    dates are left out where there are none, and settings that nobody meets, with the reason.
    """
    if not ratings.n_ratings:
        raise ConfigError("without ratings there is nothing to reproduce")
    seed = resolve_seed(rng)
    started = perf_counter()
    star = about_one_star(ratings.scale)
    sparsity = Sparsity(targets=targets).run(ratings, rng=seed)
    gain = information_gain(ratings)
    off_top = rated_outside_top(ratings)
    runs, skipped = run_settings(ratings, star, targets=targets, seed=seed)
    figures = (
        sparsity_figure(sparsity),
        *activity_figures(ratings),
        gain_figure(gain),
        *attack_figures(ratings, runs, star),
        *error_figures(runs),
    )
    figures = tuple(sorted(figures, key=lambda figure: figure.place))
    return Reproduction(
        data={**size_of(ratings), "dated": is_dated(ratings), "one_star": star},
        figures=figures,
        off_top=off_top,
        theorems=theorem_rows(ratings.n_users),
        few_facts=few_facts(ratings, sparsity),
        statements=statements_of(ratings, sparsity, off_top, runs, star),
        checks=check_figures(figures),
        skipped=(*([] if is_dated(ratings) else _UNDATED), *skipped, _IMDB),
        sparsity=sparsity,
        gain=gain,
        targets=targets,
        settings=len(runs),
        seconds=perf_counter() - started,
        seed=seed,
        digest=sparsity.digest,
    )


_IMDB = Skipped(
    "§5, IMDb",
    "two subscribers found through public ratings",
    "needs somebody's public ratings: starshade attack --aux FILE",
)
_UNDATED = [
    Skipped(figure, "the curve with dates", "the data have no dates") for figure in ("1", "7")
]
