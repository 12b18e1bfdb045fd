"""`LinkResult`: the confidence that released edges give, compared with PA's theorems."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.attack.result import RECORDS
from starshade.attack.shown import Found
from starshade.chart import Chart
from starshade.chart.shapes import Axis, Bar, bar_chart
from starshade.figure import Figure, Table
from starshade.naming import named
from starshade.plain import counted, percent

_BINS = 10  # of j/g between 0 and 1, which have bins of their own
_SLACK = 1e-9
_FIGURES = (
    RECORDS,
    Figure("classes", "Classes", "count", None, "Equivalence classes of the release."),
    Figure("edges", "Ratings shown", "count", None, "Released cells that show a rating."),
    Figure(
        "confidence",
        "Existence disclosure (mean confidence)",
        "share",
        True,
        "High: an adversary who knows a person's class is right that the person rated an item.",
        "PA §6",
    ),
    Figure(
        "all_members",
        "Ratings shown that all members gave",
        "share",
        True,
        "High: existence is certain for each member.",
    ),
    Figure(
        "no_member", "Ratings shown that no member gave", "share", None, "These cells are imputed."
    ),
    Figure(
        "missing_true",
        "Correct absence of a rating",
        "share",
        True,
        "High: a cell without a rating discloses that the person did not rate the item.",
    ),
)


@dataclass(frozen=True, kw_only=True)
class LinkResult(Found):
    """Confidence that released edges give an adversary (definitions, "link-existence").

    An edge is a record and an item that it shows as rated; its class has g users, j of whom rated
    the item. Shares are over all edges; None where there are none.

    Attributes
    ----------
    attack, seconds, read_seconds, config, digest, version
        As in `AttackResult`.
    records, classes : int
        Records that the adversary sees, and their classes.
    targets, ineligible : int
        Users of the original who have a record, and those who have none.
    edges : int
    confidence : float or None
        Mean of j/g.
    histogram : tuple of dict
        Distribution of j/g: 0, ten bins (low, high], 1 (which is not in the last bin).
    all_members, no_member : float or None
        Share of edges with j = g (existence is certain) and with j = 0 (no member rated it).
    no_prior, above_no_prior : float or None
        Mean of 1/g (PA Thm 6.2), and the share of edges with j/g above it.
    exact, above_exact : float or None
        The same for p/(1 - (1-p)^g), the confidence under Thm 6.3's assumptions.
    bounded : float or None
        Share of edges with p ≤ 1/g; Thm 6.3 does not apply to the others.
    bound, above_bound : float or None
        Mean of 1/g + p/(2 - gp) over those edges (Thm 6.3; 1 where it is above 1), and their
        share with j/g above it. Not comparable with `exact`, which covers all edges.
    missing : int
        Cells, records times released items, without an edge.
    missing_share : float or None
        Share of all cells. Where a class shows only rated items, these ratings are proven not to
        exist.
    missing_true : float or None
        Share of them that the user did not rate.
    """

    classes: int
    edges: int
    confidence: float | None
    histogram: tuple[dict[str, float], ...]
    all_members: float | None
    no_member: float | None
    no_prior: float | None
    above_no_prior: float | None
    exact: float | None
    above_exact: float | None
    bounded: float | None
    bound: float | None
    above_bound: float | None
    missing: int
    missing_share: float | None
    missing_true: float | None

    def _own(self) -> dict[str, Any]:
        return {
            "classes": self.classes,
            "edges": self.edges,
            "confidence": {"mean": self.confidence, "histogram": list(self.histogram)},
            "all_members": self.all_members,
            "no_member": self.no_member,
            "no_prior": {"mean": self.no_prior, "above": self.above_no_prior},
            "exact": {"mean": self.exact, "above": self.above_exact},
            "bound": {"mean": self.bound, "above": self.above_bound, "edges": self.bounded},
            "missing": {
                "cells": self.missing,
                "share": self.missing_share,
                "true": self.missing_true,
            },
        }

    @property
    def nothing_to_infer(self) -> bool:
        """Whether every record is a class of its own and shows what its user rated."""
        return self.classes == self.records and self.edges > 0 and self.all_members == 1

    def __str__(self) -> str:
        text = (
            f"{self.attack} on {counted(self.records, 'record')} in "
            f"{counted(self.classes, 'class', 'classes')} with {counted(self.edges, 'rating')} "
            "shown."
        )
        if self.nothing_to_infer:
            return (
                f"{text} Each is a single person's own rating, so there is nothing to infer. "
                "Attack a release with classes; give the original and the private key file."
            )
        if self.edges:
            text += self._padded() if self.all_filled else self._shown()
            text += self._theory()
        if self.missing_true is not None:
            text += (
                f" {_percent(self.missing_share)} of cells show no rating; in "
                f"{_percent(self.missing_true)} of these there was none."
            )
        return text

    @property
    def all_filled(self) -> bool:
        """Whether every cell is filled, even unrated ones: then a filled cell discloses nothing."""
        return not self.missing and bool(self.no_member)

    def _shown(self) -> str:
        return (
            f" An adversary who knows a person's class and reads that an item was rated is right "
            f"in {_percent(self.confidence)} of cases. All members rated the item for "
            f"{_percent(self.all_members)} of the ratings shown (certain existence disclosure), no "
            f"member for {_percent(self.no_member)}."
        )

    def _padded(self) -> str:
        return (
            f" Every cell is filled, so a filled cell does not disclose that a rating exists. No "
            f"member gave {_percent(self.no_member)} of them, all members gave "
            f"{_percent(self.all_members)}, and a given member rated the item in "
            f"{_percent(self.confidence)} of cases, the rate over all cells. The theorems below "
            "assume that a rating shown was given by some member. "
            f"({named('attack', 'padding')} measures which cells rest on real ratings.)"
        )

    def _theory(self) -> str:
        prior = "how popular each item is"
        if self.config["prior"] is not None:
            prior = f"that {self.config['prior']:.1%} of people rate an item"
        text = (
            f" In theory (Chang et al., section 6) an adversary who knows only the class size "
            f"expects {_percent(self.no_prior)} on average (Thm 6.2); the data exceed this for "
            f"{_percent(self.above_no_prior)} of the ratings shown. If the adversary also "
            f"knows {prior} and people are independent, the expectation is "
            f"{_percent(self.exact)}, exceeded for {_percent(self.above_exact)}."
        )
        if self.bound is not None:
            text += (
                f" The bound of Thm 6.3 applies to {_percent(self.bounded)} of the ratings shown: "
                "items that people rate with a probability of at most 1 / the class size. It is "
                f"{_percent(self.bound)} on average over these, and exceeded for "
                f"{_percent(self.above_bound)} of them."
            )
        return (
            f"{text} People in a class are similar, not independent: this is a comparison, not a "
            "guarantee."
        )

    def plot(self) -> Chart:
        """Draw the distribution of confidence: j of g members rated the item."""
        bars = [
            Bar(_bin(each["low"], each["high"]), each["edges"] / max(self.edges, 1))
            for each in self.histogram
        ]
        return bar_chart(
            "Confidence that a rating shown exists",
            f"{counted(self.edges, 'cell')} of "
            f"{counted(self.records, 'record')} in {counted(self.classes, 'class', 'classes')}",
            bars,
            "share of the class that rated the item",
            Axis("share of ratings shown", share=True),
        )

    @property
    def found(self) -> tuple[Figure, ...]:
        """Every figure, with its title, its unit and what high and low mean."""
        return self._of(*(_FIGURES[:3] if self.nothing_to_infer else _FIGURES))

    @property
    def tables(self) -> tuple[Table, ...]:
        """Expectations of the theorems, compared with the data."""
        if self.nothing_to_infer:
            return ()
        rows = (
            ("without a prior (Thm 6.2)", 1.0, self.no_prior, self.above_no_prior),
            ("with the prior, exact", 1.0, self.exact, self.above_exact),
            ("with the prior, bound (Thm 6.3)", self.bounded, self.bound, self.above_bound),
        )
        return (
            Table(
                "Confidence by theorem, over the ratings shown",
                ("theorem", "covers", "mean", "exceeded for"),
                tuple((what, *map(percent, shares)) for what, *shares in rows),
            ),
        )

    def _headline(self) -> str:
        return f"Existence disclosure: mean confidence {_percent(self.confidence)}"


def _bin(low: float, high: float) -> str:
    if low == high:
        return "none" if low == 0 else "all"
    return f"to {high:.0%}"


def _percent(share: float | None) -> str:
    return "none" if share is None else f"{share:.1%}"


@dataclass
class Tally:
    """Counts of edges; blocks of classes are added one after the other.

    `cells`: records times released items. `rated_unreleased`: original ratings that their user's
    record does not show. `looked_at`: released cells. `sums`: over the edges, by field of a
    `LinkResult`.
    """

    cells: int
    rated_unreleased: int = 0
    looked_at: int = 0
    sums: Counter[str] = field(default_factory=Counter)
    histogram: NDArray[np.int64] = field(
        default_factory=lambda: np.zeros(_BINS + 2, dtype=np.int64)
    )

    def add(
        self,
        edges: NDArray[np.int64],
        raters: NDArray[np.int64],
        size: NDArray[np.int64],
        exact: NDArray[np.float64],
        bound: NDArray[np.float64],
    ) -> None:
        """Add pairs of a class and an item.

        `edges`: records that show the item. `raters`, `size`: j of the g users of the class rated
        it. `exact`, `bound`: values of Thm 6.3; a bound is NaN where there is none.
        """
        confidence = raters / size
        bins = np.where(raters == size, _BINS + 1, -(-_BINS * raters // size))
        self.histogram += np.bincount(bins, weights=edges, minlength=_BINS + 2).astype(np.int64)
        bounded = ~np.isnan(bound)
        bound = np.minimum(bound, 1)  # above 1 it says nothing, and is no confidence
        found = {
            "edges": edges,
            "confidence": edges * confidence,
            "no_prior": edges / size,
            "above_no_prior": edges[raters > 1],
            "exact": edges * exact,
            "above_exact": edges[confidence > exact + _SLACK],
            "bounded": edges[bounded],
            "bound": (edges * bound)[bounded],
            "above_bound": edges[bounded & (confidence > bound + _SLACK)],
        }
        for name, values in found.items():
            self.sums[name] += values.sum().item()

    def figures(self) -> dict[str, Any]:
        """Return the fields of a `LinkResult`."""
        edges, bounded = self.sums["edges"], self.sums["bounded"]
        missing = self.cells - edges
        inner = range(1, _BINS + 1)
        bounds = [(0.0, 0.0), *(((b - 1) / _BINS, b / _BINS) for b in inner), (1.0, 1.0)]
        shares = {
            name: _share(total, bounded if name in ("bound", "above_bound") else edges)
            for name, total in self.sums.items()
        }
        return shares | {
            "edges": edges,
            "histogram": tuple(
                {"low": low, "high": high, "edges": int(n)}
                for (low, high), n in zip(bounds, self.histogram, strict=True)
            ),
            "all_members": _share(self.histogram[-1], edges),
            "no_member": _share(self.histogram[0], edges),
            "missing": missing,
            "missing_share": _share(missing, self.cells),
            "missing_true": _share(missing - self.rated_unreleased, missing),
        }


def _share(part: float, whole: int) -> float | None:
    return float(part / whole) if whole else None
