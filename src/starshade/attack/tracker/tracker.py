"""The tracker attack on a query interface (KL §1.1; definitions, "tracker")."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from time import perf_counter
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from starshade import budget
from starshade.attack.knowledge import Knowledge
from starshade.attack.settings import TrackerAttackSettings
from starshade.attack.targets import Attack, Request, nobody_rated
from starshade.attack.tracker.background import verify
from starshade.attack.tracker.result import Condition, TrackerResult
from starshade.attack.view import View, look
from starshade.errors import ConfigError
from starshade.kernels.arrays import fixed
from starshade.kernels.attack.tracker import (
    EMPTY,
    FEWEST,
    QUERIES,
    REFUSED,
    STOPPED,
    Board,
    Singled,
    ask,
    nobody,
)
from starshade.naming import called
from starshade.progress import task
from starshade.ratings.scale import SLACK
from starshade.ratings.table import Ratings
from starshade.release.cells import Symbols
from starshade.release.folder.digest import digest_of
from starshade.release.table import Release
from starshade.stats import wilson


@dataclass(frozen=True)
class TrackerAttack(TrackerAttackSettings, Attack[TrackerResult]):
    """Single people out by COUNT queries, then query their attributes.

    The adversary cannot see the data, only query it. They send COUNT queries of conjunctions of
    conditions on items until one holds for a single person. That condition is the *tracker*: every
    aggregate with it is a fact about that person. To re-identify the person, they query the
    attributes that they know of the target (the background: age, city, …). If exactly one person
    singled out has these attributes, all other attributes of that record are the target's.

    Parameters
    ----------
    conditions : int
        Predicates in a conjunction, at most; each on another item: ``= v``, ``IS NULL`` or
        ``IS NOT NULL``. 1 to 16.
    background : sequence of str, or None
        Known personal attributes of the target, in the order of the queries. Without any, only
        singling out is measured.
    queries : int
        Maximum number of COUNT queries. Conditions are queried item by item, the most rated
        first, so on wide data they concern the most rated items.

    Raises
    ------
    ConfigError
        A value outside its range.

    Notes
    -----
    A person is *at risk* when some condition has COUNT 1 and counts them, and *breached* when
    exactly one of all people singled out agrees with them on the background, and it is the target.
    KL may be read as exactly one *condition*; but the paper's tuple 1 is singled out by dozens,
    all of the same record, which the adversary sees. So records are counted;
    `Background.one_condition` has the other reading.

    Nothing is added to a condition that rests on no record or on one: the answer is known.

    On a release the interface is the guarded one of ``starshade query``: what rests on fewer
    than the k records that the release claims is refused, and a condition counts as singling
    somebody out when the answer rests on one record. A record is behind an answer when its cells
    may satisfy the condition. Without a link the targets are the records themselves. Knowledge
    has no influence, and no targets are chosen: all people are attacked at once.

    Examples
    --------
    >>> TrackerAttack(background=("Age", "City")).run(ratings)  # doctest: +SKIP
    """

    name: ClassVar[str] = "tracker"

    def __post_init__(self) -> None:
        super().__post_init__()
        names = self.background or ()
        object.__setattr__(self, "background", names)
        if len(set(names)) < len(names):
            raise ConfigError(f"{called('background')}: an attribute is listed more than once")

    def _run(
        self, data: Ratings | Release, knowledge: Knowledge, request: Request
    ) -> TrackerResult:
        request.refuse_targets("the tracker attack counts all people at once")
        started = perf_counter()
        view = look(data, request.original, request.link)
        if not view.original.n_ratings or not view.cells.n_records:
            raise nobody_rated()
        floor, attributes = 1, None
        if isinstance(data, Release):
            floor, attributes = data.manifest.claimed_k or 1, data.attributes
        items = Items(view)
        singled, counts, items_used = self._ask(items, view, floor)
        verified = verify(view, singled, tuple(self.background or ()), attributes)
        lengths = np.bincount(verified.length, minlength=self.conditions + 1)
        return TrackerResult(
            attack=self.name,
            records=view.cells.n_records,
            targets=verified.targets,
            ineligible=verified.ineligible,
            credit=view.credit,
            at_risk=wilson(int(lengths[1:].sum()), verified.targets),
            by_length=tuple(lengths[1:].tolist()),
            backgrounds=verified.backgrounds,
            queries=int(counts[QUERIES]),
            empty=int(counts[EMPTY]),
            refused=int(counts[REFUSED]),
            fewest=int(counts[FEWEST]) or None,
            floor=floor,
            items=items_used,
            complete=not counts[STOPPED],
            not_queried=verified.unasked,
            singled=_conditions(verified.row, singled, items, view.truth().levels),
            seconds=perf_counter() - started,
            config={**asdict(self), "background": list(self.background or ())},
            digest=digest_of(view.original),
        )

    def _ask(self, items: Items, view: View, floor: int) -> tuple[Singled, NDArray[np.int64], int]:
        singled = nobody(view.cells.n_groups, self.conditions)
        counts = np.zeros(5, dtype=np.int64)
        n_items = 0
        with task("querying", self.queries) as step:
            while n_items < len(items.order) and not counts[STOPPED]:
                before = int(counts[QUERIES])
                board = items.first(n_items + 1)
                ask(n_items, board, self.conditions, floor, self.queries, singled, counts)
                n_items += int(counts[QUERIES] > before)
                step(int(counts[QUERIES]) - before)
        return singled, counts, n_items


def _conditions(
    row_of_target: NDArray[np.int64], singled: Singled, items: Items, levels: NDArray[np.float64]
) -> dict[int, Condition]:
    has = row_of_target >= 0
    at_risk = np.flatnonzero(has & (singled.length[np.where(has, row_of_target, 0)] > 0))
    conditions: dict[int, Condition] = {}
    for target in at_risk.tolist():
        row = row_of_target[target]
        length = int(singled.length[row])
        conditions[target] = tuple(
            (int(items.order[item]), spelt(int(predicate), levels))
            for item, predicate in zip(
                singled.items[row, :length][::-1],
                singled.predicates[row, :length][::-1],
                strict=True,
            )
        )
    return conditions


#: predicates; 2 + l is "= the l-th level"
IS_NULL, NOT_NULL = 0, 1


def spelt(predicate: int, levels: NDArray[np.float64]) -> str:
    """Write a predicate as SQL has it.

    >>> spelt(IS_NULL, np.array([1.0, 2.0])), spelt(3, np.array([1.0, 2.0]))
    ('IS NULL', '= 2')
    """
    if predicate == IS_NULL:
        return "IS NULL"
    return "IS NOT NULL" if predicate == NOT_NULL else f"= {float(levels[predicate - 2]):.15g}"


@dataclass
class Items:
    """The items that are asked about, most rated first, laid out as the kernel reads them.

    Grows item by item: how many are needed shows only while asking. On a real scale the ratings
    asked for are those that somebody gave to some item.

    `order`: released items, most rated in the original first, ties by item key.
    """

    view: View
    order: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        truth, cells = self.view.truth(), self.view.cells
        self.order = truth.most_rated(truth.n_items)
        self._n_levels = len(truth.levels)
        if self.view.ungeneralized:  # one member each, as many as there are levels
            levels = np.arange(len(truth.levels))
            pairs = np.stack([np.repeat(levels + 1, 2), np.ones(2 * len(levels), np.int64)])
            pairs[1, 1::2] = 2 + levels
            self._indptr, self._predicates = _sorted(pairs, len(levels))
        else:
            self._indptr, self._predicates = _satisfied(cells.symbols, truth.levels)
        self._lengths = np.diff(self._indptr)
        self._codes = np.empty((0, cells.n_groups), np.int32)
        self._width = 0
        self._n = 0

    def first(self, n: int) -> Board:
        """Lay out the n first items."""
        while self._n < n:
            self._add(self.order[self._n])
        return Board(
            fixed(self._codes[:n]),
            fixed(self._indptr),
            fixed(self._predicates),
            fixed(self.view.cells.sizes),
            2 + self._n_levels,
            self._width,
        )

    def _add(self, item: int) -> None:
        cells, by_item = self.view.cells, self.view.held(np.array([item]))
        if self._n == len(self._codes):
            grown = np.empty((max(2 * self._n, 8), cells.n_groups), np.int32)
            if grown.nbytes > budget.memory():
                raise ConfigError(
                    f"queries on {self._n + 1:,} items of {cells.n_groups:,} rows take "
                    f"{budget.amount(grown.nbytes)} of memory; {budget.amount(budget.memory())} "
                    "may be used",
                    advice="Allow fewer queries, keep fewer items, or allow more memory.",
                )
            grown[: self._n] = self._codes
            self._codes = grown
        place = slice(by_item.indptr[item], by_item.indptr[item + 1])
        column = self._codes[self._n]
        column[:] = 0
        column[by_item.users[place]] = 1 + by_item.codes[place].astype(np.int32)
        self._width = max(self._width, int(self._lengths[column].sum()))
        self._n += 1


def _satisfied(
    symbols: Symbols, levels: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """List the predicates that each content may satisfy; content 0 is null alone."""
    content = 1 + np.arange(len(symbols))
    pairs = [
        np.stack([content[symbols.null], np.full(int(symbols.null.sum()), IS_NULL)]),
        np.stack([content[symbols.has_rating], np.full(int(symbols.has_rating.sum()), NOT_NULL)]),
    ]
    owner = np.repeat(content, symbols.n_members)
    at = np.searchsorted(levels, symbols.members - SLACK)
    hit = at < len(levels)
    hit[hit] = np.abs(levels[at[hit]] - symbols.members[hit]) <= SLACK
    pairs.append(np.stack([owner[hit], 2 + at[hit]]))
    ranges = np.flatnonzero(symbols.is_range)
    low = np.maximum(symbols.low[ranges], symbols.scale.minimum) - SLACK
    begin = np.searchsorted(levels, low)
    length = np.searchsorted(levels, symbols.high[ranges] + SLACK, side="right") - begin
    length = np.maximum(length, 0)
    within = np.arange(int(length.sum())) - np.repeat(np.cumsum(length) - length, length)
    pairs.append(
        np.stack([np.repeat(content[ranges], length), 2 + np.repeat(begin, length) + within])
    )
    return _sorted(np.concatenate(pairs, axis=1), len(symbols))


def _sorted(
    pairs: NDArray[np.int64], n_symbols: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Turn pairs of content and predicate into lists, null alone put before them."""
    pairs = np.concatenate([[[0], [IS_NULL]], pairs], axis=1)
    pairs = pairs[:, np.lexsort((pairs[1], pairs[0]))]
    counts = np.bincount(pairs[0], minlength=n_symbols + 1)
    indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return indptr, pairs[1].astype(np.int32)
