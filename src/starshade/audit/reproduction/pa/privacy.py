"""What the claims on privacy are judged by (§3, §5, §6.2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from starshade.audit.reproduction.claims import Estimate, Untestable, estimate
from starshade.audit.reproduction.pa import looks
from starshade.audit.reproduction.pa.bench import Bench
from starshade.audit.reproduction.pa.configurations import READ, SIMPLE
from starshade.audit.reproduction.pa.measures import View, scalars
from starshade.ratings.table import Ratings

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

    def both(seed: int) -> Mapping[str, Any]:
        return {"all": _attacked(bench, seed)["structure"],
                "half": _attacked(thin, seed)["structure"]}  # fmt: skip

    return scalars(bench, both, lambda m: m["half"] / m["all"])


def _labels(bench: Bench, way: str) -> Estimate:
    return scalars(
        bench, lambda seed: _attacked(bench, seed), lambda m: m["label"] / m["structure"]
    )


def _smallest(bench: Bench, way: str) -> Estimate:
    sizes = [
        float(bench.release(READ, k, seed)["smallest"][0]) / k
        for k in bench.ks
        for seed in bench.seeds
    ]
    return Estimate.exact(min(sizes))


def _named(bench: Bench, way: str) -> Estimate:
    chances = [
        k * float(looks.attacked(bench, line, k, seed)[f"{attack} bound"][0])
        for k in bench.ks
        for seed in bench.seeds
        for line in (READ, SIMPLE)
        for attack in _ATTACKS
    ]
    return Estimate.exact(max(chances))


def _links(read: Callable[[Mapping[str, float]], float]) -> Any:
    def measure(bench: Bench, way: str) -> Estimate:
        view = View.of(bench, way)
        drawn = way if way == "independent" else ""

        def found(seed: int) -> Mapping[str, Any]:
            names = ("links", "above", "rare_true", "rare_bound")
            return {
                f"{name} {k}": looks.links(view.bench, SIMPLE, k, seed, drawn)[name]
                for k in view.ks
                for name in names
            }

        def greatest(m: Mapping[str, float]) -> float:
            return max(
                read({key.split()[0]: m[key] for key in m if key.endswith(f" {k}")})
                for k in view.ks
            )

        return scalars(view.bench, found, greatest)

    return measure


def _above(bench: Bench, way: str) -> Estimate:
    if way == "one rater":  # of a group of g one of g rated it: 1/g, by counting
        return Estimate.exact(0.0)
    found: Estimate = _links(lambda m: m["above"] / m["links"])(bench, way)
    return found


def _expected(m: Mapping[str, float]) -> float:
    if not m["rare_bound"]:
        raise Untestable("every item is rated by more than one in k users")
    return m["rare_true"] / m["rare_bound"]


def _rare_items(bench: Bench, way: str) -> Estimate:
    view = View.of(bench, way)
    support, m = view.bench.ratings.item_support, view.bench.ratings.n_users
    return Estimate.exact(min(float((support[support > 0] * k <= m).mean()) for k in view.ks))


def _missing(bench: Bench, way: str) -> Estimate:
    """Share of null cells that nobody of the group rated: nulls and links are counted apart."""
    shares = []
    for k in bench.ks:
        for seed in bench.seeds:
            part = bench.release(SIMPLE, k, seed)
            shown = 1 - float(part["nulls"][0])
            linked = looks.links(bench, SIMPLE, k, seed)
            cells = float(part["records"][0]) * bench.ratings.n_items
            hidden = float(linked["links"][0]) - shown * cells  # rated, and not shown
            shares.append(1 - max(0.0, round(hidden)) / max(1.0, cells * (1 - shown)))
    return Estimate.exact(min(shares))


def _few_groups(bench: Bench, way: str) -> Estimate:
    view = View.of(bench, way)

    def found(seed: int) -> Mapping[str, Any]:
        return {
            str(k): np.array((looks.links(view.bench, SIMPLE, k, seed)["groups"] < 2).mean())
            for k in view.ks
        }

    return scalars(view.bench, found, lambda m: min(m.values()))


def _repaired(bench: Bench, way: str) -> Estimate:
    found = [
        float(looks.diverse(bench, SIMPLE, k, seed, 1, 2)["repaired"][0]) / 2
        for k in bench.ks
        for seed in bench.seeds
    ]
    return Estimate.exact(min(found))


def _obscured(bench: Bench, way: str) -> Estimate:
    return View.of(bench, way).over_k(
        {"padded": (READ, "actual"), "simple": (SIMPLE, "actual")},
        lambda m: m["padded"] / m["simple"],
        min,
    )


def _by_all(bench: Bench, way: str) -> Estimate:
    return Estimate.exact(min(
        float(bench.release(READ, k, seed)["shown_by_all"][0])
        for k in bench.ks for seed in bench.seeds
    ))  # fmt: skip


PRIVACY = {
    "pa-03": _unpopular,
    "pa-04": _sparsity,
    "pa-05": _labels,
    "pa-38": _smallest,
    "pa-39": _named,
    "pa-40": _above,
    "pa-41": _links(_expected),
    "pa-44": _rare_items,
    "pa-46": _missing,
    "pa-47": _few_groups,
    "pa-48": _repaired,
    "pa-49": _obscured,
    "pa-50": _by_all,
}
