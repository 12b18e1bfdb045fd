"""What can be set of proximity, for whoever asks for it: models and methods."""

from __future__ import annotations

from typing import Literal

from starshade.setting import declared

NullRule = Literal["strict", "ignore", "zero"]
Search = Literal["tree", "slicing", "pairwise"]
Groups = Literal["ball", "clique"]

EPS = declared(
    "How near is near (ε)",
    "Ratings this far apart count as alike; 1 is usual on stars.",
    least=0,
    usual="1",
    advice="It is the distance up to which two ratings count as alike; 1 is usual.",
    unit="ratings",
)
SENSITIVE = declared("Sensitive items", "Id of an item that nobody knows of others.", usual="ITEM")
NULLS = declared(
    "Not rated, beside a rating, is",
    "What a null against a rating costs: as much as any two ratings or more (strict: the larger "
    "of the scale's maximum and width), nothing (ignore), or as if it were a rating a step below "
    "the scale (zero).",
)
SPREAD = declared(
    "Least spread of sensitive ratings (l)",
    "Least standard deviation of each sensitive item among the alike.",
    least=0,
    usual="1",
    advice="It is the least standard deviation of sensitive ratings; 0 asks for none.",
    unit="ratings",
)
