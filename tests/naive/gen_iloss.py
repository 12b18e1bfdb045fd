"""GenILoss (KL Eq. 3; definitions, "generalization-loss"), written for reading."""

from __future__ import annotations

from starshade.ratings.table import Ratings
from starshade.release.cells import Cells
from tests.naive.generalize import records
from tests.naive.k_anonymity import contents


def gen_iloss(cells: Cells, original: Ratings) -> float:
    """Mean over records and items of the cell's width against its column's."""
    null = original.scale.null_level
    rows = [row for row in records(original) if any(v is not None for v in row)]
    columns = [[null if row[i] is None else row[i] for row in rows] for i in range(cells.n_items)]
    total = 0.0
    for told, size in zip(contents(cells), cells.sizes.tolist(), strict=True):
        for item, said in enumerate(told):
            values = [null if v is None else v for v in said]
            column = max(columns[item]) - min(columns[item])
            if column > 0:
                total += size * (max(values) - min(values)) / column
    return total / (cells.n_records * cells.n_items)
