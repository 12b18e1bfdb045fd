"""The release in a dossier: its claims, its method, its files, and the attacks on it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from starshade._version import __version__
from starshade.anonymize.registry import ENTRIES as METHODS
from starshade.anonymize.registry import Method
from starshade.attack.likelihood.likelihood import Likelihood
from starshade.attack.likelihood.result import LikelihoodResult
from starshade.attack.registry import ENTRIES as ATTACKS
from starshade.attack.targets import Request
from starshade.audit.evidence import Evidence
from starshade.audit.profile_disclosure import GROUP_FOUND, ProfileDisclosure
from starshade.audit.result import AuditResult
from starshade.figure import Figure, Rate, Shown
from starshade.files.side import RELEASE_MANIFEST, read_side
from starshade.plain import counted
from starshade.progress import silence
from starshade.ratings.table import Ratings
from starshade.release.band import in_words
from starshade.release.figures import LAYOUTS, LEFT_OUT, counted_of, private_figures
from starshade.release.manifest import FORMAT_VERSION
from starshade.release.promise import cells_are, requirement
from starshade.release.table import Release
from starshade.stats import worst_tenth

_HOW = {
    True: "Counted on the written files, by a check that shares no code with the method.",
    False: "Counted on the written files, which do not satisfy the claim.",
}


def claim_rows(claims: Iterable[Mapping[str, Any]], *, beside: bool) -> list[dict[str, Any]]:
    """Return each claim: its requirement, what was counted, and how.

    `beside`: there are quasi-identifiers that records are equal on too.
    """
    return [
        {
            "model": claim["model"],
            "asked": ": ".join(filter(None, (_settings(claim), _requirement(claim, beside)))),
            "verified": counted_of(claim["verified"]) or "nothing: the files do not show it",
            "holds": bool(claim["holds"]),
            "how": _HOW[bool(claim["holds"])],
        }
        for claim in claims
    ]


def _settings(claim: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {_value(value)}" for name, value in claim["parameters"].items())


def _requirement(claim: Mapping[str, Any], beside: bool) -> str:
    return requirement(claim["model"], claim["parameters"], beside=beside)


def model_rows(result: AuditResult) -> list[dict[str, Any]]:
    """Return the results of the checks of the claimed models."""
    named = {claim["model"] for claim in result.claims}
    return [asdict(f) for f in result.findings if f.name.partition(" of ")[0] in named]


def method_section(release: Release) -> dict[str, Any]:
    """Return how the release was made, as it states; with the key file in figures, not bands."""
    manifest = release.manifest
    left_out = private_figures(manifest, release.exact)[: len(LEFT_OUT)]
    return {
        "name": manifest.method,
        "summary": next((e.summary for e in METHODS if e.name == manifest.method), ""),
        "config": [
            {"name": name, "value": _value(value)} for name, value in manifest.config.items()
        ],
        "layout": manifest.layout,
        "layout_meaning": LAYOUTS[manifest.layout],
        "profile": manifest.profile,
        "profile_meaning": cells_are(manifest) if manifest.profile else "",
        "audience": manifest.audience,
        "k": manifest.claimed_k,
        **{name: getattr(manifest, name) for name in ("records", "items", "classes")},
        **{figure.key: figure.value for figure in left_out},
        "whose": _whose(release),
        "left_out": _left_out(release),
    }


def uses_of(release: Release) -> dict[str, list[str]]:
    """Return what a release of its method is good for, and what not; empty for unknown methods."""
    entry = next((e for e in METHODS if e.name == release.manifest.method), None)
    uses, not_for = (entry.uses, entry.not_for) if isinstance(entry, Method) else ((), ())
    return {"good_for": list(uses), "not_good_for": list(not_for)}


def _whose(release: Release) -> str:
    """Say how many records are people and how many are dummy records; empty without those."""
    band, exact = release.manifest.dummy_records, release.exact
    if band is None or band == "none":
        return ""
    why = "(the release continues an earlier one)"
    if exact is None:
        return f"{in_words(band)} of them are dummy records {why}"
    dummies = exact.dummy_records or 0
    own = counted(release.n_records - dummies, "person", "people")
    return f"{own} and {counted(dummies, 'dummy record')} {why}"


def _left_out(release: Release) -> str:
    """Say how many people were left out, and why; empty without the key file."""
    exact = release.exact
    if exact is None:
        return ""
    whys = (
        (exact.users_without_rating, "without a rating on these items"),
        (exact.users_deleted, "removed by the method"),
    )
    left = [f"{counted(n, 'person', 'people')} {why}" for n, why in whys if n]
    return f"Left out: {' and '.join(left) or 'no people'}."


def files_of(folder: Path, release: Release) -> list[dict[str, Any]]:
    """Return the files of the release; their hashes were checked when it was opened."""
    own = hashlib.sha256(read_side(folder / "release.json", RELEASE_MANIFEST)).hexdigest()
    hashes = {"release.json": own, **release.manifest.files}
    return [
        {"name": name, "sha256": digest, "bytes": (folder / name).stat().st_size}
        for name, digest in hashes.items()
    ]


def versions_of(release: Release) -> dict[str, Any]:
    """Return the versions of starshade that made and audited the release, and of the format."""
    return {
        "starshade": __version__,
        "made_with": release.manifest.starshade,
        "format": min(release.manifest.format, FORMAT_VERSION),
    }


def _value(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_value, value))
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


_DRAWS = 4  # of the known ratings of each person
ATTACK_MEANING = (
    "Share of targets whose record the adversary names, with this knowledge and a forced guess. "
    "The check passes if no upper end is above the threshold. The difference between initial "
    "and residual risk is the effect of the release."
)


def attack_rows(result: AuditResult, release: Release, people: int) -> list[dict[str, Any]]:
    """Return a row for each attack and knowledge; `people`: how many are in the release."""
    titles = {entry.name: entry.title or entry.summary for entry in ATTACKS}
    limit = result.check("re-identification").threshold
    unknown = result.profile_disclosure is not None and not result.profile_disclosure.linked
    return [
        {
            "attack": evidence.after.attack,
            "title": titles.get(evidence.after.attack, ""),
            "knowledge": _knowledge_text(evidence),
            "knew": _knew(evidence),
            "known": evidence.knowledge.known,
            "exact": not (evidence.knowledge.rating_error or evidence.knowledge.wrong),
            "threshold": None if limit is None else float(limit.share),
            "baseline": 1 / max(evidence.after.records, 1),
            "before": rate_of(evidence.before.expected_top1),
            "after": None if unknown else rate_of(evidence.after.expected_top1),
            "profile": None
            if result.profile_disclosure
            else rate_of(evidence.after.class_contents_known),
            "targets": evidence.before.targets,
            "people": people,
            "tried": tried_on(evidence, people),
        }
        for evidence in result.evidence
    ]


def worst_off(
    result: AuditResult, release: Release, original: Ratings, targets: int
) -> dict[str, Any] | None:
    """Return the class linkage of the most exposed tenth; None if not measured."""
    if release.private is None:
        return None
    tried = [each for each in result.evidence if isinstance(each.after, LikelihoodResult)]
    best = max(tried, key=lambda each: each.after.expected_top1.rate)
    request = Request(original, targets, result.seed, None)
    with silence():
        credits_ = Likelihood().each_draw(release, best.knowledge, request, _DRAWS)
    return {
        "knowledge": _knowledge_text(best),
        "draws": _DRAWS,
        "people": credits_.shape[1],
        "mean": float(credits_.mean()),
        "worst": worst_tenth(credits_),
        "meaning": "Class linkage of all people and of the most exposed tenth, over random draws "
        "of known ratings. Some draws select the tenth, others measure it.",
    }


def tried_on(evidence: Evidence, people: int) -> str:
    """Say how many people have enough ratings; empty where all have."""
    other, known = evidence.before.ineligible, counted(evidence.knowledge.known, "rating")
    if not other:
        return ""
    able = people - other
    return (
        f"{able:,} of {counted(people, 'person', 'people')} {'has' if able == 1 else 'have'} "
        f"{known} or more on these items; the others are ineligible"
    )


def rate_of(rate: Rate | None) -> dict[str, float] | None:
    """Return a rate as plain values; None without targets."""
    return None if rate is None or rate.rate != rate.rate else rate.to_dict()


def tracker_row(result: AuditResult) -> dict[str, Any] | None:
    """Return the share of people that COUNT queries single out."""
    if result.tracker is None:
        return None
    return {
        "before": rate_of(result.tracker.before.at_risk),
        "after": rate_of(result.tracker.after.at_risk),
        "meaning": "Share of people that COUNT queries single out, without access to the data. "
        "Above 0 means risk for a query service; a release with k of 2 or more must reach 0.",
    }


def given_away(disclosure: ProfileDisclosure | None) -> dict[str, Any] | None:
    """Return what averaged profiles disclose beyond re-identification; no model bounds it."""
    if disclosure is None:
        return None
    group = disclosure.group
    figures = {
        **{each.key: each for each in disclosure.attribute.found},
        "class_linkage": GROUP_FOUND.of(None if group is None else group.share),
        "member_rated": _figure_of(disclosure.links, "confidence"),
        "everybody_rated": _figure_of(disclosure.links, "all_members"),
        "auc": _figure_of(disclosure.padding, "auc"),
    }
    rows = [row_of(each) | {"name": name} for name, each in figures.items() if each is not None]
    return {"rows": [row for row in rows if row["value"] is not None], "text": str(disclosure)}


def row_of(figure: Figure) -> dict[str, Any]:
    """Return a figure as a report shows it."""
    names = ("title", "unit", "meaning")
    return {"name": figure.key, "value": figure.mean, **{n: getattr(figure, n) for n in names}}


def _figure_of(result: Shown | None, key: str) -> Figure | None:
    found = () if result is None else result.found
    return next((figure for figure in found if figure.key == key), None)


def _knew(evidence: Evidence) -> str:
    """Describe the known ratings of a person, without the attack's tolerance."""
    knowledge = evidence.knowledge
    text = counted(knowledge.known, "rating")
    if not knowledge.rating_error:
        text += ", exactly"
    else:
        text += f", within ±{knowledge.rating_error:g}"
    if knowledge.wrong:
        text += f", {knowledge.wrong} of them wrong"
    return text


def _knowledge_text(evidence: Evidence) -> str:
    knowledge, text = evidence.knowledge, _knew(evidence)
    allowed = evidence.after.config.get("tolerance")
    if allowed is not None and allowed > knowledge.rating_error:  # a mean is nobody's rating
        text += f" (tolerance ±{allowed:g})"
    return text
