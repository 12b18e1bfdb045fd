"""Utility of the ratings for a report and a page: a bar, compared with item means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starshade.plain import percent
from starshade.utility.what_remains import WhatRemains

#: kind → what a bar calls it; of profiles and records "wider" has another name
_LABELS = {
    "exact": "exact value disclosed",
    "half_step": "recoverable within ±½ step",
    "one_step": "recoverable within ±1 step",
    "wider": "wider interval",
    "existence_only": "existence only",
    "ambiguous": "ambiguous",
    "suppressed": "suppressed by the method",
    "left-out": "items or people left out",
}
_FARTHER = "larger error"


def remains_section(figures: Mapping[str, float | int | None]) -> dict[str, Any] | None:
    """Return what becomes of each rating, compared with item means.

    `figures`: those of the measure ``what-remains``, maybe among others. None without the
    key file. The kinds are in the order of a bar, and their shares add up to 1.

    Examples
    --------
    >>> figures = {"utility_exact": 0.1, "utility_one_step": 0.6, "utility_wider": 0.3}
    >>> figures |= {"recoverable_within_step": 0.7, "item_means_within_step": 0.68,
    ... "improvement_over_item_means": 0.1}
    >>> section = remains_section({**figures, "utility_suppressed": 0.0})
    >>> [kind["label"] for kind in section["kinds"]][2:4]
    ['larger error', 'suppressed by the method']
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
    text = (
        f"{percent(figures['recoverable_within_step'])} of ratings are recoverable within ±1 step, "
        "with each cell read as the mean of its possible values; item means recover "
        f"{percent(figures['item_means_within_step'])}."
    )
    if figures["utility_suppressed"]:
        text += (
            f" Suppressed: {percent(left_out)} with items or people left out, "
            f"{percent(by_method)} by the method."
        )
    if skill is not None:
        text += f" Improvement over item means: {skill:.2f} (1: exact, 0: none)."
    if filled is not None:
        text += f" {percent(filled)} of unrated cells are imputed."
    return text


def no_remains() -> str:
    """Say how to measure the utility of the ratings."""
    return "Not measured: give the private key file, which links people to records."
