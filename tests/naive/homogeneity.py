"""The homogeneity attack once more, record by record in plain Python (PA Def. 5.1)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tests.naive.scoreboard_rh import SLACK, Attack, Cell, Record


@dataclass(frozen=True)
class Shared:
    """What all candidates of one target have in common."""

    identical: bool
    cells: int
    true: int
    single: int
    single_true: int
    single_rated: int
    single_near: int
    hidden: int


def holds(cell: Cell, true: Cell | None, attack: Attack) -> bool:
    """Whether the true cell is a member."""
    if true is None:
        return cell.null
    rating = true.members[0]
    if cell.bounds is not None:
        low = max(cell.bounds[0], attack.scale.minimum)
        return low - SLACK <= rating <= cell.bounds[1] + SLACK
    return any(abs(rating - v) <= SLACK for v in cell.members)


def is_single(cell: Cell) -> bool:
    """Whether the cell says one rating and nothing else."""
    if cell.bounds is not None:
        return not cell.null and cell.bounds[1] - cell.bounds[0] <= SLACK
    return len(cell.members) == 1 and not cell.null


def only(cell: Cell) -> float:
    """The one rating that a cell says."""
    return cell.members[0] if cell.bounds is None else cell.bounds[1]


def undated(record: Record) -> Record:
    """A review graph has no days."""
    return {item: replace(cell, day=None) for item, cell in record.items()}


def shared(
    candidates: list[Record], known: set[int], truth: Record, attack: Attack, error: float
) -> Shared:
    """Compare the candidates of one target with each other, and then with the truth."""
    graphs = [undated(record) for record in candidates]
    common: Record = {}
    if graphs:
        common = {
            item: cell
            for item, cell in graphs[0].items()
            if item not in known
            and cell.rated(attack.scale.minimum)
            and all(graph.get(item) == cell for graph in graphs)
        }
    true = {item for item, cell in common.items() if holds(cell, truth.get(item), attack)}
    single = {item for item, cell in common.items() if is_single(cell)}
    rated = single & truth.keys()
    near = {i for i in rated if abs(only(common[i]) - truth[i].members[0]) <= error + SLACK}
    return Shared(
        identical=bool(graphs) and all(graph == graphs[0] for graph in graphs),
        cells=len(common),
        true=len(true),
        single=len(single),
        single_true=len(single & true),
        single_rated=len(rated),
        single_near=len(near),
        hidden=len(truth.keys() - known),
    )


def profile_disclosure(groups: list[list[Record]], item: int) -> list[bool]:
    """Whether everybody in each group rated an item, and all alike; members are true rows."""
    return [
        len({row[item].members if item in row else None for row in group}) == 1 and item in group[0]
        for group in groups
    ]
