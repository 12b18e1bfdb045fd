"""Releases of layout "profile": some table, some groups, a profile of each by the definitions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from starshade.ratings.table import Ratings
from starshade.ratings.vocabulary import Vocabulary
from starshade.release.manifest import Claim
from starshade.release.profile_release import profile_release
from starshade.release.table import Release
from tests.naive import profile_release as naive
from tests.strategies import ratings_tables
from tests.unit.release.provenances import made_and_rest


@dataclass(frozen=True)
class Profiled:
    original: Ratings
    groups: np.ndarray
    kind: str
    step: float
    levels: list[list[int]]  # of each group
    min_raters: int = 1
    claims: tuple[Claim, ...] = ()

    @property
    def rows(self) -> list[list[float | None]]:
        return rows_of(self.original)

    def release(self, **more: Any) -> Release:
        arguments: dict[str, Any] = {
            "step": self.step,
            "profile": self.kind,
            "method": "some-method",
            "config": {"k": 1, "min_raters": self.min_raters},
            "claims": (Claim(model="review-graph", parameters={"k": 1}), *self.claims),
            "seed": 4_077_112_233,
            "rare_items": "keep",
        }
        levels = np.array(self.levels, dtype=np.uint8)
        made, rest = made_and_rest(arguments | more)
        return profile_release(self.original, levels, self.groups, made, **rest)

    def relabelled(self, rng: np.random.Generator) -> Profiled:
        """The same people in another order, the same groups under other numbers."""
        people = rng.permutation(self.original.n_users)
        labels = rng.permutation(len(self.levels))
        moved = self.original.keep_users(people)
        moved = replace(moved, users=Vocabulary(np.arange(len(people)) + 1000))
        levels = [self.levels[g] for g in np.argsort(labels)]
        return replace(self, original=moved, groups=labels[self.groups][people], levels=levels)


def rows_of(ratings: Ratings) -> list[list[float | None]]:
    return [[None if v != v else v for v in row] for row in ratings.dense().tolist()]


def profile(
    original: Ratings, groups: list[int], kind: str, step: float, min_raters: int = 1,
    pads: list[list[float]] | None = None,
) -> Profiled:  # fmt: skip
    """Average the rows of each group, as the kind of profile asks.

    Simple groups that `min_raters` makes equal are one, as a method that asks for raters sees to.
    """
    rows, scale = rows_of(original), original.scale
    if kind == "simple":
        means = naive.simple(rows, groups, min_raters)
    else:
        assert pads is not None
        own = rows if kind == "padded" else [[None] * len(row) for row in rows]
        means = naive.padded(own, pads, groups)
    n_levels = round(scale.width / step) + 1
    levels = [[naive.level(v, scale.minimum, step, n_levels) for v in row] for row in means]
    found, joined = np.unique(levels, axis=0, return_inverse=True)
    if kind == "simple" and min_raters > 1 and len(found) < len(levels):
        of_user = joined.ravel()[groups].tolist()
        return profile(original, of_user, kind, step, min_raters)
    return Profiled(original, np.array(groups), kind, step, levels, min_raters)


@st.composite
def profiled(draw: st.DrawFn, kinds: tuple[str, ...] = ("padded", "simple", "model", "pooled"),
             **tables: Any) -> Profiled:  # fmt: skip
    """Some release: few levels make equal groups, many make none."""
    original = draw(ratings_tables(with_days=False, **tables))
    n, scale = original.n_users, original.scale
    labels = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    groups = np.unique(labels, return_inverse=True)[1].tolist()
    step = scale.width / draw(st.sampled_from([1, 2, 8, 80, 254])) if scale.width else 1.0
    kind = draw(st.sampled_from(kinds))
    guess = st.floats(scale.minimum, scale.maximum).map(lambda v: round(v, 6))
    row = st.lists(guess, min_size=original.n_items, max_size=original.n_items)
    pads = draw(st.lists(row, min_size=n, max_size=n)) if kind != "simple" else None
    if pads is not None and draw(st.booleans()):
        pads = [pads[0]] * n
    min_raters = draw(st.integers(1, 3)) if kind == "simple" else 1
    return profile(original, groups, kind, step, min_raters, pads)
