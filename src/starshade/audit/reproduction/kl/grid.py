"""The open questions, as tables: which reading gives which figure; the work; kinds of code."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from starshade.anonymize.baselines import member_groups
from starshade.anonymize.k_likeness import likeness_groups
from starshade.anonymize.points import dense_levels, positions
from starshade.audit.reproduction.estimates import Floats, Untestable
from starshade.audit.reproduction.kl.bench import Bench
from starshade.audit.reproduction.kl.lines import LIKENESS, MEMBER, Line
from starshade.audit.reproduction.kl.naive import likeness, member, warm
from starshade.audit.reproduction.kl.readings import MOST, OF_LIKENESS, OF_MEMBER, Reading
from starshade.audit.reproduction.kl.work import likeness_distances, member_rows
from starshade.figure import Table
from starshade.kernels.arrays import Ints
from starshade.progress import task
from starshade.rng import generator

_SAME_KS = range(2, 8)
_NEAR = 0.05  # "the same", as for the claim
_FASTER = 3.0
_HEAD = (
    "reading",
    "GenILoss over k-Member's, k = 2…7",
    "mean over all k",
    "k-Member's cells over k-Likeness's",
    "reproduces",
)


@dataclass(frozen=True)
class _Pair:
    """What stands against each other; None: as-read."""

    name: str
    own: Reading | None = None  # of k-Likeness
    other: Reading | None = None  # of k-Member
    charged: tuple[str, str] = ("loss", "loss")  # what a cell costs


def reading_grid(bench: Bench) -> Table | None:
    """Hold each reading of k-Likeness against k-Member, and each of k-Member against k-Likeness.

    A cell of work is computed with a group's ranges kept, and once more with them recomputed.
    """
    rows = []
    pairs = [_Pair(name, own=reading) for name, reading in OF_LIKENESS.items()]
    pairs += [_Pair(name, other=reading) for name, reading in OF_MEMBER.items()]
    both = "furthest nuclei, against k-Member from drawn records"
    drawn = OF_MEMBER["k-Member from drawn records"]
    pairs += [
        _Pair(both, OF_LIKENESS["nuclei furthest from the last"], drawn),
        _Pair("nulls charged nothing", charged=("rated", "rated")),
    ]
    sets = OF_MEMBER["k-Member released by NDGH"]
    both = "both released by NDGH, nulls charged nothing"
    pairs.append(_Pair(both, other=sets, charged=("rated", "rated")))
    if bench.table.scale.step is not None:
        by_width = "sets charged by their members, ranges by width"
        pairs.append(_Pair(by_width, charged=("members", "loss")))
        by_members = "both released by NDGH and charged by their members"
        pairs.append(_Pair(by_members, other=sets, charged=("members", "members")))
    with task("trying readings", len(pairs)) as step:
        for pair in pairs:
            losses = _losses(bench, pair)
            if losses is not None:
                rows.append(_row(bench, pair, *losses))
            step(1)
    if not rows:
        return None
    closest = _closest(bench)
    if closest is not None:
        rows.append(closest)
    return Table("Readings of k-Likeness and of k-Member (Figs 12 and 16)", _HEAD, tuple(rows))


def _closest(bench: Bench) -> tuple[str, ...] | None:
    """Return the row of that combination of readings of which Fig. 12 is least far from even."""
    charges = {"": ("loss", "loss"), "nulls charged nothing": ("rated", "rated")}
    if bench.table.scale.step is not None:
        charges["sets charged by their members"] = ("members", "loss")
        charges["cells charged by their members"] = ("members", "members")
    pairs = [
        _Pair("; ".join(filter(None, (one, other, words))), own, against, charged)
        for one, own in OF_LIKENESS.items()
        for other, against in {"": None, **OF_MEMBER}.items()
        for words, charged in charges.items()
    ]
    narrow = replace(bench, ks=tuple(k for k in bench.ks if k in _SAME_KS))
    found: list[tuple[float, int, _Pair]] = []
    for pair in pairs:
        losses = _losses(narrow, pair)
        if losses is not None and (losses[2] > 0).all():
            found.append((float(np.abs(losses[1] / losses[2] - 1).max()), len(found), pair))
    if not found:
        return None
    pair = min(found)[2]
    own = replace(pair, name=f"closest to even of all {len(pairs)} combinations: {pair.name}")
    losses = _losses(bench, own)
    assert losses is not None
    return _row(bench, own, *losses)


def _losses(bench: Bench, pair: _Pair) -> tuple[list[int], Floats, Floats] | None:
    """Return the k, and both losses at each, means over the runs; None where one is refused."""
    lines = []
    for name, reading in ((LIKENESS, pair.own), (MEMBER, pair.other)):
        line = bench.line(name)
        if reading is not None and reading != OF_LIKENESS["as-read"]:
            line = Line(name, line.method, reading.hierarchy, reading=reading)
        lines.append(line)
    found: dict[int, tuple[float, float]] = {}
    for k in bench.ks:
        losses = []
        for line, figure in zip(lines, pair.charged, strict=True):
            curve = [bench.curve(line, k, run, figure) for run in range(len(bench.seeds))]
            means = [float(one.mean()) for one in curve if one is not None]
            if figure == "members":  # a set of one has lost nothing, that of all values all
                means = [(mean - 1) / len(bench.table.scale.levels) for mean in means]
            losses.append(means)
        if all(losses):
            found[k] = (float(np.mean(losses[0])), float(np.mean(losses[1])))
    if not found:
        return None
    return list(found), *np.array(list(found.values())).T


def _row(
    bench: Bench, pair: _Pair, ks: Sequence[int], mine: Floats, others: Floats
) -> tuple[str, ...]:
    ratios = np.divide(mine, others, out=np.ones(len(ks)), where=others > 0)
    small = [ratio for k, ratio in zip(ks, ratios.tolist(), strict=True) if k in _SAME_KS]
    n = bench.table.n_users
    tuples = [k if pair.own is not None and pair.own.tuples == "k" else k - 1 for k in ks]
    kept, anew = (
        sum(member_rows(n, k, anew=each) for k in ks)
        / max(1, sum(sum(likeness_distances(n, k, t)[:2]) for k, t in zip(ks, tuples, strict=True)))
        for each in (False, True)
    )
    same = bool(small) and all(abs(ratio - 1) <= _NEAR for ratio in small)
    gives = [f"Fig. {number}" for number, it in ((12, same), (16, kept > _FASTER)) if it]
    return (
        pair.name,
        f"{min(small):.3f} to {max(small):.3f}" if small else "–",
        f"{ratios.mean():.3f}",
        f"{kept:.1f} (recomputed {anew:.1f})",
        " and ".join(gives) or "neither",
    )


def work_grid(bench: Bench) -> Table | None:
    """Say what each algorithm does at every k."""
    kept, anew = bench.work(), bench.work("anew")
    if not kept:
        return None
    head = (
        "k",
        "k-Likeness: distances from nuclei",
        "for leftover records",
        "cells",
        "k-Member: cells",
        "with ranges recomputed",
        "Mondrian: cells",
    )
    rows = tuple(
        (
            str(one.k),
            *(f"{n:,}" for n in (one.forming, one.joining, one.likeness, one.member)),
            f"{other.member:,}",
            f"{one.mondrian:,}",
        )
        for one, other in zip(kept, anew, strict=True)
    )
    return Table("What each algorithm does (Fig. 16)", head, rows)


@dataclass(frozen=True)
class _Code:
    """One kind of code, and both algorithms in it; each: k → what runs."""

    name: str
    likeness: Callable[[int], Any]
    member: Callable[[int], Any]
    ks: tuple[int, ...]


_INTERPRETED_AT, _INTERPRETED_MOST = (5, 20), 1_000  # k, and records: seconds each
_REPEATS = 3


def code_times(bench: Bench) -> Iterator[dict[str, Any]]:
    """Time k-Likeness and k-Member in the same kind of code: as printed, compiled or not; ours."""
    warm()
    for code in _codes(bench):
        for k in code.ks:
            seconds = [_seconds(run, k) for run in (code.likeness, code.member)]
            yield {"code": code.name, "k": k, "k-likeness": seconds[0], "k-member": seconds[1]}


def in_the_same_code(codes: Sequence[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Sum seconds over all k, by kind of code."""
    found = {}
    for code in dict.fromkeys(row["code"] for row in codes):
        own = [row for row in codes if row["code"] == code]
        one, other = (sum(row[key] for row in own) for key in ("k-likeness", "k-member"))
        ratio = {"k-Member's over k-Likeness's (no seconds)": other / one} if one else {}
        found[f"all k, {code}"] = {LIKENESS: one, MEMBER: other} | ratio
    return found


