"""Padding: detect the cells of averaged profiles that rest on a real rating (starshade's own)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from time import perf_counter
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from starshade import budget
from starshade.arguments import older_names
from starshade.attack.knowledge import Knowledge
from starshade.attack.padding.auc import among_top, auc, auc_interval
from starshade.attack.padding.result import OfRank, PaddingResult
from starshade.attack.settings import PaddingAttackSettings
from starshade.attack.targets import Attack, Request, nobody_rated
from starshade.attack.view import Roles, roles_of, shown_values, truth_on
from starshade.errors import ConfigError
from starshade.figure import Rate
from starshade.naming import aside, named
from starshade.progress import task
from starshade.ratings.table import Ratings
from starshade.ratings.vocabulary import Vocabulary
from starshade.release.folder.digest import digest_of
from starshade.release.profiles import Profiles
from starshade.release.table import Release
from starshade.rng import generator, resolve_seed

_ARRAYS = 16  # float64 of the size of the groups looked at, held together
Floats = NDArray[np.float64]
_CELLS, _FEWEST = 10**6, 200  # cells looked at, but groups at least
_RANKS = (1, 2, 4, 8, 16, 32, 64)


@older_names
@dataclass(frozen=True)
class PaddingAttack(PaddingAttackSettings, Attack[PaddingResult]):
    """Rank the cells of profiles by the likelihood that they rest on a real rating.

    Where empty cells were imputed by a model before classes were averaged, the release is a
    low-rank matrix plus the differences of real ratings from their predictions. The adversary has
    the release alone and removes its low-rank part; a large residual indicates that some member
    rated the item. An empty cell discloses that no member did.

    Parameters
    ----------
    rank : int or None
        Rank of the removed part, at least 0; None: by rule. The rule is Gavish & Donoho's
        (2014): keep the singular values above ω(β) times their median, β = the short side over
        the long one, ω(β) ≈ 0.56β³ − 0.95β² + 1.82β + 1.43.
    top : float
        Share of top-ranked cells, in (0, 1], over which `precision` is measured.
    classes : int or None
        Classes to test, at least 2; more are sampled. None: as many as have a million cells, and
        at least 200.

    Raises
    ------
    ConfigError
        A value outside its range.

    Notes
    -----
    The matrix has a row per class and a column per item; each column is centred, an empty cell
    holds its column's mean, and the score of a cell is the absolute residual after the singular
    value decomposition, an empty cell's below all others. It is compared with two truths: some
    member of the class rated the item (j ≥ 1), and this member did (j of g). Popular items are
    public knowledge; the AUC within one item excludes popularity. Other ranks, and the released
    level itself, are tested too: an adversary may do better than the rule, and ratings are not
    missing at random. The AUC is a lower bound: an adversary who knows the padding model exactly,
    or others' ratings, may do better.

    A release needs its original and the link; knowledge has no influence, and no targets are
    chosen. `rng` draws the classes and the interval.
    """

    name: ClassVar[str] = "padding"

    def _run(
        self, data: Ratings | Release, knowledge: Knowledge, request: Request
    ) -> PaddingResult:
        self.refuse(request)
        started, seed = perf_counter(), resolve_seed(request.rng)
        shown = _shown(data)
        roles = roles_of(data, request.original, request.link)
        if roles.credit == "compatible":
            raise ConfigError(
                "padding is not computable: it needs the private key file",
                advice="Give the private key file.",
            )
        linked = int((roles.row_of_user >= 0).sum())
        if not linked or not roles.original.n_ratings:
            raise nobody_rated()
        drawn, truth = self.draw(shown, seed), roles.original
        cells = padded_cells(drawn, Judged.of(roles, drawn))
        ineligible, digest = truth.n_users - linked, digest_of(truth)
        facts = {"targets": linked, "ineligible": ineligible, "digest": digest}
        return self.found(cells, drawn, facts, seed, started)

    @staticmethod
    def refuse(request: Request) -> None:
        """Raise ConfigError where targets were chosen."""
        request.refuse_targets(
            "padding attacks classes, not single users",
            f"Omit {named('targets')}; {named('classes')} sets the number of classes.",
        )

    def draw(self, shown: Ratings | Profiles, seed: int) -> DrawnGroups:
        """Draw the groups that are looked at."""
        sizes = shown.sizes if isinstance(shown, Profiles) else np.ones(shown.n_users, np.int64)
        return DrawnGroups(shown, self.draw_rows(len(sizes), len(shown.items), seed), sizes)

    def draw_rows(self, n_groups: int, n_items: int, seed: int) -> NDArray[np.int64]:
        """Say which of so many groups are looked at."""
        most, rows = self.classes or max(_FEWEST, _CELLS // max(n_items, 1)), np.arange(n_groups)
        if n_groups > most:
            stream = generator(seed, "padding groups")
            rows = np.sort(stream.choice(n_groups, most, replace=False))
        _refuse_too_little(len(rows), n_items)
        return rows

    def found(
        self,
        cells: PaddedCells,
        drawn: DrawnGroups,
        facts: Mapping[str, Any],
        seed: int,
        started: float,
    ) -> PaddingResult:
        """Rank the cells of the groups that were drawn.

        `facts`: of the original, the fields of a result that tell of it; `started`: when the
        attack began.
        """
        with task("detecting padding") as step:
            figures = self._figures(cells, seed, step)
        return PaddingResult(
            attack=self.name,
            records=int(drawn.sizes.sum()),
            classes=len(drawn.sizes),
            classes_tested=len(drawn.rows),
            **figures,
            **facts,
            seconds=perf_counter() - started,
            postings_per_second=cells.shown.size / max(perf_counter() - started, 1e-9),
            config=asdict(self),
            seed=seed,
        )

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
            "non_null": float((~part.empty).mean()),
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
            f"padding: the release has layout {data.manifest.layout!r}, which has no imputed "
            "predictions",
            advice="Attack a release of profiles (starshade anonymize --method predictive).",
        )
    return data.classes


def _refuse_too_little(n_rows: int, n_items: int) -> None:
    needed = 8 * _ARRAYS * n_rows * n_items
    if needed > budget.left(0):
        raise ConfigError(
            f"padding: about {budget.amount(needed)} of memory for {n_rows:,} classes x "
            f"{n_items:,} items; {budget.amount(max(0, budget.left(0)))} may be used",
            advice=f"Test fewer classes{aside('classes')}, or allow more memory.",
        )


@dataclass(frozen=True, eq=False)
class PaddedCells:
    """The cells looked at, row by row; those of items that the original lacks are not judged.

    `shown` (groups, items): NaN for null. `known` (items,): which items are judged. `raters`,
    `sizes`, `popularity` (judged cells,): members of the group who rated the item, members, people
    who rated the item. `group`, `item` (judged cells,).
    """

    shown: NDArray[np.float64]
    known: NDArray[np.bool_]
    raters: NDArray[np.float64]
    sizes: NDArray[np.float64]
    popularity: NDArray[np.float64]
    group: NDArray[np.int64]
    item: NDArray[np.int64]

    @property
    def anywhere(self) -> NDArray[np.int64]:
        """One number for all cells: all are compared with each other."""
        return np.zeros(len(self.item), dtype=np.int64)

    def judged(self, score: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the scores of the cells that are judged."""
        return score[:, self.known].ravel()

    def ranked(self, rank: int, score: NDArray[np.float64]) -> OfRank:
        """Return what ranking by these scores achieves."""
        some, none = (self.raters > 0).astype(float), (self.raters == 0).astype(float)
        return OfRank(
            rank, auc(score, some, none, self.anywhere), auc(score, some, none, self.item)
        )


