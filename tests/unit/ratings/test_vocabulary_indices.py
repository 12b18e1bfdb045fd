"""Ids looked up all at once are where they are one by one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from starshade.ratings.vocabulary import Vocabulary

IDS = st.lists(st.integers(-30, 30).map(str) | st.sampled_from(["007", "a", "b", "ä", ""]))


@given(IDS, IDS)
def test_a_vocabulary_is_looked_up_like_its_ids(own: list[str], others: list[str]) -> None:
    vocabulary, asked = Vocabulary.of(own), Vocabulary.of(others)
    found = vocabulary.indices(asked)
    assert found.dtype == "int64"
    assert found.tolist() == [vocabulary.index(text) for text in asked]
    assert [vocabulary[i] for i in found if i >= 0] == [t for t in asked if t in set(own)]
    assert vocabulary.indices(Vocabulary.of(own)).tolist() == list(range(len(vocabulary)))
