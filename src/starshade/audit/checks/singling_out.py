"""Class size, re-identification and singling out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from starshade.attack.predicate.predicate import PredicateAttack
from starshade.attack.predicate.result import PredicateResult
from starshade.attack.shadows.predicates import SingledOut
from starshade.attack.targets import credit_of
from starshade.audit.checks.check import Check, unmeasured
from starshade.audit.checks.policy import Threshold
from starshade.audit.evidence import Evidence
from starshade.audit.findings import records_differ, understated
from starshade.audit.shares import PROXIMITY_CAVEAT
from starshade.errors import ConfigError
from starshade.figure import Rate
from starshade.naming import Advice
from starshade.plain import counted, percent
from starshade.ratings.table import Ratings
from starshade.release.table import Release
from starshade.release.verify.claims import PROXIMITY_MODELS
from starshade.stats import bootstrap
from starshade.utility.losses import class_sizes

Thresholds = Mapping[str, Threshold]


def class_size(
    release: Release, claims: Sequence[Mapping[str, Any]], thresholds: Thresholds
) -> Check:
    """Return the check of class size, counted on the files.

    Where records are near others rather than equal to them, it is the smallest number of records
    within ε of one, as verified for the claim of (k, ε).
    """
    threshold = thresholds.get("class-size")
    sizes = class_sizes(release)
    size, near = int(sizes[-1]) if len(sizes) else 0, False
    if records_differ(release):
        for claim in claims:
            if claim["model"] in PROXIMITY_MODELS and claim["holds"]:
                verified = claim["verified"]
                balls = verified.get("smallest_class", verified.get("smallest_class_at_least", 0))
                size, near = max(size, int(balls)), True
    if not size:
        return unmeasured("class-size", "the release has no records", threshold)
    share = 1 / size
    what = "Fewest records within ε of a record" if near else "Smallest class"
    text = f"{what}: {size:,}, verified on the files."
    least = None if threshold is None else threshold.least
    advice = (
        "" if least is None or size >= least else Advice("Make the release with {}.", "k", least)
    )
    return Check(
        "class-size",
        text,
        rate=Rate(share, share, share),
        size=size,
        threshold=threshold,
        note=PROXIMITY_CAVEAT * near,
        advice=advice,
    )


def strongest(evidence: Sequence[Evidence], release: Release, seed: int) -> tuple[Evidence, Rate]:
    """Return the strongest attack, with a simultaneous interval over all attacks.

    Where records of a class are equal, no attack is right more often than 1 in the smallest class,
    and the interval ends there. So it does without the key file, as ties share the credit.
    """
    rates = _rates(evidence, release, seed)
    best = max(range(len(rates)), key=lambda i: rates[i].rate)
    return evidence[best], replace(rates[best], high=max(rate.high for rate in rates))


def _rates(evidence: Sequence[Evidence], release: Release, seed: int) -> list[Rate]:
    """Return the rate of each attack, with simultaneous intervals."""
    sizes = class_sizes(release)
    most = 1 / int(sizes[-1]) if len(sizes) else 1.0
    rates = [
        bootstrap(credit_of(each.after.per_target), seed=seed, tries=len(evidence))
        for each in evidence
    ]
    return [rate.up_to(most) for rate in rates]


def with_intervals(evidence: Sequence[Evidence], release: Release, seed: int) -> list[Evidence]:
    """Give each attack on the release the interval that the verdict has for it.

    One figure has one interval: the intervals of all attacks hold simultaneously, and none crosses
    1 in the smallest class. Without the key file the attacks' own stay.
    """
    if understated(release) is not None or not evidence:
        return list(evidence)
    best, rate = strongest(evidence, release, seed)
    return [
        replace(each, after=replace(each.after, expected_top1=rate if each is best else own))
        for each, own in zip(evidence, _rates(evidence, release, seed), strict=True)
    ]


def re_identification(
    release: Release, evidence: Sequence[Evidence], thresholds: Thresholds, seed: int
) -> Check:
    """Return the check of re-identification, by the strongest attack."""
    why, threshold = understated(release), thresholds.get("re-identification")
    if why is not None:
        reason = f"{why[0]}; without the private key file it is unknown {why[1]}"
        return unmeasured("re-identification", reason, threshold, advice=key_file())
    worst, rate = strongest(evidence, release, seed)
    result = worst.after
    text = (
        f"An adversary who knows {worst.knew} of a person re-identifies {rate} of "
        f"{counted(result.targets, 'target')} by the attack {result.attack}, the strongest of "
        f"those tried (original data: {percent(worst.before.expected_top1.rate)})."
    )
    if records_differ(release):
        text += " Records differ, so single people may be re-identified more often."
    else:
        least = int(class_sizes(release)[-1])
        text += (
            " As the records of a class are equal, no attack finds a record more often than 1 in "
            f"{least}, the smallest class."
        )
    return Check(
        "re-identification",
        text,
        attack=result.attack,
        knew=worst.knew,
        known=worst.knowledge.known,
        rate=rate,
        baseline=1 / max(1, result.records),
        threshold=threshold,
        before=worst.before.expected_top1,
        targets=result.targets,
        of=result.targets + result.ineligible if result.ineligible else release.n_records,
    )


def key_file() -> Advice:
    """Advise to give the key file."""
    return Advice("Give the private key file{}.", "private", bracketed=True)


def singling_out(
    found: PredicateResult | str,
    halves: SingledOut | str,
    thresholds: Thresholds,
    undecided: str = "",
    advice: str | Advice = "",
) -> Check:
    """Return the check of singling out: isolating predicates beyond the baseline.

    `found`: of this release, or why there are none; `halves`: of releases of random halves of the
    people, or why there are none. `undecided`, `advice`: as `Check` has them.
    """
    threshold = thresholds.get("singling-out")
    if isinstance(halves, str):
        return unmeasured("singling-out", halves, threshold, advice=advice)
    text = (
        "From the release alone, an adversary writes a predicate that isolates exactly one person "
        f"for {percent(halves.isolates)} of the classes; of as many non-members, for "
        f"{percent(halves.outsiders)} (baseline). Excess {halves.excess}, over "
        f"{counted(halves.releases, 'shadow release')}. {halves.how}"
    ).strip()
    if not isinstance(found, str):
        tried = counted(found.classes_tested, "class", "classes")
        text += f" On this release itself: {found.singling_out} of {tried}."
    return Check(
        "singling-out",
        text,
        attack="predicate",
        knew="nothing",
        rate=halves.excess,
        baseline=halves.outsiders,
        threshold=threshold,
        note=f"(isolated − baseline) / (1 − baseline): {percent(halves.isolates)} isolated, "
        f"{percent(halves.outsiders)} of as many non-members.",
        undecided=undecided,
        advice=advice,
    )


def predicates_of(release: Release, original: Ratings | None, seed: int) -> PredicateResult | str:
    """Write predicates from a release; or return why none can be, as from profiles.

    `original`: None: it is a partitioned store, and the release is of profiles.
    """
    try:
        return PredicateAttack().run(release, original=original, rng=seed)
    except ConfigError as error:
        return error.message
