from __future__ import annotations

import pytest

from tests.hostile.releases import campaign
from tests.hostile.running import table


def test_some_forged_and_damaged_releases_are_refused() -> None:
    calls, faults = campaign(seed=1, forged=6, damaged=30)
    assert not faults, table(calls, faults)
    assert calls.total() == 36


@pytest.mark.slow
def test_forged_values_do_not_verify_and_damage_is_refused() -> None:
    calls, faults = campaign(seed=2, forged=400, damaged=1_600)
    assert not faults, table(calls, faults)
    assert sum(n for what, n in calls.items() if ": " not in what or "json: " in what) == 400
