"""The attacks that work shard by shard, behind one function."""

from __future__ import annotations

from typing import Any

from starshade.attack.candidates.candidates import CandidateAttack
from starshade.attack.candidates.homogeneity import HomogeneityAttack
from starshade.attack.fake_edges.fake_edges import FakeEdgesAttack
from starshade.attack.knowledge import Knowledge
from starshade.attack.likelihood.likelihood import Likelihood
from starshade.attack.link_existence.link_existence import LinkExistence
from starshade.attack.padding.padding import PaddingAttack
from starshade.attack.registry import ENTRIES
from starshade.attack.scoreboard_rh.scoreboard_rh import ScoreboardRH
from starshade.attack.shadows.inference import InferenceAttack
from starshade.attack.shadows.membership import MembershipAttack
from starshade.attack.shadows.play import ShadowAttack
from starshade.attack.sharded.candidates import by_candidates
from starshade.attack.sharded.fake_edges import by_fake_edges_on_release
from starshade.attack.sharded.homogeneity import by_homogeneity, by_homogeneity_on_release
from starshade.attack.sharded.likelihood import by_likelihood
from starshade.attack.sharded.link_existence import by_links, by_links_on_release
from starshade.attack.sharded.padding import by_padding, by_padding_on_release
from starshade.attack.sharded.released import (
    by_candidates_on_release,
    by_likelihood_on_release,
    by_score_on_release,
)
from starshade.attack.sharded.scoreboard import by_score
from starshade.attack.sharded.shadows import by_halves
from starshade.attack.targets import Attack
from starshade.engine.job import Engine
from starshade.engine.local import Local
from starshade.errors import ConfigError
from starshade.naming import called
from starshade.progress import task
from starshade.ratings.shards.kept import AnyShards
from starshade.release.match.match import LinkedShards
from starshade.rng import Rng, resolve_seed


def attack_shards(
    attack: Attack[Any],
    shards: AnyShards | LinkedShards,
    knowledge: Knowledge | None = None,
    *,
    targets: int | None = None,
    rng: Rng = None,
    engine: Engine | None = None,
) -> Any:
    """Attack a store of shards; the result is that of the same ratings as one table.

    Parameters
    ----------
    attack : Attack
        ScoreboardRH, Likelihood, Scoreboard, LabelAttack, StructureAttack, HomogeneityAttack,
        LinkExistence, PaddingAttack, MembershipAttack or InferenceAttack; on a release also
        FakeEdgesAttack, and the two before it where the release can be made again shard by shard.
    shards : Shards or LinkedShards
        Ratings; or a release of profiles beside the ratings that it was made of.
    knowledge, targets, rng
        As of the attack's `run`.
    engine : Engine, optional
        Who works on the shards; None: this process, without a journal.

    Raises
    ------
    ConfigError
        Settings out of range, no people to attack, or an attack that needs one table.
    """
    released = isinstance(shards, LinkedShards)
    work = _work_of(type(attack), released)
    if work is None:
        raise ConfigError(
            f"{called('attack')} {attack.name}: does not support partitioned stores",
            advice="Attack the ratings as one table, if they fit into memory. Attacks for "
            "partitioned stores: "
            f"{', '.join(each.name for each in ENTRIES if _work_of(each.load(), released))}.",
            setting="attack",
        )
    with task(f"attacking: {attack.name}"):
        seed = resolve_seed(rng)
        return work(attack, shards, engine or Local(), knowledge or Knowledge(), targets, seed)


def _work_of(attack: type, released: bool) -> Any:
    for kind, on_ratings, on_release in _WORK:
        if issubclass(attack, kind):
            return on_release if released else on_ratings
    return None


#: what works on ratings in shards, and on a release beside them; None: it takes one table
_WORK: tuple[tuple[Any, Any, Any], ...] = (
    (HomogeneityAttack, by_homogeneity, by_homogeneity_on_release),
    (CandidateAttack, by_candidates, by_candidates_on_release),
    (ScoreboardRH, by_score, by_score_on_release),
    (Likelihood, by_likelihood, by_likelihood_on_release),
    (LinkExistence, by_links, by_links_on_release),
    (PaddingAttack, by_padding, by_padding_on_release),
    (FakeEdgesAttack, None, by_fake_edges_on_release),
    ((MembershipAttack, InferenceAttack), by_halves, by_halves),
    (ShadowAttack, None, by_halves),
)


def takes_one_table(attack: Any, *, released: bool = False) -> bool:
    """Tell whether an attack does not work shard by shard.

    `released`: on a release of the ratings in shards.
    """
    return _work_of(type(attack), released) is None
