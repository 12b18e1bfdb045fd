"""What is refused of releases that continue another one says what to do instead."""

from __future__ import annotations

import re
from typing import Any

import pytest

from starshade.anonymize.k_likeness import KLikeness
from starshade.anonymize.predictive.predictive import PredictiveAnonymizer
from starshade.errors import ConfigError, UnmetError
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
