"""What remains of the ratings, as a report and a page show it: a bar, beside a list of averages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starshade.plain import percent
from starshade.utility.what_remains import WhatRemains

#: kind → what a bar calls it; of profiles and records "wider" has another name
_LABELS = {
    "exact": "exact: useful, and disclosed",
    "half_step": "within half a step",
    "one_step": "only neighbouring values",
    "wider": "wider than a step",
    "existence_only": "rated, value open",
    "ambiguous": "perhaps rated",
    "suppressed": "gone by the method",
    "left-out": "gone with items or people left out",
}
_FARTHER = "farther than a step"


def remains_section(figures: Mapping[str, float | int | None]) -> dict[str, Any] | None:
    """Return what becomes of each rating, beside a list of item averages.

    `figures`: those of the measure ``what-remains``, maybe among others. None where nobody said
    who is who. The kinds stand in the order of a bar, and their shares add up to 1.

    Examples
    --------
    >>> figures = {"utility_exact": 0.1, "utility_one_step": 0.6, "utility_wider": 0.3}
    >>> figures |= {"recoverable_within_step": 0.7, "item_means_within_step": 0.68,
    ... "improvement_over_item_means": 0.1}
    >>> section = remains_section({**figures, "utility_suppressed": 0.0})
    >>> [kind["label"] for kind in section["kinds"]][2:4]
    ['farther than a step', 'gone by the method']
    """
    gone, left_out = figures.get("utility_suppressed"), figures.get("utility_left_out") or 0.0
    if gone is None:
        return None
    meanings = {figure.key: figure.meaning for figure in WhatRemains.FIGURES}
    meanings["utility_left-out"] = meanings["utility_left_out"]
    by_kind = dict(figures) | {
        "utility_suppressed": max(0.0, gone - left_out),
        "utility_left-out": left_out,
    }
    labels = dict(_LABELS)
    if figures.get("utility_existence_only") is None:  # cells are single numbers
        labels["wider"] = _FARTHER
    kinds = [
        {"name": name, "label": label, "share": share, "meaning": meanings[f"utility_{name}"]}
        for name, label in labels.items()
        if (share := by_kind.get(f"utility_{name}")) is not None
    ]
    names = ("item_means_within_step", "improvement_over_item_means", "imputed_share")
    return {
        "kinds": kinds,
        "within_step": figures["recoverable_within_step"],
        **{name: figures.get(name) for name in names},
        "text": _in_words(figures, by_kind["utility_suppressed"], left_out),
        "meaning": WhatRemains.MEANING,
    }


def _in_words(
    figures: Mapping[str, float | int | None], by_method: float | None, left_out: float
) -> str:
    skill, filled = figures.get("improvement_over_item_means"), figures.get("imputed_share")
    told = (
        f"Of all ratings {percent(figures['recoverable_within_step'])} can be read within one "
        f"step, "
        "each cell as the mean of what it leaves possible; "
        f"from a list of item averages {percent(figures['item_means_within_step'])}."
    )
    if figures["utility_suppressed"]:
        told += (
            f" Gone: {percent(left_out)} with items or people that were left out, "
            f"{percent(by_method)} by the method."
        )
    if skill is not None:
        told += f" Skill over that list: {skill:.2f} (1 reads every rating exactly, 0 no better)."
    if filled is not None:
        told += f" Of the cells that were empty {percent(filled)} are imputed."
    return told


def no_remains() -> str:
    """Say what to do to see what remains, where nobody said who is who."""
    return (
        "Not told: only the receipt says whose record is whose. Give the file that was written "
        "with the release."
    )
