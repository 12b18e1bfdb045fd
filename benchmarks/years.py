"""Releases of the same people, year after year, with groups kept: what it costs, what it tells.

    python benchmarks/years.py                   # all methods, slack 0 to 2, both shortfalls
    python benchmarks/years.py --slack 0 --shortfall dummies --attack  # what all ten tell
    python benchmarks/years.py --profiles        # what two years of profiles tell beside one

Synthetic people like MovieLens 100K's: every year 5 % leave, 5 % join, and everybody rates more.
Each release is saved with its receipt, read back, and held against all before: the smallest joint
class, people withheld, records invented, the loss beside a release of the same people made alone.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import rankdata

import starshade as ss
from at_hand import Options
from starshade.anonymize.predictive import predictive
from starshade.attack.composition.composed import composition_of
from starshade.release.folder.read import read_release

METHODS = {
    "k-exchange": ss.KExchange,
    "k-likeness": ss.KLikeness,
    "k-member": ss.KMember,
    "mondrian": ss.Mondrian,
    "mondrian-relaxed": ss.MondrianRelaxed,
    "pooled": lambda **more: ss.PredictiveAnonymizer(profile="pooled", **more),
}
ITEMS = 10


def snapshots(years: int, users: int, seed: int) -> Iterator[ss.Ratings]:
    """Yield each year's ratings: 5 % left, as many joined, everybody gave some more."""
    rng = np.random.default_rng(seed)
    everybody = ss.synthesize(
        n_users=users + users * years // 20, n_items=400, n_ratings=110 * users, rng=seed
    )
    arrival = rng.permutation(everybody.n_users)
    present = arrival[:users].tolist()
    born = np.zeros(everybody.n_users)
    given = rng.random(everybody.n_ratings)
    user = np.repeat(np.arange(everybody.n_users), everybody.user_support)
    for year in range(years):
        if year:
            leave = set(rng.choice(len(present), users // 20, replace=False).tolist())
            present = [each for place, each in enumerate(present) if place not in leave]
            fresh = arrival[users + (year - 1) * (users // 20) :][: users // 20]
            born[fresh] = year
            present += fresh.tolist()
        there = np.zeros(everybody.n_users, dtype=np.bool_)
        there[present] = True
        kept = there[user] & (given <= 0.6 + 0.04 * (year - born[user]))
        yield ss.Ratings.from_arrays(
            users=[everybody.users[u] for u in user[kept].tolist()],
            items=[everybody.items[i] for i in everybody.columns[kept].tolist()],
            ratings=everybody.values()[kept],
            scale=everybody.scale,
        )


def loss(release: ss.Release, ratings: ss.Ratings) -> float:
    """GenILoss; of profiles the error of a rating read from its person's profile, in stars."""
    if release.manifest.layout == "generalized":
        return ss.GeneralizationLoss().measure(release, original=ratings).to_dict()["gen_iloss"]
    link, part = release.private.link, release.private.original
    row = np.repeat(release.class_of_record[link.record], part.user_support)
    said = np.append(np.nan, release.classes.ratings)[release.classes.levels[row, part.columns]]
    return float(np.sqrt(np.nanmean((said - part.values()) ** 2)))


def story(name: str, k: int, slack: int, shortfall: str, tables: list[Any], attack: bool) -> None:
    """Print one line a year; with `attack` what the strongest find in each release and in all."""
    items = {} if name == "pooled" else {"items": ss.top_items(ITEMS)}
    method = METHODS[name](k=k, slack=slack, **items)
    releases: list[Any] = []
    with tempfile.TemporaryDirectory() as folder:
        for year, ratings in enumerate(tables):
            place = Path(folder) / str(year)
            started = time.perf_counter()
            if not releases:
                made = method.anonymize(ratings, rng=year)
                chosen = (
                    {} if name == "pooled" else {"items": ss.listed_items(list(made.classes.items))}
                )
                alone_method = METHODS[name](k=k, **chosen)
                method = METHODS[name](k=k, slack=slack)
            else:
                made = method.anonymize(ratings, rng=year, after=releases[-1], shortfall=shortfall)
            made.save(place, private=f"{place}.json")
            seconds = time.perf_counter() - started
            releases.append(read_release(place, private=f"{place}.json"))
            alone = loss(alone_method.anonymize(ratings, rng=100 + year), ratings)
            found = composition_of(releases, ratings, "added")
            print(
                f"{name:<16} slack {slack} {shortfall:<8} year {year:>2}: smallest "
                f"{found.counts.smallest:>2}, below k {found.counts.people_below_k}, withheld "
                f"{made.exact.users_deleted / ratings.n_users:6.1%}, invented "
                f"{(made.exact.dummy_records or 0) / made.n_records:6.1%}, loss "
                f"{loss(made, ratings) / alone:5.2f} ({loss(made, ratings):.3f}), "
                f"{seconds:.1f} s",
                flush=True,
            )
        if attack:
            chosen = ss.listed_items(list(releases[-1].classes.items))
            # facts on other items say nothing
            print(attacked(releases, [chosen.apply(each) for each in tables]), flush=True)


def attacked(releases: list[Any], tables: list[Any]) -> str:
    """Say what `composition` finds in all releases, and `likelihood` in each, by 4 ratings."""
    *earlier, last = releases
    known = ss.Knowledge(known=4)
    found = ss.Composition(earlier=earlier, changes="added").run(
        last, known, original=tables[-1], rng=0
    )
    by_year = [
        ss.Likelihood().run(release, known, original=table, rng=0)
        for release, table in zip(releases, tables, strict=True)
    ]
    if found.class_linkage is None:  # no cell holds what is true: by the mean of all profiles
        whole = ss.Likelihood().run(meaned(releases), known, original=tables[-1], rng=0)
        pinned = "no certain rating"
        together = f"class {whole.class_linkage.rate:.1%}, record {whole.expected_top1.rate:.1%}"
    else:
        pinned = (
            f"a certain rating of {max(each.certain.rate for each in found.per_release):.1%} by "
            f"the best single one, of {found.certain.rate:.1%} by all"
        )
        together = (
            f"class {found.class_linkage.rate:.1%}, record {found.re_identification.rate:.1%}"
        )
    return (
        f"  composition: below k {found.below_k.rate:.1%}, {pinned}; by all {together}\n"
        f"  likelihood, by year: class {_each(by_year, 'class_linkage')}; "
        f"record {_each(by_year, 'expected_top1')}"
    )


def _each(results: list[Any], figure: str) -> str:
    return " ".join(f"{getattr(each, figure).rate:.1%}" for each in results)


def profiles(k: int, tables: list[Any], shadows: int) -> None:
    """Print what the profiles of two years tell together, beside what the second year's do."""
    before, after = tables[:2]
    refuse = predictive.refuse_leavers
    predictive.refuse_leavers = lambda kept: None  # means are refused for what is shown here
    known = ss.Knowledge(known=8)
    for profile in ("simple", "padded", "model", "pooled"):
        method = ss.PredictiveAnonymizer(k=k, profile=profile)
        one = method.anonymize(before, rng=0)
        two = method.anonymize(after, rng=1, after=one)
        for years, release in (("one", two), ("both", meaned([one, two]))):
            found = ss.Likelihood().run(release, known, original=after, rng=0).class_linkage
            rated = ss.PaddingAttack().run(release, original=after, rng=0).auc_within_items
            again = Again(method, before, after, years == "both")
            inside = ss.MembershipAttack(shadows=shadows, method=again).run(
                release, known, original=after, rng=0
            )
            by_eight = next(each.auc for each in inside.by_known if each.known == 8)
            print(
                f"{profile:<8} {years:<4} class found by 8 ratings {found}; rated or not "
                f"{rated}; in it or not, by 8 {by_eight}, by all {inside.auc}",
                flush=True,
            )
        print(f"{profile:<8} {_leavers(one, two, before)}", flush=True)
    predictive.refuse_leavers = refuse


@dataclass(frozen=True)
class Again:
    """Makes releases of two years of some people, as `MembershipAttack` leaves people out."""

    method: Any
    before: Any
    after: Any
    both: bool

    def anonymize(self, ratings: Any, rng: Any = None) -> Any:
        """Return the second year's; of `both`, with the means of what groups had in the two."""
        left_out = np.setdiff1d(list(self.after.users), list(ratings.users))
        stay = np.flatnonzero(~np.isin(list(self.before.users), left_out))
        one = self.method.anonymize(self.before.keep_users(stay), rng=rng)
        two = self.method.anonymize(ratings, rng=rng, after=one)
        return meaned([one, two]) if self.both else two


def meaned(releases: list[Any]) -> Any:
    """Return the last release with profiles that are the means of all that a group ever had."""
    last = releases[-1]
    return replace(last, classes=replace(last.classes, levels=mean_levels(releases)))


def mean_levels(releases: list[Any]) -> Any:
    """Return the last profiles, each with the mean of all that its group ever had."""
    *earlier, last = releases
    levels = last.classes.levels
    total, count = levels.astype(float), (levels > 0).astype(float)
    own = last.class_of_record[last.private.link.record]
    for before in earlier:
        was = before.class_of_record[before.private.link.record]
        place = before.private.link.users.indices(last.private.link.users)
        row = np.full(len(levels), -1)
        row[own[place >= 0]] = was[place[place >= 0]]
        there = row >= 0
        then = before.classes.levels[row[there]]
        total[there] += then
        count[there] += then > 0
    mean = np.rint(total / np.maximum(count, 1)).astype(levels.dtype)
    return np.where(levels > 0, mean, levels)


def _leavers(one: Any, two: Any, before: Any) -> str:
    """Say how well two years tell who left, and what they rated, beside what one year tells."""
    part = one.private.original
    was = one.class_of_record[one.private.link.record]
    place = two.private.link.users.indices(part.users)
    left = place < 0
    now = np.full(len(was), -1)
    now[~left] = two.class_of_record[two.private.link.record[place[~left]]]
    follows = np.full(one.classes.n_groups, -1)
    follows[was[~left]] = now[~left]
    told = [np.append(np.nan, each.classes.ratings)[each.classes.levels] for each in (one, two)]
    gap, error, by_profile = np.full(len(was), np.nan), [], []
    for user in range(part.n_users):
        if follows[was[user]] < 0:
            continue
        cells = slice(part.indptr[user], part.indptr[user + 1])
        items, values = part.columns[cells], part.values()[cells]
        first, second = told[0][was[user], items], told[1][follows[was[user]], items]
        with np.errstate(invalid="ignore"):
            gap[user] = np.nanmean((second - values) ** 2 - (first - values) ** 2)
        n = int((was == was[user]).sum())
        gone = int(left[was == was[user]].sum())
        if left[user] and gone == 1:
            solved = np.clip(n * first - (n - 1) * second, part.scale.minimum, part.scale.maximum)
            error.append(np.abs(solved - values))
            by_profile.append(np.abs(first - values))
    seen = ~np.isnan(gap)
    auc = _auc(gap[seen & left], gap[seen & ~left])
    return (
        f"who left, told by both years (all ratings known, AUC) {auc:.3f}; a leaver's ratings off "
        f"by {np.nanmean(np.concatenate(by_profile)):.2f} stars read from the profile, by "
        f"{np.nanmean(np.concatenate(error)):.2f} from the difference of both"
    )


def _auc(high: Any, low: Any) -> float:
    rank = rankdata(np.concatenate([high, low]))[: len(high)]
    return float((rank.sum() - len(high) * (len(high) + 1) / 2) / (len(high) * len(low)))


def main() -> None:
    parser = Options(__doc__)
    parser.add_argument(
        "--methods", nargs="+", default=list(METHODS), smoke=["k-exchange", "pooled"]
    )
    parser.add_argument("--slack", nargs="+", type=int, default=[0, 1, 2], smoke=[1])
    parser.add_argument(
        "--shortfall", nargs="+", default=["dummies", "withhold"], smoke=["dummies"]
    )
    parser.add_argument("--years", type=int, default=10, smoke=2)
    parser.add_argument("--users", type=int, default=1000, smoke=120)
    parser.add_argument("--k", type=int, default=5)
    parser.add_argument("--attack", action="store_true", smoke=True)
    parser.add_argument("--profiles", action="store_true", smoke=True)
    parser.add_argument("--shadows", type=int, default=16, smoke=1, help="of --profiles")
    asked = parser.parse_args()
    tables = list(snapshots(asked.years, asked.users, 0))
    if asked.profiles:
        profiles(asked.k, tables, asked.shadows)
        if not asked.smoke:
            return
    for name in asked.methods:
        for slack in asked.slack:
            for shortfall in asked.shortfall:
                try:
                    story(name, asked.k, slack, shortfall, tables, asked.attack)
                except ss.UnmetError as error:
                    print(f"{name} slack {slack} {shortfall}: {error.message}", flush=True)


if __name__ == "__main__":
    main()
