"""Describe a release: contents, claims, disclosure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from starshade.figure import Figure, Shown, Table
from starshade.plain import counted, percent
from starshade.release.figures import (
    AUDIENCE,
    AUDIENCES,
    CLASSES,
    LAYOUT,
    LAYOUTS,
    SMALLEST_GROUP,
    counted_of,
    private_figures,
    shares,
)
from starshade.release.manifest import Claim
from starshade.release.profiles import Profiles
from starshade.release.table import Release

#: shares of cells by content; in the order of a bar
CELLS = (
    Figure("one_rating", "Cells with one possible rating", "share"),
    Figure("several_ratings", "Cells with several possible ratings", "share"),
    Figure("perhaps_rated", "Cells with possible ratings or null", "share"),
    Figure("no_rating", "Cells without a rating", "share"),
)
_SAYS = {
    "one_rating": "one rating",
    "several_ratings": "several possible ratings",
    "perhaps_rated": "possible ratings or null",
    "no_rating": "no rating",
}


@dataclass(frozen=True)
class ReleaseDescription(Shown):
    """The result of `describe_release`.

    `cells`: shares of all cells, record by record, by what they say: ``one_rating`` (of layout
    "profile" a mean or a prediction), ``no_rating`` (null alone), and of layout "generalized"
    ``several_ratings`` (more than one, null not among them) and ``perhaps_rated`` (ratings and
    null). Empty where there is no cell. `smallest_class`: records of the smallest class.
    """

    release: Release
    smallest_class: int
    cells: dict[str, float]

    @property
    def found(self) -> tuple[Figure, ...]:
        """Every figure."""
        release, manifest = self.release, self.release.manifest
        return (
            replace(LAYOUT, meaning=LAYOUTS[manifest.layout]).of(manifest.layout),
            replace(AUDIENCE, meaning=AUDIENCES[manifest.audience]).of(manifest.audience),
            Figure("attribute_columns", "Personal attributes", "text").of(
                ", ".join(manifest.attribute_columns) or "none"
            ),
            CLASSES.of(manifest.classes),
            SMALLEST_GROUP.of(self.smallest_class),
            *(each.of(self.cells[each.key]) for each in CELLS if each.key in self.cells),
            *private_figures(manifest, release.exact),
            *shares(manifest),
        )

    @property
    def tables(self) -> tuple[Table, ...]:
        """The claims of the release; empty without any."""
        rows = tuple(
            (c.model, _parameters(c), counted_of(c.verified) or "not counted until saved")
            for c in self.release.manifest.claims
        )
        head = ("model", "parameters", "counted on the files")
        return (Table("Claims", head, rows),) if rows else ()

    def to_dict(self) -> dict[str, Any]:
        """Return the facts of a release and the shares of its cells as plain values."""
        manifest = self.release.manifest.model_dump(mode="json")
        scale = manifest.pop("scale")
        named = {"min": scale["minimum"], "max": scale["maximum"], "step": scale["step"]}
        left = ("format", "starshade", "config", "files", "lineage")
        facts = {key: value for key, value in manifest.items() if key not in left}
        return {
            **facts,
            "scale": named,
            "smallest_class": self.smallest_class,
            "cells": dict(self.cells),
        }

    def __str__(self) -> str:
        release = self.release
        manifest = release.manifest
        where = (
            "Not saved yet: save() counts the claims on the written files. The link from people to "
            "records is in memory only."
            if release.private is not None and not manifest.files
            else ""
        )
        if not self.cells:
            return where or "The release has no cells."
        shares = [
            f"{percent(self.cells[each.key])} {_SAYS[each.key]}"
            for each in CELLS
            if each.key in self.cells
        ]
        said = (
            f"A release, scale {release.scale}. {LAYOUTS[manifest.layout]} Cells: "
            f"{', '.join(shares)}."
        )
        return f"{said} {where}".rstrip()

    def _headline(self) -> str:
        release = self.release
        return (
            f"{release.manifest.method}: {counted(release.n_records, 'record')}, "
            f"{counted(release.classes.n_items, 'item')}"
        )


def describe_release(release: Release) -> ReleaseDescription:
    """Describe a release and count its cells by content."""
    return ReleaseDescription(release, _smallest(release), shares_of_cells(release))


def _smallest(release: Release) -> int:
    """Return the records of the smallest class of equal records."""
    sizes = release.classes.sizes
    if release.manifest.layout == "record" and release.groups is not None:
        sizes = np.bincount(release.groups)
    return int(sizes.min()) if len(sizes) else 0


def shares_of_cells(release: Release) -> dict[str, float]:
    """Return the shares of all cells by content; see `ReleaseDescription`."""
    classes = release.classes
    total = classes.n_records * classes.n_items
    if not total:
        return {}
    if isinstance(classes, Profiles):
        counts = {"one_rating": float((classes.n_rated() * classes.sizes).sum())}
    else:
        symbols = classes.symbols
        records = np.repeat(classes.sizes, np.diff(classes.indptr)).astype(np.float64)
        of_symbol = np.bincount(classes.codes, weights=records, minlength=len(symbols))
        rated, single, null = symbols.has_rating, symbols.is_single, symbols.null
        kinds = {"one_rating": single}
        if release.manifest.layout == "generalized":
            kinds |= {"several_ratings": rated & ~single & ~null, "perhaps_rated": rated & null}
        counts = {key: float(of_symbol[kind].sum()) for key, kind in kinds.items()}
    counts["no_rating"] = total - sum(counts.values())
    return {key: count / total for key, count in counts.items()}


def _parameters(claim: Claim) -> str:
    """Return parameters as text; item lists as counts."""

    def spelled(value: Any) -> str:
        return f"{len(value)} items" if isinstance(value, list) else f"{value}"

    return ", ".join(f"{name} = {spelled(value)}" for name, value in claim.parameters.items())
