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
    "Minimum class size (k)",
    "Minimum class size (typical: 5); with proximity, minimum number of proximate records.",
    least=2,
    usual="5",
    advice="k = 1 protects no one; 5 is typical.",
)
_RARE_ITEMS = declared(
    "Items that fewer than k people rated", "Items that fewer than k users rated.", private=True
)
_ITEM_SUPPORT = declared(
    "Item support",
    "Leave out items rated by fewer users of the whole table than this number or percentage.",
    kind="amount",
    unset="only items with fewer than k raters",
    usual="N|P%",
    advice="10% keeps items rated by at least a tenth of the users; without it more items stay.",
)
_ITEMS = declared(
    "Items to release", "Which items to release.", kind="file", unset="all", usual="top:N|FILE"
)


def _hierarchy(coarse: str) -> dict[str, Any]:
    return declared(
        "Generalization of differing ratings",
        "How differing ratings of a class are released: ndgh (the set of values), range, "
        "fixed-intervals (tenths of the scale), dgh, dgh-a, dgh-b, dgh-c, or a file.",
        kind="file",
        unset=f"{coarse}; fixed-intervals on a real scale or one of more than 20 levels",
        usual="NAME|FILE",
    )


_EXACT = declared(
    "Personal attributes",
    "Personal attributes in the release; exact: for a query service only.",
    advice="This method changes ratings only: use none for a published release, exact for one "
    "behind the query service.",
    private=True,
)
_SLACK = declared(
    "Spare members per class",
    "Members per class beyond k: as many may leave before the next release.",
    least=0,
    usual="2",
    advice="0 makes classes of k, which break when the first member leaves.",
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
        "Personal attributes in the release; generalized: coarsened and shared by at least k "
        "records; exact: for a query service only.",
        default="none",
        private=True,
    )
    quasi_identifiers: Sequence[str] = settable(
        "Quasi-identifiers",
        "Attribute that others may know of a person; without any, all that are not sensitive.",
        default=(),
        private=True,
        beside=("attributes", "generalized"),
    )
    sensitive_attributes: Sequence[str] = settable(
        "Sensitive attributes",
        "Attribute that others must not learn; released unchanged.",
        default=(),
        private=True,
        beside=("attributes", "generalized"),
    )
    l: int = settable(  # noqa: E741 - the name that it has everywhere
        "Diversity of sensitive attributes (l)",
        "Minimum number of different values of each sensitive attribute in a class.",
        default=0,
        least=0,
        usual="2",
        advice="l is the minimum number of different sensitive values in a class; 2 is the "
        "least that protects any, 0 requires none.",
    )
    missing: Literal["as-value"] | None = settable(
        "Missing sensitive values",
        "as-value: for l, a missing value counts as one more value.",
        default=None,
        unset="not counted",
    )
    t: float | None = settable(
        "Closeness of sensitive attributes (t)",
        "Largest distance between the sensitive attributes of a class and those of all records.",
        default=None,
        unset="any distance",
        least=0,
        most=1,
        usual="0.2",
        advice="0 requires the overall distribution in every class; 1 requires nothing.",
    )
    attribute_hierarchies: Mapping[str, Any] | Sequence[tuple[str, Any]] = settable(
        "Generalization of attributes",
        "Finest level at which a quasi-identifier is released: prefix:3, bands:10, month, year, "
        "rare:5, or a hierarchy file (ARX's CSV).",
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
        "Penalty for ratings shared by a class",
        "Cost of a cell in which all members of a class have the same rating, in full ranges of "
        "an item.",
        default=0,
        least=0,
        most=100,
        usual=f"{FOR_ITEMS.settings['disclosure_weight']:g}",
        advice="0 considers the loss alone; 1 leaves hardly any such cell; larger values "
        "change little.",
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
        "Scope in which ratings are moved",
        "Small clusters, or all records with the same items rated (the paper).",
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
        "Values of a profile",
        "A cell of a profile: mean of ratings and predictions (padded), of ratings (simple), of "
        "predictions (model), or one prediction for all members (pooled).",
        default="pooled",  # loses least where they were measured: docs/prediction.md
    )
    dissimilarity: Dissimilarity = settable(
        "Dissimilarity of users",
        "Dissimilarity by which users are grouped; weighted-sq is the paper's. All but "
        "euclidean need the grouping t-means.",
        default="euclidean",
    )
    clip: Clip = settable(
        "Clipping to the scale",
        "Clip means to the scale, or each prediction before averaging.",
        default="mean",
    )
    grouping: Literal["exchange", "t-means"] | None = settable(
        "Grouping of users",
        "Exchange users between groups while the error decreases, or form the paper's clusters.",
        default=None,
        unset="exchange, if distances are euclidean",
    )
    weights: Literal["support", "uniform"] | None = settable(
        "Weights of items",
        "Weight items by their number of ratings, or all equally.",
        default=None,
        unset="support for exchange, uniform for t-means",
    )
    factors: int | None = settable(
        "Factors",
        "Number of factors of the recommender.",
        default=3,
        least=1,
        unset="the recommender's default",
    )
    regularization: float | None = settable(
        "Regularization",
        "Regularization of the factors.",
        default=None,
        least=0,
        most=1e100,
        advice="For example 0.055.",
        unset="0.055; other recommenders: their default",
    )
    sweeps: int | None = settable(
        "Fitting rounds",
        "Maximum number of fitting rounds.",
        default=None,
        least=1,
        unset="16; other recommenders: their default",
    )
    biases: bool | None = settable(
        "Biases for users and items",
        "Fit a bias for each user and item.",
        default=None,
        off="No bias for users and items, as in the paper.",
        unset="the recommender's default",
    )
    recommender: str = settable(
        "Recommender",
        "Recommender that predicts unrated cells; implicit-als and surprise-svd come with the "
        "extra compare, lenskit-biased-mf with lenskit. The profile pooled needs "
        "regularized-svd.",
        default="regularized-svd",
        kind="choice",
        choices=tuple(entry.name for entry in ENTRIES),
    )
    b: int = settable(
        "Items known together (b)",
        "Size of the item sets that l profiles must contain.",
        default=1,
        beside=_SIMPLE,
        least=1,
        usual="2",
    )
    l: int = settable(  # noqa: E741 - the paper's name
        "Profiles per item set (l)",
        "Minimum number of profiles that contain each set of b items rated "
        "together; 0 requires none.",
        default=0,
        beside=_SIMPLE,
        least=0,
        usual="2",
    )
    fake_edges: Literal["drawn", "mean"] = settable(
        "Values of imputed cells",
        "Cells imputed for b and l resemble real ones, or are the members' means as in the "
        "paper, which can be recognised.",
        default="drawn",
        beside=_SIMPLE,
    )
    min_raters: int = settable(
        "Minimum raters per item",
        "Minimum number of members who rated an item for its cell to be shown.",
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
        unset="a fraction of the scale's step with up to 100 levels; 0.05 for 1 to 5",
        unit="ratings",
    )
    items: ItemSelection | None = field(default=None, metadata=_ITEMS)
    rare_items: RareItems = field(default="drop", metadata=_RARE_ITEMS)
    item_support: int | str | None = field(default=None, metadata=_ITEM_SUPPORT, kw_only=True)
    slack: int = field(default=0, metadata=_SLACK)
