"""The attacks that work shard by shard, behind one function."""

from __future__ import annotations

from typing import Any

from starshade.attack.knowledge import Knowledge
from starshade.attack.likelihood.likelihood import Likelihood
from starshade.attack.result import AttackResult
from starshade.attack.scoreboard_rh.scoreboard_rh import ScoreboardRH
from starshade.attack.sharded.likelihood import by_likelihood
from starshade.attack.sharded.released import by_score_on_release
from starshade.attack.sharded.scoreboard import by_score
from starshade.engine.job import Engine
from starshade.engine.local import Local
from starshade.errors import ConfigError
from starshade.naming import called
from starshade.progress import task
from starshade.ratings.shards.shards import Shards
from starshade.release.match.match import LinkedShards
from starshade.rng import Rng, resolve_seed


def attack_shards(
    attack: ScoreboardRH | Likelihood,
    shards: Shards | LinkedShards,
    knowledge: Knowledge | None = None,
    *,
    targets: int | None = None,
    rng: Rng = None,
    engine: Engine | None = None,
) -> AttackResult:
    """Attack a store of shards; the result is that of the same ratings as one table.

    Parameters
    ----------
    attack : ScoreboardRH or Likelihood
        With a `theta` of 1; as an informed adversary, without `absent`.
    shards : Shards or LinkedShards
        Ratings; or a release of profiles beside the ratings that it was made of, which
        scoreboard-rh alone attacks.
    knowledge, targets, rng
        As of the attack's `run`.
    engine : Engine, optional
        Who works on the shards; None: this process, without a journal.

    Raises
    ------
    ConfigError
        Settings out of range, nobody to attack, or an attack that takes one table.
    """
    released = isinstance(shards, LinkedShards)
    if setting := takes_one_table(attack, released=released):
        found = getattr(attack, setting, attack.name)
        raise ConfigError(
            f"{called(setting)} {found}: does not work shard by shard",
            advice="Attack the ratings as one table, where memory holds them. Shard by shard work "
            "scoreboard-rh with a theta of 1, and likelihood, informed and without absence.",
            setting=setting,
        )
    on_ratings = by_score if isinstance(attack, ScoreboardRH) else by_likelihood
    work: Any = by_score_on_release if released else on_ratings
    with task(f"attacking: {attack.name}"):
        seed = resolve_seed(rng)
        result: AttackResult = work(
            attack, shards, engine or Local(), knowledge or Knowledge(), targets, seed
        )
        return result


def takes_one_table(attack: Any, *, released: bool = False) -> str:
    """Return the setting for which an attack does not work shard by shard; empty: it does.

    `released`: on a release of the ratings in shards.
    """
    if released and not isinstance(attack, ScoreboardRH):
        return "attack"
    if isinstance(attack, ScoreboardRH):
        return "theta" if attack.theta < 1 else ""
    if isinstance(attack, Likelihood):
        # how likely a stranger is, is reckoned over all rows at once
        return "adversary" if attack.adversary == "plain" else "absent" if attack.absent else ""
    return "attack"
