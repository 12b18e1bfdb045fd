"""Attribute disclosure: the share of people with a rating that profiles give with certainty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from starshade.attack.attribute import RIGHT_ENOUGH, Reader, Readings, rounding_limit
from starshade.attack.low_rank import RANK, draw_profiles, fit_low_rank, shown_profiles
from starshade.audit.original.original import Original
from starshade.figure import Figure, Shown
from starshade.plain import counted, percent
from starshade.release.profiles import Profiles

FIGURES = (
    Figure(
        "attribute_disclosure",
        "Attribute disclosure (certain)",
        "share",
        True,
        "People with a rating that the release gives with certainty, once their class is known and "
        "that they rated the item.",
    ),
    Figure(
        "rated_at_end",
        "People with a rated cell at an end of the scale",
        "share",
        None,
        "Of simple profiles: with a rated cell that allows one rating. Others count as disclosed "
        "only where such cells are right in shadow releases.",
    ),
    Figure(
        "ends_right",
        "Rated cells at an end of the scale that equal the rating, in shadow releases",
        "share",
        True,
        "From 95% on, such cells count as readable.",
    ),
    Figure(
        "low_rank_rms",
        "Residual of a low-rank model, clipped to the scale (rms)",
        "ratio",
        False,
        "In units of the ratings. Up to the limit, profiles are a model's predictions up to "
        "rounding, and hold no single rating.",
    ),
    Figure(
        "low_rank_limit",
        "Largest rms at which profiles are predictions up to rounding",
        "ratio",
        None,
        "1.5 × step / √12, with the step of the released levels.",
    ),
    Figure(
        "read_by_residual",
        "Ratings read from residuals",
        "share",
        True,
        "Of ratings known to exist: right when the residual of a low-rank model, times the class "
        "size, is added to its fit.",
    ),
    Figure(
        "read_by_cell",
        "Ratings read from cells",
        "share",
        None,
        "Of the same ratings: right by the scale value nearest to the cell. Residuals that add "
        "nothing to this disclose nothing.",
    ),
)
_FEWEST = 10  # profiles, and items, of which a model of rank 4 does not explain whatever they are
_NO_KEY = "only the private key file says who is in which class"
_NO_SHADOWS = "only shadow releases show how often cells at an end of the scale are right"


@dataclass(frozen=True)
class AttributeDisclosure(Shown):
    """What a release of averaged profiles discloses of ratings.

    Attributes
    ----------
    attribute_disclosure : float or None
        Share of people with a rating that is certain; None: not measured.
    reason : str
        Why it was not measured; empty where it was.
    rated_at_end : float or None
        Share of people with a rated cell at an end of the scale, or, of profile "simple", with one
        that allows one rating; None without a key file.
    ends_right : float or None
        Rated cells at an end of the scale that equal the rating, of all in the shadow releases.
    ends : int
        How many cells `ends_right` rests on.
    low_rank_rms, low_rank_limit : float or None
        What a clipped model of rank 4 leaves, and the most it may; None where cells are means, and
        of fewer than 10 profiles or items, which such a model explains whatever they are.
    read_by_residual, read_by_cell : float or None
        Ratings known to exist that are read right; None without a key file, on a real-valued scale,
        and for profile "simple".
    profiles_fitted, profiles : int
        How many profiles the model was fitted to, drawn by the seed, and how many there are; 0 for
        profile "simple", of which nothing is fitted.
    """

    attribute_disclosure: float | None
    reason: str = ""
    rated_at_end: float | None = None
    ends_right: float | None = None
    ends: int = 0
    low_rank_rms: float | None = None
    low_rank_limit: float | None = None
    read_by_residual: float | None = None
    read_by_cell: float | None = None
    profiles_fitted: int = 0
    profiles: int = 0

    FIGURES: ClassVar[tuple[Figure, ...]] = FIGURES

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values."""
        return dict(vars(self))

    @property
    def found(self) -> tuple[Figure, ...]:
        """Every figure that has a value."""
        return tuple(each for each in self._of(*FIGURES) if each.value is not None)

    @property
    def modelled(self) -> bool:
        """Whether the profiles are a model's predictions, up to rounding."""
        rms, limit = self.low_rank_rms, self.low_rank_limit
        return rms is not None and limit is not None and rms <= limit

    def __str__(self) -> str:
        if self.attribute_disclosure is None:
            return f"Attribute disclosure was not measured: {self.reason}.{self._residuals()}"
        share = f"Attribute disclosure (certain): {percent(self.attribute_disclosure)} of people."
        return f"{share} {self._why()}{self._residuals()}"

    def _why(self) -> str:
        if self.modelled:
            return (
                f"The profiles are a model's predictions and hold no single rating: a model of "
                f"rank {RANK}{self._fitted()} explains them up to rounding (rms "
                f"{self.low_rank_rms:.4f}, limit {self.low_rank_limit:.4f}). This is no proof "
                "against an adversary who has all other ratings."
            )
        if self.ends_right is None and not self.ends:
            return (
                "They rated an item whose cell allows only one rating for each of its raters."
                if not self.profiles
                else "They rated no item whose cell is at an end of the scale."
            )
        right = f"{percent(self.ends_right)} of {counted(self.ends, 'rated cell')}"
        counts = (
            "they count as readable" if self.attribute_disclosure else "none counts as readable"
        )
        return (
            f"Cells at an end of the scale equal the rating in {right} of the shadow releases; "
            f"{counts} (from {percent(RIGHT_ENOUGH)} on)."
        )

    def _fitted(self) -> str:
        if self.profiles_fitted == self.profiles:
            return ""
        return f" on {self.profiles_fitted:,} of {self.profiles:,} profiles"

    def _residuals(self) -> str:
        if self.read_by_residual is None:
            return ""
        return (
            f" If the rated items are known{self._fitted()}, the residuals of a model of rank "
            f"{RANK} give {percent(self.read_by_residual)} of the ratings, the cells alone "
            f"{percent(self.read_by_cell)}."
        )


