"""A release made again of random halves of the people, by the method in its key file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from starshade.anonymize.hierarchy.attribute import parse_attribute_hierarchy
from starshade.anonymize.hierarchy.file import parse_hierarchy
from starshade.anonymize.registry import ENTRIES
from starshade.anonymize.sharded.anonymize import takes_one_table
from starshade.attack.knowledge import Knowledge
from starshade.attack.predicate.predicate import promise_of
from starshade.attack.shadows.ends import EndsAttack
from starshade.attack.shadows.halves import shadows_for
from starshade.attack.shadows.inference import InferenceAttack
from starshade.attack.shadows.inference_result import InferenceResult
from starshade.attack.shadows.linkability import LinkabilityAttack, Linked
from starshade.attack.shadows.membership import MembershipAttack
from starshade.attack.shadows.membership_result import MembershipResult
from starshade.attack.shadows.play import ShadowAttack, play
from starshade.attack.shadows.predicates import PredicatesAttack, SingledOut
from starshade.attack.sharded.shadows import play_shards
from starshade.attack.targets import Request
from starshade.audit.attempts import made_of
from starshade.audit.make import Anonymizer
from starshade.engine.job import Engine
from starshade.engine.local import Local
from starshade.errors import ConfigError, UserError
from starshade.naming import aside, named
from starshade.progress import note
from starshade.ratings.select import ItemSelection, listed_items, top_items
from starshade.ratings.shards.shards import Shards
from starshade.ratings.table import Ratings
from starshade.registry import find
from starshade.release.match.match import LinkedShards, people_of, refuse_another_making
from starshade.release.profiles import Profiles
from starshade.release.table import Release


@dataclass(frozen=True)
class BeingInIt:
    """What a release tells because of who is in it; of each, or why it was not measured."""

    membership: MembershipResult | str
    inference: InferenceResult | str
    linkability: Linked | str
    singled_out: SingledOut | str
    #: rated cells at an end of the scale, of profiles: those that are right, and all
    ends: tuple[int, int] | None = None

    @classmethod
    def unmeasured(cls, why: str) -> BeingInIt:
        """Return that nothing was measured."""
        return cls(why, why, why, why)


def method_of(release: Release, original: Ratings | Shards) -> Anonymizer:
    """Return the method that made a release, with its settings, from the owner's private facts.

    The most rated items, where these were chosen, are those of `original`, the ratings that the
    release was made of: they stay the same when it is made again of fewer people.

    Raises
    ------
    ConfigError
        There is no receipt, or no such method here.
    """
    if release.private is None:
        raise ConfigError(
            "how the release was made is in its private receipt, and there is none",
            advice=f"Give the file that {named('private')} wrote when the release was made.",
        )
    chain = release.private.chain
    if chain is not None and chain.after is not None:
        raise ConfigError(
            "the release keeps the groups of an earlier one, and shadow releases would be made "
            "without it"
        )
    settings: dict[str, Any] = dict(release.private.config)
    entry = find(ENTRIES, str(settings.pop("method", release.manifest.method)), "method")
    levels, keys = settings.pop("levels", None), settings.pop("item_keys", None)
    if levels:
        settings["hierarchy"] = parse_hierarchy("\n".join(levels))
    settings["items"] = _items(str(settings.get("items", "all")), keys, original)
    if files := settings.get("attribute_hierarchies"):
        settings["attribute_hierarchies"] = {
            name: told if isinstance(told, str) else parse_attribute_hierarchy("\n".join(told))
            for name, told in files.items()
        }
    try:
        return made_of(entry, settings)
    except TypeError:  # a setting without a default is not there
        raise ConfigError(
            f"the private receipt does not say all that the method {entry.name} needs",
            advice="Make the release anew from the ratings (starshade anonymize).",
        ) from None


def made_again_whole(release: Release, original: Shards) -> str:
    """Return the setting for which a release is made again of one table alone; empty: by shard."""
    try:
        return takes_one_table(method_of(release, original))
    except UserError:  # that nobody says how is told where it is made
        return ""


def being_in_it(
    release: Release,
    original: Ratings | Shards,
    *,
    shadows: int | None = None,
    known: int = 8,
    linked: int | None = None,
    targets: int | None = None,
    except_items: Sequence[str] = (),
    engine: Engine | None = None,
    seed: int,
) -> BeingInIt:
    """Ask who is in a release, and what it tells of them because of that.

    `shadows`: as of `MembershipAttack`. `known`: ratings known of each person, where the rest is
    asked about; `linked`: in each of two sets, by default half as many. `except_items`: items
    never known, such as sensitive ones. `engine`: who works on shards. Where the release cannot be
    made of half of the people, or nobody says how it was made, nothing was measured, for that
    reason.
    """
    knowledge = Knowledge(known=known, dates=False, except_items=tuple(except_items))
    profiles = isinstance(release.classes, Profiles)
    try:
        method = method_of(release, original)
        beside = LinkedShards(original, release) if isinstance(original, Shards) else None
        engine = engine or Local()
        ends = None if beside is None else people_of(beside, engine).ends
        refuse_another_making(release, ends)
        made = shadows_for(shadows, original.n_ratings)
        note(
            f"{made + 1:,} releases of random halves of the people are made"
            f"{aside('shadows', 0, 'leaves that out')}"
        )
        attacks: list[ShadowAttack[Any]] = [
            MembershipAttack(shadows=made, method=method),
            InferenceAttack(shadows=made, method=method),
            LinkabilityAttack(known=linked or max(1, known // 2), shadows=made, method=method),
        ]
        if profiles:
            attacks.append(EndsAttack(made, method))
        if beside is None:
            kind = release.manifest.profile
            attacks.append(PredicatesAttack(promise_of(release), kind, made, method))
        if beside is None:
            assert isinstance(original, Ratings)
            request = Request(original, targets, seed, None)
            found = play(attacks, release, knowledge, request, engine.journal)
        else:
            found = play_shards(attacks, beside, engine, knowledge, targets, seed)
    except ConfigError as error:  # what may be asked again once it is mended goes on to who asked
        return BeingInIt.unmeasured(error.message)
    by_name: dict[str, Any] = {
        attack.name: each.message if isinstance(each, ConfigError) else each
        for attack, each in zip(attacks, found, strict=True)
    }
    at_ends: tuple[int, int] | None = by_name.get("ends")
    return BeingInIt(
        membership=by_name["membership"],
        inference=by_name["inference"],
        linkability=by_name["linkability"],
        singled_out=by_name.get(
            "predicate",
            "it takes all people's ratings as one table; audit the file that the store was made of",
        ),
        ends=at_ends,
    )


def _items(
    said: str, keys: Sequence[str] | None, original: Ratings | Shards
) -> ItemSelection | None:
    if keys:
        return listed_items(keys)
    top = said.removeprefix("top:")
    if top == said or not top.isdecimal():
        return None
    if isinstance(original, Shards):
        return top_items(int(top))  # which no method takes that works by shard
    most = original.most_rated(int(top))
    return listed_items([original.items[int(i)] for i in most])
