"""Attack the ratings as they are.

Result: what the attack's own result tells (`to_dict`), its ``shares`` in the reader's words (each
with its ``name`` and ``meaning``), a paragraph on it as ``text``, and the shares as a Vega-Lite
picture, ``chart``.
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
    knowledge = built(Knowledge, "what the adversary knows", settings.get("knowledge", {}))
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
