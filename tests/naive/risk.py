"""Per-user risk once more: every user alone, every draw made and scored in plain Python."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from starshade.ratings.table import Ratings
from starshade.rng import stream_key
from tests.naive import scoreboard_rh as naive
from tests.naive.knowledge import known_of


def seed_of(seed: int, draw: int) -> int:
    return stream_key(seed, f"risk, draw {draw}") // 2


def least_known(
    table: Ratings,
    user: int,
    attack: naive.Attack,
    seed: int,
    *,
    draws: int,
    share: Fraction,
    numbers: list[int],
    dated: bool,
    **errors: float,
) -> tuple[int, float]:
    """Return the least number of cells that identifies a user (0: none), and how often it does."""
    records = naive.records_of_table(table)
    for known in numbers:
        if table.user_support[user] < known:
            continue
        hits = 0
        for draw in range(draws):
            with np.errstate(over="ignore"):
                drawn, _ = known_of(table, user, seed_of(seed, draw), known=known, **errors)
            clues = [naive.Clue(i, r, d if dated else None) for i, r, d in drawn]
            found = naive.find(records, clues, records[user], attack, own=user)
            hits += found.success
        if Fraction(hits, draws) >= share:
            return known, hits / draws
    return 0, 0.0


def table_of_steps(
    least: list[int], support: list[int], numbers: list[int]
) -> list[tuple[int, int, int, int]]:
    """Count known, tried, identified, ineligible per step."""
    out = []
    for m in numbers:
        waiting = [i for i in range(len(least)) if least[i] == 0 or least[i] >= m]
        tried = [i for i in waiting if support[i] >= m]
        out.append((m, len(tried), sum(least[i] == m for i in tried), len(waiting) - len(tried)))
    return out
