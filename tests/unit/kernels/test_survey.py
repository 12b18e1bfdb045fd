from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from starshade.kernels import synth as kernels
from starshade.kernels.fingerprint import uniform
from tests.naive import survey as naive

KEYS = st.integers(0, 2**64 - 1)


@st.composite
def forms(draw: st.DrawFn) -> dict[str, Any]:
    """Some questionnaire, with shares of nobody and of everybody among its habits."""
    n = draw(st.integers(1, 9))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    share = st.sampled_from([0.0, 0.3, 1.0])
    return {
        "leaning": rng.normal(0, 0.4, (2, n)),
        "topic": rng.integers(0, 3, n),
        "loading": rng.choice([-1.0, 1.0], n),
        "cuts": np.sort(rng.normal(0, 1, (n, 5)), axis=1),
        "spreads": np.array([0.3, 0.2, 0.6, 0.5]),
        "silence": np.array([np.full(n, draw(share)), np.full(n, draw(share))]),
        "gate": np.array([draw(st.integers(-1, j - 1)) for j in range(n)]),
        "closed": draw(st.integers(0, 6)),
        "straight": np.array([0.1, 0.2, 0.5, 0.7, 0.9]),
        "shares": np.array([draw(share), draw(share), draw(share)]),
    }


@given(forms(), st.lists(KEYS, min_size=1, max_size=6))
def test_respondents_are_those_of_the_twin(form: dict[str, Any], keys: list[int]) -> None:
    traits = np.linspace(-1, 1, 2 * len(keys), dtype=np.float32).reshape(-1, 2)
    found = kernels.draw_answers(np.array(keys, dtype=np.uint64), traits, *form.values())
    expected = [naive.answers(k, t, *form.values()) for k, t in zip(keys, traits, strict=True)]
    assert found.tolist() == expected


@settings(max_examples=10)
@given(st.lists(KEYS, max_size=5), st.integers(0, 20))
def test_numbers_are_those_of_the_stream(keys: list[int], place: int) -> None:
    found = kernels.numbers(np.array(keys, dtype=np.uint64), place)
    assert found.tolist() == [uniform(np.uint64(k), np.uint64(place)) for k in keys]


def test_chunks_do_not_show() -> None:
    """More respondents than one thread takes at a time."""
    n = 2 * 1024 + 3
    answers = np.random.default_rng(0).integers(0, 7, (n, 3)).astype(np.uint8)
    rows, columns = np.nonzero(answers)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n))])
    found, codes = kernels.gather(answers, indptr)
    assert np.array_equal(found, columns)
    assert np.array_equal(codes, answers[rows, columns] - 1)
