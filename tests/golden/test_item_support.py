"""What an item support leaves of MovieLens 100K, counted in the file itself."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from starshade.anonymize.prepare import prepare
from starshade.ratings.read import read_ratings


@pytest.mark.parametrize(("support", "raters"), [("10%", 95), ("5%", 48), (108, 108)])
def test_movielens_100k(ml100k_dir: Path, support: int | str, raters: int) -> None:
    lines = [line.split("\t") for line in (ml100k_dir / "u.data").read_text().splitlines()]
    assert len({line[0] for line in lines}) == 943
    kept = {item: n for item, n in Counter(line[1] for line in lines).items() if n >= raters}
    table = prepare(read_ratings(ml100k_dir / "u.data"), 5, item_support=support).ratings
    assert set(table.items) == set(kept)
    assert table.n_ratings == sum(kept.values())


def test_the_shares_that_the_guide_states(ml100k_dir: Path) -> None:
    guide = Path(__file__).parents[2] / "docs" / "guides" / "choosing-a-method.md"
    ratings = read_ratings(ml100k_dir / "u.data")
    for support, name in ((None, "none (k = 5)"), ("5%", "`5%`"), ("10%", "`10%`")):
        ready = prepare(ratings, 5, item_support=support)
        share = f"{100 * ready.ratings.n_ratings / ratings.n_ratings:.1f} %"
        row = f"| {name} | {ready.raters} | {ready.ratings.n_items:,} | {share} |"
        assert row in guide.read_text()
