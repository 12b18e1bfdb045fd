"""What can be set of each method; the choice of items is the reader's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from starshade.anonymize.registry import FOR_ITEMS
from starshade.ratings.proximity.settings import EPS, NULLS, SENSITIVE, SPREAD, NullRule
from starshade.recommend.registry import ENTRIES
from starshade.recommend.settings import Dissimilarity
from starshade.release import ProfileKind
from starshade.setting import declared, settable

if TYPE_CHECKING:
    from pathlib import Path

    from starshade.anonymize.hierarchy.hierarchy import Dgh
    from starshade.ratings.select import ItemSelection

Clip = Literal["mean", "cells"]
RareItems = Literal["drop", "keep"]
RareValues = Literal["refuse", "blank"]

_K = declared(
    "How many people hide together (k)",
    "Everybody hides among at least k; 5 is usual.",
    least=2,
    usual="5",
    advice="A group of one hides nobody; 5 is usual.",
)
_RARE_ITEMS = declared(
    "Items that fewer than k people rated", "Items that fewer than k users rated.", private=True
)
_ITEM_SUPPORT = declared(
    "Item support",
    "Leave out items that fewer people of the whole table rated than this number, or this "
    "percentage of them.",
    kind="amount",
    unset="no more than rare items ask for",
    usual="N|P%",
    advice="10% keeps the items that a tenth of the people rated; leave it out to keep more.",
)
_ITEMS = declared(
    "Items to release", "Which items to release.", kind="file", unset="all", usual="top:N|FILE"
)


def _hierarchy(coarse: str) -> dict[str, Any]:
    return declared(
        "What different ratings of a group become",
        "What a group is released as: ndgh (the set of values), range, fixed-intervals (tenths of "
        "the scale), dgh, dgh-a, dgh-b, dgh-c, or a file.",
        kind="file",
        unset=f"{coarse}; fixed-intervals on a real scale or one of more than 20 levels",
        usual="NAME|FILE",
    )


_EXACT = declared(
    "Personal attributes",
    "Personal attributes in the release; exact: for a query service only.",
    advice="This method changes ratings only: use none for a release to publish, exact for one "
    "behind the query service.",
    private=True,
)
_SLACK = declared(
    "People who may leave a group",
    "Groups are made of k and so many more, so that as many may leave before the next release.",
    least=0,
    usual="2",
    advice="0 makes groups of k, which the first person who leaves breaks.",
)
_SIMPLE = ("profile", "simple")
_NEAR_FIRST = ("partition", "l", "items", "k", "eps", "nulls")


@dataclass(frozen=True)
class GroupingSettings:
    """Of the methods that generalize groups."""

    #: what a manifest says first (`starshade.release.manifest`)
    recorded_first: ClassVar[tuple[str, ...]] = ("k", "hierarchy", "items", "levels")
    #: the hierarchy where none is named and the scale is not fine
    coarse: ClassVar[str] = "ndgh"

    k: int = field(metadata=_K)
    hierarchy: str | Path | Dgh | None = field(default=None, metadata=_hierarchy("ndgh"))
    items: ItemSelection | None = field(default=None, metadata=_ITEMS)
    rare_items: RareItems = field(default="drop", metadata=_RARE_ITEMS)
    item_support: int | str | None = field(default=None, metadata=_ITEM_SUPPORT, kw_only=True)
    attributes: Literal["none", "generalized", "exact"] = settable(
        "Personal attributes",
        "Personal attributes in the release; generalized: part of what k records share; "
        "exact: for a query service only.",
        default="none",
        private=True,
    )
    quasi_identifiers: Sequence[str] = settable(
        "What others may know",
        "One that others may know of a person; without any, all that are not sensitive.",
        default=(),
        private=True,
        beside=("attributes", "generalized"),
    )
    sensitive_attributes: Sequence[str] = settable(
        "What others must not learn",
        "One that others must not learn, released as it is.",
        default=(),
        private=True,
        beside=("attributes", "generalized"),
    )
    l: int = settable(  # noqa: E741 - the name that it has everywhere
        "Different values of each sensitive attribute (l)",
        "Least number of different values of each sensitive attribute in a group.",
        default=0,
        least=0,
        usual="2",
        advice="l is the least number of different sensitive values in a class; 2 is the "
        "least that hides any, 0 asks none.",
    )
    missing: Literal["as-value"] | None = settable(
        "Missing sensitive values",
        "as-value: for l, a missing value counts as one more value.",
        default=None,
        unset="not counted",
    )
    t: float | None = settable(
        "Largest distance of sensitive attributes (t)",
        "How far the sensitive attributes of a group may be from those of all.",
        default=None,
        unset="any distance",
        least=0,
        most=1,
        usual="0.2",
        advice="0 asks every class for the distribution of all; 1 would ask nothing.",
    )
    attribute_hierarchies: Mapping[str, Any] | Sequence[tuple[str, Any]] = settable(
        "How attributes are coarsened",
        "How finely a quasi-identifier is told at most: prefix:3, bands:10, month, year, rare:5, "
        "or a file of what its values are joined to (ARX's CSV).",
        default=(),
        kind="files",
        beside=("attributes", "generalized"),
        usual="NAME=RECIPE",
    )
    rare_values: RareValues = settable(
        "Values that fewer than k people have",
        "Values of an attribute that fewer than k people have.",
        default="refuse",
        beside=("attributes", "generalized"),
    )
    slack: int = field(default=0, metadata=_SLACK)


@dataclass(frozen=True)
class RangeSettings(GroupingSettings):
    """Of those that make ranges, unless something else is asked for."""

    coarse: ClassVar[str] = "range"

    hierarchy: str | Path | Dgh | None = field(default=None, metadata=_hierarchy("range"))


@dataclass(frozen=True)
class KExchangeSettings(GroupingSettings):
    """Of the method that chooses groups by what they cost."""

    disclosure_weight: float = settable(
        "Weight of ratings that a group shows plainly",
        "What a cell costs in which all of a group have one and the same rating, in whole ranges "
        "of an item.",
        default=0,
        least=0,
        most=100,
        usual=f"{FOR_ITEMS.settings['disclosure_weight']:g}",
        advice="0 minds the loss alone; 1 leaves hardly such a cell; above that little changes.",
    )


KLikenessSettings = GroupingSettings
KMemberSettings = MondrianSettings = MondrianRelaxedSettings = RangeSettings


@dataclass(frozen=True)
class IntervalAnonymizerSettings:
    """SR §6."""

    recorded_first: ClassVar[tuple[str, ...]] = _NEAR_FIRST

    k: int = field(metadata=_K)
    eps: float = field(metadata=EPS)
    l: float = field(default=0.0, metadata=SPREAD)  # noqa: E741 - the paper's name
    sensitive: Sequence[str] = field(default=(), metadata=SENSITIVE)
    nulls: NullRule = field(default="strict", metadata=NULLS)
    partition: Literal["cluster", "whole"] = settable(
        "Ratings are moved together",
        "In small clusters, or all records with the same items rated (the paper).",
        default="cluster",
    )
    items: ItemSelection | None = field(default=None, metadata=_ITEMS)
    rare_items: RareItems = field(default="drop", metadata=_RARE_ITEMS)
    item_support: int | str | None = field(default=None, metadata=_ITEM_SUPPORT, kw_only=True)
    attributes: Literal["none", "exact"] = field(default="none", metadata=_EXACT)


@dataclass(frozen=True)
class SuppressAnonymizerSettings:
    """SR §8."""

    recorded_first: ClassVar[tuple[str, ...]] = _NEAR_FIRST

    k: int = field(metadata=_K)
    eps: float = field(metadata=EPS)
    l: float = field(default=0.0, metadata=SPREAD)  # noqa: E741 - the paper's name
    sensitive: Sequence[str] = field(default=(), metadata=SENSITIVE)
    nulls: NullRule = field(default="strict", metadata=NULLS)
    items: ItemSelection | None = field(default=None, metadata=_ITEMS)
    rare_items: RareItems = field(default="drop", metadata=_RARE_ITEMS)
    item_support: int | str | None = field(default=None, metadata=_ITEM_SUPPORT, kw_only=True)
    attributes: Literal["none", "exact"] = field(default="none", metadata=_EXACT)


@dataclass(frozen=True)
class PredictiveAnonymizerSettings:
    """PA §4-6, Alg. 1."""

    recorded_first: ClassVar[tuple[str, ...]] = (
        *("k", "profile", "dissimilarity", "clip", "recommender"),
        *("factors", "regularization", "sweeps", "biases", "grouping", "weights", "min_raters"),
    )

    k: int = field(metadata=_K)
    profile: ProfileKind = settable(
        "What a profile shows",
        "A group's cell is the mean of ratings and predictions (padded), of the ratings alone "
        "(simple), of predictions alone (model), or the prediction for all members as one "
        "(pooled).",
        default="pooled",  # loses least where they were measured: docs/prediction.md
    )
    dissimilarity: Dissimilarity = settable(
        "How unlike two users are",
        "What makes two users alike when groups are formed; weighted-sq is the paper's. All "
        "but euclidean need the grouping t-means.",
        default="euclidean",
    )
    clip: Clip = settable(
        "What is clipped to the scale",
        "Clip means to the scale, or every prediction before.",
        default="mean",
    )
    grouping: Literal["exchange", "t-means"] | None = settable(
        "How users are grouped",
        "Users exchanged between groups while that lessens their error, or the paper's clusters.",
        default=None,
        unset="exchange, where distances are euclidean",
    )
    weights: Literal["support", "uniform"] | None = settable(
        "How items count",
        "An item counts as often as it was rated, or all count alike.",
        default=None,
        unset="support for exchange, uniform for t-means",
    )
    factors: int | None = settable(
        "Factors", "Factors of the recommender.", default=3, least=1, unset="the recommender's own"
    )
    regularization: float | None = settable(
        "Regularization",
        "How strongly factors are held back.",
        default=None,
        least=0,
        most=1e100,
        advice="For example 0.055.",
        unset="0.055; other recommenders: their own",
    )
    sweeps: int | None = settable(
        "Rounds of fitting",
        "Rounds of fitting, at most.",
        default=None,
        least=1,
        unset="16; other recommenders: their own",
    )
    biases: bool | None = settable(
        "Biases for users and items",
        "Whether a bias is fitted for each user and item.",
        default=None,
        off="No bias for users and items, as in the paper.",
        unset="the recommender's own",
    )
    recommender: str = settable(
        "What predicts",
        "What predicts what is not rated; implicit-als and surprise-svd come with the extra "
        "compare, lenskit-biased-mf with lenskit. The profile pooled needs regularized-svd.",
        default="regularized-svd",
        kind="choice",
        choices=tuple(entry.name for entry in ENTRIES),
    )
    b: int = settable(
        "Items known together (b)",
        "Items known together that l profiles must show.",
        default=1,
        beside=_SIMPLE,
        least=1,
        usual="2",
    )
    l: int = settable(  # noqa: E741 - the paper's name
        "Profiles that show them (l)",
        "Profiles that show what was rated together; 0 asks for nothing.",
        default=0,
        beside=_SIMPLE,
        least=0,
        usual="2",
    )
    fake_edges: Literal["drawn", "mean"] = settable(
        "How cells are invented",
        "Cells that b and l ask for look like real ones, or are the members' means as in the "
        "paper, which can be told.",
        default="drawn",
        beside=_SIMPLE,
    )
    min_raters: int = settable(
        "Raters that an item needs",
        "Members who must have rated an item to show it.",
        default=1,
        beside=_SIMPLE,
        least=1,
    )
    step: float | None = settable(
        "Step of released levels",
        "Step of released levels.",
        default=None,
        least=0,
        above=True,
        unset="a part of the scale's step that makes up to 100; 0.05 for 1 to 5",
        unit="ratings",
    )
    items: ItemSelection | None = field(default=None, metadata=_ITEMS)
    rare_items: RareItems = field(default="drop", metadata=_RARE_ITEMS)
    item_support: int | str | None = field(default=None, metadata=_ITEM_SUPPORT, kw_only=True)
    slack: int = field(default=0, metadata=_SLACK)
