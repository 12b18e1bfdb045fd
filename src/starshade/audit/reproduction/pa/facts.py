"""What the claims on padding, groups, work and privacy are judged by."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from starshade.attack.link_existence.link_existence import link_existence_bound
from starshade.audit.reproduction.estimates import Estimate, Untestable, estimate
from starshade.audit.reproduction.pa import looks
from starshade.audit.reproduction.pa.bench import Bench
from starshade.audit.reproduction.pa.configurations import AT_ONCE, PRINTED, READ, SIMPLE
from starshade.audit.reproduction.pa.measures import Means, View, scalars
from starshade.audit.reproduction.pa.padding import HISTOGRAM, PAPERS, histogram_of
from starshade.ratings.table import Ratings
from starshade.recommend.padded import dissimilarities
from starshade.recommend.settings import Dissimilarity

BIN_SIZES = {"virtual": (200, 900), "real": (50, 2000)}  # §4.2, about
_ATTACKS = ("structure", "label")


def _popularity(train: Ratings) -> Mapping[str, Any]:
    """Return each user's chance to be named by one item: the least and the most rated of theirs."""
    live = np.flatnonzero(train.user_support)
    starts = train.indptr[live]
    support = train.item_support[train.columns].astype(np.float64)
    return {
        "rare": 1 / np.minimum.reduceat(support, starts),
        "popular": 1 / np.maximum.reduceat(support, starts),
    }


def _unpopular(bench: Bench, way: str) -> Estimate:
    runs = [_popularity(bench.held(seed)[0]) for seed in bench.seeds]
    return estimate(runs, lambda m: m["rare"] / m["popular"], seed=bench.seeds[0])


def _attacked(bench: Bench, seed: int) -> Mapping[str, Any]:
    return looks.attacked(bench, "", 1, seed)


def _sparsity(bench: Bench, way: str) -> Estimate:
    thin = bench.changed("thinned")
    runs = [
        {f"{name}{end}": _attacked(own, seed)[f"structure{end}"]
         for name, own in (("all", bench), ("half", thin)) for end in ("", " n")}
        for seed in bench.seeds
    ]  # fmt: skip
    return _chances(runs, "half", "all", bench.seeds[0])


def _labels(bench: Bench, way: str) -> Estimate:
    runs = [_attacked(bench, seed) for seed in bench.seeds]
    return _chances(runs, "label", "structure", bench.seeds[0])


def _chances(runs: Sequence[Mapping[str, Any]], above: str, below: str, seed: int) -> Estimate:
    own = [{name: run[name] for name in run if "bound" not in name} for run in runs]
    return estimate(
        own,
        lambda m: m[above] / m[f"{above} n"] / (m[below] / m[f"{below} n"]),
        seed=seed,
    )


def _exact(read: Callable[[Bench, int, int], float], pick: Callable[..., float]) -> Any:
    """Count what is read of every k and seed."""

    def measure(bench: Bench, way: str) -> Estimate:
        own = View.of(bench, way).bench
        found = (float(read(own, k, seed)) for k in bench.ks for seed in bench.seeds)
        return Estimate.exact(pick(found))

    return measure


def _whole(
    part: Callable[[View, int], Mapping[str, Any]], statistic: Callable[[Means], float]
) -> Any:
    """Estimate from figures of whole releases."""

    def measure(bench: Bench, way: str) -> Estimate:
        view = View.of(bench, way)
        return scalars(view.bench, lambda seed: part(view, seed), statistic)

    return measure


def _named(bench: Bench, k: int, seed: int) -> float:
    parts = [looks.attacked(bench, line, k, seed) for line in (READ, SIMPLE)]
    return max(k * float(part[f"{attack} bound"][0]) for part in parts for attack in _ATTACKS)


def _links(read: Callable[[Mapping[str, float]], float]) -> Any:
    """Read what is known of links, where raters are independent, as the theorems assume."""

    def measure(bench: Bench, way: str) -> Estimate:
        view = View.of(bench, way)
        asked = _at_least if way == "at least" else read

        def of_seed(seed: int) -> Mapping[str, Any]:
            return {
                f"{name} {k}": found
                for k in view.ks
                for name, found in looks.links(view.bench, SIMPLE, k, seed, "independent").items()
            }

        def greatest(m: Mapping[str, float]) -> float:
            return max(
                asked({key.split()[0]: m[key] for key in m if key.endswith(f" {k}")})
                for k in view.ks
            )

        return scalars(view.bench, of_seed, greatest)

    return measure


def _at_least(m: Mapping[str, float]) -> float:
    return m["below"] / m["links"]


def _expected(m: Mapping[str, float]) -> float:
    if not m["rare_bound"]:
        raise Untestable("every item is rated by more than one in k users")
    return m["rare_true"] / m["rare_bound"]


