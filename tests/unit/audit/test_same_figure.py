"""An attack and an audit with the same knowledge name the same figure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from starshade.anonymize.k_exchange import KExchange
from starshade.anonymize.k_likeness import KLikeness
from starshade.attack.knowledge import Knowledge
from starshade.attack.likelihood.likelihood import Likelihood
from starshade.attack.scoreboard_rh.scoreboard_rh import ScoreboardRH
from starshade.audit.verdict import Audit
from starshade.ratings.read import read_ratings
from starshade.ratings.select import listed_items, top_items
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.table import Ratings
from starshade.release.folder.read import read_release

KINDS = (Likelihood, ScoreboardRH)
#: what is measured of the run; of which table a digest is; an audit's intervals hold together
MAY_DIFFER = {"seconds", "postings_per_second", "digest", "expected_top1_interval"}


def assert_same_figures(
    ratings: Ratings, method: Any, known: int, targets: int, folder: Path
) -> Any:
    release, private = folder / "release", folder / "private.json"
    method.anonymize(ratings, rng=0).save(release, private=private)
    audited = Audit(known=(known,), targets=targets, shadows=0).run(
        ratings, release, private=private, rng=3
    )
    evidence = {
        each.after.attack: each.after
        for each in audited.evidence
        if not (each.knowledge.wrong or each.knowledge.rating_error)
    }
    for kind in KINDS:
        result = kind().run(
            read_release(release, private=private),
            Knowledge(known=known, dates=False),
            original=ratings,
            targets=targets,
            rng=3,
        )
        mine, theirs = result.to_dict(), evidence[result.attack].to_dict()
        assert {k for k, v in mine.items() if theirs[k] != v} <= MAY_DIFFER
        assert len(result.per_target.users) == result.targets
    return result


@pytest.mark.parametrize("method", [KExchange, pytest.param(KLikeness, marks=pytest.mark.slow)])
def test_of_a_part_of_the_items_they_name_the_same(method: Any, tmp_path: Path) -> None:
    ratings = synthesize(n_users=60, n_items=12, n_ratings=260, rng=0)
    items = listed_items([ratings.items[i] for i in range(1, 5)])
    result = assert_same_figures(ratings, method(k=3, items=items), 2, 20, tmp_path)
    assert result.known_from == "released items"
    assert result.people < ratings.n_users
    assert 0 < result.ineligible < result.people
    users = result.per_target.users
    on_items = ratings.keep_items(np.arange(1, 5))
    place = on_items.users.indices(ratings.users.take(users))
    assert (on_items.user_support[place] >= 2).all()


@pytest.mark.parametrize(("active", "decides"), [(6, 2), (31, 8)])
def test_what_few_people_have_so_many_ratings_for_does_not_decide(
    active: int, decides: int, tmp_path: Path
) -> None:
    draw = np.random.default_rng(0)
    counts = [8] * active + [2] * 90
    people = np.repeat(np.arange(len(counts)), counts)
    items = np.concatenate([draw.choice(8, n, replace=False) for n in counts])
    ratings = Ratings.from_arrays(people, items, draw.integers(1, 6, len(items)), scale="1:5:1")
    release, private = tmp_path / "release", tmp_path / "private.json"
    KExchange(k=2).anonymize(ratings, rng=0).save(release, private=private)
    result = Audit(known=(2, 8), targets=130, shadows=0).run(
        ratings, release, private=private, rng=3
    )
    rates = {
        known: max(
            each.after.expected_top1.rate
            for each in result.evidence
            if each.knowledge.known == known
        )
        for known in (2, 8)
    }
    assert rates[8] > rates[2]
    check = result.check("re-identification")
    assert check.rate is not None
    assert (check.known, check.rate.rate) == (decides, rates[decides])


@pytest.mark.slow
def test_on_movielens_they_name_the_same(ml100k_dir: Path, tmp_path: Path) -> None:
    ratings = read_ratings(ml100k_dir / "u.data")
    method = KExchange(k=5, items=top_items(10))
    result = assert_same_figures(ratings, method, 8, 500, tmp_path)
    assert (result.people, result.targets) == (927, 165)
    assert result.median_ratings < 8
