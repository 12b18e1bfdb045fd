"""The attacks that work shard by shard, behind one function."""

from __future__ import annotations

from typing import Any

from starshade.attack.candidates.candidates import CandidateAttack
from starshade.attack.candidates.homogeneity import HomogeneityAttack
from starshade.attack.candidates.result import CandidateResult
from starshade.attack.knowledge import Knowledge
from starshade.attack.likelihood.likelihood import Likelihood
from starshade.attack.result import AttackResult
from starshade.attack.scoreboard_rh.scoreboard_rh import ScoreboardRH
from starshade.attack.sharded.candidates import by_candidates
from starshade.attack.sharded.likelihood import by_likelihood
from starshade.attack.sharded.released import by_candidates_on_release, by_score_on_release
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
    attack: ScoreboardRH | Likelihood | CandidateAttack[CandidateResult],
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
    attack : ScoreboardRH, Likelihood, Scoreboard, LabelAttack, StructureAttack, HomogeneityAttack
        Likelihood on ratings, as an informed adversary, without `absent`; homogeneity on a release,
        without `sensitive`.
    shards : Shards or LinkedShards
        Ratings; or a release of profiles beside the ratings that it was made of.
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
            "scoreboard-rh, scoreboard, label and structure; on ratings likelihood, informed and "
            "without absence; on releases homogeneity, without sensitive items.",
            setting=setting,
        )
    work = _work_of(attack, released=released)
    with task(f"attacking: {attack.name}"):
        seed = resolve_seed(rng)
        result: AttackResult = work(
            attack, shards, engine or Local(), knowledge or Knowledge(), targets, seed
        )
        return result


def _work_of(attack: Any, *, released: bool) -> Any:
    if isinstance(attack, CandidateAttack):
        return by_candidates_on_release if released else by_candidates
    if isinstance(attack, ScoreboardRH):
        return by_score_on_release if released else by_score
    return by_likelihood


def takes_one_table(attack: Any, *, released: bool = False) -> str:
    """Return the setting for which an attack does not work shard by shard; empty: it does.

    `released`: on a release of the ratings in shards.
    """
    if isinstance(attack, HomogeneityAttack):
        # what all candidates have in common is not found by adding up
        return ("sensitive" if attack.sensitive else "") if released else "attack"
    if isinstance(attack, ScoreboardRH | CandidateAttack):
        return ""
    if isinstance(attack, Likelihood) and not released:
        # how likely a stranger is, is reckoned over all rows at once
        return "adversary" if attack.adversary == "plain" else "absent" if attack.absent else ""
    return "attack"
