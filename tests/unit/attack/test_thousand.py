"""A thousand seeded small cases, each as nasty as chance makes it: kernel and twin agree.

Scores are compared with real arithmetic. Answers are compared with the twin on terms rounded to
2^-20 as the kernel's are, where they must be equal: rounding may join two scores that are closer
than that, or part two that tie in real numbers (sums of different terms), and the rounded answer
is the defined one (tied are equal integer scores). Where nothing is that close to
the top, nor an eccentricity to φ, the answers in real arithmetic must be the same too.
"""

from __future__ import annotations

import dataclasses

import numba
import numpy as np
import pytest

from starshade.attack.knowledge import Knowledge, Known
from starshade.attack.scoreboard_rh.scoreboard_rh import ScoreboardRH
from starshade.attack.scoreboard_rh.scoring import Pricing, block_of, prepare
from starshade.attack.view import View, look
from starshade.kernels.attack.postings import NO_DAY
from starshade.kernels.attack.scoreboard import scores
from starshade.ratings.scale import Scale
from starshade.ratings.table import UNKNOWN_DAY, Ratings
from starshade.release.cells import Symbols
from starshade.release.table import Link, Release
from tests.naive import scoreboard_rh as naive
from tests.strategies import SCALES, table
from tests.unit.attack.compare import ANSWERS, differences
from tests.unit.attack.samples import release
from tests.unit.attack.test_scoreboard_rh import (
    assert_equal,
    check_against_twin,
    clues,
    people,
    twin,
)

BATCHES, CASES = 10, 100
DAYS = np.array([0, 1, 3, 14, 30, 400, UNKNOWN_DAY])
KNOWN_DAYS = np.array([NO_DAY, -5, 0, 2, 30, 401])


def levels_of(scale: Scale) -> np.ndarray:
    if scale.step is not None:
        return scale.levels
    return np.array([scale.minimum, -7.5, -1.234, 0.0, 0.1, 3.0, scale.maximum])


def some_ratings(rng: np.random.Generator, scale: Scale, n_items: int, n_users: int) -> Ratings:
    """Empty users, users with everything, equal users, items with one rater, constant ratings."""
    fill = rng.choice([0.0, 0.3, 0.6, 1.0], n_users)
    levels = levels_of(scale)[: rng.integers(1, 9)]
    rows = [
        {i: float(rng.choice(levels)) for i in range(n_items) if rng.random() < share}
        for share in fill
    ]
    days = [{i: int(rng.choice(DAYS)) for i in row} for row in rows]
    if n_users > 1 and rng.random() < 0.5:
        rows[-1], days[-1] = rows[0], days[0]
    if not any(rows):
        rows[0], days[0] = {0: float(levels[0])}, {0: 3}
    return table(rows, scale, n_items=n_items, days=days if rng.random() < 0.7 else None)


def some_table(rng: np.random.Generator) -> tuple[Ratings, Ratings]:
    scale = SCALES[rng.integers(len(SCALES))]
    ratings = some_ratings(rng, scale, int(rng.integers(1, 6)), int(rng.integers(1, 9)))
    return ratings, ratings


def some_symbols(rng: np.random.Generator) -> Symbols:
    if rng.random() < 0.5:
        scale = Scale(1, 5, 1)
        contents = {
            (tuple(sorted(rng.choice(scale.levels, rng.integers(1, 4)).tolist())), bool(null))
            for null in rng.random(4) < 0.5
        }
        unique = {(tuple(sorted(set(members))), null) for members, null in contents}
        members = [np.array(m) for m, _ in sorted(unique)]
        return Symbols.sets(scale, members, np.array([null for _, null in sorted(unique)]))
    bounds = np.array([-11.0, -10.5, -10.0, -7.5, 0.0, 0.25, 3.0, 10.0])
    pairs = np.unique(np.sort(rng.choice(bounds, (4, 2)), axis=1), axis=0)
    low, high = pairs[pairs[:, 1] > -11].T
    if not len(low):
        low, high = np.array([-11.0]), np.array([10.0])
    return Symbols.ranges(Scale(-10, 10), low, high)


def some_release(rng: np.random.Generator) -> tuple[Release, Ratings]:
    """Generalized rows that stand for several records; truths that mostly do not fit them."""
    symbols = some_symbols(rng)
    n_items, n_rows = int(rng.integers(1, 5)), int(rng.integers(1, 5))
    sizes = rng.integers(1, 4, n_rows)
    rows = [
        {i: int(rng.integers(len(symbols))) for i in range(n_items) if rng.random() < 0.7}
        for _ in range(n_rows)
    ]
    original = some_ratings(rng, symbols.scale, n_items + 1, int(sizes.sum() + rng.integers(2)))
    link = None
    if rng.random() < 0.7:
        records = np.arange(sizes.sum())
        link = Link(original.users.take(records), rng.permutation(records))
    items = original.items.take(np.arange(n_items) + rng.integers(2))
    return release(rows, sizes.tolist(), symbols, items, link), original


