"""Which reading of PA gives both 2.377 (Table 1) and 1.175 (Table 3) for `simple`: a grid."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import log, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.audit.reproduction.estimates import Estimate, Untestable, estimate
from starshade.audit.reproduction.pa import looks
from starshade.audit.reproduction.pa.bench import Bench
from starshade.audit.reproduction.pa.configurations import LINES, SIMPLE
from starshade.audit.reproduction.pa.measures import ORIGINAL_RMSE, SIMILAR_USER, TARGET
from starshade.audit.reproduction.pa.released import PerUser, as_ratings
from starshade.audit.reproduction.parts import Part
from starshade.errors import ConfigError
from starshade.figure import Table
from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings
from starshade.recommend.means import item_means
from starshade.recommend.padded import dissimilarities
from starshade.recommend.registry import Fitted
from starshade.recommend.settings import Dissimilarity
from starshade.release.profiles import Profiles
from starshade.release.table import Release
from starshade.utility.held_out.nearest import SAME, padded_rows, sample_within
from starshade.utility.held_out.probe import Probe, linked_probe
from starshade.utility.held_out.recommender_error import fitting, trained

Floats = NDArray[np.float64]
_COMPARED = 500  # who are compared with every profile
_CELLS = 1 << 22  # written out at once
_MOST = 100_000_000  # cells of profiles, read as numbers all at once
OWN = "one's own"
#: how the most similar profile is found → (the user's row, the profile's nulls, dissimilarity)
_SIMILAR: Mapping[str, tuple[str, bool, Dissimilarity]] = {
    "nearest, on items rated by both": ("rated", False, "weighted-sq"),
    "nearest, on items rated by both, closeness-1.0": ("rated", False, "closeness-1.0"),
    "nearest, padded row on the profile's non-null cells": ("padded", False, "weighted-sq"),
    "nearest, nulls as 0 on both sides": ("zero", True, "weighted-sq"),
}
FILLS = (
    "0",
    "left out",
    "the scale's middle",
    "the profile's mean",
    "the item's mean",
    "prediction of a recommender trained on the release",
    "prediction of the padding recommender",
)


def readings(bench: Bench, k: int, seed: int) -> Part:
    """Add up squared errors of `simple` under every reading, by user: "profile | null"."""

    def read() -> Part:
        cells = bench.ratings.n_users // k * bench.ratings.n_items
        if cells > _MOST:
            return {"refused": np.array(f"more than {_MOST:,} profile cells are not read")}
        release = looks.made(bench, SIMPLE, k, seed)
        train, probe = bench.held(seed)
        linked = linked_probe(release, train, probe)
        assert linked is not None
        return _read(release, train, _some(train, linked, release, seed), k, seed)

    return bench.of(f"readings of simple, k = {k}, seed {seed}", read)


def _some(train: Ratings, probe: Probe, release: Release, seed: int) -> Probe:
    """Keep the pairs of some users."""
    work = release.classes.n_groups * train.n_items * len(_SIMILAR)
    users = sample_within(train, np.unique(probe.users), _COMPARED, work, seed)
    at = np.isin(probe.users, users)
    return Probe(
        probe.users[at], probe.items[at], probe.rows[at], probe.columns[at], probe.values[at], 0
    )


def _read(release: Release, train: Ratings, probe: Probe, k: int, seed: int) -> Part:
    profiles, model = release.classes, LINES[SIMPLE].at(k).padding()
    assert isinstance(profiles, Profiles)
    fitted = trained(model, train, seed)
    table = as_ratings(profiles, np.arange(profiles.n_groups))
    try:
        again: Fitted | None = fitting(model, table).fit(table, rng=seed)
    except ConfigError:
        again = None
    users = PerUser(probe)
    base = fitted.predict(probe.users, probe.items)
    off = (base - probe.values) ** 2
    out = {"n": users.sum(np.ones(len(off))), "original": users.sum(off)}
    for name, rows in _profiles_of(profiles, train, probe, users, fitted):
        level = profiles.levels[rows, probe.columns]
        shown = level > 0
        said = np.append(0.0, profiles.ratings)[level]
        for fill, values in _fills(profiles, train, probe, rows, again).items():
            off = (np.where(shown, said, base if values is None else values) - probe.values) ** 2
            out[f"{name} | {fill}"] = users.sum(off)
        off = (said - probe.values) ** 2
        out[f"{name} | left out"] = users.sum(off * shown)
        out[f"{name} | shown"] = users.sum(shown)
    out["nulls"] = np.array([1 - profiles.n_rated().sum() / profiles.levels.size])
    return out


def _fills(
    profiles: Profiles,
    train: Ratings,
    probe: Probe,
    rows: NDArray[np.int64],
    again: Fitted | None,
) -> dict[str, Any]:
    """Return what a null is read as; None: as the recommender that pads has it."""
    levels = profiles.levels
    sums = np.append(0.0, profiles.ratings)[levels].sum(1)
    own = sums / np.maximum(1, (levels > 0).sum(1))
    zero, left, middle, mean, item, learned, pads = FILLS
    del left
    out = {
        zero: np.float64(train.scale.null_level),
        middle: np.float64((train.scale.minimum + train.scale.maximum) / 2),
        mean: own[rows],
        item: item_means(train)[probe.items],
        pads: None,
    }
    if again is not None:
        out[learned] = again.predict(rows, probe.columns)
    return out


def _profiles_of(
    profiles: Profiles, train: Ratings, probe: Probe, users: PerUser, fitted: Fitted
) -> Iterator[tuple[str, NDArray[np.int64]]]:
    """Return for each way to choose a profile the one of each pair."""
    yield OWN, probe.rows
    columns = train.items.indices(profiles.items)
    for name, (row, zero, how) in _SIMILAR.items():
        nearest = np.empty(len(users.users), np.int64)
        size = max(1, _CELLS // train.n_items)
        for first in range(0, len(nearest), size):
            block = users.users[first : first + size]
            own = _rows(row, train, fitted, block)[:, columns]
            away = np.concatenate(
                [
                    dissimilarities(own, _shown(profiles, low, size, zero), how, _wide(train, zero))
                    for low in range(0, profiles.n_groups, size)
                ],
                axis=1,
            )
            ties = away <= away.min(1, keepdims=True) + SAME
            nearest[first : first + size] = ties.argmax(1)  # profiles are in no order of meaning
        yield name, nearest[users.of_pair]


def _rows(row: str, train: Ratings, fitted: Fitted, users: NDArray[np.int64]) -> Floats:
    if row == "padded":
        return padded_rows(fitted, train, users)
    rated = train.keep_users(users).dense()
    return np.nan_to_num(rated, nan=train.scale.null_level) if row == "zero" else rated


def _shown(profiles: Profiles, low: int, size: int, zero: bool) -> Floats:
    values = profiles.values(np.arange(low, min(low + size, profiles.n_groups)))
    return np.nan_to_num(values, nan=profiles.scale.null_level) if zero else values


def _wide(train: Ratings, zero: bool) -> Scale:
    scale = train.scale
    return Scale(scale.null_level, scale.maximum) if zero else scale


_THEIRS = (TARGET["simple", 50] / ORIGINAL_RMSE, SIMILAR_USER["simple", 50] / ORIGINAL_RMSE)


def readings_table(bench: Bench) -> Table:
    """Return the grid at the k whose share of nulls is nearest to the paper's, and the answer."""
    k = min(
        bench.ks, key=lambda k: abs(float(readings(bench, k, bench.seeds[0])["nulls"][0]) - 0.8)
    )
    runs = [readings(bench, k, seed) for seed in bench.seeds]
    names = (OWN, *_SIMILAR)
    found = {
        (name, fill): each
        for name in names
        for fill in FILLS
        if (each := _reading(runs, name, fill, bench.seeds[0])) is not None
    }
    rows = [
        (fill, *(found[name, fill].text if (name, fill) in found else "–" for name in names))
        for fill in FILLS
    ]
    nulls = float(np.mean([run["nulls"][0] for run in runs]))
    title = (
        f"Tables 1 and 3, simple at k = {k} ({nulls:.0%} of the cells null; 80 % in the paper): "
        f"RMSE over the original's ({_THEIRS[0]:.4g} and {_THEIRS[1]:.4g} in the paper)"
    )
    answers = _answers({pair: each.value for pair, each in found.items()})
    blank = ("",) * (len(names) - 1)
    return Table(
        title,
        ("a null is read as", *names),
        (*rows, *((head, text, *blank) for head, text in answers)),
    )


