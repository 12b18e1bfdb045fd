"""Releases published before: the same one, one of the same data, one of which little is known."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from starshade.anonymize.k_likeness import KLikeness
from starshade.audit.to_know import look_at
from starshade.ratings.table import Ratings
from starshade.release.read import read_release
from tests.contract.cast import CAST

RATINGS = CAST["duplicate records"].drop_empty_users()


def released(ratings: Ratings, folder: Path, k: int = 3) -> Path:
    KLikeness(k=k).anonymize(ratings, rng=0).save(folder)
    return folder


def test_the_very_same_release_takes_nothing_away(tmp_path: Path) -> None:
    stored = RATINGS.annotate(lineage="a" * 32)
    for name, ratings in (("plain", RATINGS), ("stored", stored)):
        one = released(ratings, tmp_path / name)
        other = released(ratings, tmp_path / f"{name}-again")
        found = look_at(read_release(one), [other], ratings)
        assert found.same == ()
        assert found.told == (
            f"{other} is this same release, file by file: who has the one has the other.",
        )


def test_without_a_lineage_the_ratings_tell_what_they_can(tmp_path: Path) -> None:
    release = read_release(released(RATINGS, tmp_path / "out"))
    fits = released(RATINGS, tmp_path / "fits", k=4)
    turned = replace(RATINGS, codes=(len(RATINGS.levels) - 1 - RATINGS.codes).astype(np.uint8))
    strange = released(turned, tmp_path / "strange", k=2)
    found = look_at(release, [fits, strange], RATINGS)
    assert found.same == ()
    assert found.told[0].startswith(f"{fits} fits these ratings, so it may well be of the same")
    assert found.told[1].startswith(f"{strange} was not made of these ratings, but may be of the")
    assert all("starshade data convert RATINGS --out store/" in text for text in found.told)