def _rare_items(bench: Bench, way: str) -> Estimate:
    view = View.of(bench, way)
    support, m = view.bench.ratings.item_support, view.bench.ratings.n_users
    return Estimate.exact(min(float((support[support > 0] * k <= m).mean()) for k in view.ks))


def _missing(bench: Bench, k: int, seed: int) -> float:
    """Share of null cells that nobody of the group rated: nulls and links are counted apart."""
    part, linked = bench.release(SIMPLE, k, seed), looks.links(bench, SIMPLE, k, seed)
    shown = 1 - float(part["nulls"][0])
    cells = float(part["records"][0]) * bench.ratings.n_items
    hidden = float(linked["links"][0]) - shown * cells  # rated, and not shown
    return 1 - max(0.0, round(hidden)) / max(1.0, cells * (1 - shown))


def _few_groups(bench: Bench, way: str) -> Estimate:
    view = View.of(bench, way)
    runs: list[dict[str, Any]] = [
        {str(k): looks.links(view.bench, SIMPLE, k, seed)["groups"] < 2 for k in view.ks}
        for seed in view.bench.seeds
    ]
    return estimate(runs, lambda m: min(m.values()), seed=bench.seeds[0], of="item")


def _obscured(bench: Bench, way: str) -> Estimate:
    return View.of(bench, way).over_k(
        {"padded": (READ, "actual"), "simple": (SIMPLE, "actual")},
        lambda m: m["padded"] / m["simple"],
        min,
    )


def histogram(bench: Bench, seed: int) -> Mapping[str, Any]:
    """Return the shares of the cells by rating before and after padding, null first."""

    def count() -> Mapping[str, Any]:
        why = np.array("a scale without steps has no levels to count")
        return histogram_of(looks.padded_of(bench, READ, seed), seed) or {"refused": why}

    return bench.of(f"histogram, seed {seed}", count)


def _histogram_off(when: str, place: int) -> Any:
    def measure(bench: Bench, way: str) -> Estimate:
        if bench.ratings.scale != PAPERS:
            raise Untestable("the paper's scale is 1 to 5")
        theirs = np.array([HISTOGRAM[level][place] for level in range(6)]) / 100
        return scalars(bench, lambda seed: {
            "off": np.abs(histogram(bench, seed)[when] - theirs).max(keepdims=True)
        }, lambda m: m["off"])  # fmt: skip

    return measure


def _moved(view: View, seed: int) -> Mapping[str, Any]:
    found = histogram(view.bench, seed)
    before, after = found["before"][1:], found["after"][1:]
    return {"moved": np.array(np.abs(before / before.sum() - after / after.sum()).sum() / 2)}


def _skew(view: View, seed: int) -> Mapping[str, Any]:
    found = looks.bins(view.bench, view.line, seed)
    return {name: np.array(found[name].std() / found[name].mean()) for name in found}


def _bin_sizes(view: View, seed: int) -> Mapping[str, Any]:
    found = looks.bins(view.bench, view.line, seed)
    ends = [
        max(int(end), 1) / theirs
        for name, own in BIN_SIZES.items()
        for end, theirs in zip((found[name].min(), found[name].max()), own, strict=True)
    ]
    return {"off": np.array(max(max(end, 1 / end) for end in ends))}


def _of_pairs(read: Callable[[Mapping[str, Any]], float]) -> Any:
    def found(view: View, seed: int) -> Mapping[str, Any]:
        part = looks.pairs(view.bench, view.line, view.ks[-1], seed)
        try:
            return {"read": np.array(read(part))}
        except KeyError:
            raise Untestable("no pairs within clusters") from None

    return _whole(found, lambda m: m["read"])


def _shift(part: Mapping[str, Any]) -> float:
    return max(float(part[f"{m} within"][0] / part[f"{m} before"][0]) for m in looks.METRICS)


def _filled(part: Mapping[str, Any], metric: str) -> float:
    return float(1 / (part[f"{metric} before shares"] ** 2).sum())


def _sim_exceptions(bench: Bench, way: str) -> Estimate:
    rows = np.array(list(product(range(1, 6), repeat=2)), np.float64)
    away = dissimilarities(rows, rows, "weighted-sq", PAPERS)
    equal = (rows[:, None] == rows[None]).all(2)
    opposite = (np.abs(rows[:, None] - rows[None]) == 4).all(2)
    wrong = ((away < 1e-12) != equal) | ((away > 1 - 1e-12) != opposite)
    return Estimate.exact(float(wrong.sum()))


def _penalty(bench: Bench, way: str) -> Estimate:
    name: Dissimilarity = "euclidean" if way == "squared" else "weighted-sq"
    ends = np.array([[1.0], [3.0], [5.0]])
    away = dissimilarities(ends[:1], ends, name, PAPERS)[0] ** (2 if way == "squared" else 1)
    return Estimate.exact(float((away[2] - away[1]) / (away[1] - away[0])))


