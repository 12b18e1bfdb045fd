"""Shadow releases of random halves of the people, by the method in the key file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from starshade.anonymize.hierarchy.attribute import parse_attribute_hierarchy
from starshade.anonymize.hierarchy.file import parse_hierarchy
from starshade.anonymize.registry import ENTRIES
from starshade.anonymize.sharded.anonymize import takes_one_table
from starshade.attack.knowledge import Knowledge
from starshade.attack.predicate.predicate import promise_of
from starshade.attack.shadows.ends import EndsAttack
from starshade.attack.shadows.halves import Continued, shadows_for
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
from starshade.audit.checks.singling_out import key_file
from starshade.audit.make import Anonymizer
from starshade.engine.job import Engine
from starshade.engine.local import Local
from starshade.errors import ConfigError, UserError
from starshade.naming import Advice, aside, named
from starshade.progress import note
from starshade.ratings.select import ItemSelection, listed_items, top_items
from starshade.ratings.shards.shards import Shards
from starshade.ratings.table import Ratings
from starshade.ratings.vocabulary import Vocabulary, union
from starshade.registry import find
from starshade.release.match.match import LinkedShards, people_of, refuse_another_making
from starshade.release.profiles import Profiles, default_step
from starshade.release.table import Private, Release


@dataclass(frozen=True)
class ByShadows:
    """Measurements on shadow releases; a text says why one was not made.

    `inference`, `linkability`: by the number of known ratings. `shadows`: how many releases a
    target is compared with; 0: none. `advice`: how to measure it; may be empty.
    """

    membership: MembershipResult | str
    inference: Mapping[int, InferenceResult | str]
    linkability: Mapping[int, Linked | str]
    singling_out: SingledOut | str
    shadows: int = 0
    #: rated cells at an end of the scale, of profiles: those that are right, and all
    ends: tuple[int, int] | None = None
    advice: str | Advice = ""

    @classmethod
    def unmeasured(cls, why: str, known: Sequence[int], advice: str | Advice = "") -> ByShadows:
        """Return a result without measurements."""
        none = dict.fromkeys(known, why)
        return cls(why, none, none, why, advice=advice)


def method_of(release: Release, original: Ratings | Shards) -> Anonymizer:
    """Return the method that made a release, with its settings, from the key file.

    The most rated items, where these were chosen, are those of `original`, the ratings that the
    release was made of: shadow releases of fewer people have the same. A release that continues an
    earlier one is made by `Continued`.

    Raises
    ------
    ConfigError
        There is no key file, or no such method here; or the key file of a release that continues an
        earlier one does not list the people of that one.
    """
    if release.private is None:
        raise ConfigError(
            "how the release was made is recorded in its private key file, which was not given",
            advice=f"Give the file that {named('private')} wrote when the release was made.",
        )
    earlier = _in_earlier(release.private)
    settings: dict[str, Any] = dict(release.private.config)
    entry = find(ENTRIES, str(settings.pop("method", release.manifest.method)), "method")
    levels, keys = settings.pop("levels", None), settings.pop("item_keys", None)
    if levels:
        settings["hierarchy"] = parse_hierarchy("\n".join(levels))
    if release.scale.step is None and settings.get("step") == default_step(release.scale):
        settings["step"] = None  # a part of the ratings may have another width
    settings["items"] = _items(str(settings.get("items", "all")), keys, original)
    if files := settings.get("attribute_hierarchies"):
        settings["attribute_hierarchies"] = {
            name: told if isinstance(told, str) else parse_attribute_hierarchy("\n".join(told))
            for name, told in files.items()
        }
    try:
        method = made_of(entry, settings)
    except TypeError:  # a setting without a default is not there
        raise ConfigError(
            f"the private key file lacks settings of the method {entry.name}",
            advice="Make the release again from the ratings (starshade anonymize).",
        ) from None
    return method if earlier is None else Continued(method, earlier)


def _in_earlier(private: Private) -> Vocabulary | None:
    """Return the people of the releases that this one continues, withheld ones included.

    None: it continues none.
    """
    chain = private.chain
    if chain is None or chain.after is None:
        return None
    if chain.earlier is None:
        raise ConfigError(
            "the release continues an earlier one, and its key file, from an older version, does "
            "not list the people of that one",
            advice="The key file of the next release that continues this one lists them.",
        )
    stayed = private.link.users.take(np.flatnonzero(chain.group < chain.earlier))
    return union([stayed, chain.gone])


def made_again_whole(release: Release, original: Shards) -> str:
    """Return why shadow releases take one table, often a setting; empty: made by partition."""
    private = release.private
    if private is not None and len(private.partitions or ()) == 1 < len(original):
        return "partitions"
    try:
        return takes_one_table(method_of(release, original))
    except UserError:  # that nobody says how is told where it is made
        return ""


def measure_by_shadows(
    release: Release,
    original: Ratings | Shards,
    *,
    shadows: int | None = None,
    known: Sequence[int] = (8,),
    targets: int | None = 1000,
    except_items: Sequence[str] = (),
    engine: Engine | None = None,
    seed: int,
) -> ByShadows:
    """Make releases of random halves of the people, and compare attacks on them.

    `shadows`: as of `MembershipAttack`. `known`: numbers of ratings known of each person.
    `except_items`: items never known, such as sensitive ones. `engine`: execution engine for
    partitioned stores. Where the release cannot be made of half of the people, or its making is
    not recorded, nothing was measured, for that reason.
    """
    knowledge = Knowledge(known=known[0], dates=False, except_items=tuple(except_items))
    try:
        method = method_of(release, original)
        beside = LinkedShards(original, release) if isinstance(original, Shards) else None
        engine = engine or Local()
        ends = None if beside is None else people_of(beside, engine).ends
        refuse_another_making(release, ends)
        made = shadows_for(shadows, original.n_ratings)
        note(
            f"making {made + 1:,} releases of random halves of the people"
            f"{aside('shadows', 0, 'skips this')}"
        )
        asked = _attacks(release, method, made, known)
        attacks = list(asked.values())
        if beside is None:
            assert isinstance(original, Ratings)
            request = Request(original, targets, seed, None)
            found = play(attacks, release, knowledge, request, engine.journal)
        else:
            found = play_shards(attacks, beside, engine, knowledge, targets, seed)
    except ConfigError as error:  # what may be asked again once it is mended goes on to who asked
        advice = error.advice if release.private is not None else key_file()
        if isinstance(original, Shards) and made_again_whole(release, original):
            advice = "Audit the file from which the store was made."
        return ByShadows.unmeasured(error.message, known, advice)
    by_name: dict[tuple[str, int], Any] = {
        name: each.message if isinstance(each, ConfigError) else each
        for name, each in zip(asked, found, strict=True)
    }
    return ByShadows(
        membership=by_name["membership", 0],
        inference={m: by_name["inference", m] for m in known},
        linkability={m: by_name.get(("linkability", m), _ONE) for m in known},
        singling_out=by_name["singling-out", 0],
        shadows=made,
        ends=by_name.get(("ends", 0)),
    )


_ONE = "linkability needs two known ratings per person"


def _attacks(
    release: Release, method: Anonymizer, made: int, known: Sequence[int]
) -> dict[tuple[str, int], ShadowAttack[Any]]:
    """Return the attacks on shadow releases, by check and number of known ratings; 0: any."""
    attacks: dict[tuple[str, int], ShadowAttack[Any]] = {
        ("membership", 0): MembershipAttack(shadows=made, method=method, known=tuple(known))
    }
    for m in known:
        attacks["inference", m] = InferenceAttack(shadows=made, method=method, known=m)
        if m > 1:
            attacks["linkability", m] = LinkabilityAttack(known=m // 2, shadows=made, method=method)
    if isinstance(release.classes, Profiles):
        attacks["ends", 0] = EndsAttack(made, method)
    kind = release.manifest.profile
    attacks["singling-out", 0] = PredicatesAttack(promise_of(release), kind, made, method)
    return attacks


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
