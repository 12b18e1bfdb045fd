"""Parts beside errors: pairs, bins and padded values, attacks, links, items, and work."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.anonymize.order import seeded_order
from starshade.anonymize.predictive.bins import cluster_sample, group_users
from starshade.anonymize.predictive.clusters import (
    Distances,
    bounded_t_means,
    factored,
    written_out,
)
from starshade.attack.candidates.candidates import LabelAttack, StructureAttack
from starshade.attack.knowledge import Knowledge
from starshade.attack.link_existence import link_existence_bound
from starshade.audit.reproduction.claims import Untestable
from starshade.audit.reproduction.pa.bench import Bench
from starshade.audit.reproduction.pa.configurations import LINES
from starshade.audit.reproduction.parts import Part
from starshade.errors import ConfigError, UnmetError
from starshade.privacy.item_diversity import Diversity
from starshade.progress import silence
from starshade.ratings.table import Ratings
from starshade.recommend.factors import Factors
from starshade.recommend.padded import Padded
from starshade.recommend.settings import Dissimilarity
from starshade.release.table import Release
from starshade.rng import generator
from starshade.utility.held_out.pairwise_dissimilarity import PairwiseDissimilarity
from starshade.utility.held_out.probe import linked_users

METRICS: tuple[Dissimilarity, ...] = ("weighted-sq", "closeness-0.5", "closeness-1.0", "weighted")
_COUNTED = 20_000  # users whose distances are counted, at most
_KNOWN = 2  # items that an adversary knows
_ATTACKED = 100_000  # users of releases that are attacked, at most


def padded_of(bench: Bench, name: str, seed: int) -> Padded:
    """Pad what a run learns from, as a line does."""
    line = LINES[name]
    train, _ = bench.held(seed, bench.drawn(line))
    fitted = line.at(2).padding().fit(train, rng=seed)
    assert isinstance(fitted, Factors)
    return Padded(train, fitted)


def made(bench: Bench, name: str, k: int, seed: int, **settings: Any) -> Release:
    """Make a release that is looked at in another way than by errors."""
    line = LINES[name]
    method = replace(line.at(k), **settings)
    try:
        with silence():
            return method.anonymize(bench.held(seed, bench.drawn(line))[0], rng=seed)
    except (ConfigError, UnmetError) as error:
        raise Untestable(f"{name}, k = {k}: {error.message}") from None


def pairs(bench: Bench, name: str, k: int, seed: int) -> Part:
    """Compare pairs of users by four measures, on all and within clusters (Fig. 4)."""

    def compare() -> Part:
        release, out = made(bench, name, k, seed), {}
        train, probe = bench.held(seed, bench.drawn(LINES[name]))
        model = LINES[name].at(k).padding()
        for metric in METRICS:
            measure = PairwiseDissimilarity(metric, users=_PAIRED, recommender=model, seed=seed)
            with silence():
                found = measure.measure(release, original=train, probe=probe)
            for where, shares, figure in (
                ("before", found.all_pairs, "dissimilarity_all"),
                ("within", found.within, "dissimilarity_within"),
            ):
                if shares:
                    mean = found.figures[figure]
                    out[f"{metric} {where}"] = np.array([mean or 0.0])
                    out[f"{metric} {where} shares"] = np.array(shares)
        return out

    return bench.of(f"pairs, {name}, k = {k}, seed {seed}", compare)


_PAIRED = 1_000


def bins(bench: Bench, name: str, seed: int, sizes_of: Any) -> Part:
    """Put users into bins around virtual, and around real, centres (Fig. 3)."""

    def put() -> Part:
        line, padded = LINES[name], padded_of(bench, name, seed)
        away = _distances(padded, line.settings)
        return {each.centres: each.sizes for each in sizes_of(padded, seed, away)}

    return bench.of(f"bins, {name}, seed {seed}", put)


def _distances(padded: Padded, settings: Any) -> Distances:
    if settings["dissimilarity"] == "euclidean" and settings["clip"] == "mean":
        return factored(padded)
    return written_out(padded, settings["dissimilarity"], clip=settings["clip"] == "cells")


def sample_clusters(bench: Bench, name: str, seed: int) -> Part:
    """Cluster the sample with and without a least size (§4.2)."""

    def cluster() -> Part:
        padded = padded_of(bench, name, seed)
        away, order = factored(padded), seeded_order(padded.n_users, seed, "sample")
        m = padded.n_users
        t, s = int(np.sqrt(m)), min(m, 20 * int(np.ceil(np.sqrt(m))))
        free = np.bincount(bounded_t_means(away, order[:s], t, 0), minlength=t)
        bounded = np.diff(cluster_sample(away, order)[0])
        return {
            "bounded": np.array([bounded.std() / bounded.mean()]),
            "free": np.array([free.std() / free.mean()]),
        }

    return bench.of(f"clusters of the sample, {name}, seed {seed}", cluster)


def attacked(bench: Bench, name: str, k: int, seed: int) -> Part:
    """Attack a release, or the original where no line is named, by two items of each user."""

    def attack() -> Part:
        train, _ = bench.held(seed)
        if train.n_users > _ATTACKED:
            return {"refused": np.array(f"more than {_ATTACKED:,} users are not attacked")}
        data = made(bench, name, k, seed) if name else train
        return _attack(data, train, seed)

    return allowed(bench.of(f"attacks, {name or 'original'}, k = {k}, seed {seed}", attack))


def _attack(data: Ratings | Release, original: Ratings, seed: int) -> Part:
    out = {}
    for method in (StructureAttack(), LabelAttack()):
        with silence():
            found = method.run(
                data,
                Knowledge(known=_KNOWN),
                original=None if data is original else original,
                targets=_TARGETS,
                rng=seed,
            )
        out[method.name] = np.array([found.expected_top1.rate])
        out[f"{method.name} bound"] = np.array([found.bound])
    return out


_TARGETS = 2_000


def links(bench: Bench, name: str, k: int, seed: int, way: str = "") -> Part:
    """Count who of a group rated what it shows (§6.2); `way` "independent": raters drawn anew."""

    def count() -> Part:
        release = made(bench, name, k, seed)
        train, _ = bench.held(seed)
        rows = linked_users(release, train)
        assert rows is not None
        if way == "independent":
            rng = generator(seed, "independent raters")
            if train.n_users > _ATTACKED:
                return {"refused": np.array("raters are not drawn anew for so many users")}
            users = np.concatenate(
                [rng.choice(train.n_users, int(n), replace=False) for n in train.item_support]
            )
            items = np.repeat(np.arange(train.n_items), train.item_support)
        else:
            users = np.repeat(np.arange(train.n_users), train.user_support)
            items = train.columns.astype(np.int64)
        live = rows[users] >= 0
        key = rows[users[live]] * train.n_items + items[live]
        return _linked(np.unique(key, return_counts=True), release.classes.sizes, train)

    return allowed(bench.of(f"links{way and ', '}{way}, {name}, k = {k}, seed {seed}", count))


def _linked(
    found: tuple[NDArray[np.int64], NDArray[np.int64]], sizes: NDArray[np.int64], train: Ratings
) -> Part:
    key, j = found
    g, item = sizes[key // train.n_items], key % train.n_items
    p = train.item_support[item] / train.n_users
    rare = p * g <= 1
    groups = np.bincount(item, minlength=train.n_items)
    bound = link_existence_bound(p[rare], g[rare]) * g[rare]
    return {
        "links": np.array([float(g.sum())]),
        "above": np.array([float(g[j > 1].sum())]),  # of whom more than 1 / group
        "rare_true": np.array([float(j[rare].sum())]),
        "rare_bound": np.array([float(bound.sum())]),
        "mean": np.array([float(j.sum() / g.sum())]),
        "groups": groups[train.item_support > 0].astype(np.float64),  # that show each item
    }


def diverse(bench: Bench, name: str, k: int, seed: int, b: int, l: int) -> Part:  # noqa: E741
    """Check (b, l)-diversity of a release that was made for it, and of one that was not."""

    def check() -> Part:
        train, _ = bench.held(seed)
        out: dict[str, NDArray[Any]] = {}
        for which, settings in (("plain", {}), ("repaired", {"b": b, "l": l})):
            try:
                release = made(bench, name, k, seed, **settings)
                with silence():
                    verdict = Diversity(b, l).check(release, original=train, rng=seed)
            except (ConfigError, UnmetError) as error:
                return {"refused": np.array(error.message)}
            last = verdict.sets[-1]
            out[which] = np.array([float(last.fewest_groups)])
            out[f"{which} short"] = np.array([float(last.short_sets or last.short_drawn or 0)])
            out[f"{which} sets"] = np.array([float(last.sets or last.drawn or 0)])
        return out

    return allowed(bench.of(f"({b}, {l}), {name}, k = {k}, seed {seed}", check))


def work(bench: Bench, name: str, k: int, seed: int, share: int = 1) -> Part:
    """Count the distances of a line's grouping, on one in `share` of the users."""

    def count() -> Part:
        return _worked(
            bench, name, k, seed, share, lambda away, m: group_users(m, k, seed, away=away)
        )

    return allowed(bench.of(f"work, {name}, k = {k}, seed {seed}, one in {share}", count))


