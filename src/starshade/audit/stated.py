"""What ``release.json`` says of how a release was made, beside what it was made of."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from starshade.anonymize.prepare import scale_of, shared_levels
from starshade.audit.result import Finding
from starshade.naming import aside
from starshade.ratings.scale import SLACK, Scale
from starshade.ratings.table import Ratings
from starshade.release.table import Release

__all__ = ["judge_k", "judge_scale"]


def judge_k(release: Release) -> Finding | None:
    """Ask whether the k of the settings is the one that is claimed, where both are told."""
    manifest = release.manifest
    made = manifest.config.get("k")
    claimed = {k for claim in manifest.claims if (k := claim.parameters.get("k")) is not None}
    if type(made) is not int or claimed <= {made}:
        return None
    claims = ", ".join(str(k) for k in sorted(claimed, key=str))
    text = f"release.json says that it was made with k = {made}, and claims k = {claims}."
    return Finding("settings", False, text)


def judge_scale(release: Release, ratings: Ratings, part: Ratings) -> Finding | None:
    """Ask whether the released scale is that of the ratings, or what may be published of it.

    A scale that was found in the data is published as what the released ratings, and those that
    k users gave, show of it (`starshade.anonymize.prepare.publishable_scale`).

    `ratings`: what it was made of; `part`: its released users on the released items.
    """
    if _same(release.scale, ratings.scale):
        return None
    published = _published(release, ratings, part)
    if _same(release.scale, published):
        return None
    inferred = ratings.report.scale_inferred and not _same(published, ratings.scale)
    seen = f", to be published as {published}" if inferred else ""
    return Finding(
        "scale",
        False,
        f"release.json says the scale {release.scale}; these ratings are on {ratings.scale}{seen}. "
        "If it was declared when the release was made, declare it again"
        f"{aside('scale')}.",
    )


def _published(release: Release, ratings: Ratings, part: Ratings) -> Scale:
    k = release.manifest.config.get("k")
    k = k if type(k) is int else release.manifest.claimed_k or 1
    return scale_of(np.union1d(shared_levels(ratings, k), _released(release, part)), ratings.scale)


def _released(release: Release, part: Ratings) -> NDArray[np.float64]:
    """Return the ratings that the release is made of; where they were moved, as they are now."""
    shown: NDArray[np.float64] = part.levels[np.unique(part.codes)]
    if release.manifest.layout == "record":
        symbols, codes = release.cells().symbols, release.cells().codes
        shown = symbols.members[symbols.offsets[:-1]][np.unique(codes)]
    return shown


def _same(one: Scale, other: Scale) -> bool:
    if (one.step is None) != (other.step is None):
        return False
    pairs = [(one.minimum, other.minimum), (one.maximum, other.maximum)]
    pairs += [(one.step, other.step)] if one.step is not None and other.step is not None else []
    return all(abs(a - b) <= SLACK for a, b in pairs)
