"""The questions that a release must answer before it may leave (definitions, "audit")."""

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
from starshade.utility.losses import class_sizes

AUDIENCE = (
    "It was made to be published.",
    "It holds exact personal attributes and may only stand behind a query service.",
)
NO_NAME = "No personal attribute names people: most share their value with others."
NO_RARE_VALUE = "No value of a personal attribute is found to be that of fewer than k people."


def judge_claims(claims: Sequence[dict[str, Any]]) -> Finding:
    """Ask whether every claim was found again on the files, and whether there is one."""
    if not claims:
        return Finding("claims", False, "The release claims no privacy model at all.")
    broken = [c["model"] for c in claims if not c["holds"]]
    if broken:
        does = "claim of {} does" if len(broken) == 1 else "claims of {} do"
        return Finding("claims", False, f"Its {does.format(', '.join(broken))} not hold.")
    claimed = []
    for claim in claims:
        settings = (f"{name} = {value}" for name, value in claim["parameters"].items())
        claimed.append(f"{claim['model']} ({', '.join(settings)})")
    was = "claim was counted again on the files and holds"
    if len(claims) > 1:
        was = "claims were counted again on the files and hold"
    return Finding("claims", True, f"Its {was}: {', '.join(claimed)}.")


def models_of(release: Release) -> list[Claim]:
    """Return the claims that checks of their models judge."""
    named = {"k", "attribute", "b"}  # one of them is a parameter of every model
    return [claim for claim in release.manifest.claims if named & claim.parameters.keys()]


def title_of(claim: Claim) -> str:
    """Name the question whether a claim holds by the check of its model."""
    of = claim.parameters.get("attribute")
    return claim.model if of is None else f"{claim.model} of {of}"


def judge_model(release: Release, claim: Claim, original: Ratings | None = None) -> Finding:
    """Ask the check of the claimed model, which shares no code with method and verifier."""
    name, title = claim.model, title_of(claim)
    try:
        model = find(ENTRIES, name, "model").load()(**claim.parameters)
        # which sets of items somebody rated, the release does not tell
        verdict = model.check(release, **({"original": original} if name == "diversity" else {}))
    except (ConfigError, TypeError) as error:
        reason = error.message if isinstance(error, ConfigError) else "its parameters are not those"
        return Finding(title, False, f"The check of {name} refuses it: {reason}.")
    if verdict.vacuous:
        reason = f"The claim of {name} says nothing: {verdict.empty_because}"
        return Finding(title, False, reason)
    if isinstance(verdict, ClassVerdict):
        return Finding(title, verdict.satisfied, f"The check of {name}: {verdict.meaning}")
    if isinstance(verdict, DiversityVerdict):
        return Finding(title, verdict.satisfied, f"The check of diversity: {verdict}")
    k = claim.parameters.get("k")
    if name in ("k-anonymity", "review-graph"):
        by = release.manifest.alike_by
        equal = f"records that are equal{by}" if by else "equal records"
        text = f"The smallest set of {equal} has {verdict.smallest_class:,}; {k} are claimed."
        return Finding(name, verdict.satisfied, text)
    if verdict.satisfied:
        text = f"The check of {name} agrees: every record has at least {k} near it, itself included"
        return Finding(
            name,
            True,
            text + ("; sensitive ratings spread as asked." if "l" in claim.parameters else "."),
        )
    text = (
        f"The check of {name} finds {counted(verdict.failing_records, 'record')} "
        "for which it fails."
    )
    return Finding(name, False, text)


def records_differ(release: Release) -> bool:
    """Tell whether fewer records may be equal than are claimed to hide among each other."""
    if release.manifest.layout != "record" or not release.n_records:
        return False
    k = release.manifest.claimed_k
    return k is None or int(class_sizes(release)[-1]) < k


def understated(release: Release) -> tuple[str, str] | None:
    """Say why attacks may look weaker than they are; None where the receipt is at hand.

    Otherwise what was done, and what nobody can tell without the receipt.
    """
    return None if release.private is not None else needs_receipt(release)


def needs_receipt(release: Release) -> tuple[str, str] | None:
    """Say why an audit cannot do without the receipt; None where it can.

    Where ratings were moved or averaged, a right answer need not be compatible with the truth.
    Where people were left out, they are attacked as well, and fail.

    Otherwise what was done, and what nobody can tell without the receipt.
    """
    manifest = release.manifest
    if manifest.layout == "record" and manifest.imputed_cells is not None:
        return "ratings were moved", "who was really found"
    if manifest.layout == "profile":
        return "ratings were averaged", "who was really found"
    if manifest.users_deleted != "none":
        return "people were left out", "them from those who stay"
    return None


