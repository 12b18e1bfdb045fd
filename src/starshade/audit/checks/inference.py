"""Membership inference, inference gain and attribute disclosure."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from starshade.attack.shadows.inference_result import InferenceResult
from starshade.attack.shadows.membership_result import (
    HEADLINE,
    MembershipAt,
    MembershipResult,
)
from starshade.attack.shadows.resampled import FEWEST
from starshade.audit.checks.attribute import FIGURES, AttributeDisclosure
from starshade.audit.checks.check import Check, unmeasured
from starshade.audit.checks.policy import Threshold
from starshade.audit.checks.singling_out import Thresholds
from starshade.audit.original.original import Knowable
from starshade.figure import Rate
from starshade.naming import Advice
from starshade.plain import counted, percent
from starshade.release.attributes import exact_values_listed, rating_disclosed
from starshade.release.cells import Cells
from starshade.release.figures import EXACT_LISTED, EXACT_NAMED
from starshade.release.table import Release

_MOST_SHADOWS = 1000
_PAIRS = 2200  # people × shadow releases that give ten false positives at 1 %, with some to spare


def numbers_known(knowable: Knowable, known: int) -> tuple[int, ...]:
    """Return the numbers of known ratings to test for a policy with `known`.

    Where fewer than half of the people have so many, the largest number that half of them have is
    added, and `known` is kept only where at least 30 people have it.
    """
    people = int(knowable.people.sum())
    enough = knowable.have(known)
    if 2 * enough >= people:
        return (known,)
    half = max(
        (int(cells) for cells in knowable.cells if 2 * knowable.have(int(cells)) >= people),
        default=1,
    )
    return (*[known] * (enough >= FEWEST), max(half, 1))


def most_gained(found: InferenceResult) -> Rate | None:
    """Return the inference gain; of two kinds of questions the larger."""
    some = [rate for rate in (found.rated_gained, found.value_gained) if rate is not None]
    return max(some, key=lambda rate: rate.high, default=None)


def membership(
    found: MembershipResult | str,
    known: int | None,
    of: int,
    thresholds: Thresholds,
    undecided: str = "",
    advice: str | Advice = "",
) -> Check:
    """Return how many members are identified at 1 % false positives.

    `known`: ratings of a person; None: all of them. `of`: people in the release.
    """
    name = "membership" if known else "membership-all"
    threshold = thresholds.get(name)
    if isinstance(found, str):
        return unmeasured(name, found, threshold, known=known, advice=advice)
    at = next((each for each in found.by_known if each.known == known), found.everything)
    alarm = at.at(HEADLINE)
    if at.auc is None or alarm is None:
        return unmeasured(name, at.reason, threshold, known=known, advice=advice)
    people = counted(at.members, "person", "people")
    text = (
        f"An adversary with {at.title} who compares a release of half of the people with "
        f"{counted(found.shadows, 'shadow release')} identifies {alarm} of its members at 1 % "
        f"false positives (AUC {at.auc}; 50% is guessing), on {people}. A lower bound: more shadow "
        "releases usually find more."
    )
    if alarm.rough:
        undecided = undecided or "the rate rests on fewer than ten false positives"
        advice = advice or _more_shadows(at, found.shadows)
    return Check(
        name,
        text,
        attack=found.attack,
        knew=at.title.removesuffix(" known"),
        known=known,
        rate=alarm.tpr,
        baseline=HEADLINE,
        threshold=threshold,
        beside=(("AUC", at.auc),),
        note=f"AUC {at.auc}. A lower bound, by {counted(found.shadows, 'shadow release')}."
        f"{_by_activity(at)}",
        targets=at.members,
        of=of,
        undecided=undecided,
        rough=alarm.rough,
        advice=advice,
    )


def _more_shadows(at: MembershipAt, shadows: int) -> str | Advice:
    """Advise the shadow releases that give ten false positives at 1 %; empty: too many."""
    needed = -(-_PAIRS // max(1, at.members))
    if not shadows < needed <= _MOST_SHADOWS:
        return ""
    return Advice("Make more shadow releases: {}.", "shadows", needed)


def _by_activity(at: MembershipAt) -> str:
    """Return the share identified among people with few ratings, and with many."""
    groups = {} if at.own is None else at.own.groups
    parts = [f"{percent(share)} of {name}" for name, (share, _) in groups.items()]
    return f" Identified by number of ratings: {', '.join(parts)}." if parts else ""


def inference_gain(
    found: InferenceResult | str,
    known: int,
    of: int,
    thresholds: Thresholds,
    undecided: str = "",
    advice: str | Advice = "",
) -> Check:
    """Return the inference gain from participation."""
    threshold = thresholds.get("inference")
    if isinstance(found, str):
        return unmeasured("inference", found, threshold, known=known, advice=advice)
    best = most_gained(found)
    if best is None:
        why = "every item is rated, and single ratings are not predicted on this scale"
        return unmeasured("inference", why, threshold, known=known)
    # of three adversaries two were asked two kinds of questions
    low = best.rate - _WIDER * (best.rate - best.low)
    high = best.rate + _WIDER * (best.high - best.rate)
    rate = Rate(best.rate, max(-1.0, low), min(1.0, high))  # a difference of two shares
    text = (
        f"An adversary who knows {counted(found.known, 'rating')} of a person is right about their "
        f"other ratings {_points(rate)} points more often than from a release without this person "
        f"({_question(found, best)}), on {counted(found.targets, 'person', 'people')}."
    )
    if found.error_saved is not None:
        text += f" Reduction of the rating error: {found.error_saved}."
    return Check(
        "inference",
        text,
        attack=found.attack,
        knew=counted(found.known, "rating"),
        known=known,
        rate=rate,
        baseline=0.0,
        threshold=threshold,
        note=f"Percentage points, beyond releases without the person: {_question(found, best)}.",
        targets=found.targets,
        of=of,
        undecided=undecided,
        advice=advice,
    )


def _points(rate: Rate) -> str:
    return f"{100 * rate.rate:+.1f} [{100 * rate.low:+.1f}, {100 * rate.high:+.1f}]"


def _question(found: InferenceResult, best: Rate) -> str:
    """Say which kind of question a gain is of."""
    rated = best == found.rated_gained
    return "which of two items they rated" if rated else "which rating they gave"


_WIDER = 1.314  # 99 % beside 95 % of a normal: five intervals that hold together


def attribute(
    shown: float | None,
    thresholds: Thresholds,
    *,
    exists: float | None = None,
    listed: float | None = None,
    alone: tuple[float, float] | None = None,
    fine: bool = False,
    certain: AttributeDisclosure | None = None,
    advice: str | Advice = "",
) -> Check:
    """Return the share of people with a rating that is disclosed with certainty.

    `shown`: share of people whose class discloses one of their ratings; `exists`: whose class
    discloses that they rated an item; `listed`: whose class lists exact ratings, which counts on a
    `fine` scale; `alone`: as `single_valued` returns it. `certain`: of averaged profiles, which
    list no rating.
    """
    threshold = thresholds.get("attribute")
    if shown is not None:
        check = _shown(shown, exists, alone, threshold)
        return check if listed is None else _with_listed(check, shown, listed, fine=fine)
    if certain is None:
        why = "its cells are averages; cells that equal a rating are not counted"
        return unmeasured("attribute", why, threshold)
    share = certain.attribute_disclosure
    if share is None:
        return unmeasured("attribute", certain.reason, threshold, advice=advice)
    return Check(
        "attribute",
        str(certain),
        attack="reading",
        knew="the class, and that they rated the item",
        rate=Rate(share, share, share),  # everybody was counted
        threshold=threshold,
        title_of=FIGURES[0].title,
    )


def single_valued(release: Release) -> tuple[float, float] | None:
    """Return for how many records a sensitive attribute, or it or a rating, is disclosed.

    The first share is of records in whose class a sensitive attribute has a single value, the
    second of these and those in whose class a rating is disclosed. None without sensitive
    attributes.
    """
    names, table, cells = (
        release.manifest.sensitive_attributes,
        release.attributes,
        release.classes,
    )
    if not names or table is None or not isinstance(cells, Cells) or not release.n_records:
        return None
    row, single = release.class_of_record, np.zeros(cells.n_groups, dtype=np.bool_)
    for name in names:
        codes = np.unique(
            [repr(each) for each in table.column(name).to_pylist()], return_inverse=True
        )[1]
        low = np.full(len(single), len(codes))
        high = np.full(len(single), -1)
        np.minimum.at(low, row, codes)
        np.maximum.at(high, row, codes)
        single |= low == high
    disclosed = rating_disclosed(cells)
    if release.scale.fine:
        disclosed |= exact_values_listed(cells, release.manifest.config.get("hierarchy"))
    return float(single[row].mean()), float((single | disclosed)[row].mean())


def _shown(
    shown: float,
    exists: float | None,
    alone: tuple[float, float] | None,
    threshold: Threshold | None,
) -> Check:
    rate = shown if alone is None else alone[1]
    text = f"For {percent(shown)} of people a rating can be read once their class is found."
    if alone is not None:
        text += (
            f" For {percent(alone[0])} a sensitive attribute has a single value in the class; one "
            f"of the two holds for {percent(rate)}."
        )
    return Check(
        "attribute",
        text,
        attack="reading",
        knew="the class",
        rate=Rate(rate, rate, rate),  # everybody was counted
        threshold=threshold,
        note=""
        if exists is None
        else f"Existence disclosure (that they rated some item): {percent(exists)} of people.",
    )


def _with_listed(check: Check, shown: float, listed: float, *, fine: bool) -> Check:
    """Add exact values listed; on a fine scale they lead, and hold every rating that is shown."""
    assert check.rate is not None
    rate = Rate(listed, listed, listed)
    text = f"{percent(listed)} of people are {EXACT_NAMED}"
    if not fine:
        return replace(check, text=f"{check.text} {text}.", beside=((EXACT_LISTED.title, rate),))
    return replace(
        check,
        text=f"{text}; {check.text[0].lower()}{check.text[1:]}",
        rate=max(rate, check.rate, key=lambda each: each.rate),
        beside=(("People with a disclosed rating", Rate(shown, shown, shown)),),
        title_of=EXACT_LISTED.title,
    )
