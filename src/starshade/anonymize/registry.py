"""The methods that ``starshade list methods`` names."""

from __future__ import annotations

from starshade.registry import Entry

_SETTINGS = "starshade.anonymize.settings"

#: what doors offer first: to look at items, and (with its own profile) to train recommenders;
#: why: docs/guides/choosing-a-method.md
DEFAULT, FOR_RECOMMENDERS = "k-exchange", "predictive"

ENTRIES = (
    Entry(
        name="interval",
        module="starshade.anonymize.interval.interval",
        cls="IntervalAnonymizer",
        settings=_SETTINGS,
        summary="Ratings moved by little, for each record to have k-1 others within eps.",
        source="Sun & Sun 2013, section 6",
    ),
    Entry(
        name="k-exchange",
        module="starshade.anonymize.k_exchange",
        cls="KExchange",
        settings=_SETTINGS,
        summary="Greedy groups of k that then exchange records for the least loss of range.",
        source="starshade's own",
    ),
    Entry(
        name="k-likeness",
        module="starshade.anonymize.k_likeness",
        cls="KLikeness",
        settings=_SETTINGS,
        summary="Groups of k records that are alike, generalized by a hierarchy (DGH or NDGH).",
        source="Riyana & Natwichai 2018, Algorithms 1-3",
    ),
    Entry(
        name="k-member",
        module="starshade.anonymize.baselines",
        cls="KMember",
        settings=_SETTINGS,
        summary="Groups grown from far apart, each by the records that widen it least.",
        source="Byun, Kamra, Bertino & Li 2007",
    ),
    Entry(
        name="mondrian",
        module="starshade.anonymize.baselines",
        cls="Mondrian",
        settings=_SETTINGS,
        summary="Records cut in two at the median of the widest item, equal ratings kept together.",
        source="LeFevre, DeWitt & Ramakrishnan 2006, strict",
    ),
    Entry(
        name="mondrian-relaxed",
        module="starshade.anonymize.baselines",
        cls="MondrianRelaxed",
        settings=_SETTINGS,
        summary="Records cut into halves at the median of the widest item.",
        source="LeFevre, DeWitt & Ramakrishnan 2006, relaxed",
    ),
    Entry(
        name="predictive",
        module="starshade.anonymize.predictive.predictive",
        cls="PredictiveAnonymizer",
        settings=_SETTINGS,
        summary="What is not rated predicted, users who are alike released as one mean profile.",
        source="Chang, Thompson, Wang & Yao 2009, sections 4-6, Algorithm 1",
    ),
    Entry(
        name="suppress",
        module="starshade.anonymize.suppress",
        cls="SuppressAnonymizer",
        settings=_SETTINGS,
        summary="As few records as possible deleted for each to have k-1 others within eps.",
        source="Sun & Sun 2013, section 8",
    ),
)
