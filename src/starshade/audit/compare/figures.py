"""What a row of a comparison tells: sizes, what is lost, what is still found, what it took."""

from __future__ import annotations

from starshade.attack.figures import DISCLOSED, EXPECTED_TOP1, TARGETS
from starshade.audit.figures import OF_RELEASES, measured_figures
from starshade.figure import Figure
from starshade.utility.disclosure_shares import DisclosureShares

__all__ = ["LOSSES", "compared", "in_columns"]

_LOST = (
    Figure("records", "Records", "count", False),
    Figure("items", "Items", "count", False),
    *(figure for figure in OF_RELEASES if figure.key in ("users_deleted", "smallest_group")),
    Figure(
        "query_error",
        "Averages by query",
        "percent",
        True,
        "How far averages lie from the true ones, the mean of all kinds of conditions; 0 is exact.",
        short="query error",
    ),
    Figure(
        "rmse_ratio",
        "RMSE on held-out ratings, of the original's",
        "ratio",
        True,
        "The lesser of both readings: 1 is as good as the original.",
        short="RMSE, of the original's",
    ),
)
_FOUND = (
    TARGETS,
    EXPECTED_TOP1,
    Figure("expected_top1_low", "Right when it must answer, at least", "share", True),
    Figure("expected_top1_high", "Right when it must answer, at most", "share", True),
    DISCLOSED,
    *DisclosureShares.FIGURES,
)
_TOOK = (
    Figure("seconds", "Seconds", "seconds", True, short="seconds"),
    Figure("peak_rss_mb", "Most memory", "count", True),
)
#: figures of measures that a row has though no column does
_MORE = (
    "classes",
    "distortion",
    "query_error_and",
    "query_error_or",
    "query_error_range",
    "rmse_original",
    "rmse_ratio_release",
    "rmse_ratio_refit",
)
#: what a method loses, by the kind of its releases: cells made wider, ratings moved, or averaged
LOSSES = ("gen_iloss", "distortion_per_record", "rmse_ratio")


def compared() -> tuple[Figure, ...]:
    """Return what a row has."""
    risks = {figure.key for figure in _FOUND}
    measured = [
        figure
        for figure in measured_figures()
        if (figure.short or figure.key in _MORE) and figure.key not in risks
    ]
    return (*_LOST, *measured, *_FOUND, *_TOOK)


def in_columns() -> tuple[tuple[Figure, ...], tuple[Figure, ...]]:
    """Return what stands in a column of its own: what is lost; what is found, and what it took."""
    places = {key: place for place, key in enumerate(LOSSES)}
    shown = [figure for figure in compared() if figure.short]
    shown.sort(key=lambda figure: places.get(figure.key, len(places)))
    risks = {figure.key for figure in (*_FOUND, *_TOOK)}
    return (
        tuple(figure for figure in shown if figure.key not in risks),
        tuple(figure for figure in shown if figure.key in risks),
    )
