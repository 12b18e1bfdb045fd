"""The measures that ``starshade list measures`` names."""

from __future__ import annotations

from starshade.registry import Entry

__all__ = ["ENTRIES"]

ENTRIES = (
    Entry(
        name="discernibility",
        module="starshade.utility.class_sizes",
        cls="Discernibility",
        summary="DM: the sum of squared class sizes.",
        source="Bayardo & Agrawal 2005; Riyana & Natwichai 2018, Eq. 1",
    ),
    Entry(
        name="class-size",
        module="starshade.utility.class_sizes",
        cls="AverageClassSize",
        summary="C_AVG: the average class size as a multiple of k.",
        source="LeFevre, DeWitt & Ramakrishnan 2006; Riyana & Natwichai 2018, Eq. 2",
    ),
    Entry(
        name="generalization-loss",
        module="starshade.utility.generalization_loss",
        cls="GeneralizationLoss",
        summary="GenILoss: the average width of a cell against the width of its column.",
        source="Iyengar 2002; Riyana & Natwichai 2018, Eq. 3",
    ),
    Entry(
        name="distortion",
        module="starshade.utility.distortion",
        cls="Distortion",
        summary="How far the ratings of single records were moved, suppressed or invented.",
        source="Sun & Sun 2013, Def. 4, 5",
    ),
    Entry(
        name="disclosure-shares",
        module="starshade.utility.disclosure_shares",
        cls="DisclosureShares",
        summary="Shares of users of whom a released cell tells a rating, or that there is one.",
        source="starshade",
    ),
    Entry(
        name="query-error",
        module="starshade.utility.query_error",
        cls="QueryError",
        summary="How far averages of an attribute, as a query gives them, are off.",
        source="Riyana & Natwichai 2018, section 5.2.2, Eq. 7",
    ),
)
