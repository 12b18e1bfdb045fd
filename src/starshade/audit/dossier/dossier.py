"""`Dossier`: everything that a report shows, as plain data, in two editions.

The owner's edition (`Dossier.internal`) has every figure. The public one (`Dossier.public`) holds
nothing about a single user: it describes the released people and items alone, so that who was left
out shows in no difference to the release; every figure about people rests on k of them or more,
5 at least (tails pooled, bounds for shares of fewer); and it has no date, no id, no title, no seed,
no path and no digest of the input.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from starshade.attack.knowledge import Knowledge
from starshade.attack.risk.only_fit import OnlyFit
from starshade.attack.risk.result import RiskResult
from starshade.attack.risk.risk import Risk
from starshade.audit.dossier.attacks import ATTACK_MEANING, attack_rows, given_away, tracker_row
from starshade.audit.dossier.bounds import rounded
from starshade.audit.dossier.losses import (
    disclosure_section,
    loss_rows,
    no_probe,
    no_queries,
    query_section,
    recommender_section,
)
from starshade.audit.dossier.part import Described
from starshade.audit.dossier.people import at_risk, stand_out
from starshade.audit.dossier.release import (
    claim_rows,
    files_of,
    method_section,
    model_rows,
    versions_of,
)
from starshade.audit.dossier.verdict import (
    finding_rows,
    for_anybody,
    owners_advice,
    readers_advice,
    verdict_section,
)
from starshade.audit.result import AuditResult
from starshade.audit.verdict import Audit
from starshade.naming import aside
from starshade.progress import announced
from starshade.ratings.table import Ratings
from starshade.release.folder.read import read_release
from starshade.release.origin.origin import Origin
from starshade.release.table import Release
from starshade.rng import Rng, resolve_seed

__all__ = ["Dossier", "compile_dossier", "gather"]


@dataclass(frozen=True)
class Dossier:
    """What a report shows.

    Attributes
    ----------
    audit : AuditResult
        The judgement that it tells of.
    shared : mapping
        What both editions show.
    private : mapping
        What the owner alone sees; an entry under a name of `shared` stands in its place.

    Notes
    -----
    Keys of both editions. A *rate* is ``{rate, low, high}``, shares in [0, 1] with a 95 %
    interval, or None where it is not known or would speak of too few people; then ``withheld``,
    beside it, has a text for its name ("less than 8.4%"). Public editions have three decimals of
    a figure, as their tables and pictures show no more. A *number* of people is an int, or a text
    where they are too few ("fewer than 5"). Only public editions withhold. Every ``meaning`` is a
    sentence for the reader: what a high or a low figure means. Texts are plain, not escaped.

    ``edition``
        "public" or "internal".
    ``fewest``
        The fewest people that a figure of the public edition rests on: the claimed k, at least 5.
    ``verdict``
        ``{passed, headline, paragraph, reasons, advice}``: may it leave, why, and what to do now
        (`advice`: list of sentences).
    ``claims``
        ``[{model, asked, verified, holds, how}]``, all texts but `holds`.
    ``findings``
        ``[{name, passed, text}]``; the release passes when each does.
    ``warnings``
        Sentences that do not decide but must be known.
    ``data``
        ``{of, released, users, items, ratings, scale{minimum, maximum, step, text}, attributes,
        sparsity{value, meaning}, histogram{bins[{label, low, high, ratings, share}], meaning},
        long_tail{points[{items, ratings}], top_1_percent, top_10_percent, meaning},
        ratings_per_user{mean, bins[{
        label, low, high, users, share}], meaning}}``; `low` and `high` of the outer bins, and
        whatever rests on too few users, are None. `of` says which ratings these are: public, what
        the released people gave to the released items; internal, all, or "" where that is the same.
        `released` is ``{users, items, ratings, sparsity, text}`` of the released part where `of`
        says that these are all, else None. Internal besides: ``first_day, last_day, notes``.
    ``stand_out``
        ``{steps[{known, identified: rate}], users, knowledge, withheld, meaning, beside}``: the
        share of people who are identified in the ratings that `data` is about by so many known
        ratings or fewer; a text on what is withheld; how this goes with the attacks.
    ``attacks``
        ``[{attack, title, knowledge, known, exact, before: rate, after: rate, profile, guessing,
        limit, targets, people, tried, withheld}]``: `exact` tells whether the known ratings are
        right to the letter; `profile`: how often a class that agrees with the target stands out;
        `guessing`: 1 in the number of records; `limit`: what `after` is held against, or None;
        `targets`: people who were attacked, None where they or the others are too few to be told;
        `people`: all who were released; `tried`: a text on how many have enough ratings, "" where
        everybody has. Where `targets` is None, so are `low` and `high` of the rates.
    ``attacks_how``
        "", or why nothing is told of attacks in a public edition, `stand_out` and `tracker`
        included: people were left out, and without the receipt nobody can tell whom.
    ``attack_meaning``
        What these rates mean.
    ``tracker``
        ``{before: rate, after: rate, meaning, withheld}`` or None: people whom counting queries
        single out.
    ``gives_away``
        ``{rows[{name, value, unit, meaning}], text}`` or None: what averaged profiles give away.
    ``models``
        ``[{name, passed, text}]``: the privacy models, counted by checks of their own.
    ``disclosure``
        ``{rows[{name, value, unit, meaning}], text}``: what the release still tells; a `value` is
        a share, or a text that bounds it.
    ``losses``
        ``[{name, title, value, unit, meaning, low_is_good}]``; `unit` is one of "share",
        "percent", "count", "ratings", "ratio", "", a `value` that counts people may be a *number*,
        and `low_is_good` None where neither is.
    ``histogram``
        ``{of, levels[text], before[share], after[share], null_before, null_after, meaning}`` or
        None on a scale without steps: how ratings are shared out, of all ratings, before and after.
    ``recommender``, ``recommender_how``
        ``{rows[{name, title, before, after, ratio, unit, meaning}], tested, meaning}``, or None
        without held-out ratings; then `recommender_how` says how to get it.
    ``query_error``, ``query_error_how``
        ``{rows[{name, title, value, unit, meaning}], conditions, meaning}``, or None where no
        queries can be answered; then `query_error_how` says why.
    ``method``
        ``{name, summary, config[{name, value}], layout, layout_meaning, profile, profile_meaning,
        audience, k, records, items, classes, users_deleted, users_without_rating,
        rare_items_dropped}``.
    ``files``
        ``[{name, sha256, bytes}]`` of the release.
    ``versions``
        ``{starshade, format}``.

    Internal besides:

    ``people``
        ``{rows[{user, known, share, class_size, told, exists}], listed, total, text}`` or None:
        the users at risk, the most exposed first: how few ratings identify each in the ratings as
        they are, among how many they hide in the release, how many ratings of theirs their class
        tells, and how many that it tells they gave.
    ``run``
        ``{seed, release, private, probe, earlier, command, digest, seconds, config}``: how to do
        this again; texts, or None.
    """

    audit: AuditResult
    shared: Mapping[str, Any] = field(repr=False)
    private: Mapping[str, Any] = field(repr=False)

    @property
    def passed(self) -> bool:
        """Whether the release may leave the house."""
        return self.audit.passed

    def public(self) -> dict[str, Any]:
        """Return what may be published; nothing in it is about a single user."""
        return {"edition": "public", **deepcopy(dict(self.shared))}

    def internal(self) -> dict[str, Any]:
        """Return everything, for the owner's eyes."""
        return {
            **self.public(),
            **deepcopy(dict(self.private)),
            "edition": "internal",
        }


