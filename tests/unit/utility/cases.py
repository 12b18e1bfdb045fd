"""Releases of every layout, with ratings held out of what they were made of."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from starshade.anonymize.k_likeness import KLikeness
from starshade.ratings.table import Ratings
from starshade.release.build import Provenance
from starshade.release.profile_release import profile_release
from starshade.release.profiles import released_levels
from starshade.release.table import Release
from tests.strategies import ratings_tables
from tests.unit.release.changes import moved_tables, released

LAYOUTS = ("generalized", "record", "profile")


def profiled(
    original: Ratings, levels: Any, groups: list[int], step: float, profile: str = "padded"
) -> Release:
    """Release profiles as they are."""
    return profile_release(
        original,
        np.array(levels, dtype=np.uint8),
        np.array(groups, dtype=np.int64),
        Provenance(method="some-method", seed=1, rare_items="keep"),
        step=step,
        profile=profile,
    )


@st.composite
def profile_releases(draw: st.DrawFn) -> tuple[Release, Ratings]:
    """Some table; of all or some of its items groups and profiles drawn at random."""
    whole_table = draw(ratings_tables(min_users=2, with_days=False)).drop_empty_users()
    n = whole_table.n_items
    kept = draw(st.sets(st.integers(0, n - 1), min_size=1)) if draw(st.booleans()) else range(n)
    original = whole_table.keep_items(np.array(sorted(kept)))
    assume(original.n_users >= 2)
    scale = original.scale
    step = scale.width / 8 if scale.width else 1.0
    n_levels = len(released_levels(scale, step))
    n_groups = draw(st.integers(1, original.n_users))
    groups = [*range(n_groups)] + [
        draw(st.integers(0, n_groups - 1)) for _ in range(original.n_users - n_groups)
    ]
    kind = "simple" if draw(st.booleans()) else "padded"
    level = st.integers(0 if kind == "simple" else 1, n_levels)
    n = original.n_items
    rows = [draw(st.lists(level, min_size=n, max_size=n)) for _ in range(n_groups)]
    return profiled(original, rows, groups, step, kind), whole_table


@st.composite
def releases(draw: st.DrawFn, layouts: tuple[str, ...] = LAYOUTS) -> tuple[Release, Ratings]:
    """Some release and what it was made of."""
    layout = draw(st.sampled_from(layouts))
    if layout == "profile":
        return draw(profile_releases())
    if layout == "record":
        original, rows = draw(moved_tables(with_days=False))
        assume((original.user_support > 0).all())
        return released(original, rows), original
    original = draw(ratings_tables(min_users=2, with_days=False))
    assume(original.drop_empty_users().n_users >= 2)
    hierarchy = draw(st.sampled_from(["ndgh", "dgh"]))
    rare = draw(st.sampled_from(["keep", "drop"]))
    method = KLikeness(2, hierarchy, rare_items=rare)  # type: ignore[arg-type]
    try:
        return method.anonymize(original, rng=draw(st.integers(0, 5))), original
    except Exception:
        assume(False)
        raise


@st.composite
def probed(draw: st.DrawFn, layouts: tuple[str, ...] = LAYOUTS) -> tuple[Release, Ratings, Ratings]:
    """A release, what it was made of, and made-up ratings of cells that were null there."""
    release, original = draw(releases(layouts))
    rated = ~np.isnan(original.dense())
    free = [tuple(cell) for cell in np.argwhere(~rated).tolist()]
    assume(free)
    cells = sorted(draw(st.sets(st.sampled_from(free), min_size=1, max_size=12)))
    return release, original, probe_of(original, draw_values(draw, original, cells))


def draw_values(draw: st.DrawFn, original: Ratings, cells: list) -> dict:
    """Draw a rating for each cell."""
    scale = original.scale
    level = st.sampled_from(
        (scale.levels if scale.step is not None else np.array([scale.minimum, 0.5])).tolist()
    )
    return {cell: draw(level) for cell in cells}


def probe_of(original: Ratings, cells: dict[tuple[int, int], float]) -> Ratings:
    """Build held-out ratings over the original's users and items: (user, item) -> rating."""
    order = sorted(cells)
    values = np.array([cells[cell] for cell in order])
    levels, codes = np.unique(values, return_inverse=True)
    if original.scale.step is not None:
        levels = original.scale.levels
        codes = np.searchsorted(levels, values - 1e-9)
    counts = np.bincount([u for u, _ in order], minlength=original.n_users)
    return replace(
        original,
        indptr=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        columns=np.array([i for _, i in order], dtype=np.int32),
        codes=codes.astype(np.uint8),
        levels=levels,
        days=None,
    )
