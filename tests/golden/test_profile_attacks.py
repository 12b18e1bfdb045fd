"""What averaged profiles say on MovieLens 100K, by an independent count."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from starshade.attack.link_existence.link_existence import LinkExistence
from starshade.ratings.read import read_ratings
from starshade.ratings.table import Ratings
from starshade.release.profiles import Profiles
from tests.strategies import table
from tests.unit.attack.profiles import FIVE, averaged


def test_homogenize_by_hand() -> None:
    """By hand: {A=5}, {A=4, B=2}: simple says A 4.5 and B 2. Of each, one or both rated."""
    original = table([{0: 5}, {0: 4, 1: 2}], FIVE)
    released = averaged(original, np.array([0, 0]), "simple", step=0.5)
    assert isinstance(released.classes, Profiles)
    assert released.classes.values().tolist() == [[4.5, 2.0]]
    result = LinkExistence().run(released, original=original)
    assert result.confidence == 3 / 4
    assert (result.all_members, result.no_member, result.missing) == (1 / 2, 0, 0)


@pytest.fixture(scope="module")
def ml100k(ml100k_dir: Path) -> Ratings:
    return read_ratings(ml100k_dir / "u.data")


@pytest.mark.real
def test_consecutive_groups_of_five(ml100k: Ratings) -> None:
    """Of the links of such groups 29 % have j/g > 1/k. No theorem bounds that."""
    groups = np.minimum(np.arange(ml100k.n_users) // 5, ml100k.n_users // 5 - 1)
    released = averaged(ml100k, groups, "simple", step=0.05)
    result = LinkExistence().run(released, original=ml100k)
    assert result.above_no_prior == pytest.approx(0.29, abs=0.005)
    assert result.no_member == 0
    assert result.missing_true == 1
    assert result.missing_share == pytest.approx(1 - result.edges / (943 * 1682))