_DRAWS = 10  # of what is known of each person, to see who stands out
_FEWEST = 5  # people behind any figure of a public edition, however small the claimed k


def compile_dossier(
    ratings: Ratings,
    release: str | Path,
    *,
    private: str | Path | None = None,
    audit: Audit | None = None,
    probe: Ratings | None = None,
    earlier: Sequence[str | Path] = (),
    rng: Rng = None,
    command: str | None = None,
) -> Dossier:
    """Judge a release and gather everything that a report shows.

    Parameters
    ----------
    ratings : Ratings
        What the release was made of.
    release : path
        A release folder.
    private : path, optional
        The owner's receipt.
    audit : Audit, optional
        Limits and sizes; None: the usual ones.
    probe : Ratings, optional
        Ratings that were held out of `ratings` before; needs the receipt.
    earlier : sequence of path
        Releases published before.
    rng : int, Generator or None
    command : str, optional
        What does all this again, for the owner's edition.

    Raises
    ------
    ReleaseError, ConfigError
        As `Audit.run`.

    Examples
    --------
    >>> dossier = compile_dossier(ratings, "out/", private="out.json", rng=0)  # doctest: +SKIP
    >>> dossier.public()["verdict"]["headline"]  # doctest: +SKIP
    'This release may leave the house'
    """
    return gather(
        ratings,
        read_release(release, private=private),
        Path(release),
        private=private,
        audit=audit,
        probe=probe,
        earlier=earlier,
        seed=resolve_seed(rng),
        command=command,
    )


