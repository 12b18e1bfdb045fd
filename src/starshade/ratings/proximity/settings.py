"""What can be set of proximity, for whoever asks for it: models and methods."""

from __future__ import annotations

from typing import Literal

from starshade.setting import declared

NullRule = Literal["strict", "ignore", "zero"]
Search = Literal["tree", "slicing", "pairwise"]
Groups = Literal["ball", "clique"]

EPS = declared(
    "Proximity threshold (ε)",
    "Largest difference at which two ratings are similar; typical on stars: 1.",
    least=0,
    usual="1",
    advice="The largest difference at which two ratings are similar; 1 is typical.",
    unit="ratings",
)
SENSITIVE = declared(
    "Sensitive items", "Id of an item whose rating others do not know.", usual="ITEM"
)
NULLS = declared(
    "Distance between a null and a rating",
    "Distance of a null from a rating: strict (the larger of the scale's maximum and width, so "
    "never proximate), ignore (none), zero (a null is a rating one step below the scale).",
)
SPREAD = declared(
    "Least spread of sensitive ratings (l)",
    "Least standard deviation of each sensitive item among proximate records.",
    least=0,
    usual="1",
    advice="The least standard deviation of sensitive ratings; 0 requires none.",
    unit="ratings",
)
