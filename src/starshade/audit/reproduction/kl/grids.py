"""KL's open questions: which reading of the text reproduces Fig. 12, and which Fig. 16."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from starshade.audit.reproduction.claims import Untestable
from starshade.audit.reproduction.kl.bench import Bench
from starshade.audit.reproduction.kl.readings import (
    AS_PRINTED,
    DGH_B,
    LIKENESS,
    MEMBER,
    READINGS,
)
from starshade.figure import Table

_SAME = 0.05  # as for kl-31
_FASTER = 3.0  # as for kl-45
_FROM_2_TO_7 = range(2, 8)
_HEAD = (
    "reading",
    "k = 2 to 7, least",
    "k = 2 to 7, most",
    "all k, mean",
    "k-Member's work over k-Likeness's",
    "gives",
)


def grids_of(bench: Bench) -> tuple[Table, ...]:
    """Return the grid of readings, and of data of which one property is another."""
    title = "GenILoss of k-Likeness over k-Member's, and cells compared, by {}"
    readings, data = tuple(_readings(bench)), tuple(_data(bench))
    named = ((title.format("reading"), readings), (title.format("data"), data))
    return (
        *(Table(name, _HEAD, rows) for name, rows in named if rows),
        *_rest_of(bench),
    )


_BY_LEVEL = "sets charged by their level |S| − 1"


def _pairs() -> Iterator[tuple[str, str, str]]:
    """Return a name, and the lines that are compared."""
    yield "as-read", LIKENESS, MEMBER
    yield _BY_LEVEL, LIKENESS, MEMBER
    yield f"{_BY_LEVEL}; k tuples beside the nucleus", AS_PRINTED, MEMBER
    yield f"{_BY_LEVEL}; null apart", "null apart", MEMBER
    yield "k tuples beside the nucleus (as-printed)", AS_PRINTED, MEMBER
    for name, line in READINGS.items():
        if line.method == "likeness":
            yield name, name, MEMBER
    for name, line in READINGS.items():
        if line.method == "member" and line.hierarchy == "range":
            yield name, LIKENESS, name
    arbitrary, joined = (
        "k-Member from arbitrary tuples",
        "k-Member from the furthest of the last that joined",
    )
    yield "furthest nucleus; k-Member from arbitrary tuples", "furthest nucleus", arbitrary
    yield f"furthest nucleus; {joined}", "furthest nucleus", joined
    yield f"k tuples beside the nucleus; {arbitrary}", AS_PRINTED, arbitrary
    yield "DGH (b) for k-Likeness alone", DGH_B, MEMBER
    yield "DGH (b) for both", DGH_B, "k-Member with DGH (b)"


def _readings(bench: Bench) -> Iterator[tuple[str, ...]]:
    for name, likeness, member in _pairs():
        yield _row(bench, name, likeness, member)


def _data(bench: Bench) -> Iterator[tuple[str, ...]]:
    yield _row(bench, "as they are", LIKENESS, MEMBER)
    names = {
        "filled": "every null filled by a rating drawn from the item's own",
        "thinned": "half of the ratings left out",
        "users": "half of the users drawn",
    }
    for way, name in names.items():
        yield _row(bench.changed(way), name, LIKENESS, MEMBER)


def _row(bench: Bench, name: str, likeness: str, member: str) -> tuple[str, ...]:
    column = "level" if name.startswith(_BY_LEVEL) else "loss"
    try:
        ratios = {k: _ratio(bench, column, likeness, member, k) for k in bench.ks}
    except Untestable as why:
        return name, "–", "–", "–", "–", str(why)
    own = [ratio for k, ratio in ratios.items() if k in _FROM_2_TO_7]
    try:
        work = _work(bench, likeness, member)
    except Untestable:
        work = float("nan")
    gives = []
    if own and max(abs(ratio - 1) for ratio in own) <= _SAME:
        gives.append("Fig. 12")
    if work > _FASTER:
        gives.append("Fig. 16")
    numbers = [min(own), max(own)] if own else [float("nan")] * 2
    numbers.append(sum(ratios.values()) / len(ratios))
    return (
        name,
        *("–" if np.isnan(x) else f"{x:.3f}" for x in numbers),
        "–" if np.isnan(work) else f"{work:.2f}",
        " and ".join(gives) or "neither",
    )


def _ratio(bench: Bench, column: str, likeness: str, member: str, k: int) -> float:
    losses = [
        [bench.losses(name, k, seed)[column].mean() for seed in bench.seeds]
        for name in (likeness, member)
    ]
    above, below = (float(np.mean(each)) for each in losses)
    return above / below if below else 1.0


def _work(bench: Bench, likeness: str, member: str) -> float:
    found = [bench.work(k, bench.seeds[0], likeness, member) for k in bench.ks]
    own = sum(float(part["nuclei"][0] + part["rest"][0]) for part in found)
    return sum(float(part["member"][0]) for part in found) / own


def _rest_of(bench: Bench) -> Iterator[Table]:
    """Return what the tuples left over take of k-Likeness's work, and k-Member's looked up anew."""
    rows = []
    for k in bench.ks:
        try:
            part = bench.work(k, bench.seeds[0])
        except Untestable:
            continue
        names: Sequence[str] = ("nuclei", "rest", "member", "anew", "mondrian")
        nuclei, rest, member, anew, mondrian = (float(part[name][0]) for name in names)
        cells = (f"{x:,.0f}" for x in (nuclei, rest, member, anew, mondrian))
        rows.append((f"{k}", *cells, f"{100 * rest / max(nuclei + rest, 1):.1f} %"))
    if rows:
        head = (
            "k",
            "k-Likeness, nuclei",
            "k-Likeness, left over",
            "k-Member",
            "k-Member, ranges anew",
            "Mondrian",
            "left over, of k-Likeness's",
        )
        yield Table("Cells compared by the plain algorithms", head, tuple(rows))
