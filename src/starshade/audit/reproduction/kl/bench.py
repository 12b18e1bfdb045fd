"""Everything that is measured for KL, part by part: releases, answers, work, seconds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from starshade.anonymize.grouping import Grouping
from starshade.anonymize.points import Points, dense_levels, positions
from starshade.anonymize.prepare import prepare
from starshade.attack.tracker.tracker import TrackerAttack
from starshade.audit.attempts import untouched
from starshade.audit.reproduction.estimates import Estimate, Floats, Untestable, estimate
from starshade.audit.reproduction.kl.changed import READ, as_formed, change
from starshade.audit.reproduction.kl.lines import ALGORITHMS, Line
from starshade.audit.reproduction.kl.work import Work, work_of
from starshade.audit.reproduction.parts import Part, Parts
from starshade.errors import StarshadeError, UserError
from starshade.kernels.arrays import Ints
from starshade.plain import counted
from starshade.progress import silence
from starshade.ratings.select import top_items
from starshade.ratings.table import Ratings
from starshade.release.cells import Cells
from starshade.release.table import Release
from starshade.rng import generator
from starshade.utility.losses import column_ranges
from starshade.utility.query_error import QueryError
from starshade.utility.query_error_result import Step

if TYPE_CHECKING:
    from collections.abc import Mapping

_BLOCKS = 100  # of conditions, drawn together: as good as conditions


@dataclass(frozen=True)
class Bench:
    """One table, and what is found of it; measured once, whoever asks."""

    ratings: Ratings  # as given
    table: Ratings  # what is released
    lines: tuple[Line, ...]
    ks: tuple[int, ...]
    seed: int
    seeds: tuple[int, ...]
    parts: Parts
    attribute: str | None  # what queries average
    draws: int
    changed: str = ""  # how the table was changed
    as_formed: bool = False  # groups count, though they be released alike

    def under(self, way: str) -> Bench:
        """Return the bench under an intervention; those on claims alone change nothing here."""
        if "+" in way:
            first, others = way.split("+", 1)
            return self.under(first).under(others)
        if way in READ:
            lines = tuple(READ[way] if READ[way].name == own.name else own for own in self.lines)
            return replace(self, lines=lines)
        if way == "divisible":
            return replace(self, changed=way)
        if way == "groups":
            return replace(self, lines=tuple(map(as_formed, self.lines)), as_formed=True)
        try:
            table = change(self.table, way, self.seed)
        except StarshadeError as error:
            raise Untestable(str(error)) from None
        return self if table is None else replace(self, table=table, changed=way)

    def keeping(self, items: int) -> Bench:
        """Return the bench on so many of the most rated items."""
        ratings = self.table if items <= self.table.n_items else self.ratings
        if items > ratings.n_items:
            raise Untestable(f"the data have {counted(ratings.n_items, 'item')}, not {items}")
        with silence():
            table = top_items(items).apply(ratings)
        return replace(self, table=table, changed=f"{self.changed} top {items}")

    def line(self, name: str) -> Line:
        """Return a line by its name."""
        for each in self.lines:
            if each.name == name:
                return each
        raise Untestable(f"{name} is made for the scale 1-5")

    def released(self, line: Line, k: int, run: int) -> Part:
        """Return what a release loses, record by record; of one that is refused the words."""
        return self.parts.of(
            f"release {self.changed}|{line.key}|{k}|{run}", lambda: self._release(line, k, run)
        )

    def _release(self, line: Line, k: int, run: int) -> dict[str, Any]:
        try:
            table = self._table_at(k)
            with silence():
                made, seconds = line.release(table, k, self.seeds[run], exact=False)
        except UserError as error:
            return {"refused": np.array(error.message)}
        alone = self._grouping_seconds(line, k, run) if not self.changed else np.nan
        found = figures_of(made, table) | {"seconds": np.array([seconds, alone])}
        if line.reading is not None:
            found["group"] = line.reading.groups(table, k, self.seeds[run])
        return found

    def _table_at(self, k: int) -> Ratings:
        if self.changed != "divisible":
            return self.table
        return self.table.keep_users(np.arange(self.table.n_users // k * k))

    def _grouping_seconds(self, line: Line, k: int, run: int) -> float:
        """Return the seconds of what methods differ in; readings have theirs elsewhere."""
        if line.reading is not None:
            return float("nan")
        method = line.at(k)
        assert isinstance(method, Grouping)
        with silence():
            table = prepare(self.table, k, rare_items="keep").ratings
            points = Points(table, np.empty((table.n_users, 0), np.uint8))
            started = perf_counter()
            method.group(points, self.seeds[run])
            return perf_counter() - started

    def original(self) -> Part:
        """Return what the ratings lose as they are: k = 1."""
        return self.parts.of(
            f"original {self.changed}", lambda: figures_of(untouched(self.table), self.table)
        )

    def curve(self, line: Line, k: int, run: int, name: str) -> Floats | None:
        """Return a figure of each record, or of the whole release; None where it was refused."""
        part = self.released(line, k, run)
        return None if "refused" in part else self.figure(part, k, name)

    def figure(self, part: Part, k: int, name: str) -> Floats:
        """Return a figure of each record, or of the whole release."""
        number = part["group" if self.as_formed and "group" in part else "class"]
        size = np.bincount(number)
        own = size[number]
        if name in ("loss", "members", "rated"):
            return np.asarray(part[name])
        if name == "alike":
            return self._alike(number)
        if name == "exact":
            return np.asarray(own == k)
        whole = {
            "size": own,
            "share": k / own,
            "classes": [len(size)],
            "per class": [len(number) / len(size)],
            "smallest": [size.min() / k],
        }
        return np.asarray(whole[name], np.float64)

    def _alike(self, number: Ints) -> Floats:
        """Return each record's mean distance to its class over that to all others."""
        rows = dense_levels(self.table).astype(np.float64)
        within = np.zeros(len(rows))
        order = np.argsort(number, kind="stable")
        for who in np.split(order, np.flatnonzero(np.diff(number[order])) + 1):
            if len(who) > 1:
                within[who] = np.sum([_sums(c) for c in rows[who].T], axis=0) / (len(who) - 1)
        everybody = np.sum([_sums(column) for column in rows.T], axis=0) / (len(rows) - 1)
        return np.asarray(within / (everybody.mean() or 1.0))

    def runs(
        self, lines: Sequence[str], name: str, ks: Sequence[int] | None = None
    ) -> tuple[list[int], list[dict[str, Floats]]]:
        """Return the k at which all of these lines were released, and each run's figures."""
        own = [self.line(each) for each in lines]
        wanted = [k for k in self.ks if ks is None or k in ks]
        at = [k for k in wanted if all("refused" not in self.released(line, k, 0) for line in own)]
        if not wanted:
            raise Untestable("no queries at these k")
        if not at:
            told = [self.released(line, wanted[0], 0) for line in own]
            raise Untestable(next(str(part["refused"]) for part in told if "refused" in part))
        found = []
        for run in range(len(self.seeds)):
            figures = {f"{ln.name} {k}": self.curve(ln, k, run, name) for ln in own for k in at}
            found.append({key: value for key, value in figures.items() if value is not None})
        return at, found

    def answers(self, line: Line, k: int, run: int) -> Part:
        """Return the errors of the queries that a run asks of a release (KL Eq. 7)."""
        return self.parts.of(
            f"queries {self.changed}|{line.key}|{k}|{run}", lambda: self._ask(line, k, run)
        )

    def _ask(self, line: Line, k: int, run: int) -> dict[str, Any]:
        if self.attribute is None:
            return {"refused": np.array("the data have no numeric personal attribute to average")}
        measure = QueryError(attribute=self.attribute, draws=self.draws, seed=self.seeds[run])
        try:
            with silence():
                release, _ = line.release(self.table, k, self.seeds[run], exact=True)
                told = list(measure.answers(release, self.table)[1])
        except UserError as error:
            return {"refused": np.array(error.message)}
        found = [(step, each) for each in told if (step := Step.of(*each)).error is not None]
        if not found:
            return {"refused": np.array("no condition has an answer on these ratings")}
        blocks = [
            _in_blocks(x, x0, generator(self.seeds[run], f"kl {kind} {size}"))
            for _, (kind, size, x, x0) in found
        ]
        return {
            name: np.array([getattr(step, name) for step, _ in found])
            for name in ("kind", "size", "error", "error_of_truth", "conditions")
        } | {
            "errors": np.array([own[0] for own in blocks]),
            "asked": np.array([b[1] for b in blocks]),
        }

    def errors(
        self, lines: Sequence[str], kind: str, k: int, sizes: Sequence[int] | None = None
    ) -> tuple[list[int], list[dict[str, Floats]], int]:
        """Return the sizes at which all lines were answered, each run's errors, the conditions.

        Errors are sums by blocks of conditions, the same for every line of a run; beside each
        stands, as "asked", how many conditions a block has.
        """
        found: list[dict[str, Floats]] = [{} for _ in self.seeds]
        common: set[int] | None = None
        conditions = 0
        for own, name in product(range(len(self.seeds)), lines):
            part = self.answers(self.line(name), k, own)
            if "refused" in part:
                raise Untestable(str(part["refused"]))
            rows = [
                row
                for row, (of, size) in enumerate(zip(part["kind"], part["size"], strict=True))
                if of == kind and (sizes is None or size in sizes)
            ]
            for row in rows:
                key = f"{name} {part['size'][row]}"
                asked = part["asked"][row]
                # as shares of the run's: a point is the mean of the runs, however many they asked
                shares = {key: part["errors"][row], f"{key} asked": asked}
                found[own] |= {what: each / asked.sum() for what, each in shares.items()}
            told = {int(part["size"][row]) for row in rows}
            common = told if common is None else common & told
            conditions = max(conditions, int(part["conditions"][rows].sum()))
        if not common:
            raise Untestable("no condition of these sizes has an answer")
        return sorted(common), found, conditions

    def work(self, way: str = "") -> list[Work]:
        """Return what each algorithm does at every k that fits."""
        changed = self.under(way)
        table = changed.table
        places, n = positions(dense_levels(table, copies=2))[0], table.n_users
        joins, anew = int(way == "tuples-k"), way == "anew"
        return [
            work_of(
                places[: n // k * k] if way == "divisible" else places,
                k,
                tuples=k - 1 + joins,
                anew=anew,
            )
            for k in self.ks
            if 2 * k <= n  # below, all are one class
        ]

    def singled_out(self) -> Estimate:
        """Return the share of users whom a count with up to four conditions singles out."""

        def make() -> Mapping[str, Any]:
            with silence():
                found = TrackerAttack(conditions=4).run(self.table)
            return {"who": np.isin(np.arange(found.targets), list(found.singled))}

        who = self.parts.of(f"tracker {self.changed}", make)["who"]
        return estimate([{"who": who}], lambda mean: mean["who"], seed=self.seed)

    def same_order(self, items: int) -> Estimate:
        """Return of how many pairs of methods the order at k = 5 is the same on so many items.

        By GenILoss, and by the cells that are touched: a count, which no run changes.
        """
        names, k = ALGORITHMS, 5
        wide = self.keeping(items)
        work = [
            (one.likeness, one.member, one.mondrian)
            for bench in (self, wide)
            for one in replace(bench, ks=(k,)).work()
        ]
        if len(work) < 2:
            raise Untestable(f"too few users for two classes of {k}")
        runs = [
            {f"few {key}": value for key, value in few.items()}
            | {f"many {key}": value for key, value in many.items()}
            for few, many in zip(
                self.runs(names, "loss", [k])[1], wide.runs(names, "loss", [k])[1], strict=True
            )
        ]

        def statistic(mean: Mapping[str, float]) -> float:
            few, many = ([mean[f"{w} {name} {k}"] for name in names] for w in ("few", "many"))
            return _agreeing(few, many) + _agreeing(*work)

        return estimate(runs, statistic, seed=self.seed)


def _agreeing(few: Sequence[float], many: Sequence[float]) -> int:
    pairs = combinations(zip(few, many, strict=True), 2)
    return sum((a < b) == (c < d) for (a, c), (b, d) in pairs)


def _sums(column: Floats) -> Floats:
    """Return for each number the sum of its distances to all of them."""
    order = np.argsort(column, kind="stable")
    ascending, n = column[order], len(column)
    below = np.cumsum(ascending) - ascending
    rank = np.arange(n)
    away = ascending * rank - below + (below[-1] + ascending[-1] - below - ascending)
    away -= ascending * (n - 1 - rank)
    out = np.empty(n)
    out[order] = away
    return out


def _in_blocks(x: Floats, x0: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Sum errors by random blocks of conditions: per cent of the answer x, and how many."""
    block = rng.permutation(len(x)) % _BLOCKS
    told = ~np.isnan(x) & ~np.isnan(x0) & (x != 0)
    error = np.abs(x - x0)[told] / np.abs(x[told]) * 100
    asked = np.bincount(block[told], minlength=_BLOCKS).astype(np.float64)
    return np.bincount(block[told], error, _BLOCKS).astype(np.float64), asked


def figures_of(release: Release, table: Ratings) -> dict[str, Any]:
    """Return each user's class, and of their cells the mean loss and number of members.

    ``rated``: the loss when a null is charged nothing, in cells and in columns.
    """
    assert release.private is not None
    cells = release.cells()
    low, high = cells.symbols.bounds
    column = column_ranges(table)[cells.columns]
    width = (high - low)[cells.codes]
    share = np.divide(width, column, out=np.zeros(len(width)), where=column > 0)
    row = np.repeat(np.arange(cells.n_groups), np.diff(cells.indptr))
    more = (cells.symbols.n_members + cells.symbols.null - 1)[cells.codes]  # a null alone is one
    loss, members, rated = (
        np.bincount(row, weights=each, minlength=cells.n_groups) / cells.n_items
        for each in (share, more, _rated_share(cells, table))
    )
    number = release.class_of_record[release.private.link.record]
    return {
        "class": number,
        "loss": loss[number],
        "members": 1 + members[number],
        "rated": rated[number],
    }


def _rated_share(cells: Cells, table: Ratings) -> Floats:
    """Return each cell's width among ratings alone over that of its column."""
    low, high = cells.symbols.bounds
    symbols = cells.symbols
    least, held = low.copy(), symbols.null & (symbols.n_members > 0)
    least[held] = symbols.members[symbols.offsets[:-1][held]]
    own = high - np.where(symbols.null, np.maximum(least, symbols.scale.minimum), least)
    values = table.values()
    ends = np.full((2, table.n_items), np.nan)
    np.fmin.at(ends[0], table.columns, values)
    np.fmax.at(ends[1], table.columns, values)
    column = (ends[1] - ends[0])[cells.columns]
    width = own[cells.codes]
    return np.asarray(np.divide(width, column, out=np.zeros(len(width)), where=column > 0))