@dataclass(frozen=True, eq=False)
class DrawnGroups:
    """Groups that are looked at: `rows` of what is `shown`; `sizes` (n_groups,): of all groups."""

    shown: Ratings | Profiles
    rows: NDArray[np.int64]
    sizes: NDArray[np.int64]

    @property
    def place(self) -> NDArray[np.int64]:
        """Where each group is among the drawn, -1: it is not; the last: of who has none."""
        place = np.full(len(self.sizes) + 1, -1, dtype=np.int64)
        place[self.rows] = np.arange(len(self.rows))
        return place


@dataclass(frozen=True, eq=False)
class Judged:
    """What the people of the drawn groups really rated.

    `raters` (groups, shown items): members of each who rated each item; whole numbers, which add up
    over parts of the people. `items`, `support` (n_items,): those of the original, and how many of
    its people, whatever their group, rated each.
    """

    raters: NDArray[np.int64]
    items: Vocabulary
    support: NDArray[np.int64]

    @classmethod
    def of(cls, roles: Roles, drawn: DrawnGroups) -> Judged:
        """Look into one table."""
        original, shape = roles.original, (len(drawn.rows), len(drawn.shown.items))
        cells = rated_cells(original, roles.row_of_user, drawn.shown.items, drawn.place)
        raters = np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape)
        return cls(raters, original.items, original.item_support)


