"""No attack names the right record of ratings more often than the one by likelihood."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from starshade.attack.knowledge import Knowledge
from starshade.attack.likelihood.likelihood import Likelihood
from starshade.attack.registry import ENTRIES
from starshade.attack.result import AttackResult
from starshade.errors import UserError
from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings
from tests.contract.make import make
from tests.strategies import table

TABLES = 1000
BEYOND_CHANCE = 4.0  # standard errors


def drawn(seed: int) -> tuple[Ratings, Knowledge]:
    """Draw a table, every other one with people who rate alike, and what is known."""
    rng = np.random.default_rng(seed)
    users, items = int(rng.integers(3, 13)), int(rng.integers(3, 9))
    scale = (Scale(1, 5, 1), Scale(0.5, 5, 0.5), Scale(1, 2, 1))[seed % 3]
    rated = rng.random((users, items)) < rng.uniform(0.3, 0.9)
    values = rng.choice(scale.levels, (users, items))
    if seed % 2:
        kind = rng.integers(0, 3, users)
        alike = rng.random((users, items)) < 0.8
        rated = np.where(alike, rated[kind % users], rated)
        values = np.where(alike, values[kind % users], values)
    days = rng.integers(0, 60, (users, items))
    rows = [{i: float(values[u, i]) for i in np.flatnonzero(rated[u])} for u in range(users)]
    dated = [{i: int(days[u, i]) for i in row} for u, row in enumerate(rows)]
    known = int(rng.integers(1, 4))
    return table(rows, scale, n_items=items, days=dated), Knowledge(
        known=known,
        wrong=int(rng.integers(0, known + 1)) if seed % 4 else 0,
        wrong_kind=str(rng.choice(["value", "item"])),  # type: ignore[arg-type]
        rating_error=float(rng.choice([0.0, 1.0])),
        day_error=[None, 0, 14][int(rng.integers(3))],
        about_count=bool(rng.integers(2)),
    )


def names_records(attack: Any, ratings: Ratings) -> bool:
    try:
        return isinstance(attack.run(ratings, Knowledge(known=1), rng=0), AttackResult)
    except UserError:  # of releases alone
        return False


def credit_of(attack: Any, ratings: Ratings, knowledge: Knowledge) -> Any:
    found: Any = attack.run(ratings, knowledge, rng=0).per_target
    return found.credit if hasattr(found, "credit") else found.expected_top1


@pytest.fixture(scope="module")
def played() -> dict[str, list[float]]:
    """By how much each attack does better than the one by likelihood, table by table."""
    better: dict[str, list[float]] = {}
    some = table([{0: 1.0}, {0: 2.0}], Scale(1, 5, 1), n_items=1)
    named = ((entry.name, make(entry)) for entry in ENTRIES if entry.name != "likelihood")
    aimed = ((name, rival) for name, rival in named if names_records(rival, some))
    rivals = list(aimed)
    rivals.append(("plain", Likelihood(adversary="plain")))
    for seed in range(TABLES):
        ratings, knowledge = drawn(seed)
        try:
            own = credit_of(Likelihood(), ratings, knowledge)
        except UserError:  # nobody of whom so much can be known
            continue
        for name, rival in rivals:
            theirs = credit_of(rival, ratings, knowledge)
            better.setdefault(name, []).append(float(np.mean(theirs - own)))
    return better


@pytest.mark.slow
def test_none_is_better_beyond_chance(played: dict[str, list[float]]) -> None:
    assert {"scoreboard", "scoreboard-rh", "label", "structure", "plain"} <= played.keys()
    for name, tables in played.items():
        assert len(tables) > TABLES / 2
        error = np.std(tables) / np.sqrt(len(tables))
        assert np.mean(tables) <= BEYOND_CHANCE * error, name
