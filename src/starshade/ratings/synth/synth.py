"""Synthetic ratings that behave like real ones.

How they come about, step by step:

1. *People* (`people`): age, gender, occupation and zip code, and a taste that leans on
   them: how much somebody likes each genre.
2. *Shape* (`shape`): a few users rate much and most rate little; a few items are known to
   all and most to few; users arrive steadily and in campaigns.
3. *Ratings* (`kernels.synth.synth`): to find an item, a user goes to the charts or to the shelf of
   a genre, and picks there by popularity; casual users go to the charts. The rating is the item's
   quality, the user's leniency and liking for the genre, and noise, cut into stars so that the
   histogram comes out right. Days come in bouts, most users having one.

What makes a user stand out is then what it is in real data, and an attack succeeds as often:
`benchmarks/synth_realism.py` prints the comparison. The numbers behind each data set are in
`preset`; all were fitted to aggregates, and no row of real data is kept.

A survey is another kind of thing, and has a module of its own: `survey`.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from starshade.errors import ConfigError
from starshade.naming import called
from starshade.progress import announced, task
from starshade.ratings.scale import Scale
from starshade.ratings.synth.drawing import (
    Drawing,
    draw_activity,
    draw_calendar,
    draw_catalogue,
    draw_people,
    draw_shares,
    draw_taste,
)
from starshade.ratings.synth.preset import LIKES, PRESETS, Preset
from starshade.ratings.synth.survey import N_QUESTIONS, N_RESPONDENTS, draw_survey, refuse_too_large
from starshade.ratings.table import Ratings, ReadReport
from starshade.ratings.vocabulary import Vocabulary
from starshade.rng import Rng, resolve_seed
from starshade.setting import shown

Like = Literal["movielens-100k", "netflix", "survey"]

_DENSEST = 0.9  # share of all cells that may hold a rating
_MOST = 2**31 - 2  # users, items, ratings: positions are drawn with 31 bits


class _Size(NamedTuple):
    """How many users, items and ratings to draw."""

    n_users: int
    n_items: int
    n_ratings: int


@announced("generating ratings")
def synthesize(
    like: Like = "movielens-100k",
    *,
    n_users: int | None = None,
    n_items: int | None = None,
    n_ratings: int | None = None,
    rng: Rng = None,
) -> Ratings:
    """Generate a synthetic rating table that resembles a real one.

    Long-tailed users and items, latent tastes, days in bouts, and personal attributes (Age,
    Gender, Occupation, Zip code) that lean on taste. Scale 1 to 5. Or a survey: respondents who
    answer questions ``q01`` … and sensitive ones ``s01`` …, the last fifth, on a scale of 1 to
    6; answers lean on personal attributes (Age, Gender, Region, Education); no days. The same
    seed gives the same table at any number of threads.

    Parameters
    ----------
    like : {"movielens-100k", "netflix", "survey"}
        The data to resemble.
    n_users, n_items : int, optional
        Default: those of the real data; a survey has 10,000 respondents and 20 questions. Ids
        are 1 … n and say nothing about popularity.
    n_ratings : int, optional
        Drawn exactly; at least `n_users`, at most 90 % of all cells. Default: as many per user
        as in the real data, but at most half of the cells. Every user has a rating (at least
        20 like MovieLens where there are enough), and every item one where there are enough.
        Not for a survey: there, what is asked and answered comes of itself.
    rng : int, Generator or None
        Seed.

    Raises
    ------
    ConfigError
        Sizes that are no whole numbers, contradict each other, or need more memory than may
        be used.

    Examples
    --------
    >>> synthesize(n_users=10, n_items=5, n_ratings=20, rng=0)
    Ratings(10 users x 5 items, 20 ratings, scale 1:5:1)
    """
    if not isinstance(like, str) or like not in LIKES:
        raise ConfigError(f"{called('like')} = {shown(like)}: allowed are {', '.join(LIKES)}")
    given = {"n_users": n_users, "n_items": n_items, "n_ratings": n_ratings}
    for name, value in given.items():
        if value is not None and not _is_size(value):
            raise ConfigError(f"{name} {value!r}: allowed are whole numbers from 1 to {_MOST:,}")
    if like == "survey":
        return _survey(n_users, n_items, n_ratings, rng)
    size = _resolve_size(PRESETS[like], n_users, n_items, n_ratings)
    per_user = 8 * (5 * PRESETS[like].genres + 30) + 60  # tastes and shares with scratch; text
    need = 8 * size.n_ratings + per_user * size.n_users + 120 * size.n_items
    refuse_too_large(need, f"{size.n_ratings:,} ratings of {size.n_users:,} users")
    seed = resolve_seed(rng)
    return _draw(PRESETS[like], size, seed, _report(like, seed))


def _report(like: Like, seed: int) -> ReadReport:
    return ReadReport(source=f"synthetic, like {like}, seed {seed}", format="synthetic")


def _survey(n_users: int | None, n_items: int | None, n_ratings: int | None, rng: Rng) -> Ratings:
    if n_ratings is not None:
        raise ConfigError(
            "like survey: the number of ratings cannot be chosen",
            advice="Choose the numbers of respondents (users) and questions (items); the number "
            "of ratings follows.",
        )
    users = N_RESPONDENTS if n_users is None else int(n_users)
    items = N_QUESTIONS if n_items is None else int(n_items)
    if users * items > _MOST:
        raise ConfigError(
            f"{users:,} respondents and {items:,} questions: at most {_MOST:,} answers can be drawn"
        )
    seed = resolve_seed(rng)
    return draw_survey(users, items, seed, _report("survey", seed))


def _resolve_size(
    preset: Preset, n_users: int | None, n_items: int | None, n_ratings: int | None
) -> _Size:
    """Fill in the sizes not given, and refuse those that contradict each other."""
    users = preset.n_users if n_users is None else int(n_users)
    items = preset.n_items if n_items is None else int(n_items)
    cells = users * items
    if n_ratings is None:
        per_user = preset.n_ratings * users // preset.n_users
        n_ratings = min(_MOST, max(users, min(per_user, cells // 2)))
    size = _Size(users, items, int(n_ratings))
    if size.n_ratings > int(_DENSEST * cells):
        raise ConfigError(
            f"{size.n_ratings:,} ratings of {users:,} users on {items:,} items: at most "
            f"{int(_DENSEST * cells):,} ({_DENSEST:.0%} of all cells) can be drawn",
            advice="Choose fewer ratings, or more users or items.",
        )
    if size.n_ratings < users:
        raise ConfigError(
            f"{size.n_ratings:,} ratings for {users:,} users: every user needs at least one",
            advice="Choose more ratings or fewer users.",
        )
    return size


def _is_size(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        return False
    return 1 <= int(value) <= _MOST


def _draw(preset: Preset, size: _Size, seed: int, report: ReadReport) -> Ratings:
    users = Vocabulary(np.arange(1, size.n_users + 1))
    people = draw_people(size.n_users, seed)
    taste = draw_taste(people, preset.genres, preset.demographic, seed)
    counts = draw_activity(preset, *size, seed)
    catalogue = draw_catalogue(preset, size.n_items, seed)
    shares = draw_shares(preset, catalogue, taste, counts, seed)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    with task("drawing synthetic ratings", 3 * size.n_ratings) as step:
        draw = Drawing(users.fingerprints, indptr, seed, step)
        columns = draw.columns(catalogue, shares)
        codes = draw.codes(preset, catalogue, taste, columns)
        days = draw.days(preset, *draw_calendar(preset, counts, seed))
    return Ratings(
        scale=Scale(1, 5, 1),
        users=users,
        items=Vocabulary(np.arange(1, size.n_items + 1)),
        indptr=indptr,
        columns=columns,
        codes=codes,
        levels=Scale(1, 5, 1).levels,
        days=days,
        first_day=preset.first_day,
        attributes=people.table(),
        item_names=tuple(f"Item {j}" for j in range(1, size.n_items + 1)),
        report=report,
    )
