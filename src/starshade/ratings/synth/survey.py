"""A synthetic survey: respondents who answer questions on a scale of 1 to 6.

The questionnaire comes from the seed (`draw_questionnaire`): questions stand in blocks of four
on one topic; a question may be worded the other way round; in front of every second block
stands a gate: who answers 1 or 2 to the first question of the block before is led past it. The
last fifth of the questions is sensitive.

A respondent has personal attributes, an opinion on each topic that leans on them, a habit of
saying yes, and noise. A few break off, a few give the same answer throughout, and a few leave
questions open, sensitive ones above all. Everything that concerns one respondent comes from the
seed and that respondent's id (`kernels.synth.survey`): respondent 7 is the same among a hundred
others and among a million.

The shares below are ours, chosen to be of the size that survey handbooks report; nothing is
fitted to a data set.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from starshade import budget
from starshade.errors import ConfigError
from starshade.kernels import synth as kernels
from starshade.kernels.synth import user_keys
from starshade.kernels.warm import announce
from starshade.progress import task
from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings, ReadReport
from starshade.ratings.vocabulary import Vocabulary
from starshade.rng import generator, stream_key

if TYPE_CHECKING:
    import pyarrow as pa

N_RESPONDENTS = 10_000
N_QUESTIONS = 20

_SCALE = Scale(1, 6, 1)
_BLOCK = 4  # questions on one topic
_SENSITIVE = 5  # one question in so many
_HISTOGRAM = (8.0, 13.0, 20.0, 25.0, 21.0, 13.0)  # of the answers 1 to 6, tilted by question
_TILT = 0.25
_REVERSED = 0.3
# shares of the variance of an opinion; the rest is noise
_BY_TRAITS, _MOOD, _YES, _TOPIC = 0.14, 0.06, 0.05, 0.37
_CLOSED = 2  # the highest answer that closes a gate
_SILENCE = {False: (0.003, 0.036), True: (0.035, 0.42)}  # open, sensitive: most, reluctant ones
_STRAIGHT = (0.06, 0.06, 0.24, 0.34, 0.15, 0.15)  # answers of straight-liners
_SHARES = (0.03, 0.1, 0.03)  # straight-liners, reluctant ones, those who break off

_REGIONS = {"north": 0.18, "east": 0.16, "south": 0.27, "west": 0.29, "centre": 0.10}
_SCHOOLING = ("primary", "secondary", "vocational", "university")
_AGES = (18, 90)
_BY_USER = 8 * 8 + 4 * 5 + 60  # bytes: scratch numbers, traits, text of attributes
_TRAITS = 5


@dataclass(frozen=True, eq=False)
class Questionnaire:
    """The questions; see `kernels.synth.survey.draw_answers` for the arrays.

    `keys`: ``q01`` …, and ``s01`` … for the sensitive ones, which come last.
    """

    keys: tuple[str, ...]
    names: tuple[str, ...]
    topic: NDArray[np.int64]
    loading: NDArray[np.float64]
    cuts: NDArray[np.float64]
    leaning: NDArray[np.float64]
    silence: NDArray[np.float64]
    gate: NDArray[np.int64]


def draw_questionnaire(n: int, seed: int) -> Questionnaire:
    """Draw `n` questions; one in five is sensitive, rounded to the nearest (none of 1 or 2)."""
    from scipy.special import ndtri

    rng = generator(seed, "survey questions")
    n_sensitive = int(n / _SENSITIVE + 0.5)
    n_open = n - n_sensitive
    sensitive = np.arange(n) >= n_open
    block = np.arange(n) // _BLOCK
    n_blocks = (n_open + _BLOCK - 1) // _BLOCK
    topic = np.where(sensitive, n_blocks, block)
    loading = np.where(rng.random(n) < _REVERSED, -1.0, 1.0)
    tilt = _TILT * rng.standard_normal(n)
    tilt[: n_open : 2 * _BLOCK] = 0.0  # gates: they lead about a fifth past the next block
    weights = np.array(_HISTOGRAM) * np.exp(tilt[:, None] * (np.arange(6) - 2.5))
    until = np.cumsum(weights, axis=1) / weights.sum(axis=1, keepdims=True)
    by_topic = rng.standard_normal((_TRAITS, n_blocks + 1))[:, topic] * loading
    leaning = by_topic + rng.standard_normal((_TRAITS, n))
    leaning *= np.sqrt(_BY_TRAITS) / np.linalg.norm(leaning, axis=0)
    silence = np.array([_SILENCE[bool(s)] for s in sensitive]).T.copy()
    silence[:, 0] = 0.0
    gated = ~sensitive & (block % 2 == 1)
    keys, names = _labels(n_open, n_sensitive)
    return Questionnaire(
        keys=keys,
        names=names,
        topic=topic,
        loading=loading,
        cuts=np.asarray(ndtri(until[:, :-1])),
        leaning=leaning,
        silence=silence,
        gate=np.where(gated, (block - 1) * _BLOCK, -1),
    )


def _labels(n_open: int, n_sensitive: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return ids, of equal length so that their order is the questionnaire's, and names."""
    digits = max(2, len(str(n_open)))
    keys = [f"q{j:0{digits}d}" for j in range(1, n_open + 1)]
    keys += [f"s{j:0{digits}d}" for j in range(1, n_sensitive + 1)]
    names = [f"Topic {j // _BLOCK + 1}, question {j % _BLOCK + 1}" for j in range(n_open)]
    names += [f"Sensitive question {j}" for j in range(1, n_sensitive + 1)]
    return tuple(keys), tuple(names)


