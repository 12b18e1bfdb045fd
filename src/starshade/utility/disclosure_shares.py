"""How many people a release still speaks about plainly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from starshade.figure import Figure
from starshade.progress import announced
from starshade.ratings.table import Ratings
from starshade.release.cells import Cells
from starshade.release.disclosure import (
    records_alone_with_sensitive,
    users_rating_disclosed,
    users_rating_exists,
)
from starshade.release.table import Release
from starshade.utility.result import Measure, UtilityResult

__all__ = ["DisclosureShares"]


@dataclass(frozen=True)
class DisclosureShares(Measure[UtilityResult]):
    """Shares of users whose class gives away a rating, or that there is one.

    "Hides among k" is not "hides what you rated": where all of a class rated an item alike, its
    cell has one single member, and whoever knows that a person is in the class knows the rating.
    And records of a class that have sensitive attributes as they are need not be equal.
    """

    name: ClassVar[str] = "disclosure-shares"
    MEANING: ClassVar[str] = (
        "High means risk: that share of users is in a class with a cell that tells their rating "
        "(disclosed), or that they rated the item at all (exists), or that share of records alone "
        "in their class with their sensitive attributes."
    )

    FIGURES: ClassVar[tuple[Figure, ...]] = (
        Figure(
            "users_rating_disclosed",
            "People of whom a rating is disclosed",
            "share",
            True,
            "High means risk: they are in a class that shows one of their ratings plainly, however "
            "many they hide among.",
            short="rating disclosed",
        ),
        Figure(
            "users_rating_exists",
            "People of whom it is shown that they rated something",
            "share",
            True,
            "High means risk: their class shows that each of its members rated some item.",
        ),
        Figure(
            "records_alone_with_sensitive",
            "Records alone in their class with their sensitive attributes",
            "share",
            True,
            "High means risk: by ratings and quasi-identifiers they hide among others; who knows "
            "their sensitive attributes, too, finds them.",
        ),
    )

    @announced("measuring disclosure-shares")
    def measure(self, release: Release, original: Ratings | None = None) -> UtilityResult:
        """Return ``users_rating_disclosed`` and ``users_rating_exists``, counted on the cells.

        None on layout "profile": its cells are means or predictions, and no cell says that it is
        anybody's rating, or that there is one. ``records_alone_with_sensitive`` is the share of
        records that are alone in their class with their sensitive attributes, None without any.
        """
        cells, figures = release.classes, dict[str, float | int | None]()
        if isinstance(cells, Cells):
            figures["users_rating_disclosed"] = users_rating_disclosed(cells)
            figures["users_rating_exists"] = users_rating_exists(cells)
        if release.attributes is not None:
            sensitive = release.attributes.select(list(release.manifest.sensitive_attributes))
            alone = records_alone_with_sensitive(release.class_of_record, sensitive)
            figures["records_alone_with_sensitive"] = alone
        return self._result(figures)
