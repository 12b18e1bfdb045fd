"""What is refused of releases that continue another one says what to do instead."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from starshade.anonymize.k_likeness import KLikeness
from starshade.anonymize.predictive.predictive import PredictiveAnonymizer
from starshade.errors import ConfigError, UnmetError
from starshade.progress import watch
from starshade.ratings.scale import Scale
from starshade.ratings.synth.synth import synthesize

RATINGS = synthesize(n_users=24, n_items=4, rng=0)


@pytest.mark.parametrize("method", [KLikeness, PredictiveAnonymizer])
def test_more_slack_than_people_names_the_slack(method: Any) -> None:
    with pytest.raises(ConfigError, match=re.escape("not even one group of 105")) as caught:
        method(k=5, slack=100).anonymize(RATINGS, rng=0)
    assert caught.value.setting == "slack"
    assert "k = 105" not in caught.value.message
    assert caught.value.advice == "Choose a slack up to 19."
    with pytest.raises(ConfigError, match="not even one group of 25 can") as caught:
        method(k=25, slack=100).anonymize(RATINGS, rng=0)
    assert caught.value.setting == "k"


def test_more_k_than_before_is_told_by_the_k_that_was() -> None:
    first = KLikeness(k=3).anonymize(RATINGS, rng=0)
    with pytest.raises(UnmetError) as caught:
        KLikeness(k=20).anonymize(RATINGS, rng=0, after=first)
    assert "have left" not in caught.value.message
    assert "k = 3" in str(caught.value.advice)
    assert "slack" not in str(caught.value.advice)


def test_who_withholds_is_told_of_dummy_records() -> None:
    first = KLikeness(k=4).anonymize(RATINGS, rng=0)
    own = first.class_of_record[first.private.link.record]
    gone = [int(np.flatnonzero(own == c)[0]) for c in range(first.classes.n_groups)]
    rest = RATINGS.keep_users(
        np.flatnonzero(~np.isin(list(RATINGS.users), first.private.link.users.take(gone)))
    )
    with pytest.raises(UnmetError, match="too many have left") as caught:
        KLikeness(k=4).anonymize(rest, rng=0, after=first, shortfall="withhold")
    assert "shortfall" in str(caught.value.advice)
    again = KLikeness(k=4).anonymize(rest, rng=0, after=first)
    assert again.exact.dummy_records == len(gone)
    assert again.private.config["shortfall"] == "dummies"


def test_the_older_name_of_dummy_records_is_taken_with_a_warning() -> None:
    first = KLikeness(k=4).anonymize(RATINGS, rng=0)
    older: Any = "invent"
    with pytest.warns(DeprecationWarning, match='"invent" is now called "dummies"'):
        again = KLikeness(k=4).anonymize(RATINGS, rng=0, after=first, shortfall=older)
    assert again.private.config["shortfall"] == "dummies"


def test_a_scale_that_was_declared_is_not_passed_over() -> None:
    first = KLikeness(k=3).anonymize(RATINGS, rng=0)
    wider = replace(RATINGS, scale=Scale(1, 10, 1))
    with pytest.raises(ConfigError, match=re.escape("declared scale, 1:10:1")) as caught:
        KLikeness(k=3).anonymize(wider, rng=0, after=first)
    assert "1:5:1" in str(caught.value.advice) + caught.value.message
    found = replace(wider, report=replace(wider.report, scale_inferred=True))
    again = KLikeness(k=3).anonymize(found, rng=0, after=first)
    assert again.scale == first.scale


class Notes:
    """Somebody who hears what is noted."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def start(self, label: str, total: float | None) -> int:
        return 0

    def advance(self, handle: int, amount: float) -> None: ...

    def stop(self, handle: int) -> None: ...

    def note(self, message: str) -> None:
        self.heard.append(message)


def test_a_larger_k_than_the_groups_that_are_kept_is_told() -> None:
    """Of 24 people in eight groups of three a k of four lacks one record in each."""
    first = KLikeness(k=3).anonymize(RATINGS, rng=0)
    sizes = np.bincount(first.class_of_record)
    notes = Notes()
    with watch(notes):
        again = KLikeness(k=4).anonymize(RATINGS, rng=0, after=first)
    lacking = int(np.maximum(4 - sizes, 0).sum())
    assert again.exact.dummy_records == lacking > 0
    small = int((sizes < 4).sum())
    heard = " ".join(notes.heard)
    assert f"k = 4: {small} of the {len(sizes)} groups that are kept" in heard
    assert f"{lacking} of {24 + lacking} records are dummy records" in heard


def test_slack_that_comes_too_late_is_told() -> None:
    first = KLikeness(k=3).anonymize(RATINGS, rng=0)
    notes = Notes()
    with watch(notes):
        KLikeness(k=3).anonymize(RATINGS, rng=0, after=first)
    assert not [text for text in notes.heard if "kept" in text or "dummy" in text]
    with watch(notes):
        KLikeness(k=3, slack=2).anonymize(RATINGS, rng=0, after=first)
    assert "k + slack = 5: " in " ".join(notes.heard)
