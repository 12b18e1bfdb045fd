"""A single record agrees with all that is known: against counting record by record."""

from __future__ import annotations

import numpy as np
import pytest

from starshade.attack.knowledge import Knowledge
from starshade.attack.risk import OnlyFit, Risk
from starshade.attack.view import look
from starshade.ratings.table import Ratings
from tests.contract.cast import CAST


@pytest.mark.parametrize("name", ["duplicate records", "constant ratings", "one giant user"])
def test_it_is_counting(name: str) -> None:
    ratings = CAST[name].drop_empty_users()
    rows = [dict(zip(*row, strict=True)) for row in _rows(ratings)]
    for known in (1, 2, 3):
        knowledge = Knowledge(known=known, dates=False)
        users = np.flatnonzero(knowledge.eligible_users(ratings))
        if not len(users):
            continue
        drawn = knowledge.draw(ratings, users, 5)
        found, _ = OnlyFit().judge(look(ratings, None, None), drawn)
        for place, user in enumerate(users.tolist()):
            facts = list(zip(drawn.items[place], drawn.ratings[place], strict=True))
            fitting = [u for u, row in enumerate(rows) if all(row.get(i) == r for i, r in facts)]
            assert found.success[place] == (fitting == [user])


def _rows(ratings: Ratings) -> list[tuple[list[int], list[float]]]:
    cells = [slice(a, b) for a, b in zip(ratings.indptr[:-1], ratings.indptr[1:], strict=True)]
    return [
        (ratings.columns[own].tolist(), ratings.levels[ratings.codes[own]].tolist())
        for own in cells
    ]


def test_a_survey_in_which_nobody_scores_far_above_others() -> None:
    # 40 people, everything answered, no two alike: no score leads by much, and yet all are found
    rng = np.random.default_rng(0)
    users, items = np.repeat(np.arange(40), 5), np.tile(np.arange(5), 40)
    survey = Ratings.from_arrays(users, items, np.round(rng.normal(0, 3, 200), 3))
    found = Risk(draws=10, known=(2, 4), attack=OnlyFit()).run(survey, rng=0)
    assert found.steps[-1].identified + found.steps[0].identified == 40
    assert "only their record matches" in str(found)
    assert "label-based attack" not in str(found)
    by_score = Risk(draws=10, known=(2, 4)).run(survey, rng=0)
    assert by_score.never > 20
    assert "label-based attack" in str(by_score)
