"""What does not fit the memory allowed is refused with the figure that would do."""

from __future__ import annotations

import re
from pathlib import Path

import numba
import numpy as np
import pytest

from starshade import budget
from starshade.attack.knowledge import Knowledge, bytes_held, bytes_needed
from starshade.attack.scoreboard_rh.scoreboard_rh import ScoreboardRH
from starshade.attack.view import look
from starshade.errors import ConfigError
from starshade.ratings.store import open_store, write_store
from tests.unit.attack.test_scoreboard_rh import some_table

KNOWLEDGE = Knowledge(known=2)
TABLE = some_table(300, 60)


def test_the_figure_named_is_enough() -> None:
    with budget.limits(memory=20_000), pytest.raises(ConfigError, match="may be used") as refused:
        ScoreboardRH().run(TABLE, KNOWLEDGE, rng=0)
    assert "0.02 MB may be used" in str(refused.value)
    named = re.search(r"about ([\d.]+) MB", str(refused.value))
    assert named is not None
    with budget.limits(memory=int((float(named[1]) + 0.01) * 1e6)):
        enough = ScoreboardRH().run(TABLE, KNOWLEDGE, rng=0)
    assert enough.success == ScoreboardRH().run(TABLE, KNOWLEDGE, rng=0).success


def test_the_data_count_where_they_lie_in_memory(tmp_path: Path) -> None:
    cells = TABLE.n_ratings * (4 + 1 + 2)  # item or user, code, day
    in_memory = bytes_held(look(TABLE, None, None))
    assert in_memory >= 2 * cells
    write_store(TABLE, tmp_path / "store")
    on_disk = bytes_held(look(open_store(tmp_path / "store"), None, None))
    assert on_disk <= in_memory - 2 * cells


def test_nobody_having_set_a_limit_data_already_there_do_not_count_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    view = look(TABLE, None, None)
    known = KNOWLEDGE.draw(TABLE, np.flatnonzero(TABLE.user_support >= 2), 0)
    needed = bytes_needed(view, known, own_only=True)
    monkeypatch.setattr(budget, "free_memory", lambda: 2 * needed)
    ScoreboardRH().judge(view, known)
    monkeypatch.setattr(budget, "free_memory", lambda: 2 * needed - 2)
    with pytest.raises(ConfigError, match="needs about"):
        ScoreboardRH().judge(view, known)


def test_every_thread_needs_scratch_of_its_own() -> None:
    view = look(TABLE, None, None)
    known = KNOWLEDGE.draw(TABLE, np.flatnonzero(TABLE.user_support >= 2), 0)
    threads = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        one = bytes_needed(view, known, own_only=False)
        numba.set_num_threads(min(2, numba.config.NUMBA_NUM_THREADS))
        two = bytes_needed(view, known, own_only=False)
    finally:
        numba.set_num_threads(threads)
    if numba.config.NUMBA_NUM_THREADS > 1:
        assert two - one >= 300 * (4 + 12 + 12)
