"""The public report: a function of the release folder, the policy and the status of its checks.

Everything in it can be computed from the folder, but for thresholds, the status of each check and
condition, and the risks that the owner accepted. So comparing two such reports, or one with the
release, discloses nothing more. No argument could carry a figure measured on the ratings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np

from starshade.audit.checks.check import MARKS, Check, Status, Verdict
from starshade.audit.checks.policy import CHECKED, POLICIES, Threshold, read_policy, share_of
from starshade.audit.dossier.data import Bins
from starshade.audit.dossier.first import NEAR, limits_of
from starshade.audit.dossier.left_out import left_out_section
from starshade.audit.dossier.losses import disclosure_rows
from starshade.audit.dossier.release import (
    claim_rows,
    files_of,
    method_section,
    uses_of,
    versions_of,
)
from starshade.audit.dossier.verdict import (
    MEANINGS,
    hidden,
    readers_advice,
    shown_of,
    stated,
)
from starshade.audit.evidence import MOST_QUERIES
from starshade.audit.findings import (
    AUDIENCE,
    NO_NAME,
    NO_RARE_VALUE,
    models_of,
    proximate,
    records_differ,
    title_of,
)
from starshade.audit.result import AuditResult
from starshade.audit.shares import MORE, PROXIMITY_CAVEAT, within
from starshade.audit.to_know import FEW, of_release
from starshade.errors import InternalError
from starshade.plain import counted
from starshade.ratings.shape import scale_text
from starshade.release.figures import LEFT_OUT, private_figures
from starshade.release.readable.describe import shares_of_cells
from starshade.release.readable.examples import example_classes
from starshade.release.show import sizes_shown
from starshade.release.table import Release
from starshade.utility.losses import DisclosureShares, class_sizes
from starshade.utility.rating_histogram import released_shares

_BARS = 8  # of class sizes, as it is two pages in all
_GRID = 5  # percent; numbers that the owner set are stated on this grid


@dataclass(frozen=True)
class PublicCheck:
    """A check in a public report: without its figure, which was measured on the ratings."""

    name: str
    threshold: str
    source: str
    status: Status

    @classmethod
    def of(cls, check: Check, usual: Threshold | None) -> PublicCheck:
        """Reduce a check to what may be published; `usual`: the published threshold."""
        limit, status = check.threshold, check.status
        if limit is None:
            text, source = "–", ""
        elif usual is not None and limit.share == usual.share:
            text, source = check.threshold_text, limit.source
        else:
            text, source = _of_owner(check.name, limit), "set by the owner"
        return cls(check.name, text, source, "fail" if check.fails else status)


@dataclass(frozen=True)
class Accepted:
    """An accepted risk in a public report: the owner's words, a rounded share."""

    risk: str
    up_to: str
    policy: str
    reason: str
    by: str
    until: str

    @classmethod
    def of(cls, accepted: Mapping[str, str]) -> Accepted:
        """Reduce a decision to what may be published."""
        texts = {each.name: str(accepted[each.name]) for each in fields(cls)}
        if accepted["up_to"].endswith("%"):
            share = share_of(accepted["risk"], accepted["up_to"])
            texts["up_to"] = _of_owner(accepted["risk"], Threshold(share))
        return cls(**texts)


@dataclass(frozen=True)
class Judgement:
    """An audit as a public report knows it.

    `policy`: name and version. `answers`: of each other condition, whether it holds. `alone`:
    whether nothing but composition fails. `caveats`: names of limitations of the audit.
    `accepted`: risks that the owner accepted.
    """

    verdict: Verdict
    word: str
    policy: str
    checks: tuple[PublicCheck, ...]
    answers: tuple[tuple[str, bool], ...]
    alone: bool
    caveats: tuple[str, ...] = ()
    accepted: tuple[Accepted, ...] = ()

    @classmethod
    def of(cls, result: AuditResult, accepted: Sequence[Mapping[str, str]] = ()) -> Judgement:
        """Reduce an audit and accepted risks to what may be published."""
        policy = result.policy
        usual = read_policy(policy.name).thresholds if policy.name in POLICIES else {}
        return cls(
            verdict=result.verdict,
            word=result.word,
            policy=stated(policy),
            checks=tuple(
                PublicCheck.of(result.check(name), usual.get(name))
                for name in dict.fromkeys(each.name for each in result.checks)
            ),
            answers=tuple((finding.name, finding.passed) for finding in result.findings),
            alone=result.passed_alone,
            caveats=tuple(_caveats(result)),
            accepted=tuple(map(Accepted.of, accepted)),
        )

    @property
    def passed(self) -> bool:
        """Whether the verdict is PASS."""
        return self.verdict == "PASS"

    @property
    def publishable(self) -> str:
        """By what the release may be published: "policy", "acceptance"; empty: it may not."""
        if self.passed:
            return "policy"
        covered = {each.risk for each in self.accepted}
        open_ = {each.name for each in self.checks if each.status in ("fail", "not measured")}
        holds = all(passed for _, passed in self.answers)
        return "acceptance" if holds and open_ and open_ <= covered else ""

    @property
    def measured(self) -> bool:
        """Whether an attack measured any risk, as far as the statuses show it."""
        return any(
            each.status not in ("not measured", "not applicable") and each.name != "class-size"
            for each in self.checks
        )

    def answer(self, name: str) -> bool | None:
        """Return whether a condition holds; None: it does not apply."""
        answers = [passed for condition, passed in self.answers if condition == name]
        return all(answers) if answers else None

    def status(self, name: str) -> Status:
        """Return the status of a check."""
        return next(each.status for each in self.checks if each.name == name)


