"""Parts beside errors: pairs, bins and padded values, attacks, links, items, and work."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.anonymize.order import by_content, seeded_order
from starshade.anonymize.predictive.bins import Bins
from starshade.anonymize.predictive.clusters import Distances, bounded_t_means
from starshade.anonymize.prepare import prepare
from starshade.attack.candidates.candidates import LabelAttack, StructureAttack
from starshade.attack.knowledge import Knowledge
from starshade.attack.link_existence.link_existence import link_existence_bound
from starshade.audit.reproduction.pa.bench import Bench, anonymized
from starshade.audit.reproduction.pa.configurations import LINES, Studied
from starshade.audit.reproduction.pa.padding import sizes_of_bins
from starshade.audit.reproduction.parts import Part
from starshade.errors import ConfigError, UnmetError
from starshade.kernels.arrays import Ints
from starshade.privacy.item_diversity import Diversity
from starshade.progress import silence
from starshade.ratings.holdout import sample_users
from starshade.ratings.table import Ratings
from starshade.recommend.factors import Factors
from starshade.recommend.padded import Padded
from starshade.recommend.settings import Dissimilarity
from starshade.release.table import Release
from starshade.rng import generator
from starshade.utility.held_out.pairwise_dissimilarity import PairwiseDissimilarity
from starshade.utility.held_out.probe import linked_users
from starshade.utility.held_out.recommender_error import trained

METRICS: tuple[Dissimilarity, ...] = ("weighted-sq", "closeness-0.5", "closeness-1.0", "weighted")
_COUNTED = 20_000  # users whose distances are counted, at most
_KNOWN = 2  # items that an adversary knows
_ATTACKED = 100_000  # users of releases that are attacked, at most


def padded_of(bench: Bench, name: str, seed: int) -> Padded:
    """Pad what a run learns from, as a line does."""
    train, _ = bench.held(seed, bench.drawn(LINES[name]))
    fitted = trained(bench.method(name, 2, seed).padding(), train, seed)
    assert isinstance(fitted, Factors)
    return Padded(train, fitted)


def made(bench: Bench, name: str, k: int, seed: int, **settings: Any) -> Release:
    """Make a release that is looked at in another way than by errors."""
    train, _ = bench.held(seed, bench.drawn(LINES[name]))
    return anonymized(bench.method(name, k, seed, **settings), train, name, seed)


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
            if not found.figures["dissimilarity_all"]:
                return {"refused": np.array("all rows are equal")}
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


def _binned(bench: Bench, name: str, seed: int) -> tuple[Studied, Padded, Bins]:
    train, _ = bench.held(seed, bench.drawn(LINES[name]))
    method = bench.method(name, 2, seed)
    table = prepare(train, 2, None, "keep").ratings
    padded = method.padded(by_content(table, seed).ratings, seed)
    return method, padded, method.bins(padded, seed)


def bins(bench: Bench, name: str, seed: int) -> Part:
    """Put users into bins around virtual, and around real, centres (Fig. 3)."""

    def put() -> Part:
        with silence():
            method, padded, own = _binned(bench, name, seed)
            exact = (method.dissimilarity, method.clip) == ("euclidean", "mean")
            found = sizes_of_bins(padded, own, None if exact else method.away(padded))
        return {each.centres: each.sizes for each in found}

    return bench.of(f"bins, {name}, seed {seed}", put)


def sample_clusters(bench: Bench, name: str, seed: int) -> Part:
    """Cluster the sample with and without a least size (§4.2)."""

    def cluster() -> Part:
        method, padded, own = _binned(bench, name, seed)
        t, m = int(np.sqrt(padded.n_users)), padded.n_users
        drawn = seeded_order(m, seed, "sample")[: len(own.members)]
        free = np.bincount(bounded_t_means(method.away(padded), drawn, t, 0), minlength=t)
        bounded = np.diff(own.starts)
        return {
            "bounded": np.array([bounded.std() / bounded.mean()]),
            "free": np.array([free.std() / free.mean()]),
        }

    return bench.of(f"clusters of the sample, {name}, seed {seed}", cluster)


def represented(bench: Bench, name: str, seed: int) -> Part:
    """Take how far users in the sample, and others, are from the nearest centre (§4.2)."""

    def compare() -> Part:
        with silence():
            method, padded, own = _binned(bench, name, seed)
            others = np.setdiff1d(np.arange(padded.n_users), own.members)
            if not len(others):
                return {"refused": np.array("too few users: the sample holds all of them")}
            away, rng = method.away(padded), generator(seed, "users in and outside the sample")
            found = {}
            for where, users in (("inside", own.members), ("outside", others)):
                some = rng.choice(users, min(_PAIRED, len(users)), replace=False)
                near = away.to_means(some, own.starts, own.members).min(axis=1)
                found[where] = np.array([near.mean(dtype=np.float64)])
        return found

    return bench.of(f"represented, {name}, seed {seed}", compare)


def overlap(bench: Bench, seed: int) -> Part:
    """Take, of each of some users, the mean share of items that they and another both rated."""

    def compare() -> Part:
        train, _ = bench.held(seed)
        live = np.flatnonzero(train.user_support)
        users = sample_users(train, live, _PAIRED, seed)
        part = train.keep_users(users)
        many, starts = part.user_support, part.indptr[:-1]
        marked, out = np.zeros(part.n_items, np.int64), np.zeros(part.n_users)
        for user in range(part.n_users):
            own = part.columns[part.indptr[user] : part.indptr[user + 1]]
            marked[own] = 1
            both = np.add.reduceat(marked[part.columns], starts)
            marked[own] = 0
            share = both / (many + many[user] - both)
            out[user] = (share.sum() - 1) / max(1, part.n_users - 1)
        return {"overlap": out}

    return bench.of(f"overlap, seed {seed}", compare)


def attacked(bench: Bench, name: str, k: int, seed: int) -> Part:
    """Attack a release, or the original where no line is named, by two items of each user."""

    def attack() -> Part:
        train, _ = bench.held(seed)
        if train.n_users > _ATTACKED:
            return {"refused": np.array(f"more than {_ATTACKED:,} users are not attacked")}
        data = made(bench, name, k, seed) if name else train
        return _attack(data, train, seed)

    return bench.of(f"attacks, {name or 'original'}, k = {k}, seed {seed}", attack)


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
        asked = found.per_target.users
        out[f"{method.name} n"] = np.bincount(asked, minlength=original.n_users)
        out[method.name] = np.bincount(asked, found.per_target.credit, original.n_users)
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
        indptr, columns = train.indptr, train.columns
        if way == "independent":
            rng, m = generator(seed, "independent raters"), train.n_users
            drawn = [rng.choice(m, int(n), replace=False) for n in train.item_support]
            users = np.concatenate(drawn)
            items = np.repeat(np.arange(train.n_items, dtype=np.int32), train.item_support)
            columns = items[np.argsort(users, kind="stable")]
            indptr = np.append(0, np.cumsum(np.bincount(users, minlength=m)))
        return _linked(rows, indptr, columns, release.classes.sizes, train)

    return bench.of(f"links{way and ', '}{way}, {name}, k = {k}, seed {seed}", count)


def _linked(rows: Ints, indptr: Ints, columns: Any, sizes: Ints, train: Ratings) -> Part:
    """Count shown links (`rows`: of users; `indptr`, `columns`: who rated what), some at a time."""
    n, share = train.n_items, train.item_support / train.n_users
    names = ("links", "above", "below", "rare_true", "rare_bound", "true")
    sums, groups = dict.fromkeys(names, 0.0), np.zeros(n)
    order, some = np.argsort(rows, kind="stable"), max(1, _CELLS // n)
    for first in range(0, len(sizes), some):
        own = sizes[first : first + some]
        low, high = np.searchsorted(rows, (first, first + len(own)), sorter=order)
        users = order[low:high]
        many = np.diff(indptr)[users]
        at = np.arange(many.sum()) + np.repeat(indptr[users] - (np.cumsum(many) - many), many)
        place = np.repeat(rows[users] - first, many) * n + columns[at]
        count = np.bincount(place, minlength=len(own) * n)
        shown = np.flatnonzero(count)
        j, g, item = count[shown], own[shown // n], shown % n
        rare = share[item] * g <= 1
        groups += np.bincount(item, minlength=n)
        sums["links"] += float(g.sum())
        sums["above"] += float(g[j > 1].sum())  # of whom more than 1 / group
        sums["below"] += float(g[j < 1].sum())
        sums["rare_true"] += float(j[rare].sum())
        bound = link_existence_bound(share[item[rare]], g[rare])
        sums["rare_bound"] += float((bound * g[rare]).sum())
        sums["true"] += float(j.sum())
    sums["mean"] = sums.pop("true") / sums["links"]
    found = {name: np.array([value]) for name, value in sums.items()}
    # groups that show each item
    return found | {"groups": groups[train.item_support > 0]}


_CELLS = 1 << 24  # of groups × items counted at once


def diverse(bench: Bench, name: str, k: int, seed: int, b: int, l: int) -> Part:  # noqa: E741
    """Check (b, l)-diversity of a release that was made for it, and of one that was not."""

    def check() -> Part:
        train, _ = bench.held(seed)
        out: dict[str, NDArray[Any]] = {}
        asked: dict[str, Any] = {"b": b, "l": l, "fake_edges": "mean"}  # as the paper does
        for which, settings in (("plain", {}), ("repaired", asked)):
            try:
                release = made(bench, name, k, seed, **settings)
                with silence():
                    verdict = Diversity(b, l).check(release, original=train, rng=seed)
            except (ConfigError, UnmetError) as error:
                return {"refused": np.array(error.message)}
            last = verdict.sets[-1]
            out[which] = np.array([float(last.fewest_classes)])
            out[f"{which} short"] = np.array([float(last.short_sets or last.short_drawn or 0)])
            out[f"{which} sets"] = np.array([float(last.sets or last.drawn or 0)])
        return out

    return bench.of(f"({b}, {l}), {name}, k = {k}, seed {seed}", check)


def work(bench: Bench, name: str, k: int, seed: int, share: int = 1) -> Part:
    """Count the distances of a line's grouping, on one in `share` of the users."""

    def count() -> Part:
        train, _ = bench.held(seed)
        if train.n_users > _COUNTED:
            return {"refused": np.array(f"not counted on more than {_COUNTED:,} users")}
        some, counted = train.keep_users(np.arange(0, train.n_users, share)), [0]
        if some.n_users < k:
            return {"refused": np.array(f"fewer than {k} users are no group")}
        method = LINES[name].at(k)
        with silence():
            padded = method.padded(some, seed)
            method.grouped(padded, seed, _counting(method.away(padded), counted))
        return {"distances": np.array([float(counted[0])])}

    return bench.of(f"work, {name}, k = {k}, seed {seed}, one in {share}", count)


def _counting(away: Distances, counted: list[int]) -> Distances:
    def to_means(rows: Any, starts: Any, members: Any) -> NDArray[np.float32]:
        counted[0] += len(rows) * (len(starts) - 1)
        return away.to_means(rows, starts, members)

    return Distances(to_means, away.written)
