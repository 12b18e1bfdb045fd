"""One synthetic respondent at a time, question by question (`kernels.synth.survey`).

The random numbers are the package's counter-based ones: the same stream must give the same
respondent.
"""

from __future__ import annotations

import math

import numpy as np

from starshade.kernels.fingerprint import uniform


class Respondent:
    """A stream of random numbers that are looked up by place."""

    def __init__(self, key: int) -> None:
        self.key = np.uint64(key)

    def number(self, place: int) -> float:
        return uniform(self.key, np.uint64(place))

    def normal(self, place: int) -> float:
        radius = math.sqrt(-2 * math.log1p(-self.number(place)))
        return radius * math.cos(2 * math.pi * self.number(place + 1))


def level(cuts, x) -> int:
    """Return the answer from 1 on."""
    return 1 + sum(x >= cut for cut in cuts)


def answers(
    key, traits, leaning, topic, loading, cuts, spreads, silence, gate, closed, straight, shares
) -> list[int]:
    """Return what one respondent answers; 0: nothing."""
    person = Respondent(key)
    n = len(topic)
    after_topics = 16 + 2 * (max(topic) + 1)
    straightliner = person.number(8) < shares[0]
    reluctant = person.number(9) < shares[1]
    end = n
    if person.number(10) < shares[2]:
        end = 1 + int(person.number(11) * (n - 1))
    given = [0] * n
    for j in range(end):
        if gate[j] >= 0 and given[gate[j]] <= closed:
            continue
        if straightliner:
            given[j] = level(straight, person.number(8) / shares[0])
            continue
        if person.number(after_topics + 3 * j + 2) < silence[int(reluctant)][j]:
            continue
        view = spreads[0] * person.normal(12) + spreads[2] * person.normal(16 + 2 * topic[j])
        opinion = loading[j] * view
        opinion += spreads[1] * person.normal(14)
        opinion += spreads[3] * person.normal(after_topics + 3 * j)
        for trait, by_question in zip(traits, leaning, strict=True):
            opinion += float(trait) * by_question[j]
        given[j] = level(cuts[j], opinion)
    return given