def rated_cells(
    ratings: Ratings, row: NDArray[np.int64], items: Vocabulary, place: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the cell, counted row by row, of each rating by the people of the drawn groups.

    `row` (n_users,): the group of each; `items`: those that are shown; `place` as of `DrawnGroups`.
    """
    there = np.flatnonzero(place[row] >= 0)
    item_of = items.indices(ratings.items).astype(np.int32)
    theirs = truth_on(ratings.keep_users(there), items, item_of)
    return np.repeat(place[row[there]], theirs.user_support) * len(items) + theirs.columns


def padded_cells(drawn: DrawnGroups, judged: Judged) -> PaddedCells:
    """Lay out the cells of these groups beside who rated what."""
    items = drawn.shown.items
    item_of = items.indices(judged.items)
    here = item_of >= 0
    known = np.zeros(len(items), dtype=np.bool_)
    known[item_of[here]] = True
    shape = (len(drawn.rows), int(known.sum()))
    return PaddedCells(
        shown=shown_values(drawn.shown, drawn.rows),
        known=known,
        raters=judged.raters[:, known].ravel().astype(float),
        sizes=np.repeat(drawn.sizes[drawn.rows], shape[1]).astype(float),
        popularity=np.tile(judged.support[here], shape[0]).astype(float),
        group=np.repeat(np.arange(shape[0]), shape[1]),
        item=np.tile(np.arange(shape[1]), shape[0]),
    )


_GRID = 9  # decimals of a residual: what an exact low-rank part leaves is 0


@dataclass(frozen=True, eq=False)
class LowRank:
    """A centred matrix and its singular value decomposition.

    `centred` (float64 (groups, items)): each column less its mean; 0 where a cell is empty. `empty`
    (groups, items). `left`, `values`, `right` (float64): singular vectors and values; values
    descend.
    """

    centred: Floats
    empty: NDArray[np.bool_]
    left: Floats
    values: Floats
    right: Floats

    @property
    def rank(self) -> int:
        """Singular values above the noise (Gavish & Donoho 2014, of unknown noise).

        The threshold is ω(β) times their median, ω(β) ≈ 0.56β³ − 0.95β² + 1.82β + 1.43, where β is
        the short side over the long one.
        """
        short, long = sorted(self.centred.shape)
        beta = short / max(long, 1)
        omega = 0.56 * beta**3 - 0.95 * beta**2 + 1.82 * beta + 1.43
        median = float(np.median(self.values)) if len(self.values) else 0.0
        dust = 1e-12 * float(self.values.max(initial=0.0)) * long
        return int((self.values > max(omega * median, dust)).sum())

    def score(self, rank: int) -> Floats:
        """Return |what a part of this rank leaves|; −1 where a cell is empty."""
        part = (self.left[:, :rank] * self.values[:rank]) @ self.right[:rank]
        left = np.round(np.abs(self.centred - part), _GRID)
        return np.where(self.empty, -1.0, left)


def low_rank(shown: Floats) -> LowRank:
    """Decompose what cells show, NaN for null; an empty cell holds its column's mean."""
    empty = np.isnan(shown)
    filled = (~empty).sum(axis=0)
    mean = np.where(empty, 0.0, shown).sum(axis=0) / np.maximum(filled, 1)
    centred = np.where(empty, 0.0, shown - mean)
    left, values, right = np.linalg.svd(centred, full_matrices=False)
    return LowRank(centred, empty, left, values, right)
