"""`reproduce_ns`: every figure and table of NS §5."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from starshade._version import __version__
from starshade.arguments import typed
from starshade.attack.sparsity.few_facts import FewFacts, few_facts
from starshade.attack.sparsity.information_gain import InformationGain, information_gain
from starshade.attack.sparsity.sparsity import Sparsity, SparsityResult, about_one_star
from starshade.audit.attempts import size_of
from starshade.audit.reproduction.figures import Figure, Skipped
from starshade.audit.reproduction.ns.figures import (
    activity_figures,
    attack_figures,
    error_figures,
    gain_figure,
    is_dated,
    run_settings,
    sparsity_figure,
    theorem_rows,
)
from starshade.audit.reproduction.ns.sentences import Check, Statement, check_figures, statements_of
from starshade.audit.reproduction.study import PaperStudy
from starshade.errors import ConfigError
from starshade.plain import counted
from starshade.progress import announced
from starshade.ratings.describe import OffTop, rated_outside_top
from starshade.ratings.table import Ratings
from starshade.rng import Rng, resolve_seed


@dataclass(frozen=True)
class Reproduction(PaperStudy):
    """NS §5 on other data. Internal: Figs 2 and 3 count single users.

    Attributes
    ----------
    data : dict
        Size, scale, dates, and what ±1 on 1-5 comes to.
    figures : tuple of Figure
        In the paper's order.
    off_top : tuple of OffTop
        The table of §5.
    theorems : list of dict
        Facts that the theorems ask for, ours and Netflix's.
    few_facts : tuple of FewFacts
        What this data's sparsity makes of them.
    statements : tuple of Statement
        The paper's text, ours beside it.
    checks : tuple of Check
        Whether success rises with what is known and falls with error.
    skipped : tuple of Skipped
        What the data could not give, and why.
    sparsity, gain
        The results behind Figs 1 and 7.
    targets : int or None
        Users attacked in each setting, at most; None: all.
    settings : int
        Attacks run.
    seconds : float
    seed : int
    digest : str
    version : str
    """

    key = "ns"
    authors = "Narayanan & Shmatikov"

    data: dict[str, Any]
    figures: tuple[Figure, ...]
    off_top: tuple[OffTop, ...]
    theorems: list[dict[str, float | int | str]]
    few_facts: tuple[FewFacts, ...]
    statements: tuple[Statement, ...]
    checks: tuple[Check, ...]
    skipped: tuple[Skipped, ...]
    sparsity: SparsityResult = field(repr=False)
    gain: InformationGain = field(repr=False)
    targets: int | None
    settings: int
    seconds: float
    seed: int
    digest: str
    version: str = field(default=__version__)

    @property
    def monotone(self) -> bool:
        """Whether every check holds, within the intervals."""
        return all(check.holds for check in self.checks)

    def to_dict(self) -> dict[str, Any]:
        """Return the whole as plain JSON values; no user and no item is named."""
        plain = super().to_dict()
        plain["checks"] = {
            "holds": self.monotone,
            "slack": "a step counts as wrong where the 95 % intervals are disjoint",
            "checks": plain["checks"],
        }
        named = {"off_top": "table", "checks": "monotone"}
        return {named.get(name, name): value for name, value in plain.items()}

    def __str__(self) -> str:
        numbers = ", ".join(figure.number for figure in self.figures)
        failed = [check for check in self.checks if not check.holds]
        wrong = f", except in {len(failed)}: {failed[0].what}" if failed else ""
        wrong += ", …" * (len(failed) > 1)
        text = (
            f"The case study of Narayanan and Shmatikov on {counted(self.data['users'], 'user')}, "
            f"{counted(self.data['items'], 'item')} and "
            f"{counted(self.data['ratings'], 'rating')}: figures {numbers} "
            f"from {self.settings} attacks."
        )
        if self.checks:
            text += (
                f" In {len(self.checks)} comparisons success rises with what is known and falls "
                f"with error, as far as the intervals can tell{wrong}."
            )
        if self.data["one_star"] != 1:
            text += (
                f" Where the paper has ratings to within one star of five, here it is within "
                f"{self.data['one_star']:g} (a quarter of the scale)."
            )
        if self.skipped:
            text += f" Left out, with the reason: {len(self.skipped)}."
        return text


@typed
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
