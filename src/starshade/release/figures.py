"""What is told of a release in figures: each declared once, for all who show them."""

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
    "generalized": "The records of a class have equal cells. A cell says what a rating may be: "
    "one value, one of several, or that there is none.",
    "record": "Each person has a record of their own, whose ratings may have been moved.",
    "profile": "The people of a group share one profile: one rating for each item.",
}
AUDIENCE = Figure("audience", "May be shown to", "text")
AUDIENCES = {
    "publish": "Everybody.",
    "query": "Nobody: it may only stand behind a query service.",
}
CLASSES = Figure("classes", "Classes of equal records", "count", False)
SMALLEST_GROUP = Figure(
    "smallest_class",
    "Smallest group",
    "count",
    None,
    "The fewest records that are alike, as a model means it; who asks for k wants k or more.",
)
#: what is counted on the files of a release for its claims
COUNTED = (
    SMALLEST_GROUP,
    Figure(
        "smallest_class_at_least",
        "Smallest group, at least",
        "count",
        None,
        "The search stopped there.",
    ),
    Figure(
        "smallest_sd",
        "Smallest spread of a sensitive item",
        "ratings",
        False,
        "The least standard deviation among records that are near each other.",
    ),
    Figure(
        "smallest_l",
        "Fewest different values in a class",
        "ratio",
        False,
        "High: of whoever's class is found the value is not known.",
    ),
    Figure(
        "largest_t",
        "Farthest from the whole table",
        "ratio",
        True,
        "By how much values in a class are distributed otherwise than among all records, 0 to 1; "
        "high: who finds a class learns more.",
    ),
)
LEFT_OUT = (
    Figure(
        "users_deleted",
        "People left out by the method",
        "count",
        True,
        "They could not be hidden among the others; low keeps more people. A band says how large "
        "a share of all people they are.",
        short="users left out",
    ),
    Figure(
        "users_without_rating",
        "People left out without a rating on these items",
        "count",
        True,
        "They cannot be shown. A band says how large a share of all people they are.",
    ),
    Figure(
        "rare_items_dropped",
        "Items left out because too few rated them",
        "count",
        True,
        "That an item is listed says that somebody rated it; low keeps more items. A band says "
        "how large a share of all items they are.",
    ),
)
INVENTED_CELLS = Figure(
    "imputed_cells",
    "Cells invented",
    "share",
    True,
    "They rest on nobody's rating, or where people have records of their own, not on theirs. Of "
    "all cells; where a class shows a profile, of those with a rating.",
)
SINGLE_RATER_CELLS = Figure(
    "single_rater_cells",
    "Cells that rest on the rating of one person",
    "share",
    True,
    "High means risk: a mean over the ratings given shows such a rating as it is. Of the cells "
    "with a rating.",
)
INVENTED_RECORDS = Figure(
    "dummy_records",
    "Records that are nobody's",
    "count",
    True,
    "They fill up groups that an earlier release made and in which too few people are left; a band "
    "says how large a share of all records they are.",
)
#: of whom that is said; of a list it is its members, of a range its ends
EXACT_NAMED = "in a class whose lists or ranges name exact ratings of its members"
EXACT_LISTED = Figure(
    "users_exact_values_listed",
    "Exact values listed",
    "share",
    True,
    "People in a class with a cell that lists exact ratings of its members, or with a range that "
    "ends at such. High means risk: on a real scale, or one of more than 20 levels, a rating "
    "itself may identify; on any scale a list of as many values as the class has members says "
    "what each gave, if not who.",
    short="exact values listed",
)
SHARES = (
    EXACT_LISTED,  # first: on a fine scale hardly a class shares one rating
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
_PRIVATE = (*LEFT_OUT, INVENTED_CELLS, SINGLE_RATER_CELLS, INVENTED_RECORDS)


def private_figures(manifest: Manifest, exact: Exact | None = None) -> tuple[Figure, ...]:
    """Return figures of private data: exact for their owner, in bands for everybody else."""
    applying = (each for each in _PRIVATE if getattr(manifest, each.key) is not None)
    return tuple(
        each.of(
            in_words(getattr(manifest, each.key)) if exact is None else getattr(exact, each.key)
        )
        for each in applying
    )


def shares(manifest: Manifest) -> tuple[Figure, ...]:
    """Return of how many people a release shows what; those that do not apply are left out."""
    found = (each.of(getattr(manifest, each.key)) for each in SHARES)
    return tuple(each for each in found if each.value is not None)


def exact_values_warning(manifest: Manifest) -> str:
    """Warn of exact ratings in the cells of a release on a fine scale; empty: there are none."""
    share, scale = manifest.users_exact_values_listed, manifest.scale.to_scale()
    if not share or not scale.fine:
        return ""
    if manifest.layout == "record":
        return (
            f"Exact values: {percent(share)} of the people have a record that states single "
            f"ratings, and on the scale {scale} a rating may identify. Methods that release groups "
            "show fixed intervals there."
        )
    ends = "ranges end at" if manifest.config.get("hierarchy") == "range" else "cells list"
    return (
        f"Exact values: {percent(share)} of the people are in a class whose {ends} exact ratings "
        f"of its members, and on the scale {scale} a rating may identify. Fixed intervals show "
        "none."
    )


def counted_of(verified: Mapping[str, float | int]) -> str:
    """Say what was counted on the files for a claim; keys may hold anything.

    Examples
    --------
    >>> counted_of({"smallest_class": 5, "smallest_sd": 0.81649})
    'smallest group 5, smallest spread of a sensitive item 0.8165'
    """
    declared = {each.key: each for each in COUNTED}
    found = (
        declared.get(key, Figure(key, key.replace("_", " "), "ratio")).of(value)
        for key, value in verified.items()
    )
    return ", ".join(f"{each.title[:1].lower()}{each.title[1:]} {each.text}" for each in found)
