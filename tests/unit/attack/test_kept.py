"""Among how many somebody hides in several releases, held beside its definition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade.anonymize.generalize import generalize
from starshade.attack.composition.kept import crowds
from starshade.attack.composition.people import Joint, Part
from starshade.ratings.scale import Scale
from starshade.ratings.vocabulary import Vocabulary
from starshade.release.cells import Cells
from tests.naive import again as naive
from tests.strategies import at_least, table
from tests.unit.attack.parts import told_of

SCALES = (Scale(0, 1, 1), Scale(0.5, 1.5, 0.5), Scale(-10, 10))


def cells_of(draw: Any, scale: Scale, how: str, classes: int) -> Cells:
    """Some cells of so many classes, wide ones as often as narrow ones."""
    levels = scale.levels.tolist() if scale.step else [-10.0, 2.5, 10.0]
    items = draw(st.integers(1, 2))
    row = st.dictionaries(st.integers(0, items - 1), st.sampled_from(levels))
    members = draw(
        st.lists(st.lists(row, min_size=1, max_size=3), min_size=classes, max_size=classes)
    )
    of = np.repeat(np.arange(classes), [len(each) for each in members])
    rows = [{0: levels[0]}, *(each for rows in members for each in rows)]
    ratings = table(rows, scale, n_items=items)
    return generalize(how, ratings, np.concatenate([[classes], of])).keep_rows(np.arange(classes))


@st.composite
def stories(draw: st.DrawFn) -> list[Part]:
    """Releases between which people come, go, return, part from their groups and join others."""
    scale, how = draw(st.sampled_from(SCALES)), draw(st.sampled_from(["ndgh", "range"]))
    n = draw(st.integers(1, 7))
    group = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    same, parts = None, []
    for _ in range(draw(st.integers(1, 4))):
        there = draw(st.lists(st.sampled_from([True, True, False]), min_size=n, max_size=n))
        present = np.flatnonzero(there) if any(there) else np.arange(n)
        if draw(st.sampled_from([False, False, True])):
            group = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
        own = np.array(group)[present]
        joined = np.array(draw(st.sampled_from([[0, 1, 2], [0, 0, 1], [0, 1, 0], [0, 0, 0]])))
        classes = np.unique(joined[own], return_inverse=True)[1].reshape(-1)
        if same is None or draw(st.booleans()):
            same = cells_of(draw, scale, how, 3)
        nobodys = draw(st.lists(st.sampled_from([0, 0, 1, 3]), min_size=3, max_size=3))
        sizes = np.bincount(classes)
        parts.append(
            Part(
                users=Vocabulary(present + 1),
                class_of_user=classes,
                sizes=sizes,
                means=draw(st.sampled_from([False, False, False, True])),
                group_of_user=own,
                nobodys=np.array(nobodys)[: own.max() + 1],
                items=same.items,
                cells=draw(st.sampled_from([same.keep_rows(np.arange(len(sizes)))] * 3 + [None])),
                k=2,
            )
        )
    return parts


@at_least(300)
@given(stories())
def test_crowds_are_those_of_the_definition(parts: list[Part]) -> None:
    assert hide_among(parts) == naive.crowds([told_of(part) for part in parts])


@at_least(300)
@given(stories())
def test_those_who_hide_together_could_be_each_other(parts: list[Part]) -> None:
    """Whatever was last said of one may be true of the other wherever that one is."""
    told = [told_of(part) for part in parts]
    for key in (lambda place: place[0], lambda place: place):
        for p, like in naive.hidden_sets(told, key).items():
            for q in like:
                for j, each in enumerate(told):
                    if q not in each.of:
                        continue
                    past = [i for i in range(j + 1) if p in told[i].of]
                    assert past, "somebody who came later"
                    was = told[past[-1]]
                    if past[-1] == j:
                        assert each.of[p][0] == each.of[q][0]
                    assert naive.class_allows(each, each.of[q][0], was, was.of[p][0])


def part(
    rows: dict[int, tuple[int, int]],
    cells: list[list[float | None]] | None = None,
    nobodys: tuple[int, ...] = (),
) -> Part:
    """A release of one item: people's class and group, and per class what its cell holds."""
    place = np.array(list(rows.values()))
    said = None
    if cells is not None:
        members = [{} if v is None else {0: v} for cell in cells for v in cell]
        of = np.repeat(np.arange(len(cells)), [len(cell) for cell in cells])
        said = generalize("ndgh", table(members, Scale(1, 5, 1), n_items=1), of)
    return Part(
        users=Vocabulary(np.array(list(rows))),
        class_of_user=place[:, 0],
        sizes=np.bincount(place[:, 0]),
        means=False,
        group_of_user=place[:, 1],
        nobodys=np.array(nobodys or [0] * (place[:, 1].max() + 1)),
        items=Vocabulary(np.array([1])),
        cells=said,
        k=2,
    )


ALL = dict.fromkeys((1, 2, 3), (0, 0))
TWO = dict.fromkeys((1, 2), (0, 0))


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([part(ALL), part(ALL)], 3),
        ([part(ALL), part(TWO)], 2),  # who left may be any of three, and two stayed
        ([part(ALL), part(TWO, nobodys=(1,))], 3),
        ([part(ALL, [[3.0, 4.0]]), part(TWO, [[3.0]], nobodys=(1,))], 1),  # the 4 was the third's
        ([part(ALL, [[3.0, 4.0]]), part(TWO, [[3.0, 4.0]], nobodys=(1,))], 3),
        ([part(TWO), part(ALL)], 1),  # a newcomer among others
        ([part(ALL), part(TWO, nobodys=(1,)), part(ALL)], 3),  # and back again
    ],
)
def test_by_hand(parts: list[Part], expected: int) -> None:
    assert crowds(parts, Joint.of(parts)).min() == expected


def hide_among(parts: list[Part]) -> dict[str, int]:
    joint = Joint.of(parts)
    return dict(zip(joint.people, crowds(parts, joint)[joint.of_person].tolist(), strict=True))


def test_one_who_is_given_away_hides_nobody_else() -> None:
    """One leaves after the first release, one after the second, whose 3 leaves too."""
    parts = [
        part(dict.fromkeys((1, 2, 3, 4), (0, 0)), [[2.0]]),
        part(dict.fromkeys((1, 2, 4), (0, 0)), [[2.0, 3.0]]),
        part(dict.fromkeys((1, 4), (0, 0)), [[2.0]]),
    ]
    assert hide_among(parts) == {"1": 2, "2": 1, "3": 3, "4": 2}


def test_equal_groups_that_part_hide_their_own() -> None:
    """Newcomers whose class is that of others once; one of them leaves when these part."""
    old, new = dict.fromkeys((1, 2), (0, 0)), dict.fromkeys((3, 4, 5), (0, 1))
    apart = dict.fromkeys((3, 4), (1, 1))
    parts = [part(old), part(old | new), part(old | apart, nobodys=(0, 1))]
    assert hide_among(parts) == {"1": 2, "2": 2, "3": 3, "4": 3, "5": 3}
