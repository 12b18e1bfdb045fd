"""What KL's figures, grids and claims are made of: every release measured, each once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np

from starshade.anonymize.generalize import generalize
from starshade.anonymize.hierarchy.hierarchy import resolve
from starshade.anonymize.order import by_content, seeded_order
from starshade.anonymize.points import Points, dense_levels, positions
from starshade.anonymize.prepare import prepare
from starshade.audit.attempts import attempt
from starshade.audit.reproduction.claims import Untestable
from starshade.audit.reproduction.kl.readings import READINGS, Likeness, Line, Member
from starshade.audit.reproduction.parts import Part, Parts
from starshade.errors import UnmetError, UserError
from starshade.kernels.arrays import Array, Floats, Ints
from starshade.kernels.compared import plain_mondrian
from starshade.progress import silence
from starshade.ratings.holdout import hold_out
from starshade.ratings.select import top_items
from starshade.ratings.table import Ratings
from starshade.release.cells import Cells
from starshade.release.content import canonical, class_numbers
from starshade.rng import generator
from starshade.utility.losses import column_ranges
from starshade.utility.query_error import QueryError

Run: TypeAlias = dict[str, Floats]
QUERY_KS = (2, 5)  # the paper's, and one that is used in practice
TWENTY = 20  # items in place of ten, to see whether trends stay
PLAIN_USERS = 20_000  # on more, the plain algorithms, which compare all pairs, are not run


@dataclass(eq=False)
class Bench:
    """Ratings of the chosen items, what is run on them, and the parts measured so far.

    `whole`: with all items. `name`: of what was changed about the ratings; empty: nothing.
    """

    ratings: Ratings
    whole: Ratings
    lines: Mapping[str, Line]
    ks: tuple[int, ...]
    seeds: tuple[int, ...]
    draws: int
    attribute: str | None
    parts: Parts
    name: str = ""
    _changed: dict[str, Bench] = field(default_factory=dict)

    def of(self, name: str, make: Callable[[], Part]) -> Part:
        """Return a part of these ratings; what was refused then is refused again.

        Raises
        ------
        Untestable
            It was refused.
        """

        def tried() -> Part:
            try:
                with silence():
                    return make()
            except (UserError, UnmetError) as error:
                return {"refused": np.array(error.message)}

        part = self.parts.of(f"{self.name or 'all'}: {name}", tried)
        if "refused" in part:
            raise Untestable(str(part["refused"]))
        return part

    def line(self, name: str) -> Line:
        """Return a line of the figures, or a reading."""
        if name in self.lines:
            return self.lines[name]
        if name in READINGS:
            return READINGS[name]
        raise Untestable(f"{name}: the scale does not allow it")

    def losses(self, name: str, k: int, seed: int) -> Part:
        """Return what a line's release loses; k = 1: the ratings as they are.

        ``loss`` (n_users,): mean width of a user's cells; ``level`` (n_users,): that of sets by
        how many values they have, |S| − 1 (Def. 8); ``near`` (n_users,): whether the user
        is nearer to the class than to all others; ``dm``, ``classes``, ``exact``, ``least``:
        squared sizes, their number, those of k, the smallest.
        """
        line = self.line(name)
        return self.of(f"{name}, k = {k}, seed {seed}", lambda: self._losses(line, k, seed))

    def _losses(self, line: Line, k: int, seed: int) -> Part:
        method = line.at(k)
        ready = prepare(self.ratings, k, rare_items="keep").ratings
        records = by_content(ready, seed, ())
        points = Points(records.ratings, np.empty((ready.n_users, 0), np.uint8))
        return measured(ready, records.by_user(method.group(points, seed)), line.hierarchy, k)

    def original(self) -> Part:
        """Return what `losses` has of the ratings as they are: equal records are a class."""
        table = self.ratings.drop_empty_users()
        return self.of("original", lambda: measured(table, np.arange(table.n_users), "ndgh", 1))

    def errors(self, name: str, k: int, seed: int) -> Part:
        """Return errors of queries: ``kind``, ``size``, ``error``, ``of truth``, ``conditions``."""
        if self.attribute is None:
            raise Untestable("the data have no numeric personal attribute to average")
        line = self.line(name)
        return self.of(
            f"queries: {name}, k = {k}, seed {seed}", lambda: self._errors(line, k, seed)
        )

    def _errors(self, line: Line, k: int, seed: int) -> Part:
        release = attempt(line.at(k, "exact"), self.ratings, seed).release
        asked = QueryError(attribute=self.attribute, draws=self.draws, seed=seed)
        steps = [s for s in asked.measure(release, self.ratings).steps if s.error is not None]
        return {
            "kind": np.array([step.kind for step in steps], "U5"),
            "size": np.array([step.size for step in steps], np.int64),
            "error": np.array([step.error for step in steps], np.float64),
            "of truth": np.array([step.error_of_truth or 0.0 for step in steps], np.float64),
            "conditions": np.array([step.conditions for step in steps], np.int64),
        }

    def work(self, k: int, seed: int, likeness: str = "", member: str = "") -> Part:
        """Return cells that the plain algorithms compare, each under a reading.

        ``nuclei`` and ``rest`` of k-Likeness; ``member`` with ranges kept, ``anew`` without;
        ``mondrian``.
        """
        if self.ratings.n_users > PLAIN_USERS:
            raise Untestable(f"plain algorithms: only on up to {PLAIN_USERS:,} users")
        name = f"work, k = {k}, seed {seed}, {likeness}, {member}"
        return self.of(name, lambda: self._work(k, seed, likeness, member))

    def _work(self, k: int, seed: int, likeness: str, member: str) -> Part:
        matrix, order = self.plain(seed)
        if len(matrix) < k:
            raise Untestable(f"{len(matrix):,} users are fewer than k = {k}")
        own = {name: self.line(name).reading for name in (likeness, member) if name}
        _, nuclei, rest = Likeness(k, **own.get(likeness, {})).compared(matrix, order)
        _, kept, anew = Member(k, **own.get(member, {})).compared(matrix, order)
        if not nuclei:
            raise Untestable(f"fewer than 2k users at k = {k}: they are one class, uncompared")
        mondrian = plain_mondrian(positions(matrix)[0].astype(np.int64), k)[1]
        found = {"nuclei": nuclei, "rest": rest, "member": kept, "anew": anew, "mondrian": mondrian}
        return {key: np.array([float(value)]) for key, value in found.items()}

    def plain(self, seed: int) -> tuple[Array, Ints]:
        """Return the records as numbers, and a permutation of them."""
        table = prepare(self.ratings, 2, rare_items="keep").ratings
        return dense_levels(table), seeded_order(table.n_users, seed, "k-likeness")

    def changed(self, way: str) -> Bench:
        """Return the bench of ratings of which one property is another."""
        if way not in self._changed:
            seed = self.seeds[0]
            table = _CHANGES[way](self, seed)
            self._changed[way] = replace(self, ratings=table, name=way, _changed={})
        return self._changed[way]


def measured(ratings: Ratings, groups: Ints, hierarchy: str, k: int) -> Part:
    """Measure groups under a hierarchy; see `Bench.losses`."""
    dense = ratings.n_users * ratings.n_items
    named = resolve(hierarchy, ratings.scale, null_occurs=ratings.n_ratings < dense)
    cells = generalize(named, ratings, groups)
    low, high = cells.symbols.bounds
    ranges = column_ranges(ratings)[cells.columns]
    width = np.divide(
        (high - low)[cells.codes], ranges, out=np.zeros(len(ranges)), where=ranges > 0
    )
    rows = np.repeat(np.arange(cells.n_groups), np.diff(cells.indptr))
    per_item = 1 / max(ratings.n_items, 1)
    loss = np.bincount(rows, width, cells.n_groups) * per_item
    level = np.bincount(rows, _levels(cells, ranges, width), cells.n_groups) * per_item
    sizes = np.bincount(class_numbers(canonical(cells)), cells.sizes)
    return {
        "loss": loss[groups],
        "level": level[groups],
        "near": _nearer(ratings, groups),
        "dm": np.array([float((sizes**2).sum())]),
        "classes": np.array([float(len(sizes))]),
        "exact": np.array([float((sizes == k).sum())]),
        "least": np.array([float(sizes.min())]),
    }


def _levels(cells: Cells, ranges: Floats, width: Floats) -> Floats:
    """Charge a set by its level; what is no set, and all on a real scale, by its width."""
    step = cells.symbols.scale.step
    if step is None:
        return width
    symbols = cells.symbols
    values = (symbols.n_members + symbols.null - 1)[cells.codes] * step
    by_level = np.divide(values, ranges, out=np.zeros(len(ranges)), where=ranges > 0)
    return np.where(symbols.is_range[cells.codes], width, by_level)


def _nearer(ratings: Ratings, groups: Ints) -> Floats:
    """Tell whose mean distance to the own class is below that to everybody else."""
    rows = dense_levels(ratings).astype(np.float64)
    own, everybody = np.zeros(len(rows)), np.zeros(len(rows))
    sizes = np.bincount(groups)
    for column in rows.T:
        everybody += _distances(column, np.zeros(len(rows), np.int64))
        own += _distances(column, groups)
    mates = sizes[groups] - 1
    others = len(rows) - 1 - mates
    alone = (mates == 0) | (others == 0)
    return np.where(
        alone, 1.0, own / np.maximum(mates, 1) < (everybody - own) / np.maximum(others, 1)
    )


def _distances(column: Floats, groups: Ints) -> Floats:
    """Sum distances to all of the same group, in n log n."""
    order = np.lexsort((column, groups))
    values, group = column[order], groups[order]
    sizes = np.bincount(group)
    first = np.cumsum(sizes) - sizes
    total = np.concatenate([[0.0], np.cumsum(values)])
    start, stop, at = first[group], (first + sizes)[group], np.arange(len(values))
    below = (at - start) * values - (total[at] - total[start])
    above = total[stop] - total[at] - (stop - at) * values
    out = np.empty(len(column))
    out[order] = below + above
    return out


def _filled(bench: Bench, seed: int) -> Ratings:
    table, rng = bench.ratings, generator(seed, "filled")
    by_item = table.by_item
    codes = np.empty((table.n_users, table.n_items), table.codes.dtype)
    for item in range(table.n_items):
        at = slice(by_item.indptr[item], by_item.indptr[item + 1])
        codes[:, item] = rng.choice(by_item.codes[at], table.n_users)
        codes[by_item.users[at], item] = by_item.codes[at]
    return replace(
        table,
        indptr=np.arange(table.n_users + 1, dtype=np.int64) * table.n_items,
        columns=np.tile(np.arange(table.n_items, dtype=np.int32), table.n_users),
        codes=codes.ravel(),
        days=None,
    )


def _thinned(bench: Bench, seed: int) -> Ratings:
    thin = hold_out(bench.ratings, 0.5, rng=generator(seed, "thinned"))[0]
    return thin.drop_empty_users()


def _users(bench: Bench, seed: int) -> Ratings:
    n = bench.ratings.n_users
    drawn = generator(seed, "users").permutation(n)[: n // 2]
    return bench.ratings.keep_users(np.sort(drawn))


def _twenty(bench: Bench, seed: int) -> Ratings:
    if bench.whole.n_items < TWENTY:
        raise Untestable(f"there are {bench.whole.n_items:,} items in all")
    return top_items(TWENTY).apply(bench.whole)


_CHANGES: Mapping[str, Callable[[Bench, int], Ratings]] = {
    "filled": _filled,
    "thinned": _thinned,
    "users": _users,
    "twenty": _twenty,
}
