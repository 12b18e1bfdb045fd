"""What the claims are judged by, by number: functions of a bench and a way."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any, TypeAlias

import numpy as np

from starshade.audit.reproduction.claims import Estimate, Untestable, estimate
from starshade.audit.reproduction.pa.bench import Bench
from starshade.audit.reproduction.pa.configurations import (
    AT_ONCE,
    EXCHANGED,
    OURS,
    PRINTED,
    READ,
    RELAXED,
    SIMPLE,
    UNPADDED,
    WEIGHTED,
)

Means: TypeAlias = Mapping[str, float]
ORIGINAL_RMSE = 0.951849  # Table 1; of the recommender on the data before anonymization
#: Table 1: (profile, k) → target deviation; Table 3: similar-user deviation
TARGET = {("padded", 5): 0.95970, ("padded", 50): 0.95871}
TARGET |= {("simple", 5): 2.36947, ("simple", 50): 2.3771}
SIMILAR_USER = {("padded", 50): 1.00563, ("simple", 50): 1.17525}
GROUPS, NULLS = 9_294, 0.80  # §7.2; k = 50


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
    columns = ("near", "near_n", "target", "target_n")

    def measure(bench: Bench, way: str) -> Estimate:
        view = View.of(bench, way)
        return view.over_k({each: (view.line, each) for each in columns}, read, pick)

    return measure


def _low(bench: Bench, way: str) -> Estimate:
    """Estimate whose own profile is among the nearest, of who is asked at every k."""
    view = View.of(bench, way)
    runs: list[dict[str, Any]] = []
    for seed in view.bench.seeds:
        parts = {k: view.bench.release(view.line, k, seed) for k in view.ks}
        asked = np.all([part["asked"] > 0 for part in parts.values()], axis=0)
        runs.append({str(k): part["rank"][asked] <= LOW for k, part in parts.items()})
    return estimate(runs, lambda m: min(m.values()), seed=bench.seeds[0])


LOW = 25  # a percentile that counts as low


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


def _relaxed(bench: Bench, way: str) -> Estimate:
    view = View.of(bench, way)
    columns = view.errors(a=RELAXED, b=WEIGHTED)
    return view.over_k(columns, lambda m: _rmse(m, "a") / _rmse(m, "b"), ks=view.ks[:1])


MEASURES: Mapping[str, Callable[[Any, str], Estimate]] = {
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
    "pa-28": _relaxed,
    "pa-32": _table_3,
    "pa-33": _similar_compared,
    "pa-34": _near(_target_over_similar, max),
    "pa-35": _near(lambda m: 1 / _target_over_similar(m), max),
    "pa-36": _low,
    "pa-o1": _compared(OURS, READ),
    "pa-o2": _compared(EXCHANGED, READ),
}