def judge_tracker(tracked: Tracked | None, items: int) -> Finding | None:
    """Ask whether counting, behind a query interface, singles anybody out; None if not tried.

    `items` says how many are released: where the queries run out, some are not asked about.
    """
    if tracked is None:
        return None
    before, after = tracked.before, tracked.after
    tried = (
        f"of {after.queries:,} COUNT queries, of up to {after.config['conditions']} conditions on "
        f"the {counted(after.items, 'most rated item')},"
    )
    if after.refused or after.at_risk.rate:
        text = f"Behind a query interface, {tried} {after.refused:,} rest on fewer records than the"
        text += f" k = {after.floor:,} that are claimed"
        text += "; they single people out unless refused."
        return Finding("tracker", False, text + _stopped(after, items))
    text = "Behind a query interface nobody is singled out by counting"
    if after.fewest is not None:
        text += f": {tried} none rests on fewer than {after.fewest:,} records"
    least = "" if before.complete else ", stopped in the same way, at least"
    text += f"; on the ratings the same attack singles out{least} {before.at_risk} of the people."
    text += _stopped(after, items)
    return Finding("tracker", (after.fewest or after.floor) >= after.floor, text)


def _stopped(after: TrackerResult, items: int) -> str:
    if after.complete:
        return ""
    most = after.config["queries"]
    return (
        f" It was stopped after {counted(most, 'query', 'queries')}, the most "
        "that an audit asks, among the "
        f"conditions on the {counted(after.items, 'most rated item')} of {items:,}: not every "
        "condition was asked (the tracker attack alone can ask more)."
    )


def judge_audience(release: Release) -> Finding:
    """Ask whether it was made to be published."""
    passed = release.manifest.audience == "publish"
    return Finding("audience", passed, AUDIENCE[not passed])


def judge_identifying(release: Release) -> Finding | None:
    """Ask whether a personal attribute is as good as a name; None without such attributes."""
    if release.manifest.attributes != "generalized":
        return None
    named = [f"{name} ({shared})" for name, shared in named_in(release).items()]
    if not named:
        return Finding("identifying", True, NO_NAME)
    are = "is" if len(named) == 1 else "are"
    text = f"It tells {'; '.join(named)}, which {are} as good as names: who reads them knows who"
    return Finding("identifying", False, f"{text} is in which class without knowing any rating.")


def judge_rare_values(release: Release, rare: Mapping[str, str]) -> Finding | None:
    """Ask whether k people have each value of an attribute; None without such attributes.

    `rare` is what `starshade.release.verify.verify.verify_folder` counted: with the receipt
    exactly, without it as far as the files show it for certain.
    """
    if release.manifest.attributes != "generalized":
        return None
    if not rare:
        return Finding("rare-values", True, NO_RARE_VALUE)
    values = "; ".join(f"{name} has {text}" for name, text in rare.items())
    text = f"Of its personal attributes, {values}: such a value points at those who have it."
    return Finding("rare-values", False, text)


def judge_profiles(release: Release) -> Finding | None:
    """Fail a release whose profiles are all equal; None for any other.

    It says the same of everyone, so that attacks fail on it is no merit. Equal profiles are one
    class, which the verifier checks.
    """
    classes = release.classes
    if not isinstance(classes, Profiles) or len(classes.sizes) != 1:
        return None
    text = f"All {counted(release.n_records, 'record')} have the same profile: the release says "
    return Finding("profiles", False, f"{text}the same of everyone.")


def judge_k(release: Release) -> Finding | None:
    """Ask whether the k of the settings is the one that is claimed, where both are told."""
    manifest = release.manifest
    made = manifest.config.get("k")
    claimed = {k for claim in manifest.claims if (k := claim.parameters.get("k")) is not None}
    if type(made) is not int or claimed <= {made}:
        return None
    claims = ", ".join(str(k) for k in sorted(claimed, key=str))
    text = f"release.json says that it was made with k = {made}, and claims k = {claims}."
    return Finding("settings", False, text)


def judge_scale(release: Release, ratings: Given) -> Finding | None:
    """Ask whether the released scale is that of the ratings, or what may be published of it.

    A scale that was found in the data is published as what the released ratings, and those that
    k users gave, show of it (`starshade.anonymize.prepare.publishable_scale`).

    `ratings`: what it was made of, and which of them are released.
    """
    if _same(release.scale, ratings.scale):
        return None
    published = _published(release, ratings)
    if _same(release.scale, published):
        return None
    inferred = ratings.inferred and not _same(published, ratings.scale)
    seen = f", to be published as {published}" if inferred else ""
    return Finding(
        "scale",
        False,
        f"release.json says the scale {release.scale}; these ratings are on {ratings.scale}{seen}. "
        "If it was declared when the release was made, declare it again.",
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
