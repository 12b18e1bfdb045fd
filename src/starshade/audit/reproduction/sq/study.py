"""`reproduce_sq`: the satisfaction problem (SQ), with SR's measurements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from starshade.arguments import typed
from starshade.audit.reproduction.parts import Parts
from starshade.audit.reproduction.sq.claims import CLAIMS
from starshade.audit.reproduction.sq.configurations import CHOICES
from starshade.audit.reproduction.sr.study import CheckStudy, bench_of
from starshade.audit.reproduction.sr.worked import worked_tables
from starshade.progress import announced
from starshade.ratings.table import Ratings
from starshade.rng import Rng, resolve_seed


class SatisfactionStudy(CheckStudy):
    """SQ on other data."""

    key = "sq"
    authors = "Sun, Wang & Li"
    whose = "The experiments of Sun, Wang and Li"


@typed
@announced("study: Sun, Wang & Li")
def reproduce_sq(
    ratings: Ratings | None = None,
    *,
    sensitive: Sequence[str] = (),
    top: int = 20,
    repeats: int = 3,
    runs: int = 5,
    parts: Parts | None = None,
    rng: Rng = None,
) -> SatisfactionStudy:
    """Run the experiments on the satisfaction problem on any ratings.

    Parameters
    ----------
    ratings, sensitive, top, repeats, runs, parts, rng
        As `reproduce_sr` has them.

    Returns
    -------
    SatisfactionStudy
        Figs 1 and 2, and verdicts on the paper's claims.

    Raises
    ------
    ConfigError
        As `reproduce_sr`.
    """
    bench = bench_of(ratings, sensitive, top, trials=0, repeats=repeats, runs=runs, parts=parts,
                     seed=resolve_seed(rng))  # fmt: skip
    # the one that it has; the cells are lost in its text, and as in SR
    worked = tuple(
        replace(each, number="Table 1, as in Sun & Sun")
        for each in worked_tables()
        if each.number == "Table 1"
    )
    return SatisfactionStudy.of(
        bench, CLAIMS, {"3": "1", "5": "2"}, repeats, worked=worked, choices=CHOICES
    )
