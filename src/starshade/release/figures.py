"""The figures of a release, each declared once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from starshade.figure import Figure
from starshade.plain import percent
from starshade.release.band import Exact, in_words

if TYPE_CHECKING:
    from starshade.release.manifest import Manifest

LAYOUT = Figure("layout", "Layout", "text")
LAYOUTS = {
    "generalized": "The records of an equivalence class have equal cells. A cell lists the "
    "possible values: one rating, several ratings, or null (not rated).",
    "record": "Each person has one record, whose ratings may be shifted.",
    "profile": "The people of a class share one profile: one rating per item.",
}
AUDIENCE = Figure("audience", "Audience", "text")
AUDIENCES = {
    "publish": "For publication.",
    "query": "Not for publication: only behind a query service.",
}
CLASSES = Figure("classes", "Equivalence classes", "count", False)
SMALLEST_GROUP = Figure(
    "smallest_class",
    "Smallest class",
    "count",
    None,
    "The fewest records that are equal, or near each other where a model needs that; k or more.",
)
#: what is counted on the files of a release for its claims
COUNTED = (
    SMALLEST_GROUP,
    Figure(
        "smallest_class_at_least",
        "Smallest class at least",
        "count",
        None,
        "The count stops at k.",
    ),
    Figure(
        "smallest_sd",
        "Smallest spread of a sensitive item",
        "ratings",
        False,
        "The smallest standard deviation of its ratings among records near each other.",
    ),
    Figure(
        "smallest_l",
        "Fewest different values in a class",
        "ratio",
        False,
        "High is safer: the class of a person does not reveal the value.",
    ),
    Figure(
        "largest_t",
        "Largest distance from the whole table",
        "ratio",
        True,
        "Distance between the distributions of the values in a class and in all records, 0 to 1; "
        "high: a class reveals more.",
    ),
)
LEFT_OUT = (
    Figure(
        "users_deleted",
        "People suppressed by the method",
        "count",
        True,
        "The method could not hide them among the others; low keeps more people. A band is a "
        "share of all people.",
        short="users suppressed",
    ),
    Figure(
        "users_without_rating",
        "People without a rating on the released items",
        "count",
        True,
        "They have no record. A band is a share of all people.",
    ),
    Figure(
        "rare_items_dropped",
        "Items suppressed for too few raters",
        "count",
        True,
        "A listed item reveals that it was rated; low keeps more items. A band is a share of all "
        "items.",
    ),
)
INVENTED_CELLS = Figure(
    "imputed_cells",
    "Imputed cells",
    "share",
    True,
    "They rest on no rating of the class, or of the person if each has one record. Share of all "
    "cells; in profiles, of the cells with a rating.",
)
SINGLE_RATER_CELLS = Figure(
    "single_rater_cells",
    "Cells that rest on one person's rating",
    "share",
    True,
    "High means risk: the mean of one rating is that rating. Share of the cells with a rating.",
)
INVENTED_RECORDS = Figure(
    "dummy_records",
    "Dummy records",
    "count",
    True,
    "They pad classes of an earlier release that have too few people left. A band is a share of "
    "all records.",
)
#: the people counted; a list states its members, a range its ends
EXACT_NAMED = "in a class whose lists or ranges name exact ratings of its members"
EXACT_LISTED = Figure(
    "users_exact_values_listed",
    "Exact values listed",
    "share",
    True,
    "People in a class with a cell that lists exact ratings of its members, or a range that ends "
    "at one. High means risk. On a real scale, or one of more than 20 levels, a rating itself may "
    "identify. On any scale, a list with as many values as members states each rating, without "
    "saying whose.",
    short="exact values listed",
)
SHARES = (
    EXACT_LISTED,  # first: on a fine scale few classes share one rating
    Figure(
        "users_rating_disclosed",
        "Attribute disclosure (certain)",
        "share",
        True,
        "People in a class that discloses one of their ratings, whatever the class size. High "
        "means risk.",
        short="rating disclosed",
    ),
    Figure(
        "users_rating_exists",
        "Existence disclosure",
        "share",
        True,
        "People in a class that shows that each member rated some item. High means risk.",
    ),
    Figure(
        "records_alone_with_sensitive",
        "Records unique in their class by sensitive attributes",
        "share",
        True,
        "High means risk: an adversary who also knows these attributes finds the record within "
        "its class.",
    ),
)
_PRIVATE = (*LEFT_OUT, INVENTED_CELLS, SINGLE_RATER_CELLS, INVENTED_RECORDS)


def private_figures(manifest: Manifest, exact: Exact | None = None) -> tuple[Figure, ...]:
    """Return figures of private data: exact for the owner, else in bands."""
    applying = (each for each in _PRIVATE if getattr(manifest, each.key) is not None)
    return tuple(
        each.of(
            in_words(getattr(manifest, each.key)) if exact is None else getattr(exact, each.key)
        )
        for each in applying
    )


def shares(manifest: Manifest) -> tuple[Figure, ...]:
    """Return the disclosure shares of a release that apply to it."""
    found = (each.of(getattr(manifest, each.key)) for each in SHARES)
    return tuple(each for each in found if each.value is not None)


def exact_values_warning(manifest: Manifest) -> str:
    """Return a warning of exact ratings on a fine scale; empty if there are none."""
    share, scale = manifest.users_exact_values_listed, manifest.scale.to_scale()
    if not share or not scale.fine:
        return ""
    if manifest.layout == "record":
        return (
            f"Exact values: {percent(share)} of the people have a record with exact ratings. On "
            f"the scale {scale} a rating may identify. Methods that release classes show fixed "
            "intervals there."
        )
    ends = "ranges end at" if manifest.config.get("hierarchy") == "range" else "cells list"
    return (
        f"Exact values: {percent(share)} of the people are in a class whose {ends} exact ratings "
        f"of its members. On the scale {scale} a rating may identify. Fixed intervals show none."
    )


def counted_of(verified: Mapping[str, float | int]) -> str:
    """Return what was counted on the files for a claim, as text; keys may hold anything.

    Examples
    --------
    >>> counted_of({"smallest_class": 5, "smallest_sd": 0.81649})
    'smallest class 5, smallest spread of a sensitive item 0.8165'
    """
    declared = {each.key: each for each in COUNTED}
    found = (
        declared.get(key, Figure(key, key.replace("_", " "), "ratio")).of(value)
        for key, value in verified.items()
    )
    return ", ".join(f"{each.title[:1].lower()}{each.title[1:]} {each.text}" for each in found)