def work_at_once(bench: Bench, name: str, k: int, seed: int) -> Part:
    """Count the distances of one clustering of everybody."""

    def cluster(away: Distances, padded: Padded) -> None:
        order = seeded_order(padded.n_users, seed, "bins")
        bounded_t_means(away, order, len(order) // k, k)

    def count() -> Part:
        return _worked(bench, name, k, seed, 1, cluster)

    return allowed(bench.of(f"work at once, {name}, k = {k}, seed {seed}", count))


def _worked(
    bench: Bench, name: str, k: int, seed: int, share: int, group: Callable[..., Any]
) -> Part:
    train, _ = bench.held(seed)
    if train.n_users > _COUNTED:
        return {"refused": np.array(f"not counted on more than {_COUNTED:,} users")}
    some, line = train.keep_users(np.arange(0, train.n_users, share)), LINES[name]
    if some.n_users < k:
        return {"refused": np.array(f"{some.n_users} users are no group of {k}")}
    factors = line.at(2).padding().fit(some, rng=seed)
    assert isinstance(factors, Factors)
    padded, counted = Padded(some, factors), [0]
    with silence():
        group(_counting(_distances(padded, line.settings), counted), padded)
    return {"distances": np.array([float(counted[0])])}


def allowed(part: Part) -> Part:
    """Return a part that was not refused."""
    if "refused" in part:
        raise Untestable(str(part["refused"]))
    return part


def _counting(away: Distances, counted: list[int]) -> Distances:
    def to_means(rows: Any, starts: Any, members: Any) -> NDArray[np.float32]:
        counted[0] += len(rows) * (len(starts) - 1)
        return away.to_means(rows, starts, members)

    return Distances(to_means, away.written)
