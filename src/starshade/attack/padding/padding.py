"""Padding: which cells of an averaged profile rest on a real rating? (starshade's own)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from time import perf_counter
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from starshade import budget
from starshade.attack.knowledge import Knowledge
from starshade.attack.padding.auc import among_top, auc, auc_interval
from starshade.attack.padding.cells import PaddedCells, padded_cells
from starshade.attack.padding.rank import low_rank
from starshade.attack.padding.result import PaddingResult
from starshade.attack.roles import roles_of
from starshade.attack.settings import PaddingAttackSettings
from starshade.attack.targets import Asked, Attack
from starshade.errors import ConfigError
from starshade.figure import Rate
from starshade.naming import aside, named
from starshade.progress import task
from starshade.ratings.table import Ratings
from starshade.release.folder.receipt import digest_of
from starshade.release.profile.profiles import Profiles
from starshade.release.table import Release
from starshade.rng import generator, resolve_seed

__all__ = ["PaddingAttack"]

_ARRAYS = 16  # float64 of the size of the groups looked at, held together
Floats = NDArray[np.float64]
_CELLS, _FEWEST = 10**6, 200  # cells looked at, but groups at least
_RANKS = (1, 2, 4, 8, 16, 32, 64)


@dataclass(frozen=True)
class PaddingAttack(PaddingAttackSettings, Attack[PaddingResult]):
    """Rank the cells of profiles by how likely they rest on a real rating.

    Where empty cells were filled with a model's predictions before groups were averaged, the
    release is a matrix of low rank, plus what real ratings differ from their predictions. The
    adversary has the release alone. They take its low-rank part out, and where much is left,
    somebody of the group rated the item. Empty cells tell all: nobody did.

    Parameters
    ----------
    rank : int or None
        Of the part that is taken out, at least 0; None: by rule. The rule is Gavish & Donoho's
        (2014): keep the singular values above ω(β) times their median, β = the short side over
        the long one, ω(β) ≈ 0.56β³ − 0.95β² + 1.82β + 1.43.
    top : float
        Share of the cells, in (0, 1], of which `precision` is told: those ranked highest.
    groups : int or None
        Groups looked at, at least 2; of more so many are drawn. None: as many as have a million
        cells, and at least 200.

    Raises
    ------
    ConfigError
        A value outside its range.

    Notes
    -----
    The matrix has a row per group and a column per item; each column is centred, an empty cell
    holds its column's mean, and the score of a cell is the absolute residual after the singular
    value decomposition, an empty cell's below all others. It is held against two truths: some
    member of the group rated the item (j ≥ 1), and this member did (j of g). Items that many
    people rate, and rate highly, are no secret; the AUC among cells of one item leaves that aside.
    Other ranks, and the released level itself, are tried too: an adversary may do better than a
    rule, and ratings are not missing at random. It is a lower bound on what can be learnt: one
    who knows the padding model exactly, or others' ratings, may do better.

    A release needs its original and the link; knowledge is of no influence, and no targets are
    chosen. `rng` draws the groups, and the interval.
    """

    name: ClassVar[str] = "padding"

    def _run(self, data: Ratings | Release, knowledge: Knowledge, asked: Asked) -> PaddingResult:
        asked.refuse_targets(
            "padding looks at groups, not at single users",
            f"Leave {named('targets')} out; {named('groups')} says how many are looked at.",
        )
        started, seed = perf_counter(), resolve_seed(asked.rng)
        shown = _shown(data)
        roles = roles_of(data, asked.original, asked.link)
        if roles.credit == "compatible":
            raise ConfigError(
                "padding: without a link nobody can say whose group rated what",
                advice="Give the private receipt.",
            )
        linked = int((roles.row_of_user >= 0).sum())
        if not linked or not roles.original.n_ratings:
            raise ConfigError("nobody can be attacked: no user has a record and a rating")
        sizes = shown.sizes if isinstance(shown, Profiles) else np.ones(shown.n_users, np.int64)
        rows = self._rows(len(sizes), shown.n_items, seed)
        _refuse_too_little(len(rows), shown.n_items)
        cells = padded_cells(shown, roles, rows, sizes)
        with task("looking for padding") as step:
            figures = self._figures(cells, seed, step)
        return PaddingResult(
            attack=self.name,
            records=int(sizes.sum()),
            groups=len(sizes),
            targets=linked,
            ineligible=roles.original.n_users - linked,
            groups_tried=len(rows),
            **figures,
            seconds=perf_counter() - started,
            postings_per_second=cells.shown.size / max(perf_counter() - started, 1e-9),
            config=asdict(self),
            seed=seed,
            digest=digest_of(roles.original),
        )

    def _rows(self, n_groups: int, n_items: int, seed: int) -> NDArray[np.int64]:
        most = self.groups or max(_FEWEST, _CELLS // max(n_items, 1))
        if n_groups <= most:
            return np.arange(n_groups)
        drawn = generator(seed, "padding groups").choice(n_groups, most, replace=False)
        return np.sort(drawn)

    def _figures(
        self, cells: PaddedCells, seed: int, step: Callable[[float], None]
    ) -> dict[str, Any]:
        part = low_rank(cells.shown)
        step(1)
        rank = part.rank if self.rank is None else min(self.rank, len(part.values))
        score = cells.judged(part.score(rank))
        some, none = (cells.raters > 0).astype(float), (cells.raters == 0).astype(float)
        confidence = cells.raters / cells.sizes
        others = sorted({r for r in _RANKS if r < len(part.values)} - {rank})
        ranks = []
        for other in others:
            ranks.append(cells.ranked(other, cells.judged(part.score(other))))
            step(1)
        level = np.where(part.empty, -np.inf, cells.shown)

        def auc_of(positive: Floats, negative: Floats, among: NDArray[np.int64]) -> Rate | None:
            return auc_interval(score, positive, negative, among, cells.group, seed=seed)

        return {
            "rank": rank,
            "shown": float((~part.empty).mean()),
            "rated": float(some.mean()),
            "confidence": float(confidence.mean()),
            "auc": auc_of(some, none, cells.anywhere),
            "auc_within_items": auc_of(some, none, cells.item),
            "auc_member": auc_of(cells.raters, cells.sizes - cells.raters, cells.anywhere),
            "by_rank": tuple(ranks),
            "by_level": cells.ranked(0, cells.judged(level)),
            "popularity": auc(cells.popularity, some, none, cells.anywhere),
            "top": {
                "share": self.top,
                "precision": among_top(score, some, self.top),
                "confidence": among_top(score, confidence, self.top),
            },
        }


def _shown(data: Ratings | Release) -> Ratings | Profiles:
    if isinstance(data, Ratings):
        return data
    if not isinstance(data.classes, Profiles):
        raise ConfigError(
            f"padding: the release is of layout {data.manifest.layout!r}, in which nothing is "
            "filled in with predictions",
            advice="Attack a release of profiles (starshade anonymize --method predictive).",
        )
    return data.classes


def _refuse_too_little(n_rows: int, n_items: int) -> None:
    needed = 8 * _ARRAYS * n_rows * n_items
    if needed > budget.left(0):
        raise ConfigError(
            f"padding: about {budget.amount(needed)} of memory for {n_rows:,} groups x "
            f"{n_items:,} items; {budget.amount(max(0, budget.left(0)))} may be used",
            advice=f"Look at fewer groups{aside('groups')}, or allow more memory.",
        )
