"""The methods that ``starshade list methods`` names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from starshade.registry import Entry

_SETTINGS = "starshade.anonymize.settings"


@dataclass(frozen=True)
class Usual:
    """The method that is used where none is named, with settings that differ from its own."""

    method: str
    where: str = ""  # for which choice of items it is the default
    settings: Mapping[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        """Return its name and settings in words."""
        said = (f"{name.replace('_', ' ')} {value:g}" for name, value in self.settings.items())
        settings = ", ".join(said)
        return f"{self.method} with {settings}" if settings else self.method


#: why these: docs/guides/choosing-a-method.md
DEFAULT = Usual("predictive", "for all items")
FOR_ITEMS = Usual("k-exchange", "for a choice of items", {"disclosure_weight": 0.2})
_FEWEST = 4  # people: two groups of two


@dataclass(frozen=True, kw_only=True)
class Method(Entry):
    """A method, with what its releases are good for: sentences of a public report.

    `uses`: analyses that a release serves; `not_for`: those whose results would be wrong.
    """

    uses: tuple[str, ...] = ()
    not_for: tuple[str, ...] = ()


_OF_CLASSES = (
    "Tables of a few items: which ratings each class of k people may have given.",
    "Counts and averages with certain bounds, from the possible ratings of each cell.",
)
_NOT_OF_CLASSES = (
    "Exact ratings: a cell lists the possible ratings of a class, not one person's.",
    "Training a recommender: most cells of sparse data become ambiguous.",
    "Analyses of single people: the records of a class are equal.",
)


def usual_method(items: object = None) -> Usual:
    """Return the method that is used where none is named; `items`: a choice of items, if any.

    >>> str(usual_method()), str(usual_method("top:10"))
    ('predictive', 'k-exchange with disclosure weight 0.2')
    """
    return DEFAULT if items is None else FOR_ITEMS


def suggested_method(people: int, *, one_rating: bool = False) -> Usual:
    """Return the method to suggest for ratings of so many people.

    Profiles are of use where there are two that differ, which takes two groups and two different
    ratings (`one_rating`: all ratings are equal).
    """
    return FOR_ITEMS if people < _FEWEST or one_rating else DEFAULT


def suggested_k(people: int, method: str, usual: int = 5) -> int:
    """Return the usual k, or the largest that so many people allow.

    >>> suggested_k(943, "predictive"), suggested_k(9, "predictive"), suggested_k(3, "k-exchange")
    (5, 4, 3)
    """
    return max(2, min(usual, people // 2 if method == DEFAULT.method else people))


ENTRIES: tuple[Entry, ...] = (
    Method(
        name="interval",
        module="starshade.anonymize.interval.interval",
        cls="IntervalAnonymizer",
        settings=_SETTINGS,
        summary="Ratings moved slightly until each record has k-1 others within eps.",
        source="Sun & Sun 2013, section 6",
        uses=(
            "Surveys, answer by answer: a row per person, each rating within eps of the true one.",
            "Distributions and averages of the items, within eps.",
        ),
        not_for=(
            "Exact ratings: some were moved by up to eps, and none is marked.",
            "Rare combinations of ratings: they were moved towards common ones.",
        ),
    ),
    Method(
        name="k-exchange",
        module="starshade.anonymize.k_exchange",
        cls="KExchange",
        settings=_SETTINGS,
        summary="Greedy groups of k, whose records are then exchanged to minimize the loss "
        "of range.",
        source="starshade's own",
        uses=_OF_CLASSES,
        not_for=_NOT_OF_CLASSES,
    ),
    Method(
        name="k-likeness",
        module="starshade.anonymize.k_likeness",
        cls="KLikeness",
        settings=_SETTINGS,
        summary="Groups of k similar records, generalized by a hierarchy (DGH or NDGH).",
        source="Riyana & Natwichai 2018, Algorithms 1-3",
        uses=_OF_CLASSES,
        not_for=_NOT_OF_CLASSES,
    ),
    Method(
        name="k-member",
        module="starshade.anonymize.baselines",
        cls="KMember",
        settings=_SETTINGS,
        summary="Groups grown from distant records, each by the record that widens it least.",
        source="Byun, Kamra, Bertino & Li 2007",
        uses=_OF_CLASSES,
        not_for=_NOT_OF_CLASSES,
    ),
    Method(
        name="mondrian",
        module="starshade.anonymize.baselines",
        cls="Mondrian",
        settings=_SETTINGS,
        summary="Recursive median cuts of the widest item; equal ratings stay together.",
        source="LeFevre, DeWitt & Ramakrishnan 2006, strict",
        uses=_OF_CLASSES,
        not_for=_NOT_OF_CLASSES,
    ),
    Method(
        name="mondrian-relaxed",
        module="starshade.anonymize.baselines",
        cls="MondrianRelaxed",
        settings=_SETTINGS,
        summary="Recursive median cuts of the widest item into halves.",
        source="LeFevre, DeWitt & Ramakrishnan 2006, relaxed",
        uses=_OF_CLASSES,
        not_for=_NOT_OF_CLASSES,
    ),
    Method(
        name="predictive",
        module="starshade.anonymize.predictive.predictive",
        cls="PredictiveAnonymizer",
        settings=_SETTINGS,
        summary="Unrated cells predicted; similar users released as one mean profile.",
        source="Chang, Thompson, Wang & Yao 2009, sections 4-6, Algorithm 1",
        uses=(
            "Training and testing recommenders, and comparing tastes of groups of people.",
            "Averages of the items that many people rated.",
        ),
        not_for=(
            "Who rated what: a cell is a mean or a prediction for a class of people.",
            "Extreme ratings and spread: means lie closer to the middle of the scale.",
            "Counts of ratings: cells are filled, or left empty, for whole classes.",
        ),
    ),
    Method(
        name="suppress",
        module="starshade.anonymize.suppress",
        cls="SuppressAnonymizer",
        settings=_SETTINGS,
        summary="As few records as possible deleted, until each has k-1 others within eps.",
        source="Sun & Sun 2013, section 8",
        uses=(
            "Surveys whose answers must be true: ratings of the released people are unchanged.",
            "Combinations of ratings that many people share.",
        ),
        not_for=(
            "Rare opinions: people without enough similar records are missing.",
            "Totals and shares of all people: those who are missing are not a random sample.",
        ),
    ),
)
