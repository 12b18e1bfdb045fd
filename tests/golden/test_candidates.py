"""Scoreboard, structure, label, homogeneity and link existence: worked cases."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from starshade.attack.candidates.candidates import (
    Hunt,
    LabelAttack,
    Scoreboard,
    StructureAttack,
    clues_of,
    judge,
    seen_by,
)
from starshade.attack.knowledge import Knowledge, Known
from starshade.attack.link_existence.link_existence import (
    LinkExistence,
    link_existence_bound,
    link_existence_exact,
)
from starshade.attack.scoreboard_rh.scoring import goal_of
from starshade.attack.view import look
from starshade.kernels.attack.candidates import Thresholds, candidates
from starshade.kernels.attack.postings import NO_DAY
from starshade.ratings.read import read_ratings
from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings
from starshade.release.cells import Symbols
from starshade.release.table import Link, Release
from tests.golden import kl
from tests.golden.test_scoreboard_rh import FIVE, A, B, C, D, known
from tests.unit.attack.samples import release


def fitting(data: Ratings, about: Known, rating: float = 0.0, day: int = -1) -> list[int]:
    """The users in whose rows everything known of the only target fits."""
    view = look(data, None, None)
    seen = seen_by(view, goal_of(view, 1.0, absent=False))
    return candidates(seen, clues_of(view, about), Thresholds(rating, day), 0).tolist()


def test_the_five_users_of_scoreboard_rh() -> None:
    """Scoreboard on the five users, row by row with the eye."""
    assert fitting(FIVE, known(2, (A, 5, 40))) == [0, 2]
    assert fitting(FIVE, known(2, (A, 5, 40)), day=14) == [2]
    assert fitting(FIVE, known(2, (A, 5, 40)), day=30) == [0, 2]
    assert fitting(FIVE, known(2, (A, 5, 40)), rating=1, day=30) == [0, 1, 2]
    assert fitting(FIVE, known(2, (A, None, None))) == [0, 1, 2]
    assert fitting(FIVE, known(2, (A, None, 40)), day=0) == [2]
    assert fitting(FIVE, known(2, (A, 5, 40), (B, 3, 20))) == [0, 2]
    assert fitting(FIVE, known(2, (A, 5, 40), (C, 2, 5))) == [2]
    assert fitting(FIVE, known(2, (A, 5, 40), (D, 4, 0))) == []
    assert fitting(FIVE, known(4, (D, 4, 0)), day=0) == [4]


def test_in_a_generalized_table_some_member_must_fit() -> None:
    """KL Table 2: known of tuple 4 (class {4, 5, 6, 7}) are Pachinko and Geekerella."""
    original, released = table_2()
    view = look(released, original, None)
    seen = seen_by(view, goal_of(view, 1.0, absent=False))

    def classes(*cells: tuple[int, float | None, int | None]) -> list[int]:
        return candidates(seen, clues_of(view, known(3, *cells)), Thresholds(0.0, -1), 0).tolist()

    warcross, _, egomaniac, pachinko, geekerella = range(5)
    assert classes((pachinko, 1, None)) == [0, 1]
    assert classes((pachinko, 1, None), (geekerella, 2, None)) == [1]
    assert classes((warcross, 2, None)) == [1, 2]
    assert classes((egomaniac, 3, None)) == [0, 1, 2]
    assert classes((egomaniac, None, None), (geekerella, None, None)) == [0, 1]


def table_2() -> tuple[Ratings, Release]:
    """KL Table 1, released as Table 2."""
    original = kl.ratings()
    contents = {frozenset(cell) for row in kl.TABLE_2 for cell in row if cell != {None}}
    order = sorted(contents, key=lambda cell: sorted(v or 0 for v in cell))
    members = [np.array(sorted(v for v in cell if v), dtype=float) for cell in order]
    symbols = Symbols.sets(Scale(1, 5, 1), members, np.array([None in cell for cell in order]))
    rows = [
        {i: order.index(frozenset(cell)) for i, cell in enumerate(row) if cell != {None}}
        for row in kl.TABLE_2
    ]
    link = Link(original.users, np.arange(10))
    return original, release(rows, [3, 4, 3], symbols, original.items, link)


def test_nobody_is_found_with_more_than_one_in_k() -> None:
    """PA Thm 6.1 on KL Table 2: the smallest class has three records."""
    original, released = table_2()
    for attack in (StructureAttack(), LabelAttack(), Scoreboard()):
        result = attack.run(released, Knowledge(known=3), original=original, rng=0)
        assert result.bound == pytest.approx(1 / 3)
        assert 0 < result.expected_top1.rate <= result.bound + 1e-12
        assert result.false_match.rate == result.no_answer == 0  # what is known is right


def test_copies_share_their_profile() -> None:
    """Copies: t, t2: A=5; x: A=1; y: B=3; z: B=2, known is A=5 of t."""
    from tests.golden.test_scoreboard_rh import COPIES

    view = look(COPIES, None, None)
    about = known(0, (0, 5, None))
    found, _ = judge(Hunt.of(view, about, Thresholds(0.0, -1), absent=True))
    assert found.credit[0] == 0.5
    assert found.entropy_bits[0] == 1
    assert found.entropy_bits_profile[0] == 0
    assert found.disclosed[0]
    assert found.some_absent is not None
    assert found.some_absent[0]


def test_link_existence_theorems() -> None:
    """Thms 6.2, 6.3 by hand."""
    assert link_existence_exact(0.05, 5) == pytest.approx(0.22102, abs=5e-6)
    assert link_existence_bound(0.05, 5) == pytest.approx(0.22857, abs=5e-6)
    assert link_existence_exact(0.2, 5) == pytest.approx(0.29748, abs=5e-6)
    assert link_existence_bound(0.2, 5) == pytest.approx(0.4)


@pytest.fixture(scope="module")
def ml100k(ml100k_dir: Path) -> Ratings:
    return read_ratings(ml100k_dir / "u.data")


@pytest.mark.real
def test_consecutive_groups_of_five(ml100k: Ratings) -> None:
    """Of the links of such groups 29 % have j/g > 1/k; the release is their union."""
    dense = ~np.isnan(ml100k.dense())
    starts = np.arange(0, ml100k.n_users - 4, 5)  # the last three join the last five
    union = np.add.reduceat(dense, starts, axis=0) > 0
    sizes = np.diff([*starts, ml100k.n_users]).tolist()
    rows: list[dict[int, Any]] = [dict.fromkeys(np.flatnonzero(row).tolist(), 0) for row in union]
    link = Link(ml100k.users, np.arange(ml100k.n_users))
    symbols = Symbols.exact(ml100k.scale, ml100k.levels)
    result = LinkExistence().run(release(rows, sizes, symbols, ml100k.items, link), original=ml100k)
    assert result.above_no_prior == pytest.approx(0.29, abs=0.005)
    assert result.no_member == 0
    assert result.missing_true == 1


@pytest.mark.real
def test_the_label_attack_without_any_randomness(ml100k: Ratings) -> None:
    """Counted once more with whole matrices: every user's four lowest item ids, exactly."""
    from tests.golden.test_scoreboard_rh import lowest_ids

    about = lowest_ids(ml100k, 4)
    values = ml100k.dense()
    view = look(ml100k, None, None)
    for rating, fits in (
        (0.0, lambda known, theirs: known == theirs),
        (np.inf, lambda _, theirs: ~np.isnan(theirs)),
    ):
        found, _ = judge(Hunt.of(view, about, Thresholds(rating, -1)))
        expected = [
            fits(about.ratings[t], values[:, about.items[t]]).all(axis=1).sum()
            for t in range(len(about))
        ]
        assert found.candidates.tolist() == expected
        assert (about.days == NO_DAY).all()
