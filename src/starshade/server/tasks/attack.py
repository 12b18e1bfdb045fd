"""Attack the original ratings.

Result: the attack's result (`to_dict`), its ``figures``, a paragraph as ``text``, and a Vega-Lite
chart as ``chart``.
"""

from __future__ import annotations

from typing import Any

from starshade.server.settings import built, checked
from starshade.server.tasks.read import open_ratings
from starshade.server.tasks.tasks import Done, Order

_SETTINGS = {
    "attack": str,
    "config": dict[str, Any],
    "knowledge": dict[str, Any],
    "targets": int | None,
    "seed": int | None,
}


def perform(order: Order) -> Done:
    """Run one attack."""
    from starshade.attack.knowledge import Knowledge
    from starshade.attack.registry import ENTRIES
    from starshade.registry import find

    settings = checked("an attack", order.settings, _SETTINGS)
    entry = find(ENTRIES, settings.get("attack", "scoreboard-rh"), "attack")
    attack = built(entry.load(), f"the attack {entry.name}", settings.get("config", {}))
    knowledge = built(Knowledge, "the adversary's knowledge", settings.get("knowledge", {}))
    result = attack.run(
        open_ratings(order), knowledge, targets=settings.get("targets"), rng=settings.get("seed")
    )
    return Done(
        {
            **result.to_dict(),
            "figures": [figure.to_dict() for figure in result.found if figure.value is not None],
            "text": str(result),
            "chart": dict(result.plot()),
        }
    )
