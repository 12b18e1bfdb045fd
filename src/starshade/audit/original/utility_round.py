"""The utility round of a release, by the method in its private key file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.arguments import typed
from starshade.attack.settings import MANY_RATINGS
from starshade.audit.shadows import method_of
from starshade.engine.job import Engine, Job, Tables
from starshade.engine.local import Local
from starshade.errors import ConfigError, UserError
from starshade.kernels.fingerprint import keyed_numbers
from starshade.progress import announced, note
from starshade.ratings.shards.sharded import rows_of
from starshade.ratings.shards.shards import Shards
from starshade.ratings.table import Ratings
from starshade.release.table import Release
from starshade.rng import Rng, resolve_seed, stream_key
from starshade.utility.round import UtilityRound, utility_round_of, without_errors
from starshade.utility.sharded import found_over
from starshade.utility.what_remains import WhatRemains

TENTH = 0.1  # of the people


@typed
@announced("measuring utility on held-out ratings")
def utility_round(
    ratings: Ratings | Shards,
    release: Release,
    *,
    remains: Mapping[str, Any] | None = None,
    rng: Rng = None,
    engine: Engine | None = None,
) -> UtilityRound:
    """Hold out a tenth of the ratings, release the rest by the same method, and predict them.

    Parameters
    ----------
    ratings : Ratings or Shards
        What the release was made of. Above 20 million ratings a tenth of the people, drawn by their
        ids, stands for all. A partitioned store is read as one table.
    release : Release
        With its private facts (just made, or read with the private key file): they name the
        method, settings and seed of the release of the rest.
    remains : mapping, optional
        Figures of `WhatRemains` over all ratings, where they are known.
    rng : int, Generator or None
        Of the ratings held out.
    engine : Engine, optional
        What reads a partitioned store; None: this process.

    Returns
    -------
    UtilityRound
        Without held-out errors where the rest cannot be released; `not_measured` says why.

    Examples
    --------
    >>> import starshade as ss
    >>> ratings = ss.synthesize(n_users=60, n_items=20, n_ratings=600, rng=0)
    >>> release = ss.PredictiveAnonymizer(k=5).anonymize(ratings, rng=0)
    >>> measured = ss.utility_round(ratings, release, rng=0)
    >>> measured.held_out_ratings, measured.held_out_covered
    (60, 1.0)
    """
    seed, engine = resolve_seed(rng), engine or Local()
    if remains is None:
        remains = _remains(ratings, release, engine)
    share = 1.0
    if ratings.n_ratings > MANY_RATINGS:
        share = TENTH
        note("held-out errors are measured on a random tenth of the people")
    try:
        method, some = method_of(release, ratings), _people(ratings, share, seed, engine)
    except UserError as error:
        return without_errors(release, remains, seed, error.message)
    assert release.private is not None
    made = release.private.seed
    return utility_round_of(
        some,
        release,
        lambda rest: method.anonymize(rest, rng=made),
        seed=seed,
        remains=remains,
        share_of_people=share,
    )


def _remains(
    ratings: Ratings | Shards, release: Release, engine: Engine
) -> Mapping[str, float | int | None]:
    if isinstance(ratings, Ratings):
        return WhatRemains().measure(release, ratings).figures
    return {} if release.private is None else found_over(ratings, release, engine)[WhatRemains.name]


def _people(ratings: Ratings | Shards, share: float, seed: int, engine: Engine) -> Ratings:
    """Return the ratings of everyone, or of a share of the people, as one table."""
    if isinstance(ratings, Ratings):
        return ratings if share == 1 else ratings.keep_users(_drawn(ratings, share, seed))
    job = Job("drawing people", _draw, {"share": share, "seed": seed})
    users = np.concatenate([part["users"] for part in engine.run(job, ratings, {})])
    many = ConfigError("the memory that may be used does not hold the ratings as one table")
    return rows_of(ratings, engine, users, "fetching ratings", too_many=many)


def _drawn(ratings: Ratings, share: float, seed: int) -> NDArray[np.int64]:
    """Return the users whose ids fall into a share; each does by itself, in any partition."""
    key = np.uint64(stream_key(seed, "people of the utility round"))
    numbers = keyed_numbers(ratings.users.fingerprints, key)
    return np.flatnonzero(numbers <= np.uint64(share * (2**64 - 1)))


def _draw(part: Ratings, first: int, settings: Mapping[str, Any], _tables: Tables) -> Tables:
    everyone = settings["share"] == 1
    some = np.arange(part.n_users) if everyone else _drawn(part, **settings)
    return {"users": some + first}