@announced("gathering what a report shows")
def gather(
    ratings: Ratings,
    released: Release,
    folder: Path,
    *,
    private: str | Path | None = None,
    audit: Audit | None = None,
    probe: Ratings | None = None,
    earlier: Sequence[str | Path] = (),
    seed: int,
    command: str | None = None,
) -> Dossier:
    """Do the same with a release that was read from `folder` already.

    What `released` carries of private facts counts; `private` is told in the owner's edition.
    """
    judge = audit or Audit()
    result = judge.judge(ratings, released, folder, earlier=earlier, probe=probe, seed=seed)
    places = [str(path) for path in earlier]
    k = max(result.k or 0, _FEWEST)
    described = Described(ratings, Origin(released, ratings).made_of, released, k)
    people = described.audited.n_users
    part = described.part
    for_all = replace(
        for_anybody(result, released, k, part=part is not None),
        utility=described.utility(result.utility),
    )
    shared = {
        **_edition(for_all, released, people, k),
        **described.for_anybody(),
        "stand_out": _stand_out(part, judge.targets, seed, k),
        "attacks_how": _no_attacks() if part is None else "",
        "fewest": k,
        "files": files_of(folder, released),
        "versions": versions_of(released),
    }
    shared["data"]["attributes"] = list(released.manifest.attribute_columns)
    shared["verdict"]["advice"] = readers_advice(result)
    risk = _risk(ratings, judge.targets, seed)
    own = {
        **_edition(result, released, people, 1),
        **described.for_owner(),
        "stand_out": stand_out(risk, int(ratings.user_support.max(initial=0))),
        "attacks_how": "",
        "people": at_risk(risk, ratings, released),
        "run": {
            "seed": seed,
            "release": str(folder),
            "private": None if private is None else str(private),
            "probe": probe is not None,
            "earlier": places,
            "command": command,
            "digest": result.digest,
            "seconds": result.seconds,
            "config": dict(result.config),
        },
    }
    own["verdict"]["advice"] = owners_advice(result, released)
    return Dossier(audit=result, shared=rounded(shared), private=own)


def _edition(result: AuditResult, release: Release, people: int, k: int) -> dict[str, Any]:
    """Return what an edition tells of a judgement; k = 1 for the owner, who may see all."""
    return {
        "verdict": verdict_section(result, release, [], people, k),
        "claims": claim_rows(result, k),
        "findings": finding_rows(result),
        "warnings": list(result.warnings),
        "attacks": attack_rows(result, release, people, k),
        "attack_meaning": ATTACK_MEANING,
        "tracker": tracker_row(result, k),
        "gives_away": given_away(result.gives_away, k),
        "models": model_rows(result),
        "disclosure": disclosure_section(result, release, k),
        "losses": loss_rows(result.utility, k),
        "recommender": recommender_section(result),
        "recommender_how": no_probe(),
        "query_error": query_section(result),
        "query_error_how": no_queries(release),
        "method": method_section(release, result, k),
    }


def _no_attacks() -> str:
    """Say why a public edition tells of no attack."""
    return (
        f"Not told: people were left out, and without the receipt{aside('private')} nobody can "
        "tell them from those who stay, so that these figures would speak of them, too. Give the "
        "receipt."
    )


def _stand_out(part: Ratings | None, targets: int, seed: int, k: int) -> dict[str, Any]:
    """Say who stands out among the released ratings."""
    if part is None:
        return stand_out(None, 0, k) | {"withheld": _no_attacks()}
    return stand_out(_risk(part, targets, seed), int(part.user_support.max(initial=0)), k)


def _risk(ratings: Ratings, targets: int, seed: int) -> RiskResult | None:
    """Attack people in the ratings as they are; None where there is nobody to attack."""
    known = Knowledge(known=1, dates=False)
    if not known.eligible_users(ratings).any():
        return None
    return Risk(draws=_DRAWS, attack=OnlyFit()).run(ratings, known, targets=targets, rng=seed)
