"""Within a bucket: groups and profiles by the code of one table, equal profiles as one class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.anonymize.order import by_content, check_copy
from starshade.anonymize.predictive.homogenize import check_profile_memory
from starshade.anonymize.predictive.making import groups_of, padded_by, profiles_of
from starshade.anonymize.predictive.predictive import PredictiveAnonymizer
from starshade.anonymize.sharded.split import Buckets
from starshade.engine.files import Desk, Desks, left_in
from starshade.engine.job import Engine, Job, Tables
from starshade.kernels.arrays import Ints
from starshade.recommend.sharded import ItemFit
from starshade.release.profile_release import into_classes, off_by, rests_on
from starshade.release.profiles import Profiles


@dataclass(frozen=True, eq=False)
class Grouped:
    """What became of each bucket: its classes, sorted by content, in files.

    `sizes`: of each bucket, how many users each of its classes has. `counted`: likewise, of
    `rests_on`. `groups`: over all buckets, before equal ones were joined.
    """

    buckets: Buckets
    folders: Sequence[Path]
    sizes: Sequence[Ints]
    counted: Sequence[Ints]
    groups: int

    def levels(self, bucket: int) -> NDArray[np.uint8]:
        """Map the profiles of a bucket's classes."""
        return left_in(self.folders[bucket], "levels")

    def classes(self, bucket: int) -> Ints:
        """Map the class, within the bucket, of each of its users."""
        return left_in(self.folders[bucket], "classes")


def group(
    buckets: Buckets,
    asked: Mapping[str, Any],
    tables: Mapping[str, NDArray[Any]],
    engine: Engine,
    place: Path,
) -> Grouped:
    """Form groups and profiles in every bucket; `asked`, `tables`: see `split.send`."""
    job = Job("groups and profiles", _group, asked, threaded=True)
    desks = Desks.of(job, buckets, tables, place)
    parts = list(engine.run(job, desks, tables))
    return Grouped(
        buckets,
        desks.folders,
        [part["sizes"] for part in parts],
        [part["counted"] for part in parts],
        sum(int(part["groups"][0]) for part in parts),
    )


def _group(desk: Desk, _first: int, settings: Mapping[str, Any], tables: Tables) -> Tables:
    method, seed = PredictiveAnonymizer(**settings["method"]), settings["seed"]
    fit, step, bucket = ItemFit.of(settings["fit"], tables), settings["step"], desk.shard
    check_profile_memory(bucket, bucket.n_users // method.k)
    check_copy(bucket)
    records = by_content(bucket, seed)
    padded = padded_by(method, records.ratings, fit.factors(records.ratings), tables["support"])
    groups = groups_of(method, padded, seed)
    groups, levels = profiles_of(method, padded, groups, step, seed, fit.spread)
    class_of_group = into_classes(levels)
    class_of_record = class_of_group[groups]
    sizes = np.bincount(class_of_record).astype(np.int64)
    classes = Profiles(bucket.items, sizes, levels[: len(sizes)], bucket.scale, step)
    desk.leave(
        {
            "levels": classes.levels,
            "classes": records.by_user(class_of_record).astype(np.int32),
        }
    )
    return {
        "sizes": sizes,
        "counted": rests_on(records.ratings, classes, class_of_record, settings["least"]),
        "groups": np.array([len(class_of_group)]),
    }


def count_shared(
    grouped: Grouped,
    number: Sequence[Ints],
    shared: Ints,
    levels: NDArray[np.uint8],
    asked: Mapping[str, Any],
) -> Ints:
    """Count what classes rest on that have users in several buckets; see `rests_on`.

    `number`: of each bucket, the number of each of its classes among all. `shared`: numbers of
    classes, ascending; `levels`: their profiles.
    """
    wide = [np.searchsorted(shared, each) for each in number]
    there = [
        np.where(shared[np.minimum(at, len(shared) - 1)] == each, at, -1)
        for at, each in zip(wide, number, strict=True)
    ]
    raters = np.zeros(levels.shape, dtype=np.int64)
    total = np.zeros(levels.shape)
    for bucket in range(len(grouped.buckets)):
        place = there[bucket][grouped.classes(bucket)]
        users = np.flatnonzero(place >= 0)
        if not len(users):
            continue
        rows = grouped.buckets.shard(bucket).keep_users(users)
        cells = np.repeat(place[users], rows.user_support) * levels.shape[1] + rows.columns
        raters += np.bincount(cells, minlength=levels.size).reshape(levels.shape)
        total += np.bincount(cells, rows.values(), levels.size).reshape(levels.shape)
    shown, least, step = levels != 0, asked["least"], asked["step"]
    said = grouped.buckets.records.scale.minimum + step * (levels.astype(np.float64) - 1)
    off = np.abs(total / np.maximum(raters, 1) - said) > off_by(step)
    invented = (raters == 0) | (raters < least) | (off & (least > 0))
    return np.column_stack(
        [part.sum(axis=1) for part in (shown, shown & (raters == 1), shown & invented)]
    )
