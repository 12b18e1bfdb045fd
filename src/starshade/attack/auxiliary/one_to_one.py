"""Public ratings of a whole list of people, matched at once: who is which record."""

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
    """Where one name is on the list.

    `record`, `class_`, `records`, `id`: as in `Candidate`; None, and 0 records, where no record is
    likelier than that they have none. `probability`: of that row, the other names being where they
    are. `lead`: by how much, in natural logarithms, the list surpasses the best one in which this
    name is elsewhere; 0: a tie. `answer`: both are sure enough. `no_answer`: why not.
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
    """A list matched at once: each name at most one record, each record at most one name.

    Attributes
    ----------
    weights : {"fitted", "plain"}
    min_posterior : float
    away : tuple of float
        Chances that a public rating of somebody's own record is 0 to 4 fifths of the scale away.
    not_rated : float
        Chance that their record lacks it.
    near : float
        Chance that its day is within 30 of the record's.
    there : float
        Chance that a name has a record.
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
        """Names that are placed, and surely enough."""
        return sum(each.answer for each in self.per_name)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {"answered": self.answered} | payload(self)

    def __str__(self) -> str:
        n = len(self.per_name)
        placed = sum(each.records > 0 for each in self.per_name)
        text = (
            f"Matched as one list, each record given to one name at most, {placed:,} of "
            f"{counted(n, 'name')} have a place in the likeliest list, and for {self.answered:,} "
            f"it is at least {self.min_posterior:.0%} probable."
        )
        text += " Somebody who has no record may well be given that of a person like them."
        if self.weights == "fitted":
            text += (
                f" Nobody said how far public ratings can be trusted; fitted to the list itself, "
                f"{self.away[0]:.0%} agree with the record, {self.not_rated:.0%} are not in it, "
                f"and {self.there:.0%} of the names have a record at all."
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
    """Match a whole list at once (Fellegi & Sunter 1969; definitions, "auxiliary-attack").

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
            f"matching {counted(len(matched.indptr) - 1, 'name')} at once takes about "
            f"{budget.amount(needed)} of memory; {budget.amount(max(0, budget.left(0)))} may be "
            "used",
            advice=f"Match fewer names at once, or allow more memory{aside('memory')}.",
        )
