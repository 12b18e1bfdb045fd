"""What remains of the ratings, as a report and a page show it: a bar, beside a list of averages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starshade.plain import percent
from starshade.utility.what_remains import WhatRemains

#: kind → what a bar calls it; of profiles and records "farther" has another name
_LABELS = {
    "exact": "exact: useful, and disclosed",
    "half": "within half a step",
    "near": "only neighbouring values",
    "farther": "wider than a step",
    "open": "rated, value open",
    "perhaps": "perhaps rated",
    "gone": "gone by the method",
    "left-out": "gone with items or people left out",
}
_FARTHER = "farther than a step"


def remains_section(figures: Mapping[str, float | int | None]) -> dict[str, Any] | None:
    """Return what becomes of each rating, beside a list of item averages.

    `figures`: those of the measure ``what-remains``, maybe among others. None where nobody said
    who is who. The kinds stand in the order of a bar, and their shares add up to 1.

    Examples
    --------
    >>> figures = {"remains_exact": 0.1, "remains_near": 0.6, "remains_farther": 0.3}
    >>> figures |= {"remains_within_step": 0.7, "averages_within_step": 0.68, "skill": 0.1}
    >>> section = remains_section({**figures, "remains_gone": 0.0})
    >>> [kind["label"] for kind in section["kinds"]][2:4]
    ['farther than a step', 'gone by the method']
    """
    gone, left_out = figures.get("remains_gone"), figures.get("gone_left_out") or 0.0
    if gone is None:
        return None
    meanings = {figure.key: figure.meaning for figure in WhatRemains.FIGURES}
    meanings["remains_left-out"] = meanings["gone_left_out"]
    by_kind = dict(figures) | {
        "remains_gone": max(0.0, gone - left_out),
        "remains_left-out": left_out,
    }
    labels = dict(_LABELS)
    if figures.get("remains_open") is None:  # cells are single numbers
        labels["farther"] = _FARTHER
    kinds = [
        {"name": name, "label": label, "share": share, "meaning": meanings[f"remains_{name}"]}
        for name, label in labels.items()
        if (share := by_kind.get(f"remains_{name}")) is not None
    ]
    names = ("averages_within_step", "skill", "empty_filled")
    return {
        "kinds": kinds,
        "within_step": figures["remains_within_step"],
        **{name: figures.get(name) for name in names},
        "text": _in_words(figures, by_kind["remains_gone"], left_out),
        "meaning": WhatRemains.MEANING,
    }


def _in_words(
    figures: Mapping[str, float | int | None], by_method: float | None, left_out: float
) -> str:
    skill, filled = figures.get("skill"), figures.get("empty_filled")
    told = (
        f"Of all ratings {percent(figures['remains_within_step'])} can be read within one step, "
        "each cell as the mean of what it leaves possible; "
        f"from a list of item averages {percent(figures['averages_within_step'])}."
    )
    if figures["remains_gone"]:
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