def some_knowledge(rng: np.random.Generator, original: Ratings) -> Known:
    """What the specified draw gives, or anything at all; of a few users."""
    m = int(rng.integers(1, min(3, original.n_items) + 1))
    knowledge = Knowledge(
        known=m,
        wrong=int(rng.integers(m + 1)),
        wrong_kind="item" if rng.random() < 0.3 else "value",
        rating_error=float(rng.choice([0.0, 0.5, 1.0, 50.0])),
        day_error=[0, 14, None, np.inf][rng.integers(4)],
        about_count=bool(rng.random() < 0.3),
        ratings=bool(rng.random() < 0.8),
    )
    users = np.flatnonzero(knowledge.eligible_users(original))
    if len(users) and rng.random() < 0.6:
        return knowledge.draw(original, users[:4], int(rng.integers(2**32)))
    n = min(4, original.n_users)
    values = np.append(levels_of(original.scale), np.nan)
    return Known(
        np.arange(n),
        np.stack([rng.permutation(original.n_items)[:m] for _ in range(n)]).astype(np.int32),
        rng.choice(values, (n, m)),
        rng.choice(KNOWN_DAYS, (n, m)).astype(np.int32),
        rng.integers(0, 5, n) if rng.random() < 0.3 else None,
    )


def check_scores(attack: ScoreboardRH, view: View, known: Known) -> None:
    """Real numbers, within 1e-6 for each known cell."""
    slow = twin(attack, view, None)
    aux, tables = prepare(view, known, Pricing(slow.reach, attack.d0))
    fast = scores(block_of(view), aux, tables) / tables.unit
    records = naive.records_of(view.cells)
    row_of_record = np.repeat(np.arange(view.cells.n_groups), view.cells.sizes)
    for t in range(len(known)):
        told = clues(known, view, t)
        exact = [naive.score(record, told, records, slow) for record in records]
        assert np.allclose(fast[t][row_of_record], exact, rtol=0, atol=1e-6 * len(told))


def check_real_answers(
    attack: ScoreboardRH, data: Ratings | Release, original: Ratings, known: Known
) -> int:
    """Nothing is rounded; returns how many targets were no close call, which all must agree."""
    view = look(data, None if data is original else original, None)
    outcomes, _ = attack.judge(view, known)
    slow = twin(attack, view, None)
    records, truths, own_of = people(data, original)
    clear = 0
    for t, user in enumerate(known.users.tolist()):
        hints, own = clues(known, view, t), own_of.get(user)
        exact = np.array([naive.score(record, hints, records, slow) for record in records])
        near_top = exact[exact >= exact.max() - len(hints) * 2.0**-19]
        found = naive.find(records, hints, truths[user], slow, own=own)
        eccentricities = np.array([found.eccentricity, found.profile_eccentricity])
        judged = view.credit == "compatible" or own is not None
        alone = (near_top == exact.max()).all() and (abs(eccentricities - attack.phi) > 1e-3).all()
        if judged and alone:
            assert not set(ANSWERS) & set(differences(outcomes, t, found, attack.phi))
            clear += 1
    return clear


def check_threads(attack: ScoreboardRH, view: View, known: Known) -> None:
    """The same targets again and again, so that several threads have work; bit for bit."""
    again = np.arange(70) % len(known)
    told = None if known.rating_counts is None else known.rating_counts[again]
    many = Known(
        known.users[again], known.items[again], known.ratings[again], known.days[again], told
    )
    found = []
    for threads in (1, 2):
        numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))
        found.append(attack.judge(view, many)[0])
    assert_equal(*found)
    once, _ = attack.judge(view, known)
    assert np.array_equal(once.entropy_bits[again], found[0].entropy_bits)


@pytest.mark.parametrize("batch", range(BATCHES))
def test_kernel_and_twin_agree(batch: int) -> None:
    threads = numba.get_num_threads()
    clear = 0
    try:
        for case in range(CASES):
            rng = np.random.default_rng([7, batch, case])
            data, original = some_table(rng) if rng.random() < 0.7 else some_release(rng)
            known = some_knowledge(rng, original)
            attack = ScoreboardRH(
                phi=float(rng.choice([0.0, 0.5, 1.5, 1e9])),
                rho0=[None, 0.7, 1e9][rng.integers(3)],
                d0=float(rng.choice([30.0, 2.0, 1e6])),
                theta=float(rng.choice([1.0, 0.5])),
            )
            view = look(data, None if data is original else original, None)
            absent = view.credit == "linked" and rng.random() < 0.4
            attack = dataclasses.replace(attack, absent=absent)
            check_against_twin(attack, data, original, known)
            check_scores(attack, view, known)
            check_threads(attack, view, known)
            if batch < 2 and known.rating_counts is None:
                clear += check_real_answers(attack, data, original, known)
    finally:
        numba.set_num_threads(threads)
    assert clear > 100 or batch >= 2
