"""`reproduce_ns`: every figure, table and claim of NS."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numba

from starshade import budget
from starshade.arguments import typed
from starshade.attack.knowledge import Knowledge, bytes_held, bytes_needed
from starshade.attack.sparsity.few_facts import FewFacts
from starshade.attack.sparsity.information_gain import information_gain
from starshade.audit.attempts import size_of
from starshade.audit.reproduction.claims import judge
from starshade.audit.reproduction.figures import Skipped
from starshade.audit.reproduction.ns.bench import Bench
from starshade.audit.reproduction.ns.claims import CLAIMS, WAYS
from starshade.audit.reproduction.ns.configurations import CHOICES
from starshade.audit.reproduction.ns.figures import attack_figures, skipped
from starshade.audit.reproduction.ns.grids import grids
from starshade.audit.reproduction.ns.shown import (
    activity_figures,
    gain_figure,
    sparsity_figures,
    theorem_rows,
)
from starshade.audit.reproduction.ns.worked import worked_tables
from starshade.audit.reproduction.parts import Parts
from starshade.audit.reproduction.study import PaperStudy, known_data, refuse_few
from starshade.errors import ConfigError
from starshade.naming import called
from starshade.plain import counted
from starshade.progress import announced, note
from starshade.ratings.describe import OffTop, rated_outside_top
from starshade.ratings.holdout import cell_bytes, check_targets
from starshade.ratings.table import Ratings
from starshade.release.folder.digest import digest_of
from starshade.rng import Rng, resolve_seed


@dataclass(frozen=True, kw_only=True)
class Reproduction(PaperStudy):
    """NS on other data. Internal: Figs 2 and 3 count single users.

    Attributes
    ----------
    off_top : tuple of OffTop
        The table of §5.
    theorems : list of dict
        Facts that the theorems require, for these data and Netflix's.
    few_facts : tuple of FewFacts
        The same for data as sparse as these.
    targets : int or None
        Maximum number of targets per run and setting; None: all.
    """

    key = "ns"
    authors = "Narayanan & Shmatikov"

    off_top: tuple[OffTop, ...]
    theorems: list[dict[str, float | int | str]]
    few_facts: tuple[FewFacts, ...]
    targets: int | None

    def to_dict(self) -> dict[str, Any]:
        """Return the whole as plain JSON values; no user and no item is named."""
        plain = super().to_dict()
        return {"table" if name == "off_top" else name: value for name, value in plain.items()}

    def __str__(self) -> str:
        numbers = ", ".join(figure.number for figure in self.figures)
        text = (
            f"Narayanan and Shmatikov's study on {self.size}: figures {numbers}, each point from "
            f"{counted(self.runs, 'run')}. {self.verdicts}"
        )
        if self.data["one_star"] != 1:
            text += (
                f" The paper's one star of five is {self.data['one_star']:g} here (a quarter of "
                "the scale)."
            )
        if self.skipped:
            text += f" Left out, with reasons: {len(self.skipped)}."
        return text


@typed
@announced("study: Narayanan & Shmatikov")
def reproduce_ns(
    ratings: Ratings,
    *,
    targets: int | None = 300,
    runs: int = 5,
    parts: Parts | None = None,
    rng: Rng = None,
) -> Reproduction:
    """Run Narayanan and Shmatikov's case study on any ratings, and judge their claims.

    Parameters
    ----------
    ratings : Ratings
    targets : int or None
        Maximum number of targets per run and setting, a seeded sample; None: all.
    runs : int
        Runs of each experiment, at least 1: with other targets, if there are enough, and other
        known cells.
    parts : Parts, optional
        Storage of finished parts; a later call with the same request resumes from it.
    rng : int, Generator or None

    Returns
    -------
    Reproduction
        Figs 1-12, the table of §5, the theorems' bounds, every claim with its verdict.

    Raises
    ------
    ConfigError
        No ratings, or `targets` or `runs` below 1.

    Notes
    -----
    On other scales than 1-5 the paper's ±1 is a quarter of the scale's width. Figures that need
    dates are left out where there are none, and settings without eligible users, with the reason.
    """
    refuse_few(ratings)
    if runs < 1:
        raise ConfigError(f"{called('runs')} {runs}: at least 1")
    check_targets(targets)
    bench = Bench(ratings, targets, runs, resolve_seed(rng), parts or Parts())
    _say_memory(bench)
    figures = (
        *sparsity_figures(bench),
        *activity_figures(ratings),
        gain_figure(information_gain(ratings)),
        *attack_figures(bench),
    )
    tables = grids(bench)
    claims = judge(CLAIMS, bench, data=known_data(ratings), ways=WAYS)
    return Reproduction(
        data={**size_of(ratings), "dated": bench.dated, "one_star": bench.star},
        figures=tuple(sorted(figures, key=lambda figure: figure.place)),
        claims=claims,
        off_top=rated_outside_top(ratings),
        theorems=theorem_rows(ratings.n_users),
        few_facts=bench.few_facts,
        grids=tables,
        worked=worked_tables(),
        choices=CHOICES,
        skipped=(*skipped(bench), _IMDB),
        targets=targets,
        runs=runs,
        times=bench.parts.times(lambda name: name.split(":", 1)[0]),
        seed=bench.seed,
        digest=digest_of(ratings),
    )


def _say_memory(bench: Bench) -> None:
    """Say beforehand what it will take: an attack, and the data once more with a change."""
    view, table = bench.view(), bench.ratings
    known = Knowledge(known=1, ratings=False, dates=False).draw(
        table, bench.able(Knowledge(known=1))[:1], bench.seed
    )
    again = 3 * cell_bytes(table) * table.n_ratings
    scored = 8 * 6 * table.n_users * numba.get_num_threads()
    needed = bytes_held(view) + bytes_needed(view, known, own_only=True) + again + scored
    note(
        f"memory: about {budget.amount(needed)} in addition to Python and the store on disk: "
        "the data, a changed copy, attacks"
    )


_IMDB = Skipped(
    "§5, IMDb",
    "two subscribers re-identified by public ratings",
    "needs people's public ratings: starshade attack --aux FILE",
)
