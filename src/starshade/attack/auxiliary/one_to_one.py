"""One-to-one matching of a list of names with records, by public ratings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from starshade import budget
from starshade.attack.auxiliary.assignment import Placed, place
from starshade.attack.auxiliary.compared import LISTED, PATTERNS, Errors, Shown, plain_errors
from starshade.attack.auxiliary.fitting import fit
from starshade.attack.auxiliary.matching import Matched
from starshade.attack.settings import AuxiliaryAttackSettings
from starshade.attack.view import View
from starshade.errors import ConfigError
from starshade.figure import Renamed, payload
from starshade.naming import aside
from starshade.plain import counted
from starshade.progress import task
from starshade.ratings.vocabulary import Vocabulary


@dataclass(frozen=True)
class NamePlace:
    """Match of one name in the joint assignment.

    `record`, `class_`, `records`, `id`: as in `Candidate`; None, and 0 records, where having no
    record is more likely. `probability`: of that row, given the matches of the other names. `lead`:
    lead in natural logarithms over the best assignment with another match of this name; 0: a tie.
    `answer`: both are sufficient. `no_answer`: the reason why not.
    """

    name: str
    record: int | None
    class_: int | None
    records: int
    probability: float
    lead: float
    answer: bool
    no_answer: Literal["nothing-known", "nobody", "tie", "unsure"] | None
    id: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values; ``id`` only where it was asked for."""
        shown = payload(self)
        shown["class"] = shown.pop("class_")
        if self.id is None:
            del shown["id"]
        return shown


@dataclass(frozen=True)
class OneToOne(Renamed):
    """Joint matching: each name to at most one record, each record to at most one name.

    Attributes
    ----------
    weights : {"fitted", "plain"}
    min_posterior : float
    away : tuple of float
        Probabilities that a public rating is 0 to 4 fifths of the scale from the own record's.
    not_rated : float
        Probability that the own record lacks it.
    near : float
        Probability that its day is within 30 days of the record's.
    there : float
        Probability that a name has a record.
    steps : int
        Steps of the fit; 0: not fitted.
    per_name : tuple of NamePlace
        In the order in which the names first appear.
    """

    weights: str
    min_posterior: float
    away: tuple[float, ...]
    not_rated: float
    near: float
    there: float
    steps: int
    per_name: tuple[NamePlace, ...]

    @property
    def answered(self) -> int:
        """Names matched with sufficient probability."""
        return sum(each.answer for each in self.per_name)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {"answered": self.answered} | payload(self)

    def __str__(self) -> str:
        n = len(self.per_name)
        placed = sum(each.records > 0 for each in self.per_name)
        text = (
            f"One-to-one matching assigns a record to {placed:,} of {counted(n, 'name')}; "
            f"{self.answered:,} matches have a probability of at least {self.min_posterior:.0%}. "
            "A person without a record may be matched with that of a similar person."
        )
        if self.weights == "fitted":
            text += (
                f" Agreement rates fitted to the list: {self.away[0]:.0%} of public ratings agree "
                f"with the record, {self.not_rated:.0%} are not in it, and {self.there:.0%} of "
                "names have a record."
            )
        return text


def match_list(
    settings: AuxiliaryAttackSettings,
    view: View,
    matched: Matched,
    names: Sequence[str],
    users: Vocabulary | None,
    *,
    by_class: bool,
) -> OneToOne:
    """Match a list of names jointly (Fellegi & Sunter 1969; definitions, "auxiliary-attack").

    `users`: ids to be shown. `by_class`: rows are a release's classes, and have numbers.
    """
    _refuse_too_long(view, matched)
    shown, records = Shown(view), view.cells.n_records
    compared = []
    with task("comparing with every record", len(names)) as step:
        for person in range(len(names)):
            compared.append(shown.compare(matched.of(person)))
            step(1)
    errors, steps = plain_errors(records), 0
    if settings.weights == "fitted":
        fitted = fit(compared, records)
        errors, steps = fitted.errors, len(fitted.trace)
    placed = place(compared, errors, records)
    start = np.concatenate([[0], np.cumsum(view.cells.sizes)])

    def named(person: int, at: Placed) -> NamePlace:
        size = int(view.cells.sizes[at.row]) if at.row >= 0 else 0
        record = int(start[at.row]) if size == 1 else None
        reason = _reason(at, settings.min_posterior, known=len(compared[person].parts) > 0)
        return NamePlace(
            name=names[person],
            record=record,
            class_=at.row if by_class and at.row >= 0 else None,
            records=size,
            probability=at.chance,
            lead=at.lead if math.isfinite(at.lead) else 1e6,
            answer=reason is None,
            no_answer=reason,
            id=None if users is None or record is None else users[record],
        )

    return OneToOne(
        settings.weights,
        settings.min_posterior,
        *_told(errors),
        steps,
        tuple(named(person, at) for person, at in enumerate(placed)),
    )


def _told(errors: Errors) -> tuple[tuple[float, ...], float, float, float]:
    *away, missing = errors.found.tolist()
    return tuple(away), missing, float(errors.near), float(errors.there)


def _reason(
    at: Placed, sure: float, *, known: bool
) -> Literal["nothing-known", "nobody", "tie", "unsure"] | None:
    if not known:
        return "nothing-known"
    if at.row < 0:
        return "nobody"
    if at.lead == 0:
        return "tie"
    odds = math.log(sure / (1 - sure)) if sure < 1 else math.inf
    return None if at.chance >= sure - 1e-9 and at.lead >= odds - 1e-9 else "unsure"


def _refuse_too_long(view: View, matched: Matched) -> None:
    facts = int((matched.items >= 0).sum())
    longest = int(np.diff(matched.indptr).max(initial=0))
    rows = min(LISTED, view.cells.n_groups)
    needed = facts * rows * (PATTERNS * 8 + 1) + longest * rows * PATTERNS * 32
    contents = len(view.cells.symbols.n_members) + len(view.cells.symbols.members)
    needed += view.cells.n_groups * 128 + view.cells.n_listed * 40
    needed += longest * contents * (PATTERNS * 8 + 100)
    needed += min(view.cells.n_cells, longest * view.cells.n_groups) * PATTERNS * 10
    if needed > budget.left(0):
        raise ConfigError(
            f"matching {counted(len(matched.indptr) - 1, 'name')} jointly takes about "
            f"{budget.amount(needed)} of memory; {budget.amount(max(0, budget.left(0)))} may be "
            "used",
            advice=f"Match fewer names, or allow more memory{aside('memory')}.",
        )