def attribute_disclosure(
    original: Original, ends: tuple[int, int] | None, seed: int
) -> AttributeDisclosure:
    """Measure the share of people with a rating that profiles give with certainty.

    Parameters
    ----------
    original : Original
        What the release was made of.
    ends : (int, int) or None
        `starshade.attack.attribute.ends_right`, added up over the shadow releases; None: there are
        none.
    seed : int
        Draws the profiles that the model is fitted to, where they are many.
    """
    release = original.release
    profiles, kind = release.classes, release.manifest.profile
    assert isinstance(profiles, Profiles)
    if kind == "simple":
        read = original.read(Reader.of(release))
        if read is None:
            return AttributeDisclosure(None, _NO_KEY)
        share = _share(read.disclosed, read.people)
        return AttributeDisclosure(share, rated_at_end=share)
    rows = draw_profiles(profiles.columns, seed)
    shown = shown_profiles(profiles.columns, rows)
    found: dict[str, Any] = {"profiles_fitted": len(rows), "profiles": profiles.n_groups}
    if kind != "padded" and min(shown.shape) >= _FEWEST:
        scale_ends = profiles.scale.minimum, profiles.scale.maximum
        found["low_rank_rms"] = fit_low_rank(shown, ends=scale_ends).rms
        found["low_rank_limit"] = rounding_limit(profiles.step)
    read = original.read(Reader.of(release, fit_low_rank(shown), rows))
    if read is not None:
        found["rated_at_end"] = _share(read.disclosed, read.people)
        if read.tried:
            found["read_by_residual"] = read.by_residual / read.tried
            found["read_by_cell"] = read.by_cell / read.tried
    if AttributeDisclosure(None, **found).modelled:
        return AttributeDisclosure(0.0, **found)
    return _by_ends(read, ends, found)


def _by_ends(
    read: Readings | None, ends: tuple[int, int] | None, found: dict[str, Any]
) -> AttributeDisclosure:
    """Judge cells at an end of the scale by how often they are right in the shadow releases."""
    if read is None:
        return AttributeDisclosure(None, _NO_KEY, **found)
    if not read.disclosed:
        return AttributeDisclosure(0.0, **found)
    if ends is None:
        return AttributeDisclosure(None, _NO_SHADOWS, **found)
    right, every = ends
    if not every:
        reason = "no shadow release has a rated cell at an end of the scale"
        return AttributeDisclosure(None, reason, **found)
    found |= {"ends_right": right / every, "ends": every}
    # as counts, so that 19 of 20 are enough whatever the float
    readable = right >= np.ceil(RIGHT_ENOUGH * every - 1e-9)
    return AttributeDisclosure(found["rated_at_end"] if readable else 0.0, **found)


def _share(some: int, every: int) -> float:
    return some / max(1, every)