def _exponent(bench: Bench, way: str) -> Estimate:
    if bench.ratings.n_users < _MANY:
        raise Untestable(f"with fewer than {_MANY} users a quarter has too few bins")

    def counted(seed: int) -> Mapping[str, Any]:
        return {
            name: looks.work(bench, PRINTED, bench.least_k, seed, share)["distances"]
            for name, share in (("all", 1), ("some", 4))
        }

    return scalars(bench, counted, lambda m: float(np.log(m["all"] / m["some"]) / np.log(4)))


_MANY = 400


def _speed_up(view: View, seed: int) -> Mapping[str, Any]:
    k = view.ks[0]
    return {
        "theirs": looks.work(view.bench, READ, k, seed)["distances"],
        "at once": looks.work(view.bench, AT_ONCE, k, seed)["distances"],
    }


def _overlap(bench: Bench, way: str) -> Estimate:
    own = View.of(bench, way).bench
    runs = [looks.overlap(own, seed) for seed in own.seeds]
    return estimate(runs, lambda m: m["overlap"], seed=bench.seeds[0])


def _so(view: View, seed: int) -> Mapping[str, Any]:
    """Return the share of what is shown of a user that is so: the link, and then the rating."""
    out = {}
    for k in view.ks:
        part = view.bench.release(SIMPLE, k, seed)
        rating = part["actual_right"].sum() / part["actual_n"].sum()
        out[str(k)] = looks.links(view.bench, SIMPLE, k, seed)["mean"] * rating
    return out


def _gigabytes(bench: Bench, way: str) -> Estimate:
    return Estimate.exact(4e-9 * bench.ratings.n_users * bench.ratings.n_items)


def _bound_at(p: Callable[[int], float], pick: Callable[..., float]) -> Any:
    def measure(bench: Bench, way: str) -> Estimate:
        bounds = [k * float(link_existence_bound(p(k), k)) for k in range(2, 51)]
        return Estimate.exact(pick(bounds))

    return measure


def _farthest_from_2(values: Sequence[float]) -> float:
    return max(values, key=lambda value: abs(value - 2))


FACTS: Mapping[str, Callable[[Any, str], Estimate]] = {
    "pa-02": _histogram_off("before", 0),
    "pa-07": _gigabytes,
    "pa-19": _exact(lambda bench, k, seed: bench.release(READ, k, seed)["nulls"][0], max),
    "pa-20": _histogram_off("after", 1),
    "pa-21": _whole(_moved, lambda m: m["moved"]),
    "pa-22": _whole(_skew, lambda m: m["virtual"] / m["real"]),
    "pa-23": _whole(_bin_sizes, lambda m: m["off"]),
    "pa-24": _whole(
        lambda view, seed: looks.sample_clusters(view.bench, READ, seed),
        lambda m: m["bounded"] / m["free"],
    ),
    "pa-25": _of_pairs(_shift),
    "pa-26": _of_pairs(lambda p: float(p["closeness-1.0 before"][0] / p["weighted-sq before"][0])),
    "pa-27": _of_pairs(lambda p: _filled(p, "weighted-sq") / _filled(p, "closeness-1.0")),
    "pa-29": _sim_exceptions,
    "pa-30": _penalty,
    "pa-42": _bound_at(lambda k: 1 / k, _farthest_from_2),
    "pa-43": _bound_at(lambda k: 1e-9, lambda bounds: max(bounds) - 1),
    "pa-51": _exponent,
    "pa-52": _whole(_speed_up, lambda m: m["at once"] / m["theirs"]),
    "pa-03": _unpopular,
    "pa-04": _sparsity,
    "pa-05": _labels,
    "pa-38": _exact(lambda bench, k, seed: bench.release(READ, k, seed)["smallest"][0] / k, min),
    "pa-39": _exact(_named, max),
    "pa-40": _links(lambda m: m["above"] / m["links"]),
    "pa-41": _links(_expected),
    "pa-44": _rare_items,
    "pa-46": _exact(_missing, min),
    "pa-47": _few_groups,
    "pa-48": _exact(
        lambda bench, k, seed: looks.diverse(bench, SIMPLE, k, seed, 1, 2)["repaired"][0] / 2, min
    ),
    "pa-55": _overlap,
    "pa-56": _whole(
        lambda view, seed: looks.represented(view.bench, view.line, seed),
        lambda m: m["outside"] / m["inside"],
    ),
    "pa-57": _whole(_so, lambda m: 1 - max(m.values())),
    "pa-49": _obscured,
    "pa-50": _exact(lambda bench, k, seed: bench.release(READ, k, seed)["shown_by_all"][0], min),
}
