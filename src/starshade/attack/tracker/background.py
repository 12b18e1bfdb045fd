"""Re-identification of singled-out records by known attributes of the target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from starshade.attack.tracker.result import Background
from starshade.attack.view import View
from starshade.errors import ConfigError
from starshade.kernels.attack.tracker import Singled
from starshade.naming import aside, called
from starshade.release.attributes import attribute_called, did_you_mean, plain_attributes
from starshade.stats import wilson

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, eq=False)
class Verified:
    """Who is at risk, and who is breached.

    `row`: the row of each possible target; -1 where they have no record. `length` (targets,):
    predicates that single each target out; 0: none do.
    """

    targets: int
    ineligible: int
    row: NDArray[np.int64]
    length: NDArray[np.int64]
    backgrounds: tuple[Background, ...]
    unasked: tuple[str, ...]


def verify(
    view: View, singled: Singled, background: tuple[str, ...], released: pa.Table | None
) -> Verified:
    """Compare each target's background with that of everybody singled out.

    `released`: personal attributes that a release's interface tells, one row per record; None for
    ratings, which tell their own.
    """
    known = view.original.attributes
    shown = known if view.ungeneralized else released
    background = _spelled(background, known)
    usable = tuple(name for name in background if shown is not None and _is_plain(shown, name))
    row = view.row_of_user
    if view.credit == "compatible":  # records are the targets
        row = np.repeat(np.arange(view.cells.n_groups), view.cells.sizes)
        known = shown
    linked = np.flatnonzero(row >= 0)
    # a row of one record is that record; others single nobody out
    record = np.cumsum(view.cells.sizes) - view.cells.sizes
    alone = np.flatnonzero(singled.length)
    codes = _codes(known, linked, shown, record[alone], usable)
    length = singled.length[row[linked]].astype(np.int64)
    steps = range(1, len(usable) + 1) if usable else range(1)
    return Verified(
        targets=len(linked),
        ineligible=len(row) - len(linked),
        row=row,
        length=length,
        backgrounds=tuple(
            _background(usable[:n], codes[: n + 1], length > 0, singled.times[alone]) for n in steps
        ),
        unasked=tuple(name for name in background if name not in usable),
    )


def _background(
    attributes: tuple[str, ...],
    codes: list[tuple[NDArray[np.int64], NDArray[np.int64]]],
    at_risk: NDArray[np.bool_],
    times: NDArray[np.uint8],
) -> Background:
    """Judge one background; `codes` has one entry per number of attributes asked so far."""
    n = len(at_risk)
    agreeing = [np.bincount(seen, minlength=_top(own, seen))[own] for own, seen in codes]
    own, seen = codes[-1]
    conditions = np.bincount(seen, weights=times, minlength=_top(own, seen))[own]
    one = agreeing[-1] == 1
    return Background(
        attributes=attributes,
        breached=wilson(int((one & at_risk).sum()), n),
        wrong=wilson(int((one & ~at_risk).sum()), n),
        one_condition=wilson(int(((conditions == 1) & at_risk).sum()), n),
        queries=float(sum(agree.mean() for agree in agreeing[:-1])),
    )


def _top(*codes: NDArray[np.int64]) -> int:
    return 1 + max(int(each.max(initial=0)) for each in codes)


def _codes(
    known: pa.Table | None,
    targets: NDArray[np.int64],
    shown: pa.Table | None,
    singled: NDArray[np.int64],
    names: tuple[str, ...],
) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Give targets and those singled out the same numbers for the same first 0, 1, … values."""
    n = len(targets)
    both = np.zeros(n + len(singled), dtype=np.int64)
    out = [(both[:n], both[n:])]
    for name in names:
        assert known is not None
        assert shown is not None
        column = _column(known, name, targets) + _column(shown, name, singled)
        number: dict[object, int] = {}
        values = np.array([number.setdefault(value, len(number)) for value in column], np.int64)
        _, both = np.unique(both * max(len(number), 1) + values, return_inverse=True)
        both = both.astype(np.int64)
        out.append((both[:n], both[n:]))
    return out


def _column(table: pa.Table, name: str, rows: NDArray[np.int64]) -> list[object]:
    """Return values as a release writes them; null is a value of its own."""
    plain = plain_attributes(table.select([name]))
    assert plain is not None
    values: list[object] = plain.column(name).take(rows).to_pylist()
    return values


def _is_plain(table: pa.Table, name: str) -> bool:
    """Tell whether an attribute can be asked for: there, and not generalized."""
    import pyarrow as pa

    return name in table.column_names and not pa.types.is_nested(table.schema.field(name).type)


def _spelled(background: tuple[str, ...], known: pa.Table | None) -> tuple[str, ...]:
    """Return the names of a background as the table spells them; refuse those that it lacks."""
    if not background:
        return ()
    if known is None:
        raise ConfigError(
            f"{called('background')}: the ratings have no personal attributes",
            advice=f"Give a file of them{aside('users', 'FILE')}, or omit the background.",
        )
    names, spelled = known.column_names, []
    for name in background:
        found = attribute_called(name, names)
        if found is None:
            raise ConfigError(
                f"{called('background')}: unknown personal attribute {name!r}",
                advice=f"{did_you_mean(name, names)}Allowed: {', '.join(names)}.",
            )
        spelled.append(found)
    return tuple(spelled)
