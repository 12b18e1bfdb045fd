"""A release for a notebook: what it is, what it promises, what it still tells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from starshade.chart import Chart
from starshade.chart.shapes import Axis, Bar, bar_chart
from starshade.markup import block, facts, paragraph, table
from starshade.plain import counted
from starshade.release.band import in_words

if TYPE_CHECKING:
    from starshade.release.manifest import Claim
    from starshade.release.table import Release

__all__ = ["release_chart", "release_html", "sizes_shown"]

_LAYOUTS = {
    "generalized": "cells are what the members of a class said, all of it",
    "record": "a row per person, some ratings moved",
    "profile": "one profile for all members of a class",
}
_AUDIENCES = {
    "publish": "everybody (publish)",
    "query": "nobody: it may only stand behind a query service",
}
_LEFT_OUT = {
    "users_deleted": "people left out by the method",
    "users_without_rating": "people left out, without a rating on these items",
    "rare_items_dropped": "items left out, rated by too few",
}
_CLASSES = 12  # bars of class sizes; larger ones share the last


def release_html(release: Release) -> str:
    """Say what a release is, what it claims, and what it still tells."""
    manifest = release.manifest
    sizes = release.classes.sizes
    rows = [
        ("layout", f"{manifest.layout}: {_LAYOUTS[manifest.layout]}"),
        ("classes of equal records", f"{release.classes.n_groups:,}"),
        ("smallest class", counted(int(sizes.min()) if len(sizes) else 0, "record")),
        ("may be shown to", _AUDIENCES[manifest.audience]),
        ("personal attributes", ", ".join(manifest.attribute_columns) or "none"),
    ]
    exact = release.exact  # to whoever is not the owner: bands
    rows += [
        (head, in_words(getattr(manifest, name)) if exact is None else f"{getattr(exact, name):,}")
        for name, head in _LEFT_OUT.items()
    ]
    shares = (
        ("users in a class that shows one of their ratings", manifest.users_rating_disclosed),
        ("users in a class that shows that they rated something", manifest.users_rating_exists),
        (
            "records alone in their class with their sensitive attributes",
            manifest.records_alone_with_sensitive,
        ),
    )
    rows += [(name, f"{share:.1%}") for name, share in shares if share is not None]
    claims = [(c.model, _parameters(c), _counted(c)) for c in manifest.claims]
    head = ("promise", "with", "counted on the files")
    where = (
        "Just made and not saved: save() counts the promises again on what was written. The link "
        "to the people is in memory only."
        if release.private is not None and not manifest.files
        else ""
    )
    title = (
        f"{manifest.method}: {counted(release.n_records, 'record')}, "
        f"{counted(release.classes.n_items, 'item')}"
    )
    promises = table(head, claims, caption="What it promises") if claims else ""
    return block(title, promises, facts(rows, "What it is"), paragraph(where))


def release_chart(release: Release) -> Chart:
    """Draw how many records share a class of which size: the larger, the better hidden."""
    bars = [Bar(label, share) for label, share in sizes_shown(release.classes.sizes)]
    return bar_chart(
        f"How many others a record looks like{release.manifest.alike_by}",
        f"{counted(release.n_records, 'record')} in "
        f"{counted(release.classes.n_groups, 'class', 'classes')}",
        bars,
        "records in the class",
        Axis("share of the records", share=True),
    )


def sizes_shown(sizes: NDArray[np.int64]) -> list[tuple[str, float]]:
    """Return sizes of classes and the share of the records in such; the largest together."""
    distinct, classes = np.unique(sizes, return_counts=True)
    shares = (distinct * classes / max(int(sizes.sum()), 1)).tolist()
    rows = [(f"{size:,}", share) for size, share in zip(distinct.tolist(), shares, strict=True)]
    if len(rows) > _CLASSES:
        rows[_CLASSES:] = [(f"{rows[_CLASSES][0]} and more", sum(shares[_CLASSES:]))]
    return rows


def _parameters(claim: Claim) -> str:
    """Write parameters; items are counted, not named."""

    def spelled(value: Any) -> str:
        return f"{len(value)} items" if isinstance(value, list) else f"{value}"

    return ", ".join(f"{name} = {spelled(value)}" for name, value in claim.parameters.items())


def _counted(claim: Claim) -> str:
    counted = ", ".join(
        f"{name.replace('_', ' ')} {value:,}" for name, value in claim.verified.items()
    )
    return counted or "not yet: when it is saved"
