"""Can a person be singled out? By what is known of them, and by the release alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from starshade.attack.predicate.predicate import PredicateAttack
from starshade.attack.predicate.result import PredicateResult
from starshade.attack.shadows.predicates import SingledOut
from starshade.attack.targets import credit_of
from starshade.audit.evidence import Evidence
from starshade.audit.findings import records_differ, understated
from starshade.audit.questions.limits import Limit
from starshade.audit.questions.question import SLACK, Measured, Question, unmeasured
from starshade.errors import ConfigError
from starshade.figure import Rate
from starshade.plain import counted, percent
from starshade.ratings.table import Ratings
from starshade.release.table import Release
from starshade.stats import bootstrap
from starshade.utility.losses import class_sizes


def singled_out(
    release: Release,
    evidence: Sequence[Evidence],
    predicates: PredicateResult | str,
    halves: SingledOut | str,
    limits: Mapping[str, float],
    seed: int,
) -> Question:
    """Answer whether a person can be singled out.

    `predicates`: of this release, or why there are none; `halves`: of releases of random halves of
    the people, or why there are none.
    """
    return Question(
        "singled-out",
        (
            _record(release, evidence, limits, seed),
            _predicate(predicates, halves, limits.get("predicate")),
        ),
    )


def record_limit(release: Release, limits: Mapping[str, float]) -> Limit | None:
    """Return the limit on records: as set, or 1 in the k that is claimed.

    Where records of a class are equal 1 in k holds for each person, and the stricter one counts.
    """
    own, k = limits.get("record"), release.manifest.claimed_k
    if own is not None and not (k and own * k >= 1 and not records_differ(release)):
        return Limit(own, "the owner")
    return Limit(1 / k, "the model") if k else None


def strongest(evidence: Sequence[Evidence], release: Release, seed: int) -> tuple[Evidence, Rate]:
    """Return what named the right record most often, with an interval over all that was tried.

    Where records of a class are equal, nobody is right more often than 1 in the smallest class,
    and the interval ends there. Without the receipt too: who is credited is, with 1 in all ties.
    """
    rates = _rates(evidence, release, seed)
    best = max(range(len(rates)), key=lambda i: rates[i].rate)
    return evidence[best], replace(rates[best], high=max(rate.high for rate in rates))


def _rates(evidence: Sequence[Evidence], release: Release, seed: int) -> list[Rate]:
    """Return how often each named the right record, with intervals that hold together."""
    sizes = class_sizes(release)
    most = 1 / int(sizes[-1]) if len(sizes) else 1.0
    rates = [
        bootstrap(credit_of(each.after.per_target), seed=seed, tries=len(evidence))
        for each in evidence
    ]
    return [rate.up_to(most) for rate in rates]


def with_intervals(evidence: Sequence[Evidence], release: Release, seed: int) -> list[Evidence]:
    """Give each attack on the release the interval that the verdict has for it.

    One figure has one interval: those of all that was tried hold together, and none crosses 1 in
    the smallest class. Without the key file, where the verdict has none, the attacks' own stay.
    """
    if understated(release) is not None or not evidence:
        return list(evidence)
    best, rate = strongest(evidence, release, seed)
    return [
        replace(each, after=replace(each.after, expected_top1=rate if each is best else own))
        for each, own in zip(evidence, _rates(evidence, release, seed), strict=True)
    ]


def _record(
    release: Release, evidence: Sequence[Evidence], limits: Mapping[str, float], seed: int
) -> Measured:
    why, limit = understated(release), record_limit(release, limits)
    if why is not None:
        reason = f"{why[0]}, and without the receipt nobody can tell {why[1]}"
        return unmeasured("record", "How often the right record is named", reason, limit)
    worst, rate = strongest(evidence, release, seed)
    knew = worst.knew
    text = (
        f"The attack {worst.after.attack}, knowing {knew} of a person, names the right record in "
        f"{rate} of {counted(worst.after.targets, 'case')}; no other that was tried does better. "
        f"In the original ratings it is right in {percent(worst.before.expected_top1.rate)}."
    )
    if limit is None:
        text += " The release claims no k, and nobody set a limit."
    elif not records_differ(release):
        least = int(class_sizes(release)[-1])
        text += (
            " Beyond what was tried: the records of a class are equal, so nobody can be right "
            f"about any person more often than 1 in {least}, the smallest class."
        )
    else:
        text += " Records differ here, so single persons may be found more often."
    if limit is not None and limits.get("record", 0) > limit.value + SLACK:
        text += f" The limit of {percent(limits['record'])} that was set is looser, and not needed."
    return Measured(
        "record",
        text,
        attack=worst.after.attack,
        knew=knew,
        rate=rate,
        guessing=1 / max(1, worst.after.records),
        limit=limit,
        beside=(("In the ratings", worst.before.expected_top1),),
        people=worst.after.targets,
    )


def _predicate(
    found: PredicateResult | str, halves: SingledOut | str, limit: float | None
) -> Measured:
    own = None if limit is None else Limit(limit, "the owner")
    if isinstance(halves, str):
        return unmeasured("predicate", "Whether conditions single somebody out", halves, own)
    text = (
        "An adversary who has a release and knows no ratings writes a condition that exactly one "
        f"of its people meets, for {percent(halves.isolates)} of the classes. That such a person "
        "exists is then known, not who it is. Among as many people who are not in the release, "
        f"exactly one meets it for {percent(halves.outsiders)}. The excess is {halves.excess}, "
        f"over {halves.releases:,} releases of random halves of the people. {halves.how}"
    )
    if not isinstance(found, str):
        tried = counted(found.classes_tried, "class", "classes")
        text += f" Of this release itself: {found.isolates} of {tried}."
    return Measured(
        "predicate",
        text.strip(),
        attack="predicate",
        knew="nothing",
        rate=halves.excess,
        guessing=0.0,
        limit=own,
        by_itself=halves.excess.high <= 0,
        note=f"Beyond people who are not in it: exactly one member for {percent(halves.isolates)} "
        f"of the classes, exactly one of as many others for {percent(halves.outsiders)}.",
    )


def predicates_of(release: Release, original: Ratings | None, seed: int) -> PredicateResult | str:
    """Write predicates from a release; or say why none can be, as from profiles.

    `original`: None: it lies in shards, and the release is of profiles.
    """
    try:
        return PredicateAttack().run(release, original=original, rng=seed)
    except ConfigError as error:
        return error.message
