"""Compare releases by several methods at several k.

Result: `starshade.audit.compare.result.Comparison` (`to_dict`; a row says whether it is
on the ``frontier``), a paragraph on it as ``text``, and the frontier as a Vega-Lite chart,
``chart`` (None where every method refused), and what the kinds of loss mean as ``losses``.
"""

from __future__ import annotations

from typing import get_type_hints

from starshade.audit.compare.settings import CompareSettings
from starshade.server.settings import checked
from starshade.server.tasks.read import open_ratings
from starshade.server.tasks.tasks import Done, Order

_SETTINGS = {**get_type_hints(CompareSettings), "items": str | None, "seed": int | None}


def perform(order: Order) -> Done:
    """Compare methods."""
    from starshade.audit.compare.compare import compare
    from starshade.audit.compare.frontier import LOSSES, compared, frontier_chart
    from starshade.ratings.select import parse_items

    settings = checked("a comparison", order.settings, _SETTINGS)
    items, seed = settings.pop("items", None), settings.pop("seed", None)
    result = compare(
        open_ratings(order),
        items=None if items is None else parse_items(items),
        **settings,
        rng=seed,
    )
    made = len(result.refused) < len(result.rows)
    size = f"{result.data['users']:,} people, {result.data['items']:,} items"
    chart = frontier_chart(result, size) if made else None
    losses = [figure.to_dict() for figure in compared() if figure.key in LOSSES]
    payload = {**result.to_dict(), "text": str(result), "chart": chart, "losses": losses}
    return Done(payload)
