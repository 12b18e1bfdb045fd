"""What remains of every original rating (definitions, "what-remains"), written for reading."""

from __future__ import annotations

from starshade.ratings.table import Ratings
from starshade.release.table import Release
from tests.naive.released_rows import expected, row_of_users, rows_of

NEAR = 1e-9


def what_remains(release: Release, original: Ratings) -> dict[str, float | None]:
    """Return the figures by key, looking at one rating after the other."""
    scale, layout = release.scale, release.manifest.layout
    step = scale.step or scale.width / 20 or 1.0
    middle = (scale.minimum + scale.maximum) / 2
    people = dict(zip(release.private.link.users, row_of_users(release), strict=True))
    items = {item: place for place, item in enumerate(release.classes.items)}
    shown = rows_of(release)
    truth = original.dense().tolist()
    column = [[row[i] for row in truth if row[i] == row[i]] for i in range(original.n_items)]
    average = [sum(values) / len(values) if values else None for values in column]

    kinds: list[str] = []
    read = by_average = 0.0
    near = averages_near = empty = filled = left_out = 0
    for u, user in enumerate(original.users):
        for i, item in enumerate(original.items):
            true = truth[u][i]
            cell = (
                shown[people[user]].get(items[item]) if user in people and item in items else None
            )
            if true != true:
                empty += 1
                filled += certain(cell, scale.minimum)
                continue
            kinds.append(kind_of(cell, true, scale, step, layout))
            deletes = release.manifest.users_deleted != "none"
            if item not in items or (user not in people and not deletes):
                assert kinds[-1] == "suppressed"
                left_out += 1
            guess = expected(cell, scale.minimum)
            near += guess is not None and abs(guess - true) <= step + NEAR
            read += ((middle if guess is None else guess) - true) ** 2
            by_average += (average[i] - true) ** 2
            averages_near += abs(average[i] - true) <= step + NEAR
    n = len(kinds)
    of_layout = {
        "generalized": ("exact", "one_step", "wider", "existence_only", "ambiguous", "suppressed"),
        "record": ("exact", "one_step", "wider", "suppressed"),
        "profile": ("half_step", "one_step", "wider", "suppressed"),
    }[layout]
    shares = {f"utility_{kind}": kinds.count(kind) / n for kind in of_layout}
    assert sum(shares.values()) > 1 - 1e-9  # each rating is one of them
    return {
        **dict.fromkeys(
            f"utility_{kind}" for kind in ("exact", "half_step", "existence_only", "ambiguous")
        ),
        **shares,
        "utility_left_out": left_out / n,
        "recoverable_within_step": near / n,
        "item_means_within_step": averages_near / n,
        "improvement_over_item_means": 1 - read / by_average if by_average > n * NEAR**2 else None,
        "imputed_share": filled / empty if empty else None,
    }


def possible(cell: tuple | None, minimum: float) -> tuple[float, float] | None:
    """Return the least and the greatest rating that a cell leaves possible; None without any."""
    if expected(cell, minimum) is None:
        return None
    return (max(cell[1], minimum), cell[2]) if cell[0] == "range" else (min(cell[1]), max(cell[1]))


def null_too(cell: tuple, minimum: float) -> bool:
    return cell[1] < minimum - NEAR if cell[0] == "range" else cell[2]


def certain(cell: tuple | None, minimum: float) -> bool:
    """Tell whether a cell says that there is a rating."""
    return possible(cell, minimum) is not None and not null_too(cell, minimum)


def kind_of(cell: tuple | None, true: float, scale, step: float, layout: str) -> str:
    ends = possible(cell, scale.minimum)
    if ends is None:
        return "suppressed"
    if null_too(cell, scale.minimum):
        return "ambiguous"
    away = max(abs(end - true) for end in ends)
    if layout == "profile":
        kinds = (("half_step", step / 2), ("one_step", step), ("wider", float("inf")))
        return next(kind for kind, most in kinds if away <= most + NEAR)
    if away <= NEAR:
        return "exact"
    if layout == "generalized" and is_whole(cell, scale):
        return "existence_only"
    return "one_step" if away <= step + NEAR else "wider"


def is_whole(cell: tuple, scale) -> bool:
    if cell[0] == "range":
        return cell[1] <= scale.minimum + NEAR and cell[2] >= scale.maximum - NEAR
    return scale.step is not None and len(cell[1]) == len(scale.levels)
