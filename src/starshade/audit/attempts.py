"""Methods tried on one table: the release of each, its time and its memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from time import perf_counter
from typing import Any, Literal, TypeAlias

import numpy as np

from starshade.anonymize.personal.settings import refuse_repeated
from starshade.audit.make import Anonymizer
from starshade.errors import ConfigError, StarshadeError
from starshade.naming import called, named
from starshade.progress import silence
from starshade.ratings.holdout import sample_users
from starshade.ratings.table import Ratings
from starshade.registry import Entry
from starshade.release.build import Provenance, generalized_release
from starshade.release.cells import cells_of
from starshade.release.table import Release
from starshade.rng import generator

Attributes: TypeAlias = Literal["none", "exact"]
ORIGINAL = "original"
_FEW = 48  # records of the runs that only compile
_PROCESS = Path("/proc/self")


@dataclass(frozen=True, eq=False)
class Attempt:
    """A release by one method, with its time and memory."""

    release: Release  # in memory only
    seconds: float  # from ratings to release; reading, measuring and saving are no part of it
    # the most memory that the process held meanwhile; None where the system does not tell
    peak_rss_mb: float | None


def attempt(method: Anonymizer, ratings: Ratings, seed: int) -> Attempt:
    """Anonymize once without progress, and measure time and memory."""
    watched = _forget_peak()
    started = perf_counter()
    with silence():
        release = method.anonymize(ratings, rng=seed)
    return Attempt(release, perf_counter() - started, _peak_mb() if watched else None)


def compile_first(methods: Iterable[Anonymizer], ratings: Ratings, seed: int) -> None:
    """Run each method once on a few records, so that no time holds a compilation."""
    everybody = np.arange(ratings.n_users)
    part = ratings.keep_users(sample_users(ratings, everybody, _FEW, seed))
    with silence():
        for method in methods:
            try:
                method.anonymize(part, rng=seed)
            except StarshadeError:
                continue  # what is wrong is told when it is run in earnest


def untouched(ratings: Ratings, attributes: Attributes = "none") -> Release:
    """Return the ratings as a release with k = 1: every record is its own class."""
    table = ratings.drop_empty_users()
    return generalized_release(
        table,
        np.arange(table.n_users),
        cells_of(table),
        Provenance(method=ORIGINAL, seed=0, rare_items="keep"),
        attributes=attributes,
    )


def made_of(entry: Entry, settings: Mapping[str, Any]) -> Anonymizer:
    """Build a registered method with those of the settings that it has."""
    cls = entry.load()
    own = {field.name for field in fields(cls)}
    method: Anonymizer = cls(**{name: settings[name] for name in settings.keys() & own})
    return method


def numeric_attribute(ratings: Ratings, requested: str | None = None) -> str | None:
    """Return the attribute that queries average: as requested, else age, else the first numeric.

    None where the data have no numeric attribute.
    """
    table = ratings.attributes
    names = [] if table is None else list(table.column_names)
    numeric = [
        name for name in names if table is not None and str(table.column(name).type) == "double"
    ]
    if requested is None:
        return min(numeric, key=lambda name: name.casefold() != "age", default=None)
    if requested not in numeric:
        reason = "not numeric" if requested in names else "no such attribute"
        raise ConfigError(
            f"attribute {requested!r}: {reason}; numeric ones: {', '.join(numeric) or 'none'}",
            advice=f"Give one of them with {named('attribute')}."
            if numeric
            else f"Give the file of personal attributes with {named('users')}.",
        )
    return requested


def check_ks(k: int | Sequence[int]) -> tuple[int, ...]:
    """Return the values of k to try, ascending."""
    ks = [k] if isinstance(k, int) else k
    if not len(ks) or min(ks) < 2:
        raise ConfigError(f"{called('k')} = {list(ks)}: give one or more values, each 2 or more")
    refuse_repeated("k", tuple(map(str, ks)))
    return tuple(sorted(ks))


def seeds_of(seed: int, runs: int) -> list[int]:
    """Return a seed for each run."""
    drawn: list[int] = (
        generator(seed, "runs").integers(0, 2**63, size=runs, dtype=np.int64).tolist()
    )
    return drawn


def size_of(ratings: Ratings) -> dict[str, Any]:
    """Return how large a table is, and its scale."""
    return {
        "users": ratings.n_users,
        "items": ratings.n_items,
        "ratings": ratings.n_ratings,
        "scale": str(ratings.scale),
    }


def _forget_peak() -> bool:
    """Reset the system's peak counter; return whether it can be reset."""
    try:
        (_PROCESS / "clear_refs").write_text("5")
    except OSError:
        return False
    return True


def _peak_mb() -> float | None:
    for line in (_PROCESS / "status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024 / 1e6
    return None
