"""Work whose result must not depend on the pieces that it is cut into.

Run as a module it does kinds of work as plain Python, where a kernel reads its constants each
time: as the constants are, then with each of some constants small, then with each unusable.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from starshade import budget
from starshade.anonymize.baselines import KMember
from starshade.anonymize.interval.interval import IntervalAnonymizer
from starshade.anonymize.k_likeness import KLikeness
from starshade.anonymize.predictive.predictive import PredictiveAnonymizer
from starshade.anonymize.registry import ENTRIES as METHODS
from starshade.anonymize.suppress import SuppressAnonymizer
from starshade.attack.auxiliary.auxiliary import AuxiliaryAttack
from starshade.attack.knowledge import Knowledge
from starshade.attack.likelihood.likelihood import Likelihood
from starshade.attack.registry import ENTRIES as ATTACKS
from starshade.attack.risk import Risk
from starshade.attack.scoreboard_rh.scoreboard_rh import ScoreboardRH
from starshade.attack.sparsity.sparsity import Sparsity
from starshade.audit.reproduction.pa.padding import histogram_of
from starshade.errors import ConfigError
from starshade.privacy.registry import ENTRIES as MODELS
from starshade.query.query import Query
from starshade.ratings.auxiliary.auxiliary import read_auxiliary
from starshade.ratings.holdout import hold_out
from starshade.ratings.read import read_ratings
from starshade.ratings.scale import Scale
from starshade.ratings.select import top_items
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.table import Ratings
from starshade.ratings.write import write_ratings
from starshade.recommend.padded import Padded
from starshade.recommend.regularized_svd import RegularizedSVD
from starshade.release.folder.digest import digest_of, ratings_digest
from starshade.release.folder.read import read_release
from starshade.release.table import Release
from starshade.release.verify.verify import verify_folder
from starshade.utility.registry import ENTRIES as MEASURES
from starshade.utility.registry import PROBED
from tests.contract.cast import CAST
from tests.contract.make import make
from tests.strategies import table

VOLATILE = ("seconds", "read_seconds", "postings_per_second", "digest", "version", "starshade")


def people(name: str = "dated") -> Ratings:
    """Return a table that nothing is remembered of."""
    return replace(CAST[name].drop_empty_users())


def with_attributes() -> Ratings:
    ratings = people()
    n = ratings.n_users
    return ratings.annotate(
        attributes=pa.table(
            {"age": [float(20 + i % 7) for i in range(n)], "job": [f"j{i % 3}" for i in range(n)]}
        )
    )


def plain(result: Any) -> Any:
    told = result.to_dict() if hasattr(result, "to_dict") else result
    if isinstance(told, dict):
        return {str(k): plain(v) for k, v in told.items() if k not in VOLATILE}
    if isinstance(told, list | tuple):
        return [plain(v) for v in told]
    if isinstance(told, float):
        return float(f"{told:.9g}")  # sums of parts may differ in the last bits
    return told


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def written(release: Release, place: Path) -> dict[str, Any]:
    """Save, read and verify; return what the files hold, whatever their row groups."""
    import pyarrow.parquet as pq

    release.save(place / "out", private=place / "receipt")
    back = read_release(place / "out", private=place / "receipt")
    verified = verify_folder(place / "out", release.private)
    tables = {
        file.name: hashlib.sha256(
            repr(pq.ParquetFile(file).read().to_pydict()).encode()
        ).hexdigest()
        for file in sorted((place / "out").glob("*.parquet"))
    }
    return {**tables, "verified": plain(verified), "records": back.n_records}


def written_each(place: Path, releases: dict[str, Release]) -> Any:
    found = {}
    for name, release in releases.items():
        (place / name).mkdir()
        found[name] = written(release, place / name)
    return found


def generalizing(place: Path) -> Any:
    names = ("k-likeness", "k-member", "mondrian", "mondrian-relaxed")
    made = {
        f"{entry.name} {who}": make(entry).anonymize(people(who), rng=0)
        for entry in METHODS
        for who in ("dated", "real scale")
        if entry.name in names
    }
    quasi = KMember(
        2, attributes="generalized", quasi_identifiers=["age"], sensitive_attributes=["job"], t=0.9
    )
    made["quasi"] = quasi.anonymize(with_attributes(), rng=0)
    # many items, few of them rated: walked by raters, not laid out
    rng = np.random.default_rng(0)
    rows = [{int(i): float(1 + i % 5) for i in rng.integers(0, 80, 5)} for _ in range(20)]
    sparse = table(rows, Scale(1, 5, 1), n_items=80)
    made["sparse"] = KLikeness(k=3, rare_items="keep").anonymize(sparse, rng=0)
    return written_each(place, made)


def averaging(place: Path) -> Any:
    small: dict[str, Any] = {"k": 2, "factors": 2, "sweeps": 2}
    kinds: dict[str, dict[str, Any]] = {
        **{profile: {"profile": profile} for profile in ("padded", "model", "pooled")},
        "simple": {"profile": "simple", "b": 1, "l": 2},
        "paper": {
            "profile": "padded",
            "grouping": "t-means",
            "dissimilarity": "weighted-sq",
            "clip": "cells",
        },
        "t-means": {"grouping": "t-means", "weights": "support"},
        "closeness": {"grouping": "t-means", "dissimilarity": "closeness-0.5"},
    }
    made = {
        name: PredictiveAnonymizer(**small, **more).anonymize(people(), rng=0)
        for name, more in kinds.items()
    }
    factors = RegularizedSVD(factors=2, sweeps=2, holdout=0).fit(people(), rng=2)
    cells = histogram_of(Padded(people(), factors), 0)
    return [written_each(place, made), plain({name: cells[name].tolist() for name in cells})]


def moving(place: Path) -> Any:
    made = {}
    for who in ("dated", "real scale"):
        for nulls in ("strict", "ignore", "zero"):
            made[f"interval {who} {nulls}"] = IntervalAnonymizer(3, 1, nulls=nulls)
        made[f"interval l {who}"] = IntervalAnonymizer(3, 1, l=0.5, sensitive=["1"])
    return written_each(place, _made_of(made))


def leaving_out(place: Path) -> Any:
    made = {
        f"suppress {who}": SuppressAnonymizer(2, 2, nulls="ignore")
        for who in ("dated", "real scale")
    }
    made["suppress l"] = SuppressAnonymizer(2, 2, 0.5, ["1"], nulls="ignore")
    for k, items, eps in ((4, 2, 1), (5, 3, 2)):  # in several rounds
        made[f"suppress dated {k}"] = SuppressAnonymizer(
            k, eps, nulls="zero", items=top_items(items)
        )
    return written_each(place, _made_of(made))


def _made_of(methods: Mapping[str, Any]) -> dict[str, Release]:
    return {
        name: method.anonymize(people("dated" if "dated" in name else "real scale"), rng=0)
        for name, method in methods.items()
    }


def attacking(place: Path) -> Any:
    found = {}
    import_module("starshade.attack.shadows.inference").FEWEST = 1  # so few people there are
    methods: dict[str, Any] = {
        "cells": KLikeness(k=2),
        "profiles": PredictiveAnonymizer(2, factors=2, sweeps=2),
    }
    for who in ("dated", "real scale"):
        ratings = people(who)
        releases = {kind: method.anonymize(ratings, rng=0) for kind, method in methods.items()}
        releases = {"ratings": ratings, **releases}
        named = [(entry.name, make(entry)) for entry in ATTACKS]
        for name, attack in (*named, ("plain", Likelihood(adversary="plain"))):
            for kind, data in releases.items():
                if name == "padding" and kind != "profiles":
                    continue
                original = None if kind == "ratings" else ratings
                if who == "dated" and name in ("membership", "inference"):
                    attack = replace(attack, shadows=1, method=methods.get(kind))
                for known in (Knowledge(known=2), Knowledge(known=1, rating_error=1.0)):
                    try:
                        result = attack.run(data, known, original=original, rng=0)
                    except ConfigError as error:
                        result = str(error)
                    found[f"{who} {name} {kind} {known.known}"] = plain(result)
    return found


def searching(place: Path) -> Any:
    """Whom little identifies, who is alike, who is in public."""
    ratings = people()
    public = place / "public.csv"
    rows = ["name,item,rating"]
    for user in range(9):
        row = ratings.keep_users(np.array([user]))
        rows += [f"n{user},{key},{v:g}" for key, v in zip(row.items, row.dense()[0], strict=True)
                 if not np.isnan(v)]  # fmt: skip
    public.write_text("\n".join(rows) + "\n")
    return [
        plain(Risk(4, (1, 2), 0.5, ScoreboardRH()).run(ratings, rng=0)),
        plain(Sparsity(targets=None).run(ratings, rng=0)),
        plain(AuxiliaryAttack().run(ratings, read_auxiliary(public))),
    ]


def asking(place: Path) -> Any:
    sql = (
        'SELECT COUNT(*), SUM(age), AVG(age), COUNT(job) WHERE "1" >= 3 OR "2" IS NULL AND "3" < 4'
    )
    release = KLikeness(k=3, attributes="exact").anonymize(with_attributes(), rng=0)
    bounds = {"age": (0.0, 99.0)}
    modes = [Query(sql, bounds=bounds), Query(sql, mode="paper")]
    return [plain(query.run(data)) for query in modes for data in (release, with_attributes())]


def measuring(place: Path) -> Any:
    found = {}
    train, probe = hold_out(with_attributes(), 0.2, rng=1)
    releases = {
        "cells": KLikeness(k=2, attributes="exact").anonymize(train, rng=0),
        "profiles": PredictiveAnonymizer(2, factors=2, sweeps=2).anonymize(train, rng=0),
        "records": IntervalAnonymizer(2, 1).anonymize(train, rng=0),
    }
    for entry in MEASURES:
        for kind, release in releases.items():
            more = {"probe": probe} if entry in PROBED else {}
            result = make(entry).measure(release, original=train, **more)
            found[f"{entry.name} {kind}"] = plain(result)
    return found


def checking(place: Path) -> Any:
    found = {}
    releases = {
        "ratings": with_attributes(),
        "cells": KLikeness(k=2, attributes="exact").anonymize(with_attributes(), rng=0),
        "profiles": PredictiveAnonymizer(2, factors=2, sweeps=2).anonymize(people(), rng=0),
    }
    for entry in MODELS:
        for kind, data in releases.items():
            more = {"original": people()} if entry.name in ("diversity", "k-m") else {}
            try:
                result = make(entry).check(data, **more)
            except ConfigError as error:
                result = str(error)
            found[f"{entry.name} {kind}"] = plain(result)
    return found


def reading(place: Path) -> Any:
    ratings = people()
    found = {}
    for format_ in ("csv", "tsv", "parquet", "store", "wide", "movielens-1m", "recbole"):
        file = place / f"written.{format_.replace('-', '.')}"
        try:
            write_ratings(ratings, file, format_)
        except ConfigError as error:
            found[format_] = str(error)
            continue
        back = read_ratings(file, wide=True) if format_ == "wide" else read_ratings(file)
        found[format_] = [digest_of(back), ratings_digest(back)]
        if format_ == "csv":
            packed = place / "packed.csv.gz"
            packed.write_bytes(gzip.compress(file.read_bytes()))
            quoted = place / "quoted.csv"
            lines = file.read_text().splitlines()
            quoted.write_text("\n".join(f'"{line.replace(",", chr(34) + "," + chr(34))}"'
                                        for line in lines))  # fmt: skip
            found["packed"] = [digest_of(read_ratings(each)) for each in (packed, quoted)]
    movies = place / "training_set"
    movies.mkdir()
    for movie in (1, 2, 3):
        lines = "".join(f"{u},{1 + (u * movie) % 5},2005-0{movie}-11\n" for u in range(6, 30))
        (movies / f"mv_{movie:07}.txt").write_text(f"{movie}:\n{lines}")
    found["netflix"] = digest_of(read_ratings(movies))
    frame = pa.table({"user": list(range(24)), "item": ["1"] * 24, "rating": [3.0] * 24})
    found["arrow"] = digest_of(read_ratings(frame))
    return found


def drawing(place: Path) -> Any:
    drawn = {
        "movielens": synthesize("movielens-100k", n_users=40, n_items=20, n_ratings=300, rng=1),
        "survey": synthesize("survey", n_users=40, n_items=10, rng=1),
    }
    return {name: digest_of(ratings) for name, ratings in drawn.items()}


WORK: dict[str, Callable[[Path], Any]] = {
    work.__name__: work
    for work in (
        generalizing,
        averaging,
        moving,
        leaving_out,
        attacking,
        searching,
        asking,
        measuring,
        checking,
        reading,
        drawing,
    )
}


def done(work: str) -> str:
    with (
        tempfile.TemporaryDirectory() as scratch,
        budget.limits(threads=1),
        np.errstate(over="ignore"),  # random numbers wrap around
    ):
        return json.dumps(WORK[work](Path(scratch)), sort_keys=True)


def with_constants(work: str, values: dict[str, Any]) -> str:
    """Do some work with constants of the package changed, wherever they were imported to."""
    with pytest.MonkeyPatch.context() as patch:
        for constant, value in values.items():
            module, name = constant.split(":")
            home = f"starshade.{module}"
            before = getattr(import_module(home), name)
            for key, place in list(sys.modules.items()):
                imported = key.startswith("starshade") and not name.startswith("_")
                if key == home or (imported and vars(place).get(name) is before):
                    patch.setattr(place, name, value)
        return done(work)


def judged(work: str, cuts: dict[str, dict[str, int]]) -> dict[str, str]:
    """Say of each constant whether the work is the same with it small, and reads it at all.

    All are small at once; only where that changes the result are they tried one by one.
    """
    usual = done(work)
    at_once = {name: value for small in cuts.values() for name, value in small.items()}
    same = with_constants(work, at_once) == usual
    found = {}
    for constant, small in cuts.items():
        alone = same or with_constants(work, small) == usual
        found[constant] = "same" if alone else "different"
        try:
            with_constants(work, small | {constant: object()})
            found[constant] = "not reached"
        except Exception:
            continue
    return found if same or "different" in found.values() else {"together": "different"}


if __name__ == "__main__":
    import tests.conftest  # noqa: F401 - nobody waits for the disk

    for asked, cuts in json.loads(sys.argv[1]).items():
        print(json.dumps([asked, judged(asked, cuts)]), flush=True)