def _reading(runs: Any, name: str, fill: str, seed: int) -> Estimate | None:
    key, count = f"{name} | {fill}", f"{name} | shown" if fill == "left out" else "n"
    if not all(key in run and run[count].sum() for run in runs):
        return None
    columns = {"off": key, "n": count, "original": "original", "all": "n"}
    return estimate(
        [{short: run[column] for short, column in columns.items()} for run in runs],
        lambda m: sqrt(m["off"] / m["n"] / (m["original"] / m["all"])),
        seed=seed,
        draws=300,
    )


def _answers(found: Mapping[tuple[str, str], float]) -> Iterator[tuple[str, str]]:
    """Say which readings come nearest to each table, and which one of a null to both."""
    if not found:
        raise Untestable("no interpretation can be tested")

    def off(pair: tuple[str, str], table: int) -> float:
        return abs(log(found[pair] / _THEIRS[table])) if found[pair] > 0 else float("inf")

    own = [pair for pair in found if pair[0] == OWN]
    near = [pair for pair in found if pair[0] != OWN]
    for table, pairs, head in ((0, own, "Table 1"), (1, near, "Table 3")):
        best = min(pairs, key=lambda pair: off(pair, table))
        yield f"nearest to {head}", _said(best, found[best], _THEIRS[table])
    both = min(
        ((a, b) for a in own for b in near if a[1] == b[1]),
        key=lambda ab: max(off(ab[0], 0), off(ab[1], 1)),
    )
    worst = max(off(both[0], 0), off(both[1], 1))
    tolerable = "gives both" if worst <= _NEAR else "none gives both within a twentieth"
    yield (
        "nearest to both",
        f"{tolerable}: {_said(both[0], found[both[0]], _THEIRS[0])}; "
        f"{_said(both[1], found[both[1]], _THEIRS[1])}",
    )


_NEAR = 0.05


def _said(pair: tuple[str, str], value: float, theirs: float) -> str:
    return f"{pair[0]}, null as {pair[1]}: {value:.4g} against {theirs:.4g}"
