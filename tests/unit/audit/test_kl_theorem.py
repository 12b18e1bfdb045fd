"""The reduction behind KL's Theorem 1 on instances by hand."""

from __future__ import annotations

import numpy as np

from starshade.audit.reproduction.kl.theorem import (
    FIGURE_7,
    GROUPINGS,
    covers_are_best,
    loss_of,
    table_of,
)

# Table 4 as it is printed
TABLE_4 = ["111100", "111100", "111011", "110111", "001111", "001111"]


def test_figure_7_gives_table_4() -> None:
    assert ["".join(map(str, row)) for row in table_of(FIGURE_7).tolist()] == TABLE_4


def test_there_are_ten_ways_to_part_six() -> None:
    assert len(GROUPINGS) == 10
    assert len({frozenset(map(frozenset, grouping)) for grouping in GROUPINGS}) == 10


def test_the_loss_counts_cells_of_columns_that_are_not_alike() -> None:
    # u1 to u3 of Table 4 differ in columns 4, 5 and 6, u4 to u6 in 1, 2 and 3: 3 rows each
    table = table_of(FIGURE_7)
    assert loss_of(table, ((0, 1, 2), (3, 4, 5))) == 3 * 3 + 3 * 3
    # u1, u3, u5: columns 1 to 6 but 3; u2, u4, u6: all but 4
    assert loss_of(table, ((0, 2, 4), (1, 3, 5))) == 3 * 5 + 3 * 5


def test_both_covers_of_figure_7_lose_least() -> None:
    table = table_of(FIGURE_7)
    losses = {grouping: loss_of(table, grouping) for grouping in GROUPINGS}
    best = {grouping for grouping, loss in losses.items() if loss == min(losses.values())}
    assert best == {((0, 1, 2), (3, 4, 5)), ((0, 1, 3), (2, 4, 5))}


def test_every_small_instance_agrees() -> None:
    assert covers_are_best() == 1.0


def test_one_triple_fills_a_square() -> None:
    assert table_of([(0, 2, 5)]).sum() == 9
    assert np.array_equal(table_of([(0, 2, 5)]), table_of([(0, 2, 5)]).T)
