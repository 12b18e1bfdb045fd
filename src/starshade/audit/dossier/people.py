"""Who stands out: as shares for everybody, by name for the owner alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.attack.risk.result import RiskResult
from starshade.ratings.table import Ratings
from starshade.release.cells import Cells
from starshade.release.match.match import Match
from starshade.release.table import Release

__all__ = ["LISTED", "at_risk", "stand_out"]

#: users that a report names; the risk list has them all
LISTED = 100


def stand_out(risk: RiskResult | None, most: int) -> dict[str, Any]:
    """Say how few known ratings identify how many people; nobody has more than `most` ratings."""
    steps = [
        {"known": step["known"], "identified": step["at_most"]}
        for step in ([] if risk is None else risk.to_dict()["steps"])
        if step["known"] <= max(most, 1)
    ]
    return {
        "steps": steps,
        "users": 0 if risk is None else risk.targets,
        "knowledge": "so many ratings of a person exactly, and no dates",
        "meaning": "The share of people of whom so many known ratings are enough, whichever they "
        "are: in 9 of 10 draws no other record agrees with them. High means risk: to take the "
        "names away protects none of these people.",
        "beside": "Whoever may guess is right more often, as the attacks below show: there the "
        "best guess counts, here only who is identified for certain, and almost whatever is known.",
    }


def at_risk(risk: RiskResult | None, ratings: Ratings, release: Release) -> dict[str, Any] | None:
    """List the users whom few ratings identify, and what the release still tells of them."""
    if risk is None:
        return None
    order = np.lexsort((risk.users, -risk.identified, risk.least))
    order = order[risk.least[order] > 0]
    users = risk.users[order[:LISTED]]
    sizes, disclosed, existing = _class_counts(release, ratings, users)
    rows = [
        {
            "user": ratings.users[user],
            "known": int(risk.least[place]),
            "share": float(risk.identified[place]),
            "class_size": sizes[row],
            "told": disclosed[row],
            "exists": existing[row],
        }
        for row, (user, place) in enumerate(zip(users.tolist(), order.tolist(), strict=False))
    ]
    return {
        "rows": rows,
        "listed": len(rows),
        "total": len(order),
        "text": _text(risk, ratings),
    }


def _text(risk: RiskResult, ratings: Ratings) -> str:
    text = (
        "The people whom the fewest known ratings identify in the ratings as they are, and what "
        "the release still tells of them: among how many they hide, how many of their ratings "
        "their class shows plainly, and of how many items it shows that they rated them. A dash: "
        "they are not in the release, or nobody can tell. The first are those to hold back, or to "
        "hide among more, if this is too much."
        " Of people whom as few ratings identify, in as many of the draws, those that come first "
        "in the ratings stand first: where the list ends among them, others are no less at risk. "
        "The list of all of them is written by starshade attack RATINGS --risk-list FILE."
    )
    if risk.targets + risk.ineligible < ratings.n_users:
        text += f" Of {ratings.n_users:,} people {risk.targets:,}, drawn at random, were tried."
    return text


_Counts = list[int | None]


def _class_counts(
    release: Release, ratings: Ratings, users: NDArray[np.int64]
) -> tuple[_Counts, _Counts, _Counts]:
    """Return class sizes, ratings disclosed and ratings known to exist; None: nobody can say."""
    nothing: _Counts = [None] * len(users)
    rows = Match(release, ratings).row_of_user
    if rows is None:
        return nothing, nothing, nothing
    rows = rows[users]
    sizes = np.asarray(release.classes.sizes)
    if release.groups is not None:  # a record of its own: its class is of equal records
        sizes = np.bincount(release.groups)[release.groups]
    class_sizes = [int(sizes[row]) if row >= 0 else None for row in rows.tolist()]
    if not isinstance(release.classes, Cells):
        return class_sizes, nothing, nothing
    cells = release.classes
    disclosed, existing = list(nothing), list(nothing)
    for place, row in enumerate(rows.tolist()):
        if row >= 0:
            codes = cells.codes[cells.indptr[row] : cells.indptr[row + 1]]
            null, single = cells.symbols.null[codes], cells.symbols.is_single[codes]
            disclosed[place], existing[place] = int((single & ~null).sum()), int((~null).sum())
    return class_sizes, disclosed, existing
