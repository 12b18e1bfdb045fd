"""The conditions that a release must meet besides the checks (definitions, "audit")."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.anonymize.prepare import scale_of
from starshade.attack.tracker.result import TrackerResult
from starshade.audit.evidence import Tracked
from starshade.audit.original.original import Given
from starshade.audit.result import Finding
from starshade.errors import ConfigError
from starshade.plain import counted
from starshade.privacy.class_values import ClassVerdict
from starshade.privacy.item_sets import DiversityVerdict
from starshade.privacy.registry import ENTRIES
from starshade.ratings.scale import SLACK, Scale
from starshade.ratings.table import Ratings
from starshade.registry import find
from starshade.release.manifest import Claim
from starshade.release.personal.identifying import named_in
from starshade.release.profiles import Profiles
from starshade.release.table import Release
from starshade.release.verify.claims import PROXIMITY_MODELS
from starshade.utility.losses import class_sizes

AUDIENCE = (
    "Audience: public.",
    "Audience: a query service only, as the release holds exact personal attributes.",
)
NO_NAME = "No released attribute identifies people: most people share their value with others."
NO_RARE_VALUE = "No attribute value was found that fewer than k people have."


def judge_claims(claims: Sequence[dict[str, Any]]) -> Finding:
    """Check whether there are claims, and whether each was verified on the files."""
    if not claims:
        return Finding("claims", False, "The release claims no privacy model.")
    broken = [c["model"] for c in claims if not c["holds"]]
    if broken:
        return Finding("claims", False, f"Claims that do not hold: {', '.join(broken)}.")
    claimed = []
    for claim in claims:
        settings = (f"{name} = {value}" for name, value in claim["parameters"].items())
        claimed.append(f"{claim['model']} ({', '.join(settings)})")
    return Finding("claims", True, f"Claims verified on the files: {', '.join(claimed)}.")


def models_of(release: Release) -> list[Claim]:
    """Return the claims that have an independent check."""
    named = {"k", "attribute", "b"}  # one of them is a parameter of every model
    return [claim for claim in release.manifest.claims if named & claim.parameters.keys()]


def title_of(claim: Claim) -> str:
    """Return the name of the condition that a claim holds."""
    of = claim.parameters.get("attribute")
    return claim.model if of is None else f"{claim.model} of {of}"


def judge_model(release: Release, claim: Claim, original: Ratings | None = None) -> Finding:
    """Run the check of the claimed model, which shares no code with method and verifier."""
    name, title = claim.model, title_of(claim)
    try:
        model = find(ENTRIES, name, "model").load()(**claim.parameters)
        # the release does not show which sets of items were rated together
        verdict = model.check(release, **({"original": original} if name == "diversity" else {}))
    except (ConfigError, TypeError) as error:
        reason = error.message if isinstance(error, ConfigError) else "invalid parameters"
        return Finding(title, False, f"The check of {name} rejects the claim: {reason}.")
    if verdict.vacuous:
        reason = f"The claim of {name} is vacuous: {verdict.empty_because}"
        return Finding(title, False, reason)
    if isinstance(verdict, ClassVerdict):
        return Finding(title, verdict.satisfied, f"The check of {name}: {verdict.meaning}")
    if isinstance(verdict, DiversityVerdict):
        return Finding(title, verdict.satisfied, f"The check of diversity: {verdict}")
    k = claim.parameters.get("k")
    if name in ("k-anonymity", "review-graph"):
        by = release.manifest.alike_by
        of = f" of records equal{by}" * bool(by)
        text = f"Smallest class{of}: {verdict.smallest_class:,} (claimed: {k})."
        return Finding(name, verdict.satisfied, text)
    if verdict.satisfied:
        text = f"The check of {name} agrees: every record has at least {k} near it, itself included"
        return Finding(
            name,
            True,
            text + ("; sensitive ratings spread as claimed." if "l" in claim.parameters else "."),
        )
    text = f"The check of {name} fails for {counted(verdict.failing_records, 'record')}."
    return Finding(name, False, text)


def records_differ(release: Release) -> bool:
    """Return whether classes of equal records may be smaller than the claimed k."""
    if release.manifest.layout != "record" or not release.n_records:
        return False
    k = release.manifest.claimed_k
    return k is None or int(class_sizes(release)[-1]) < k


def proximate(release: Release) -> bool:
    """Return whether the release claims that records are near each other, not equal."""
    return records_differ(release) and any(
        claim.model in PROXIMITY_MODELS for claim in release.manifest.claims
    )


def understated(release: Release) -> tuple[str, str] | None:
    """Return why attacks may be understated; None with the key file.

    Otherwise what was done, and what is unknown without the key file.
    """
    return None if release.private is not None else needs_receipt(release)


def needs_receipt(release: Release) -> tuple[str, str] | None:
    """Return why an audit needs the key file; None where it does not.

    Where ratings were moved or averaged, a right answer need not be compatible with the truth.
    Where people were left out, they are attacked as well, and fail.

    Otherwise what was done, and what is unknown without the key file.
    """
    manifest = release.manifest
    if manifest.layout == "record" and manifest.imputed_cells is not None:
        return "ratings were moved", "which answers are correct"
    if manifest.layout == "profile":
        return "ratings were averaged", "which answers are correct"
    if manifest.users_deleted != "none":
        return "people were left out", "who was left out"
    return None


def judge_tracker(tracked: Tracked | None, items: int) -> Finding | None:
    """Check whether COUNT queries single a person out; None if not tested.

    `items`: how many are released; where the queries run out, some are not covered.
    """
    if tracked is None:
        return None
    before, after = tracked.before, tracked.after
    tried = (
        f"of {after.queries:,} COUNT queries with up to {after.config['conditions']} conditions on "
        f"the {counted(after.items, 'most rated item')},"
    )
    if after.refused or after.at_risk.rate:
        text = f"Query interface: {tried} {after.refused:,} rest on fewer records than the claimed"
        text += f" k = {after.floor:,}. They single people out unless refused."
        return Finding("tracker", False, text + _stopped(after, items))
    text = "Query interface: COUNT queries single out no person."
    if after.fewest is not None:
        text += f" {tried.capitalize()} none rests on fewer than {after.fewest:,} records."
    least = "" if before.complete else " (stopped too) at least"
    text += f" In the original data the attack singles out{least} {before.at_risk} of people."
    text += _stopped(after, items)
    return Finding("tracker", (after.fewest or after.floor) >= after.floor, text)


def _stopped(after: TrackerResult, items: int) -> str:
    if after.complete:
        return ""
    most = after.config["queries"]
    return (
        f" It stopped after {counted(most, 'query', 'queries')}, an audit's maximum, among "
        f"conditions on the {counted(after.items, 'most rated item')} of {items:,}: not every "
        "condition was tested (the tracker attack alone can test more)."
    )


def judge_audience(release: Release) -> Finding:
    """Check whether the release was made to be published."""
    passed = release.manifest.audience == "publish"
    return Finding("audience", passed, AUDIENCE[not passed])


def judge_identifying(release: Release) -> Finding | None:
    """Check whether a personal attribute identifies people; None without such attributes."""
    if release.manifest.attributes != "generalized":
        return None
    named = [f"{name} ({shared})" for name, shared in named_in(release).items()]
    if not named:
        return Finding("identifying", True, NO_NAME)
    text = f"Attributes that identify people: {'; '.join(named)}. They show who is in which class"
    return Finding("identifying", False, f"{text} without any known rating.")


def judge_rare_values(release: Release, rare: Mapping[str, str]) -> Finding | None:
    """Check whether k people have each value of an attribute; None without such attributes.

    `rare` is what `starshade.release.verify.verify.verify_folder` counted: with the key
    file exactly, without it as far as the files show it for certain.
    """
    if release.manifest.attributes != "generalized":
        return None
    if not rare:
        return Finding("rare-values", True, NO_RARE_VALUE)
    values = "; ".join(f"{name} has {text}" for name, text in rare.items())
    text = f"Rare attribute values: {values}. Such a value identifies the people who have it."
    return Finding("rare-values", False, text)


def judge_profiles(release: Release) -> Finding | None:
    """Fail a release whose profiles are all equal; None for any other.

    Attacks fail on it, but it does not distinguish people. Equal profiles are one
    class, which the verifier checks.
    """
    classes = release.classes
    if not isinstance(classes, Profiles) or len(classes.sizes) != 1:
        return None
    text = f"All {counted(release.n_records, 'record')} have the same profile: the release "
    return Finding("profiles", False, f"{text}does not distinguish people.")


def judge_k(release: Release) -> Finding | None:
    """Check whether the k of the settings is the claimed one, where both are stated."""
    manifest = release.manifest
    made = manifest.config.get("k")
    claimed = {k for claim in manifest.claims if (k := claim.parameters.get("k")) is not None}
    if type(made) is not int or claimed <= {made}:
        return None
    claims = ", ".join(str(k) for k in sorted(claimed, key=str))
    text = f"release.json states k = {made} in its settings, and claims k = {claims}."
    return Finding("settings", False, text)


def judge_scale(release: Release, ratings: Given) -> Finding | None:
    """Check whether the released scale is that of the ratings, or its publishable part.

    A scale that was inferred from the data is published as far as the released ratings, and those
    that k users gave, show it (`starshade.anonymize.prepare.publishable_scale`).

    `ratings`: what it was made of, and which of them are released.
    """
    if _same(release.scale, ratings.scale):
        return None
    published = _published(release, ratings)
    if _same(release.scale, published):
        return None
    inferred = ratings.inferred and not _same(published, ratings.scale)
    seen = f" (published as {published})" if inferred else ""
    return Finding(
        "scale",
        False,
        f"release.json states the scale {release.scale}; these ratings are on {ratings.scale}{seen}"
        ". If the scale was declared for the release, declare it here too.",
    )


def _published(release: Release, ratings: Given) -> Scale:
    k = release.manifest.config.get("k")
    k = k if type(k) is int else release.manifest.claimed_k or 1
    return scale_of(np.union1d(ratings.shared(k), _released(release, ratings)), ratings.scale)


def _released(release: Release, ratings: Given) -> NDArray[np.float64]:
    """Return the ratings that the release is made of; where they were moved, as they are now."""
    shown = ratings.released
    if release.manifest.layout == "record":
        symbols, codes = release.cells().symbols, release.cells().codes
        shown = symbols.members[symbols.offsets[:-1]][np.unique(codes)]
    return shown


def _same(one: Scale, other: Scale) -> bool:
    if (one.step is None) != (other.step is None):
        return False
    pairs = [(one.minimum, other.minimum), (one.maximum, other.maximum)]
    pairs += [(one.step, other.step)] if one.step is not None and other.step is not None else []
    return all(abs(a - b) <= SLACK for a, b in pairs)
