"""Items and people that a release leaves out, as far as its files show it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from starshade.plain import counted
from starshade.release.figures import LEFT_OUT, private_figures
from starshade.release.manifest import Manifest

_SELECTION = re.compile(r"(top|listed):(\d{1,18})")


def left_out_section(manifest: Manifest) -> dict[str, Any]:
    """Return what is left out: sentences on the items, and a band for each reason.

    A selection of items states its size in ``release.json``, so how many of it are missing is an
    exact figure; how many items there were at all is not in the files.
    """
    figures = private_figures(manifest)[: len(LEFT_OUT)]
    return {
        "text": " ".join(_items(manifest)),
        "rows": [
            {"title": each.title, "value": str(each.value), "meaning": each.meaning}
            for each in figures
        ],
    }


def _items(manifest: Manifest) -> Iterator[str]:
    chosen = _SELECTION.fullmatch(str(manifest.config.get("items", "")))
    number, band = manifest.items, manifest.rare_items_dropped
    are = "is" if number == 1 else "are"
    if chosen is None or int(chosen[2]) < number:
        left = {"none": "no item is left out", "more": "20 % or more of all items are left out"}
        text = left.get(band, f"{band} of all items are left out")
        yield f"{counted(number, 'item')} {are} released; {text}{_WHY * (band != 'none')}."
        return
    selected = int(chosen[2])
    most = f"the {selected:,} most rated" if chosen[1] == "top" else f"{selected:,} by a list"
    if selected > number:
        yield (
            f"{counted(number, 'item')} {are} released; {selected - number:,} of the {selected:,} "
            f"selected items are left out{_WHY}."
        )
    else:
        yield f"{counted(number, 'item')} {are} released."
    yield (
        f"The owner selected {most}; all other items are left out, and their number is not in the "
        "files."
    )


_WHY = ", as too few people rated them"
