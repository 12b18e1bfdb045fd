from __future__ import annotations

import pytest

from tests.hostile.commands import try_kills, try_races
from tests.hostile.running import table
from tests.hostile.stores import try_stores


def test_some_stores_of_strangers_are_refused() -> None:
    calls, faults = try_stores(12, seed=2)
    assert not faults, table(calls, faults)
    assert calls.total() == 24


@pytest.mark.slow
def test_many_stores_of_strangers_are_refused() -> None:
    calls, faults = try_stores(250)
    assert not faults, table(calls, faults)


@pytest.mark.slow
def test_what_is_killed_is_gone_on_with_and_leaves_nothing() -> None:
    calls, faults = try_kills(6)
    assert not faults, table(calls, faults)


@pytest.mark.slow
def test_of_several_at_once_one_wins_and_nothing_is_left() -> None:
    calls, faults = try_races(6)
    assert not faults, table(calls, faults)