def _caveats(result: AuditResult) -> Iterator[str]:
    if result.tracker is not None and not result.tracker.after.complete:
        yield "stopped"
    if any(each.after.targets < FEW for each in result.evidence):
        yield "few"


def _of_owner(name: str, limit: Threshold) -> str:
    """Write a number that the owner set: a class size exactly, as anyone can count it."""
    return limit.text(name) if name == "class-size" else f"{_on_grid(float(limit.share))}%"


def _on_grid(limit: float) -> int:
    """Round a threshold up to the grid, but for floating-point error."""
    return _GRID * max(ceil(100 * limit / _GRID - 1e-9), int(limit > 0))


def public_edition(release: Release, folder: Path, judgement: Judgement) -> dict[str, Any]:
    """Return the public report on a release that was read without its key file."""
    if release.private is not None:
        raise InternalError("a public report on a release with its private facts")
    return {
        "audience": "public",
        "verdict": _verdict(release, judgement),
        "checks": [_row(each, near=proximate(release)) for each in judgement.checks],
        "accepted": [asdict(each) for each in judgement.accepted],
        "notices": limits_of(release, measured=judgement.measured),
        "findings": _findings(release, judgement),
        "warnings": [*of_release(release), *(_CAVEATS[name] for name in judgement.caveats)],
        "claims": claim_rows(
            _claims(release, judgement), beside=bool(release.manifest.quasi_identifiers)
        ),
        "uses": uses_of(release),
        "omitted": left_out_section(release.manifest),
        "holds": _holds(release) if judgement.publishable else None,
        "open": list(_open(release, judgement)),
        "method": method_section(release),
        "files": files_of(folder, release),
        "versions": versions_of(release),
    }


def _holds(release: Release) -> dict[str, Any]:
    shares, scale = DisclosureShares().measure(release).figures, release.scale
    return {
        "scale": scale_text(scale.minimum, scale.maximum, scale.step),
        "attributes": list(release.manifest.attribute_columns),
        "classes": _classes(release),
        "cells": _cells(release),
        "examples": example_classes(release),
        "disclosure": {"rows": disclosure_rows(shares, release)},
        "inside": _inside(release),
    }


def _row(check: PublicCheck, *, near: bool) -> dict[str, Any]:
    near = near and check.name == "class-size"
    return {
        "name": check.name,
        "title": CHECKED[check.name].title + NEAR * near,
        "threshold": check.threshold,
        "source": check.source,
        "status": check.status,
        "mark": MARKS[check.status],
    }


def _verdict(release: Release, judgement: Judgement) -> dict[str, Any]:
    publishable = judgement.publishable
    paragraph = [f"{MEANINGS[judgement.verdict]} (policy {judgement.policy})."]
    for status, what in (("fail", "FAIL"), ("not measured", "NOT MEASURED")):
        names = [CHECKED[each.name].title for each in judgement.checks if each.status == status]
        paragraph += [f"{what}: {'; '.join(names)}."] if names else []
    paragraph += [row["text"] for row in _findings(release, judgement) if not row["passed"]]
    if judgement.alone:
        paragraph += hidden(release, proximate=proximate(release))
    if judgement.status("re-identification") == "pass":
        paragraph.append(_attack(release, judgement))
    if publishable:
        shares = DisclosureShares().measure(release).figures
        paragraph += shown_of(shares, proximate=proximate(release), fine=release.scale.fine)
    return {
        "verdict": judgement.verdict,
        "passed": judgement.passed,
        "headline": f"{judgement.word}: policy {judgement.policy}",
        "word": judgement.word,
        "policy": judgement.policy,
        "publishable": publishable,
        "paragraph": " ".join(paragraph),
        "advice": readers_advice(publishable),
    }


