"""What is told of ratings in figures, over what `Description.to_dict` says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from starshade.figure import Figure, Table, Value

SPARSITY = Figure(
    "sparsity",
    "Cells without a rating",
    "share",
    None,
    "Pairs of a user and an item without a rating. A high share is usual and makes people easy "
    "to recognise: few rated the same items.",
)
LONG_TAIL = Figure(
    "top_10_percent",
    "Ratings on the 10% most rated items",
    "share",
    None,
    "High means a long tail of rare items. A rare item identifies a person more easily than a "
    "popular one.",
)
_SCALE = Figure(
    "scale",
    "Scale",
    "text",
    None,
    "An inferred scale ends at ratings that may be one person's: declare the scale if you know it.",
)
_DATES = Figure(
    "dates", "Dates", "text", None, "An adversary may know them. No release contains them."
)
_ATTRIBUTES = Figure(
    "attributes",
    "Personal attributes",
    "text",
    None,
    "They can single people out. A release leaves them out by default.",
)
_FIGURES = (
    Figure("users", "People", "count", None, "Users with at least one rating."),
    Figure("items", "Items", "count", None, "The rated things: films, products, questions."),
    Figure("ratings", "Ratings", "count"),
    _SCALE,
    SPARSITY,
    Figure("top_1_percent", "Ratings on the 1% most rated items", "share"),
    LONG_TAIL,
    _DATES,
    Figure("days_unknown", "Ratings without a date", "share"),
    _ATTRIBUTES,
    Figure("users_dropped", "People left out", "count", None, "None of their ratings was left."),
    Figure("items_dropped", "Items left out", "count", None, "No user rated them."),
    Figure("duplicates_merged", "Ratings merged with another one", "count"),
)
_QUANTILES = ("q05", "q25", "median", "q75", "q95", "mean")


def figures_of(facts: Mapping[str, Any]) -> tuple[Figure, ...]:
    """Return the figures of a description; counts and shares of nothing are left out."""
    values: dict[str, Value] = {
        each.key: value
        for each in _FIGURES
        if isinstance(value := facts.get(each.key), int | float) and value
    }
    scale = facts["scale"]
    seen = "inferred from the data" if scale.get("inferred") else "declared"
    text = scale_text(*(scale.get(end) for end in ("min", "max", "step")))
    values |= {"scale": f"{text} ({seen})", **(facts.get("long_tail") or {})}
    if facts.get("first_day"):
        values["dates"] = f"{facts['first_day']} to {facts['last_day']}"
    if facts.get("attributes"):
        values["attributes"] = ", ".join(facts["attributes"])
    return tuple(each.of(values[each.key]) for each in _FIGURES if each.key in values)


def scale_text(minimum: float, maximum: float, step: float | None) -> str:
    """Say a scale in words.

    Examples
    --------
    >>> scale_text(1, 5, 0.5), scale_text(-10, 10, None)
    ('1 to 5 in steps of 0.5', '-10 to 10, any value between')
    """
    steps = f" in steps of {step:g}" if step else ", any value between"
    return f"{minimum:g} to {maximum:g}{steps}"


def spread_of(facts: Mapping[str, Any]) -> Table | None:
    """Return how many ratings people give and items get; None where there are none."""
    rows = tuple(
        (label, *(f"{facts[name][q]:,.1f}".removesuffix(".0") for q in _QUANTILES))
        for name, label in (("ratings_per_user", "per user"), ("ratings_per_item", "per item"))
        if facts.get(name)
    )
    head = ("Ratings", "5th percentile", "25th", "median", "75th", "95th", "mean")
    return Table("Ratings per user and item", head, rows) if rows else None


def bars_of(facts: Mapping[str, Any]) -> Iterator[tuple[str, int, float]]:
    """Yield of each rating, or bin of ratings, its name, how many there are and their share."""
    total = max(facts["ratings"], 1)
    for each in facts.get("histogram") or ():
        low, high = each["low"], each["high"]
        name = f"{low:g}" if low == high else f"{low:g} to {high:g}"
        yield name, each["ratings"], each["ratings"] / total
