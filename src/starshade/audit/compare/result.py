"""`Comparison`: methods side by side, a row for each method and k."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from starshade._version import __version__
from starshade.audit.attempts import ORIGINAL
from starshade.audit.compare.frontier import LOSSES, frontier_chart, in_columns
from starshade.audit.compare.search import AuditSummary
from starshade.chart import Chart
from starshade.figure import Figure
from starshade.markup import block, paragraph, table
from starshade.plain import counted, percent
from starshade.utility.round import error_text

Value: TypeAlias = float | int | None
#: fields that JSON has as they are, in its order: of a row, of all
_OF_ROW = ("method", "k", "eps", "profile", "disclosure_weight", "slack", "attack")
_AS_THEY_ARE = (
    *("known", "targets", "shadows", "shadows_known", "attribute", "held_out", "policy"),
    *("seconds", "seed", "digest", "version"),
)


@dataclass(frozen=True)
class Row:
    """What one method came to at one k."""

    method: str
    k: int
    eps: float | None  # where the method has one
    figures: dict[str, Value]  # key → value of each of `compared`; None where it does not apply
    refused: str | None = None  # why there is no release
    # the one that found most records of those tried: `expected_top1` is its figure
    attack: str | None = None
    profile: str | None = None  # what cells are, where the method has a choice
    disclosure_weight: float | None = None  # where the method has one
    slack: int | None = None  # likewise
    decision: AuditSummary | None = None  # by the policy, where there is one

    @property
    def label(self) -> str:
        """The method, and what its cells are."""
        weight = f"weight {self.disclosure_weight:g}" if self.disclosure_weight else None
        slack = f"slack {self.slack}" if self.slack else None
        return ", ".join(filter(None, (self.method, self.profile, weight, slack)))

    @property
    def way(self) -> str:
        """The method and its parameters, but for k."""
        return self.label if self.eps is None else f"{self.label}, eps = {self.eps:g}"

    @property
    def loss(self) -> tuple[str, float] | None:
        """The kind of loss and how much; None without a release."""
        for name in LOSSES:
            value = self.figures.get(name)
            if value is not None:
                return name, float(value)
        return None

    @property
    def name(self) -> str:
        """Method and parameters."""
        eps = "" if self.eps is None else f", eps = {self.eps:g}"
        return f"{self.label} (k = {self.k}{eps})"


def on_frontier(rows: Sequence[Row]) -> tuple[bool, ...]:
    """Tell of each row whether none is as good in everything and better in something.

    Compared are loss, users left out and `expected_top1` of the attack, all the better the
    smaller, among rows with the same kind of loss. Rows without a release are never on it.
    """
    points = [_merits(row) for row in rows]
    return tuple(
        own is not None
        and not any(
            other is not None
            and other[0] == own[0]
            and other != own
            and all(a <= b for a, b in zip(other[1], own[1], strict=True))
            for other in points
        )
        for own in points
    )


def _flat(row: Row, best: bool | None) -> dict[str, Any]:
    return {
        **{name: getattr(row, name) for name in _OF_ROW},
        **row.figures,
        "frontier": best,
        "verdict": row.decision and row.decision.verdict,
        "decisive": row.decision and "; ".join(row.decision.decisive),
        "refused": row.refused,
    }


def _merits(row: Row) -> tuple[str, tuple[float, ...]] | None:
    top1 = row.figures.get("expected_top1")
    if row.loss is None or top1 is None:
        return None
    return row.loss[0], (row.loss[1], float(row.figures["users_deleted"] or 0), float(top1))


@dataclass(frozen=True)
class Comparison:
    """Methods × k on one data set.

    Attributes
    ----------
    data : dict
        Users, items, ratings and scale of what was anonymized.
    original : dict
        The same figures of the ratings as they are: k = 1. Their `rmse_ratio` is 1, what the
        others are ratios to.
    rows : tuple of Row
        By method, then k.
    known : int
        Cells that the adversary knows of each target, exactly.
    targets : int
        How many users were attacked at most; a row says how many were.
    attribute : str or None
        What the queries ask for; None: the data have no numeric attribute.
    attack : str
        The one that found most records in the original.
    seconds : float
    policy : str or None
        Name and version of the policy that decided on each release; None: none did.
    held_out : float
        Share of the ratings that recommenders were tested on.
    shadows : int
        Of leaving people out; 0: none, and what they tell was not measured.
    shadows_known : int or None
        Ratings known of each target of linkability and inference gain: 8, or the largest number
        that half of the people have; None: these were not measured.
    seed : int
    digest : str
    version : str
    """

    data: dict[str, Any]
    original: dict[str, Value]
    rows: tuple[Row, ...]
    known: int
    targets: int
    attribute: str | None
    attack: str
    seconds: float
    seed: int
    digest: str
    held_out: float = 0.0
    policy: str | None = None
    shadows: int = 0
    shadows_known: int | None = None
    version: str = field(default=__version__)

    @property
    def frontier(self) -> tuple[Row, ...]:
        """The rows that no other one beats."""
        return tuple(row for row, best in self.judged if best)

    @property
    def judged(self) -> tuple[tuple[Row, bool], ...]:
        """Every row, and whether no other one beats it."""
        return tuple(zip(self.rows, on_frontier(self.rows), strict=True))

    @property
    def shown(self) -> list[Figure]:
        """The figures that stand in columns, of which some row has a value."""
        every = dict.fromkeys(figure for part in in_columns().values() for figure in part)
        return [f for f in every if any(row.figures[f.key] is not None for row in self.rows)]

    @property
    def refused(self) -> tuple[Row, ...]:
        """The rows without a release."""
        return tuple(row for row in self.rows if row.refused is not None)

    @property
    def before(self) -> Row:
        """The ratings as they are, as a row."""
        return Row(ORIGINAL, 1, None, self.original, attack=self.attack)

    @property
    def rests_on(self) -> str:
        """On how much data and which attack everything rests, in a line."""
        data, original = self.data, self.original
        return (
            f"{counted(data['users'], 'user')}, "
            f"{counted(data['items'], 'item')}, {counted(data['ratings'], 'rating')}; "
            f"{counted(self.known, 'rating')} known of each of "
            f"{counted(int(original['targets'] or 0), 'target')}; {self.attack} re-identifies "
            f"{percent(original['expected_top1'])} in the original data{self._known}"
        )

    @property
    def _known(self) -> str:
        if self.shadows_known is None:
            return ""
        known = counted(self.shadows_known, "rating")
        return f"; linkability and inference gain with {known} known"

    def plot(self) -> Chart:
        """Draw loss against what the attack finds, and loss over k.

        Raises
        ------
        ConfigError
            Every release was refused.
        """
        return frontier_chart(self, self.rests_on)

    def table(self) -> list[dict[str, Any]]:
        """Return a flat dict per row."""
        return [_flat(row, best) for row, best in self.judged]

    def whole_table(self) -> list[dict[str, Any]]:
        """Return the same with the ratings as they are before the releases."""
        return [_flat(self.before, None), *self.table()]

    def to_dict(self) -> dict[str, Any]:
        """Return the whole as plain JSON values; no user and no item is named."""
        return {
            "data": dict(self.data),
            "original": {"attack": self.attack, **self.original},
            "rows": [
                {**flat, "checks": row.decision and list(row.decision.checks)}
                for row, flat in zip(self.rows, self.table(), strict=True)
            ],
            **{name: getattr(self, name) for name in _AS_THEY_ARE},
        }

    def __str__(self) -> str:
        return " ".join(self._sentences())

    def _sentences(self) -> Iterator[str]:
        made = len(self.rows) - len(self.refused)
        yield (
            f"{counted(made, 'release')} of {counted(self.data['users'], 'user')} on "
            f"{counted(self.data['items'], 'item')}. In the original data an adversary who knows "
            f"{counted(self.known, 'rating')} re-identifies "
            f"{percent(self.original['expected_top1'])} of "
            f"{counted(int(self.original['targets'] or 0), 'target')} ({self.attack}). Reported is "
            "the strongest of scoreboard-rh, label and likelihood."
        )
        averages = [row.figures["item_means_within_step"] for row in self.rows]
        if known := [share for share in averages if share is not None]:
            yield (f"Item means alone recover {percent(known[0])} of all ratings within one step.")
        covering = max(
            self.rows, key=lambda row: row.figures["held_out_covered"] or 0, default=None
        )
        if covering is not None and (means := covering.figures["held_out_user_item_means"]):
            yield (
                "On held-out ratings the original's model has an RMSE of "
                f"{error_text(covering.figures['held_out_original'])}, user + item means of "
                f"{error_text(means)}."
            )
        if self.frontier:
            best = ", ".join(row.name for row in self.frontier)
            yield (
                "Pareto-optimal in loss, users left out and re-identification, among releases with "
                f"the same kind of loss: {best}."
            )
        if self.policy is not None:
            passed = [
                row.name for row in self.rows if row.decision and row.decision.verdict == "PASS"
            ]
            yield f"PASS by policy {self.policy}: {', '.join(passed) or 'none'}."
        if self.refused:
            yield f"Refused: {', '.join(row.name for row in self.refused)}."

    def _repr_html_(self) -> str:
        shown = self.shown
        rows = [
            (
                row.name,
                *(figure.of(row.figures[figure.key]).text for figure in shown),
                row.refused or ("yes" if best else "no"),
            )
            for row, best in self.judged
        ]
        head = ("release", *(figure.head for figure in shown), "Pareto-optimal")
        content = table(head, rows, numbers=range(1, len(shown) + 1))
        return block("Comparison of methods", paragraph(str(self)), content)
