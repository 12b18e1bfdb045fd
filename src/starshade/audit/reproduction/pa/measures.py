"""What the claims are judged by, by number: functions of a bench and a way."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import sqrt
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from starshade.attack.link_existence import link_existence_bound
from starshade.audit.reproduction.claims import Estimate, Untestable, estimate
from starshade.audit.reproduction.pa import looks
from starshade.audit.reproduction.pa.bench import Bench
from starshade.audit.reproduction.pa.configurations import (
    AT_ONCE,
    OURS,
    PRINTED,
    READ,
    RELAXED,
    SIMPLE,
    UNPADDED,
    WEIGHTED,
)
from starshade.audit.reproduction.pa.padding import HISTOGRAM, histogram_of, sizes_of_bins
from starshade.ratings.scale import Scale
from starshade.recommend.padded import dissimilarities
from starshade.recommend.settings import Dissimilarity

Means: TypeAlias = Mapping[str, float]
ORIGINAL_RMSE = 0.951849  # Table 1; of the recommender on the data before anonymization
#: Table 1: (profile, k) → target deviation; Table 3: similar-user deviation
TARGET = {("padded", 5): 0.95970, ("padded", 50): 0.95871}
TARGET |= {("simple", 5): 2.36947, ("simple", 50): 2.3771}
SIMILAR_USER = {("padded", 50): 1.00563, ("simple", 50): 1.17525}
GROUPS, NULLS = 9_294, 0.80  # §7.2; k = 50
BIN_SIZES = {"virtual": (200, 900), "real": (50, 2000)}  # §4.2, about
_PAPERS = Scale(1, 5, 1)


@dataclass(frozen=True)
class View:
    """What a way looks at: which ratings, which line in place of as-read, read how, at which k."""

    bench: Bench
    line: str = READ
    reading: str = "release"
    ks: tuple[int, ...] = ()

    @classmethod
    def of(cls, bench: Bench, way: str) -> View:
        """Apply an intervention."""
        ks = bench.ks
        if way in ("thinned", "dense", "few items"):
            return cls(bench.changed(way), ks=ks)
        lines = {"to the letter": PRINTED, "ours": OURS}
        if way == "large k":
            ks = ks[-1:]
        elif way == "small k":
            ks = ks[:1]
        reading = way if way in ("refit", "shown", "item mean") else "release"
        return cls(bench, lines.get(way, READ), reading, ks)

    def over_k(
        self,
        columns: Mapping[str, tuple[str, str]],
        each: Callable[[Means], float],
        pick: Callable[..., float] = max,
        ks: Sequence[int] | None = None,
    ) -> Estimate:
        """Pick one of a statistic of all k; `columns`: name → line and column of its parts."""
        ks, bench = self.ks if ks is None else ks, self.bench
        runs = [
            {
                f"{name} {k}": bench.release(line, k, seed)[column]
                for k in ks
                for name, (line, column) in columns.items()
            }
            for seed in bench.seeds
        ]
        return estimate(
            runs,
            lambda means: pick([each({n: means[f"{n} {k}"] for n in columns}) for k in ks]),
            seed=bench.seeds[0],
        )

    def errors(self, **lines: str) -> dict[str, tuple[str, str]]:
        """Name the columns of the errors of some lines as this view reads them."""
        column, base, count = _COLUMNS[self.reading]
        return {
            f"{key}{part}": (line, name)
            for key, line in lines.items()
            for part, name in (("", column), ("_base", base), ("_n", count))
        }


#: reading → squared errors, those of the original on the same ratings, how many
_COLUMNS = {
    "release": ("release", "original", "n"),
    "refit": ("refit", "refit_original", "refit_n"),
    "item mean": ("mean", "original", "n"),
    "shown": ("shown", "shown_original", "shown_n"),
}


def scalars(
    bench: Bench, part: Callable[[int], Mapping[str, Any]], statistic: Callable[[Means], float]
) -> Estimate:
    """Estimate from figures of whole releases, one of each seed."""
    found = [part(seed) for seed in bench.seeds]
    runs = [{k: np.atleast_1d(v) for k, v in each.items() if v.size == 1} for each in found]
    return estimate(runs, statistic, seed=bench.seeds[0])


def _ks_of(view: View, *wanted: int) -> None:
    if missing := [k for k in wanted if k not in view.ks]:
        raise Untestable(f"the paper's k = {', '.join(map(str, missing))} was not run")


def _rmse(means: Means, key: str) -> float:
    return sqrt(means[key] / means[f"{key}_n"])


def _times_original(view: View, pick: Callable[..., float] = max) -> Estimate:
    return view.over_k(view.errors(a=view.line), lambda m: sqrt(m["a"] / m["a_base"]), pick)


def _compared(above: str | None, below: str | None, pick: Callable[..., float] = max) -> Any:
    """Compare the errors of two lines; None: the line that the way looks at."""

    def measure(bench: Bench, way: str) -> Estimate:
        view = View.of(bench, way)
        lines = view.errors(a=above or view.line, b=below or view.line)
        return view.over_k(lines, lambda m: _rmse(m, "a") / _rmse(m, "b"), pick)

    return measure


def _spread(values: Sequence[float]) -> float:
    return max(values) / min(values)


def _k_matters(bench: Bench, way: str) -> Estimate:
    if len(bench.ks) < 2:
        raise Untestable("it takes two k")
    view = View.of(bench, way)
    return view.over_k(view.errors(a=view.line), lambda m: sqrt(m["a"] / m["a_base"]), _spread)


def _original(bench: Bench, way: str) -> Estimate:
    view = View.of(bench, way)
    columns = view.errors(a=view.line)
    return view.over_k(
        columns, lambda m: sqrt(m["a_base"] / m["a_n"]) / ORIGINAL_RMSE, ks=view.ks[:1]
    )


def _table_1(profile: str, relative: bool) -> Any:
    def measure(bench: Bench, way: str) -> Estimate:
        view = View.of(bench, way)
        _ks_of(view, 5, 50)
        line = SIMPLE if profile == "simple" else view.line
        columns = view.errors(a=line)

        def distance(values: Sequence[float]) -> float:
            own = [TARGET[profile, k] / ORIGINAL_RMSE for k in (5, 50)]
            return max(
                abs(a - b) / (b if relative else 1) for a, b in zip(values, own, strict=True)
            )

        return view.over_k(columns, lambda m: sqrt(m["a"] / m["a_base"]), distance, (5, 50))

    return measure


def _due_to_nulls(bench: Bench, way: str) -> Estimate:
    view = View.of(bench, way)
    names = ("release", "original", "null_release", "null_original")
    return view.over_k(
        {name: (SIMPLE, name) for name in names},
        lambda m: (m["null_release"] - m["null_original"]) / (m["release"] - m["original"]),
        min,
    )


def _of_shape(column: str, by: float, profile: str | None = None) -> Any:
    def measure(bench: Bench, way: str) -> Estimate:
        view = View.of(bench, way)
        _ks_of(view, 50)
        line = profile or view.line
        return view.over_k({"a": (line, column)}, lambda m: m["a"] / by, ks=(50,))

    return measure


def _near(read: Callable[[Means], float], pick: Any) -> Any:
    """Estimate from what the nearest profile predicts."""
    columns = ("near", "near_n", "asked", "low", "target", "target_n")

    def measure(bench: Bench, way: str) -> Estimate:
        view = View.of(bench, way)
        return view.over_k({each: (view.line, each) for each in columns}, read, pick)

    return measure


def _table_3(bench: Bench, way: str) -> Estimate:
    view = View.of(bench, way)
    _ks_of(view, 50)
    column = "near_shown" if way == "shown" else "near"
    columns = {
        f"{key}{end}": (line, f"{column}{end}" if not end.startswith("_o") else name)
        for key, line in (("padded", view.line), ("simple", SIMPLE))
        for end, name in (("", ""), ("_n", ""), ("_o", "original"), ("_on", "n"))
    }

    def distance(m: Means) -> float:
        off = []
        for key in ("padded", "simple"):
            base = sqrt(m[f"{key}_o"] / m[f"{key}_on"])
            theirs = SIMILAR_USER[key, 50] / ORIGINAL_RMSE
            off.append(abs(_rmse(m, key) / base / theirs - 1))
        return max(off)

    return view.over_k(columns, distance, ks=(50,))


def _similar_compared(bench: Bench, way: str) -> Estimate:
    view = View.of(bench, way)
    columns = {
        f"{key}{end}": (line, f"near{end}")
        for key, line in (("a", READ), ("b", SIMPLE))
        for end in ("", "_n")
    }
    return view.over_k(columns, lambda m: _rmse(m, "a") / _rmse(m, "b"))


def _target_over_similar(m: Means) -> float:
    return sqrt(m["target"] / m["target_n"]) / _rmse(m, "near")


# ---------------------------------------------------------------- padding, bins, pairs


def _null_after(bench: Bench, way: str) -> Estimate:
    view = View.of(bench, way)
    return Estimate.exact(max(
        float(bench.release(READ, k, seed)["nulls"][0]) for k in view.ks for seed in bench.seeds
    ))  # fmt: skip


def histogram(bench: Bench, seed: int) -> Mapping[str, Any]:
    """Return the shares of the cells by rating before and after padding, null first."""

    def count() -> Mapping[str, Any]:
        rows = histogram_of(looks.padded_of(bench, READ, seed), seed)
        if not rows:
            return {"refused": np.array("a scale without steps has no levels to count")}
        before, after = ([getattr(row, when) for row in rows] for when in ("before", "after"))
        levels = [np.nan, *(row.level for row in rows[1:])]
        return {name: np.array(value, np.float64) for name, value in
                (("before", before), ("after", after), ("level", levels))}  # fmt: skip

    return looks.allowed(bench.of(f"histogram, seed {seed}", count))


def _histogram_off(when: str, place: int) -> Any:
    def measure(bench: Bench, way: str) -> Estimate:
        if bench.ratings.scale != _PAPERS:
            raise Untestable("the paper's scale is 1 to 5")
        theirs = np.array([HISTOGRAM[level][place] for level in range(6)]) / 100
        return scalars(bench, lambda seed: {
            "off": np.abs(histogram(bench, seed)[when] - theirs).max(keepdims=True)
        }, lambda m: m["off"])  # fmt: skip

    return measure


def _moved(bench: Bench, way: str) -> Estimate:
    own = View.of(bench, way).bench

    def moved(seed: int) -> Mapping[str, Any]:
        found = histogram(own, seed)
        before, after = found["before"][1:], found["after"][1:]
        return {"moved": np.array(np.abs(before / before.sum() - after / after.sum()).sum() / 2)}

    return scalars(own, moved, lambda m: m["moved"])


def _skew(bench: Bench, way: str) -> Estimate:
    view = View.of(bench, way)

    def skew(seed: int) -> Mapping[str, Any]:
        found = looks.bins(view.bench, view.line, seed, sizes_of_bins)
        return {name: np.array(found[name].std() / found[name].mean()) for name in found}

    return scalars(view.bench, skew, lambda m: m["virtual"] / m["real"])


def _bin_sizes(bench: Bench, way: str) -> Estimate:
    view = View.of(bench, way)

    def off(seed: int) -> Mapping[str, Any]:
        found = looks.bins(view.bench, view.line, seed, sizes_of_bins)
        ends = [
            max(int(end), 1) / theirs
            for name, own in BIN_SIZES.items()
            for end, theirs in zip((found[name].min(), found[name].max()), own, strict=True)
        ]
        return {"off": np.array(max(max(end, 1 / end) for end in ends))}

    return scalars(view.bench, off, lambda m: m["off"])


def _bounded(bench: Bench, way: str) -> Estimate:
    own = View.of(bench, way).bench
    return scalars(
        own,
        lambda seed: looks.sample_clusters(own, READ, seed),
        lambda m: m["bounded"] / m["free"],
    )


def _of_pairs(read: Callable[[Mapping[str, Any]], float]) -> Any:
    def measure(bench: Bench, way: str) -> Estimate:
        view = View.of(bench, way)
        k = view.ks[-1]

        def found(seed: int) -> Mapping[str, Any]:
            part = looks.pairs(view.bench, view.line, k, seed)
            try:
                return {"read": np.array(read(part))}
            except KeyError:
                raise Untestable("no pair is to be had within clusters") from None

        return scalars(view.bench, found, lambda m: m["read"])

    return measure


def _shift(part: Mapping[str, Any]) -> float:
    return max(float(part[f"{m} within"][0] / part[f"{m} before"][0]) for m in looks.METRICS)


def _filled(part: Mapping[str, Any], metric: str) -> float:
    return float(1 / (part[f"{metric} before shares"] ** 2).sum())


def _relaxed(bench: Bench, way: str) -> Estimate:
    view = View.of(bench, way)
    columns = view.errors(a=RELAXED, b=WEIGHTED)
    return view.over_k(columns, lambda m: _rmse(m, "a") / _rmse(m, "b"), ks=view.ks[:1])


def _sim_exceptions(bench: Bench, way: str) -> Estimate:
    rows = np.array(list(product(range(1, 6), repeat=2)), np.float64)
    away = dissimilarities(rows, rows, "weighted-sq", _PAPERS)
    equal = (rows[:, None] == rows[None]).all(2)
    opposite = (np.abs(rows[:, None] - rows[None]) == 4).all(2)
    wrong = ((away < 1e-12) != equal) | ((away > 1 - 1e-12) != opposite)
    return Estimate.exact(float(wrong.sum()))


def _penalty(bench: Bench, way: str) -> Estimate:
    name: Dissimilarity = "euclidean" if way == "squared" else "weighted-sq"
    ends = np.array([[1.0], [3.0], [5.0]])
    away = dissimilarities(ends[:1], ends, name, _PAPERS)[0] ** (2 if way == "squared" else 1)
    return Estimate.exact(float((away[2] - away[1]) / (away[1] - away[0])))


# ---------------------------------------------------------------- work


def _exponent(bench: Bench, way: str) -> Estimate:
    k = bench.least_k
    if bench.ratings.n_users < _MANY:
        raise Untestable(f"with fewer than {_MANY} users a quarter has hardly any bins")

    def counted(seed: int) -> Mapping[str, Any]:
        return {
            name: looks.work(bench, PRINTED, k, seed, share)["distances"]
            for name, share in (("all", 1), ("some", 4))
        }

    return scalars(bench, counted, lambda m: float(np.log(m["all"] / m["some"]) / np.log(4)))


_MANY = 400


def _speed_up(bench: Bench, way: str) -> Estimate:
    k = View.of(bench, way).ks[0]

    def counted(seed: int) -> Mapping[str, Any]:
        return {
            "theirs": looks.work(bench, READ, k, seed)["distances"],
            "at once": looks.work_at_once(bench, READ, k, seed)["distances"],
        }

    return scalars(bench, counted, lambda m: m["at once"] / m["theirs"])


def _gigabytes(bench: Bench, way: str) -> Estimate:
    return Estimate.exact(4e-9 * bench.ratings.n_users * bench.ratings.n_items)


def _bound_at(p: Callable[[int], float], pick: Callable[..., float]) -> Any:
    def measure(bench: Bench, way: str) -> Estimate:
        bounds = [k * float(link_existence_bound(p(k), k)) for k in range(2, 51)]
        return Estimate.exact(pick(bounds))

    return measure


def _farthest_from_2(values: Sequence[float]) -> float:
    return max(values, key=lambda value: abs(value - 2))


_TABLES = {
    "pa-08": _original,
    "pa-09": _table_1("padded", relative=False),
    "pa-10": _table_1("simple", relative=True),
    "pa-11": lambda bench, way: _times_original(View.of(bench, way)),
    "pa-12": _compared(SIMPLE, READ, min),
    "pa-13": _k_matters,
    "pa-14": _due_to_nulls,
    "pa-15": _of_shape("groups", GROUPS),
    "pa-16": _of_shape("nulls", 1, SIMPLE),
    "pa-17": _compared(None, UNPADDED),
    "pa-18": _compared(READ, AT_ONCE),
    "pa-32": _table_3,
    "pa-33": _similar_compared,
    "pa-34": _near(_target_over_similar, max),
    "pa-35": _near(lambda m: 1 / _target_over_similar(m), max),
    "pa-36": _near(lambda m: m["low"] / m["asked"], min),
    "pa-o1": _compared(OURS, READ),
    "pa-o2": _compared("as-read, but groups by exchange", READ),
}
_OTHERS = {
    "pa-02": _histogram_off("before", 0),
    "pa-07": _gigabytes,
    "pa-19": _null_after,
    "pa-20": _histogram_off("after", 1),
    "pa-21": _moved,
    "pa-22": _skew,
    "pa-23": _bin_sizes,
    "pa-24": _bounded,
    "pa-25": _of_pairs(_shift),
    "pa-26": _of_pairs(lambda p: float(p["closeness-1.0 before"][0] / p["weighted-sq before"][0])),
    "pa-27": _of_pairs(lambda p: _filled(p, "weighted-sq") / _filled(p, "closeness-1.0")),
    "pa-28": _relaxed,
    "pa-29": _sim_exceptions,
    "pa-30": _penalty,
    "pa-42": _bound_at(lambda k: 1 / k, _farthest_from_2),
    "pa-43": _bound_at(lambda k: 1e-9, max),
    "pa-51": _exponent,
    "pa-52": _speed_up,
}
MEASURES: Mapping[str, Callable[[Any, str], Estimate]] = MappingProxyType(_TABLES | _OTHERS)