def _attack(release: Release, judgement: Judgement) -> str:
    mean = " on average" * records_differ(release)
    limit = next(each for each in judgement.checks if each.name == "re-identification").threshold
    return (
        "No tested attack with a few known ratings, exact or approximate, re-identifies a "
        f"target{mean} more often than the threshold of {limit}."
    )


#: caveat → what it says
_CAVEATS = {
    "stopped": "The attack on a query interface stopped after "
    f"{counted(MOST_QUERIES, 'query', 'queries')}, an audit's maximum: not every query that could "
    "single out a person was tested.",
    "few": f"Some attacks were tested on fewer than {FEW} people: their intervals are wide.",
}
#: condition → what yes says, what no says
_SENTENCES = {
    "tracker": (
        "Query interface: COUNT queries single out no person.",
        "Query interface: COUNT queries single people out unless they are refused.",
    ),
    "audience": AUDIENCE,
    "identifying": (NO_NAME, "A released attribute identifies people."),
    "rare-values": (
        NO_RARE_VALUE,
        "A released attribute has values that fewer than k people have.",
    ),
    "profiles": ("", "All records have the same profile: the release does not distinguish people."),
    "settings": ("", "release.json states another k in its settings than in its claims."),
    "scale": ("", "release.json states another scale than the ratings have."),
}


def _findings(release: Release, judgement: Judgement) -> list[dict[str, Any]]:
    models = {
        title_of(claim): (
            f"The check of {claim.model}, which shares no code with the method, agrees.",
            f"The check of {claim.model} does not confirm the claim.",
        )
        for claim in models_of(release)
    }
    sentences = {
        "claims": (
            "All claims were verified on the files.",
            "Not all claims hold on the files, or there are none.",
        ),
        **models,
        **_SENTENCES,
    }
    return [
        {"name": name, "passed": answer, "text": texts[not answer]}
        for name, texts in sentences.items()
        if (answer := judgement.answer(name)) is not None
    ]


def _claims(release: Release, judgement: Judgement) -> Iterator[dict[str, Any]]:
    """Return the claims as verified when the files were written, and whether they hold now."""
    for claim in release.manifest.claims:
        answers = (judgement.answer("claims"), judgement.answer(title_of(claim)))
        yield {**claim.model_dump(), "holds": False not in answers}


def _classes(release: Release) -> dict[str, Any]:
    sizes = class_sizes(release)
    return {
        "count": len(sizes),
        "smallest": int(sizes[-1]) if len(sizes) else 0,
        "median": float(np.median(sizes)) if len(sizes) else 0.0,
        "largest": int(sizes[0]) if len(sizes) else 0,
        "bins": [{"label": label, "share": share} for label, share in sizes_shown(sizes, _BARS)],
        "meaning": f"Share of records. Records of a class are equal{release.manifest.alike_by}, so "
        "none of them can be distinguished.",
    }


def _cells(release: Release) -> dict[str, Any]:
    shares = shares_of_cells(release)
    return {
        "kinds": [
            {"name": name, "label": label, "share": shares[name]}
            for name, label in _KINDS.items()
            if name in shares
        ],
        "histogram": _histogram(release),
        "meaning": "Among cells with a rating. A cell with several possible ratings counts equally "
        "for each.",
    }


#: kinds of cells
_KINDS = {
    "one_rating": "one rating",
    "several_ratings": "several possible ratings",
    "perhaps_rated": "ambiguous (rated or not)",
    "no_rating": "no rating",
}


def _histogram(release: Release) -> list[dict[str, Any]]:
    """Return the share of each rating; empty on a scale without steps."""
    if release.scale.step is None:
        return []
    bins, shares = Bins.of(release.scale), released_shares(release)[1:]
    held = np.bincount(bins.place(release.scale.levels), shares, minlength=len(bins.ends))
    rows = zip(bins.labels, (held / (held.sum() or 1.0)).tolist(), strict=True)
    return [{"label": label, "share": share} for label, share in rows]


def _inside(release: Release) -> list[dict[str, Any]]:
    return [
        {"title": each.title, "value": each.value, "unit": "", "meaning": each.meaning}
        for each in private_figures(release.manifest)[len(LEFT_OUT) :]
    ]


def _open(release: Release, judgement: Judgement) -> Iterator[str]:
    manifest, k = release.manifest, release.manifest.claimed_k
    if proximate(release):
        yield PROXIMITY_CAVEAT
    elif manifest.layout == "profile":
        yield "No privacy model bounds class linkage, nor what a profile discloses."
    if k and judgement.alone and not records_differ(release):
        composed = judgement.status("composition") != "not applicable"
        yield within(k, manifest.alike_by, alone=composed)
    else:
        yield MORE
    yield (
        "Composition: two releases of the same people can be intersected; the joint classes may be "
        "smaller than k."
    )
    yield "Measured risks and losses are in the internal report only: they depend on the ratings."