def _seconds(run: Callable[[int], Any], k: int) -> float:
    taken, last = [], 0.0
    for _ in range(_REPEATS):
        if last < 1.0:  # what takes long is not done again
            started = perf_counter()
            run(k)
            last = perf_counter() - started
            taken.append(last)
    return median(taken)


def _codes(bench: Bench) -> Iterator[_Code]:
    table = bench.table
    matrix = dense_levels(table, copies=6)
    order = generator(bench.seed, "kl times").permutation(table.n_users)
    fits = tuple(k for k in bench.ks if 2 * k <= table.n_users)
    few = tuple(k for k in fits if k in _INTERPRETED_AT) or fits[-1:]
    for name, at, most in (
        ("as printed, compiled", fits, MOST),
        ("as printed, interpreted", few, _INTERPRETED_MOST),
    ):
        if table.n_users > most:
            continue
        yield _Code(name, *_as_printed(bench, order, interpreted=at is few), at)
    yield _Code(
        "starshade's own",
        lambda k: likeness_groups(matrix, k, order),
        lambda k: member_groups(matrix, k, order),
        fits,
    )


def _as_printed(
    bench: Bench, order: Ints, *, interpreted: bool
) -> tuple[Callable[[int], Any], Callable[[int], Any]]:
    table, reading = bench.table, OF_LIKENESS["as-read"]
    places = positions(dense_levels(table, copies=6))[0].astype(np.int64)
    both: list[Any] = [likeness, member]
    if interpreted:  # what is not compiled at all has no other face
        both = [getattr(each, "py_func", each) for each in both]

    def of_likeness(k: int) -> Any:
        return both[0](*reading.arguments(table, k, order))

    def of_member(k: int) -> Any:
        return both[1](places, k, order, True, False)

    if not interpreted:
        of_likeness(2), of_member(2)
    return of_likeness, of_member


def grids(bench: Bench) -> tuple[Table, ...]:
    """Return all of them that the data allow."""
    try:
        found = (reading_grid(bench), work_grid(bench))
    except Untestable:
        return ()
    return tuple(each for each in found if each is not None)
