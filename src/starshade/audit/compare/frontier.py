"""Methods side by side: what a row tells, and as charts loss against what an attack finds."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

from starshade.attack.likelihood.result import CLASS_FOUND
from starshade.attack.predicate.result import ISOLATES
from starshade.attack.result import DISCLOSED, EXPECTED_TOP1, TARGETS
from starshade.audit.checks.policy import CHECKED
from starshade.audit.measure import OF_RELEASES, measured_figures
from starshade.chart import Chart, Spec, colours, encoded, marks, small_title
from starshade.errors import ConfigError
from starshade.figure import Figure
from starshade.plain import percent
from starshade.release.promise import QUESTIONS, QuestionName
from starshade.utility.losses import DisclosureShares
from starshade.utility.round import COVERED, ERRORS

if TYPE_CHECKING:
    from starshade.audit.compare.result import Comparison, Row


_SHAPES = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down"]
_FOUND_TITLE = "re-identification by the strongest attack, share of targets"


def frontier_chart(comparison: Comparison, subtitle: str) -> Chart:
    """Draw a comparison: a row of panels for each kind of loss.

    On the left every release as a point, its method by colour, its k by shape; a line joins
    those of the frontier. On the right its loss over k, and where single-valued cells were weighed
    the people whose class shows a rating against the loss, a line for each k.

    The comparison has one release at least; `subtitle`: on how much data it rests.
    """
    made = [(row, best) for row, best in comparison.judged if row.loss is not None]
    if not made:
        raise ConfigError("every release was refused, so there is no chart")
    methods = list(dict.fromkeys(row.label for row, _ in made))
    ks = sorted({row.k for row, _ in made})
    rows = []
    for kind in LOSSES:
        own = [(row, best) for row, best in made if row.loss is not None and row.loss[0] == kind]
        if own:
            values = [_value(row, best) for row, best in own]
            panels = [_against(values, kind, methods, ks), _over_k(values, kind, methods, ks)]
            if any(row.disclosure_weight for row, _ in own):
                panels.append(_shown(values, kind, methods))
            rows.append({"hconcat": panels})
    return Chart(
        "Loss and re-identification by method",
        subtitle,
        " ".join(_in_words(row, best) for row, best in made),
        {
            "vconcat": rows,
            "spacing": 28,
            "resolve": {"scale": {"color": "shared", "shape": "shared"}},
        },
    )


def _title(kind: str) -> str:
    return next(figure.title for figure in compared() if figure.key == kind)


def _in_words(row: Row, best: bool) -> str:
    assert row.loss is not None
    kind, loss = row.loss
    on = ", on the frontier" if best else ""
    success = row.figures["expected_top1"]
    risk = "" if success is None else f", {percent(success)} of the targets found"
    return f"{row.name}: {kind.replace('_', ' ')} {loss:.4g}{risk}{on}."


def _value(row: Row, best: bool) -> dict[str, Any]:
    assert row.loss is not None
    return {
        "method": row.label,
        "k": row.k,
        "shown": row.figures["users_rating_disclosed"],
        "weight": row.disclosure_weight,
        "loss": row.loss[1],
        "found": row.figures["expected_top1"],
        "attack": row.attack,
        "low": row.figures["expected_top1_low"],
        "high": row.figures["expected_top1_high"],
        "frontier": best,
    }


def _against(values: list[dict[str, Any]], kind: str, methods: list[str], ks: list[int]) -> Spec:
    scale = {"domain": [0, 1.05 * max(value["loss"] for value in values) or 1]}
    x = encoded("loss", title=_title(kind), scale=scale)
    y = encoded("found", axis={"title": _FOUND_TITLE, "format": "~%"})
    interval = {
        "x": x,
        "color": _colour(methods),
        "y": y | {"field": "low"},
        "y2": {"field": "high"},
    }
    shape = encoded(
        "k",
        "nominal",
        scale={"domain": ks, "range": [_SHAPES[i % len(_SHAPES)] for i in range(len(ks))]},
        legend={"title": "k", "symbolFillColor": "#555", "symbolStrokeColor": "#555"},
    )
    fields = [{"field": name} for name in ("method", "k", "loss", "found", "low", "high", "attack")]
    dots = {"x": x, "y": y, "color": _colour(methods), "shape": shape, "tooltip": fields}
    best = [value for value in values if value["frontier"]]
    dashed = {"color": "#999", "strokeDash": [4, 3], "interpolate": "step-after"}
    return {
        "width": 380,
        "height": 300,
        "title": small_title(
            "Loss and re-identification; the dashed line joins Pareto-optimal releases"
        ),
        "layer": [
            marks("line", {"x": x, "y": y}, best, **dashed),
            {
                "data": {"values": values},
                "layer": [
                    marks("rule", interval, strokeWidth=1.2),
                    marks("point", dots, filled=True, size=80, opacity=0.9),
                ],
            },
        ],
    }


def _over_k(values: list[dict[str, Any]], kind: str, methods: list[str], ks: list[int]) -> Spec:
    axis = {"title": "k", "values": ks, "format": "d"}
    encoding = {
        "x": encoded("k", axis=axis, scale={"zero": False}),
        "y": encoded("loss", title=_title(kind)),
        "color": _colour(methods),
    }
    return {
        "width": 300,
        "height": 300,
        "title": small_title("Loss over k"),
        "data": {"values": values},
        "layer": [
            marks("line", encoding),
            marks("circle", encoding, size=30, opacity=1),
        ],
    }


def _shown(values: list[dict[str, Any]], kind: str, methods: list[str]) -> Spec:
    axis = {"title": "people with a disclosed rating", "format": "~%"}
    x = encoded("loss", title=_title(kind), scale={"zero": False})
    y = encoded("shown", axis=axis, scale={"domainMin": 0})
    fields = [{"field": name} for name in ("method", "k", "loss", "shown")]
    weighed = [value for value in values if value["weight"] is not None]
    curve = {"x": x, "y": y, "detail": {"field": "k"}, "order": {"field": "weight"}}
    dots = {"x": x, "y": y, "color": _colour(methods), "tooltip": fields}
    return {
        "width": 300,
        "height": 300,
        "title": small_title("Disclosed ratings; a line joins the weights of one k"),
        "layer": [
            marks("line", curve, weighed, color="#999"),
            {"data": {"values": values}, "layer": [marks("circle", dots, size=50, opacity=1)]},
        ],
    }


def _colour(methods: list[str]) -> Spec:
    scale = {"domain": methods, "range": colours(len(methods))}
    return encoded("method", "nominal", scale=scale, legend={"title": "method"})


_LOST = (
    Figure("records", "Records", "count", False),
    Figure("items", "Items", "count", False),
    *(figure for figure in OF_RELEASES if figure.key in ("users_deleted", "smallest_class")),
    Figure(
        "query_error",
        "Error of averages by query",
        "percent",
        True,
        "Mean error of averages over all kinds of conditions; 0 is exact.",
        short="query error",
    ),
    Figure(
        "rmse_ratio",
        "Ratio of RMSE on held-out ratings to the original's",
        "ratio",
        True,
        "The smaller of both readings; 1 is as good as the original.",
        short="RMSE ratio",
    ),
)
#: what is found, by the question that it answers (`QUESTIONS`)
_FOUND: dict[QuestionName, tuple[Figure, ...]] = {
    "singled-out": (
        TARGETS,
        EXPECTED_TOP1,
        Figure("expected_top1_low", "Best guess correct, lower end", "share", True),
        Figure("expected_top1_high", "Best guess correct, upper end", "share", True),
        ISOLATES,
    ),
    "linked": (
        CLASS_FOUND,
        Figure("linkability", CHECKED["linkability"].title, "share", True, short="linkability"),
    ),
    "inferred": (
        Figure(
            "membership_auc",
            "Membership inference (AUC), all ratings known",
            "share",
            True,
            "50%: nothing is learned.",
            short="membership AUC",
        ),
        Figure("inference_gain", CHECKED["inference"].title, "share", True, short="inference gain"),
        DISCLOSED,
        *DisclosureShares.FIGURES,
    ),
}
_RISKS = {figure.key for figures in _FOUND.values() for figure in figures}
_TOOK = (
    Figure("seconds", "Seconds", "seconds", True, short="seconds"),
    Figure("peak_rss_mb", "Peak memory", "count", True),
)
#: figures of measures that a row has though no column does
_MORE = (
    "item_means_within_step",
    "classes",
    "distortion",
    "query_error_and",
    "query_error_or",
    "query_error_range",
    "rmse_original",
    "rmse_ratio_release",
    "rmse_ratio_refit",
)
BESIDE = "Utility and risk"
REMAINS = "Utility: ratings recoverable from the release, and losses"
_BESIDE = (
    *("recoverable_within_step", "held_out_read", "utility_suppressed"),
    *("expected_top1", "class_linkage"),
)
_REMAINS = ("utility_exact", "improvement_over_item_means")
#: of the utility round
ON_HELD_OUT = (*ERRORS, COVERED)
#: what a method loses, by the kind of its releases: cells made wider, ratings moved, or averaged
LOSSES = ("gen_iloss", "distortion_per_record", "rmse_ratio")
_LITERATURE = ("gen_iloss", "dm", "c_avg")


def compared() -> tuple[Figure, ...]:
    """Return what a row has."""
    measured = [
        figure
        for figure in measured_figures()
        if (figure.short or figure.key in _MORE) and figure.key not in _RISKS
    ]
    return (*_LOST, *measured, *ON_HELD_OUT, *chain.from_iterable(_FOUND.values()), *_TOOK)


def in_columns() -> dict[str, tuple[Figure, ...]]:
    """Return what stands in a column of its own, by the title of its table."""
    shown = {figure.key: figure for figure in compared() if figure.short}
    beside = tuple(shown[key] for key in _BESIDE)
    took = {*_LITERATURE, *(figure.key for figure in _TOOK)}
    apart = {*_RISKS, *_BESIDE, *took}
    first = [shown[key] for key in (*_REMAINS, *LOSSES) if key not in took]
    lost = [figure for key, figure in shown.items() if key not in apart and figure not in first]
    return {
        BESIDE: beside,
        REMAINS: (*first, *lost),
        **{QUESTIONS[name]: tuple(f for f in found if f.short) for name, found in _FOUND.items()},
        "Measures of the literature, time": tuple(
            figure for key, figure in shown.items() if key in took
        ),
    }
