"""What the claims are judged by, by number: functions of a bench and a way."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any, TypeAlias

import numpy as np

from starshade.audit.reproduction.estimates import Estimate, Untestable, estimate
from starshade.audit.reproduction.pa.bench import CHANGES, FEWEST, Bench
from starshade.audit.reproduction.pa.configurations import (
    AT_ONCE,
    EXCHANGED,
    MORE_FACTORS,
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
    """What a way looks at: which ratings, which line in place of as-read, read how, at which k.

    `enough`: the k, of those that leave enough groups.
    """

    bench: Bench
    line: str = READ
    reading: str = "release"
    enough: tuple[int, ...] = ()

    @property
    def ks(self) -> tuple[int, ...]:
        """The k that are looked at; none is a reason to judge nothing."""
        if not self.enough:
            raise Untestable(f"every k leaves fewer than {FEWEST} groups of these users")
        return self.enough

    @classmethod
    def of(cls, bench: Bench, way: str) -> View:
        """Apply an intervention."""
        ks = bench.judged_ks
        if way in CHANGES:
            return cls(bench.changed(way), enough=ks)
        lines = {"to the letter": PRINTED, "ours": OURS, "factors": MORE_FACTORS}
        if way == "large k":
            ks = ks[-1:]
        elif way == "small k":
            ks = ks[:1]
        reading = way if way in ("refit", "shown") else "release"
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
        return over_users(
            runs,
            lambda means: pick([each({n: means[f"{n} {k}"] for n in columns}) for k in ks]),
            bench.seeds[0],
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
    "shown": ("shown", "shown_original", "shown_n"),
}


def scalars(
    bench: Bench, part: Callable[[int], Mapping[str, Any]], statistic: Callable[[Means], float]
) -> Estimate:
    """Estimate from figures of whole releases, one of each seed."""
    found = [part(seed) for seed in bench.seeds]
    runs = [{k: np.atleast_1d(v) for k, v in each.items() if v.size == 1} for each in found]
    return over_users(runs, statistic, bench.seeds[0])


def over_users(
    runs: Sequence[Mapping[str, Any]], statistic: Callable[[Means], float], seed: int
) -> Estimate:
    """Estimate from runs; of figures that are one for all users it is no interval over them."""
    found = estimate(runs, statistic, seed=seed)
    return replace(found, users=None) if found.users == 1 else found


def _rmse(means: Means, key: str) -> float:
    return sqrt(means[key] / means[f"{key}_n"])


def _over(
    columns: Callable[[View], Mapping[str, tuple[str, str]]],
    each: Callable[[Means], float],
    pick: Callable[..., float] = max,
    at: slice | tuple[int, ...] = slice(None),
) -> Any:
    """Pick one of a statistic of some k: of those of the view, or of the paper's."""

    def measure(bench: Bench, way: str) -> Estimate:
        view = View.of(bench, way)
        ks = view.ks[at] if isinstance(at, slice) else at
        if missing := [k for k in ks if k not in view.ks]:
            told = ", ".join(map(str, missing))
            raise Untestable(f"the paper's k = {told} was not run, or leaves too few groups")
        return view.over_k(columns(view), each, pick, ks)

    return measure


def _own(view: View) -> dict[str, tuple[str, str]]:
    return view.errors(a=view.line)


def _times_original(m: Means) -> float:
    return sqrt(m["a"] / m["a_base"])


def _compared(
    above: str | None, below: str | None, pick: Callable[..., float] = max, at: slice = slice(None)
) -> Any:
    """Compare the errors of two lines; None: the line that the way looks at."""
    return _over(
        lambda view: view.errors(a=above or view.line, b=below or view.line),
        lambda m: _rmse(m, "a") / _rmse(m, "b"),
        pick,
        at,
    )


def _spread(values: Sequence[float]) -> float:
    if len(values) < 2:
        raise Untestable("needs at least two k")
    return max(values) / min(values)


def _last_over_first(values: Sequence[float]) -> float:
    _spread(values)
    return values[-1] / values[0]


def _table_1(profile: str, relative: bool) -> Any:
    def distance(values: Sequence[float]) -> float:
        own = [TARGET[profile, k] / ORIGINAL_RMSE for k in (5, 50)]
        return max(abs(a - b) / (b if relative else 1) for a, b in zip(values, own, strict=True))

    return _over(
        lambda view: view.errors(a=SIMPLE if profile == "simple" else view.line),
        _times_original,
        distance,
        (5, 50),
    )


def _of_simple(*names: str) -> Callable[[View], dict[str, tuple[str, str]]]:
    return lambda view: {name: (SIMPLE, name) for name in names}


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
    column = "near_shown" if way == "shown" else "near"
    lines = View.of(bench, way).line, SIMPLE
    pairs = tuple(zip(("padded", "simple"), lines, strict=True))
    sources = (
        ("", column), ("_n", f"{column}_n"), ("_o", "near_original"), ("_on", "near_n")
    )  # fmt: skip

    def distance(m: Means) -> float:
        ratios = ((key, _rmse(m, key) / sqrt(m[f"{key}_o"] / m[f"{key}_on"])) for key, _ in pairs)
        return max(abs(r / (SIMILAR_USER[key, 50] / ORIGINAL_RMSE) - 1) for key, r in ratios)

    columns = {f"{key}{end}": (line, name) for key, line in pairs for end, name in sources}
    found: Estimate = _over(lambda view: columns, distance, at=(50,))(bench, way)
    return found


MEASURES: Mapping[str, Callable[[Any, str], Estimate]] = {
    "pa-08": _over(_own, lambda m: sqrt(m["a_base"] / m["a_n"]) / ORIGINAL_RMSE, at=slice(1)),
    "pa-09": _table_1("padded", relative=False),
    "pa-10": _table_1("simple", relative=True),
    "pa-11": _over(_own, _times_original),
    "pa-12": _compared(SIMPLE, READ, min),
    "pa-13": _over(_own, _times_original, _spread),
    "pa-14": _over(
        _of_simple("release", "original", "null_release", "null_original"),
        lambda m: (m["null_release"] - m["null_original"]) / (m["release"] - m["original"]),
        min,
    ),
    "pa-15": _over(
        lambda view: {"a": (view.line, "groups")}, lambda m: m["a"] / GROUPS, at=(50,)
    ),
    "pa-16": _over(_of_simple("nulls"), lambda m: m["nulls"], at=(50,)),
    "pa-17": _compared(None, UNPADDED),
    "pa-18": _compared(READ, AT_ONCE),
    "pa-28": _compared(RELAXED, WEIGHTED, at=slice(1)),
    "pa-32": _table_3,
    "pa-33": _over(
        lambda view: {
            "a": (READ, "near"), "a_n": (READ, "near_n"),
            "b": (SIMPLE, "near"), "b_n": (SIMPLE, "near_n"),
        },
        lambda m: _rmse(m, "a") / _rmse(m, "b"),
    ),
    "pa-35": _over(
        lambda view: {n: (view.line, n) for n in ("near", "near_n", "target", "target_n")},
        lambda m: _rmse(m, "near") / _rmse(m, "target"),
    ),
    "pa-36": _low,
    "pa-54": _over(lambda view: view.errors(a=SIMPLE), lambda m: _rmse(m, "a"), _last_over_first),
    "pa-o1": _compared(OURS, READ),
    "pa-o2": _compared(EXCHANGED, READ),
}  # fmt: skip
