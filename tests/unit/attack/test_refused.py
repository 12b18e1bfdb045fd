"""What attacks refuse, or say, instead of giving a figure that means something else."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from starshade import progress
from starshade.anonymize.k_likeness import KLikeness
from starshade.attack.auxiliary.auxiliary import AuxiliaryAttack
from starshade.attack.candidates.candidates import LabelAttack
from starshade.attack.candidates.homogeneity import HomogeneityAttack
from starshade.attack.knowledge import Knowledge
from starshade.attack.link_existence.link_existence import LinkExistence
from starshade.attack.risk import Risk
from starshade.attack.scoreboard_rh.scoreboard_rh import ScoreboardRH
from starshade.attack.sparsity.information_gain import information_gain
from starshade.attack.sparsity.sparsity import Sparsity
from starshade.errors import ConfigError
from starshade.ratings.auxiliary.auxiliary import read_auxiliary
from starshade.ratings.table import Ratings
from starshade.release.table import Release
from tests.contract.cast import CAST
from tests.unit.ratings.samples import Listener

ORIGINAL = CAST["ordinary"]
TWO = Knowledge(known=2, dates=False)


@pytest.fixture(scope="module")
def release() -> Release:
    return KLikeness(k=4).anonymize(ORIGINAL, rng=0)


def renumbered(ratings: Ratings) -> Ratings:
    """Give every user the ratings of the one before."""
    order = np.roll(np.arange(ratings.n_users), 1)
    moved = ratings.keep_users(np.arange(ratings.n_users))
    lengths = ratings.user_support[order]
    cells = np.concatenate([np.arange(*ratings.indptr[u : u + 2]) for u in order])
    return replace(
        moved,
        indptr=np.concatenate([[0], np.cumsum(lengths)]),
        columns=ratings.columns[cells],
        codes=ratings.codes[cells],
        days=None if ratings.days is None else ratings.days[cells],
    )


@pytest.mark.parametrize(
    "attack", [ScoreboardRH(), LabelAttack(), HomogeneityAttack(), LinkExistence()]
)
def test_a_link_that_gives_users_others_rows_is_refused(attack: Any, release: Release) -> None:
    assert release.private is not None
    link = release.private.link
    attack.run(release, TWO, original=ORIGINAL, link=link, rng=0)
    with pytest.raises(ConfigError, match="do not match their class"):
        attack.run(release, TWO, original=renumbered(ORIGINAL), link=link, rng=0)


def test_a_part_of_the_released_items_still_fits(release: Release) -> None:
    part = ORIGINAL.keep_items(np.arange(2, ORIGINAL.n_items))
    assert release.private is not None
    result = LabelAttack().run(
        release, Knowledge(known=1, dates=False), original=part, link=release.private.link, rng=0
    )
    assert result.credit == "linked"


def test_the_number_of_ratings_is_no_sure_help_on_a_release(release: Release) -> None:
    listener = Listener()
    with progress.watch(listener):
        ScoreboardRH().run(release, replace(TWO, about_count=True), original=ORIGINAL, rng=0)
    assert any("may exclude the target's own record" in sentence for sentence in listener.notes)


def test_days_are_whole() -> None:
    dated = CAST["ordinary"]
    for wrong in (2.5, -1, 10**30):
        with pytest.raises(ConfigError, match="day_error"):
            information_gain(dated, day_error=wrong)  # type: ignore[arg-type]
        with pytest.raises(ConfigError, match="day_error"):
            Sparsity(day_error=wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("targets", [2.5, float("nan"), 0, True])
def test_targets_are_counted(targets: Any) -> None:
    with pytest.raises(ConfigError, match="targets"):
        ScoreboardRH().run(ORIGINAL, TWO, targets=targets, rng=0)
    with pytest.raises(ConfigError, match="targets"):
        Sparsity(targets=targets)


def test_numbers_of_any_size() -> None:
    with pytest.raises(ConfigError, match="draws"):
        Risk(draws=10**30)
    with pytest.raises(ConfigError, match="draws"):
        Risk(draws=1e300)  # type: ignore[arg-type]
    huge = ScoreboardRH(rho0=10**30, d0=1e308).run(ORIGINAL, TWO, rng=0)
    assert 0 <= huge.expected_top1.rate <= 1


def test_by_structure_there_is_no_tolerance() -> None:
    with pytest.raises(ConfigError, match="compares no ratings"):
        HomogeneityAttack(by="structure", tolerance=1)


def test_a_mapping_is_of_texts(tmp_path: Path) -> None:
    path = tmp_path / "public.csv"
    path.write_text("item\n1\n")
    with pytest.raises(ConfigError, match="mapping: an item is not a text"):
        AuxiliaryAttack().run(ORIGINAL, read_auxiliary(path), {"1": 1})  # type: ignore[dict-item]


def test_one_person_s_export(tmp_path: Path) -> None:
    path = tmp_path / "export.csv"
    path.write_text("item,rating,URL\n1,4,x\n2,5,y\n")
    with pytest.raises(Exception, match=r"declare it \(one_person\)\."):
        read_auxiliary(path)
    found = read_auxiliary(path, one_person=True)
    assert (len(found.names), len(found)) == (1, 2)
    with pytest.raises(ConfigError, match="only one of the two is possible"):
        read_auxiliary(path, one_person=True, name_col="URL")