def draw_survey(n_users: int, n_items: int, seed: int, report: ReadReport) -> Ratings:
    """Draw a survey; the sizes are known to be sound."""
    refuse_too_large(
        n_users * (_BY_USER + 6 * n_items), f"{n_users:,} respondents and {n_items:,} questions"
    )
    users = Vocabulary(np.arange(1, n_users + 1))
    kernel = (user_keys, kernels.numbers, kernels.draw_answers, kernels.gather)
    announce("the synthetic data", *kernel)
    with task("drawing a synthetic survey"):
        keys = user_keys(np.uint64(stream_key(seed, "survey respondents")), users.fingerprints)
        attributes, traits = _people(keys)
        form = draw_questionnaire(n_items, seed)
        answers = _answers(form, keys, traits)
        indptr = np.zeros(n_users + 1, dtype=np.int64)
        np.cumsum(np.count_nonzero(answers, axis=1), out=indptr[1:])
        columns, codes = kernels.gather(answers, indptr)
    return Ratings(
        scale=_SCALE,
        users=users,
        items=Vocabulary(np.empty(0, dtype=np.int64), form.keys),
        indptr=indptr,
        columns=columns,
        codes=codes,
        levels=_SCALE.levels,
        attributes=attributes,
        item_names=form.names,
        report=report,
    )


def refuse_too_large(need: int, what: str) -> None:
    """Refuse what takes so many bytes, before anything is allocated, if it would not fit."""
    allowed = budget.memory()
    if need > allowed:
        raise ConfigError(
            f"{what} need about {need / 1e9:.3g} GB of memory; {allowed / 1e9:.3g} GB may be used",
            advice="Choose a smaller size, or allow more memory if the machine has it.",
        )


def _answers(
    form: Questionnaire, keys: NDArray[np.uint64], traits: NDArray[np.float32]
) -> NDArray[np.uint8]:
    rest = 1 - _BY_TRAITS - _MOOD - _YES - _TOPIC
    spreads = np.sqrt([_MOOD, _YES, _TOPIC, rest])
    straight = np.cumsum(_STRAIGHT)[:-1]
    questions = (form.leaning, form.topic, form.loading, form.cuts)
    habits = (spreads, form.silence, form.gate, _CLOSED, straight, np.array(_SHARES))
    return np.asarray(kernels.draw_answers(keys, traits, *questions, *habits))


def _people(keys: NDArray[np.uint64]) -> tuple[pa.Table, NDArray[np.float32]]:
    """Draw personal attributes: as a table, and as traits of mean 0 and variance about 1."""
    import pyarrow as pa

    low, high = _AGES
    age = np.floor(low + (high - low) * kernels.numbers(keys, 0) ** 1.3)
    male = kernels.numbers(keys, 1) < 0.49
    until = np.cumsum(list(_REGIONS.values()))[:-1]
    region = np.searchsorted(until, kernels.numbers(keys, 2), side="right")
    # the young stay at school for longer: everybody's number moves up or down with age
    years = (age - 49.3) / 21.5
    place = np.clip(kernels.numbers(keys, 3) - 0.08 * years, 0, 0.999)
    school = np.searchsorted([0.15, 0.5, 0.75], place, side="right")
    traits = np.empty((len(keys), _TRAITS), dtype=np.float32)
    traits[:, 0] = years
    traits[:, 1] = np.where(male, 1.02, -0.98)
    traits[:, 2] = (school - 1.6) / 1.02
    traits[:, 3] = np.where(region < 2, 1.39, -0.72)  # north and east against the others
    traits[:, 4] = np.where(region == 4, 3.0, -1 / 3)  # the capital
    table = pa.table(
        {
            "Age": age,
            "Gender": pa.array(["F", "M"]).take(pa.array(male.astype(np.int64))),
            "Region": pa.array(list(_REGIONS)).take(pa.array(region)),
            "Education": pa.array(_SCHOOLING).take(pa.array(school)),
        }
    )
    return table, traits
