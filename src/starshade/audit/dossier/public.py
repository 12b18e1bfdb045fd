"""The public edition: a function of the release folder, of the policy, and of what held.

Two such editions can be subtracted, and one from the release: nothing is left, as all that is said
can be computed from the folder, but for thresholds, the status of each check and condition, and the
risks that the owner accepted. Nothing that was measured on the ratings comes this far: no argument
could carry it.
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
from starshade.audit.dossier.losses import disclosure_rows
from starshade.audit.dossier.release import claim_rows, files_of, method_section, versions_of
from starshade.audit.dossier.verdict import (
    MEANINGS,
    PROXIMITY_CAVEAT,
    hidden,
    readers_advice,
    shown_of,
    stated,
    within,
)
from starshade.audit.evidence import MOST_QUERIES
from starshade.audit.findings import (
    AUDIENCE,
    NO_NAME,
    NO_RARE_VALUE,
    models_of,
    records_differ,
    title_of,
)
from starshade.audit.result import AuditResult
from starshade.audit.to_know import FEW, of_release
from starshade.errors import InternalError
from starshade.plain import counted, percent
from starshade.ratings.shape import scale_text
from starshade.release.band import in_words
from starshade.release.figures import private_figures
from starshade.release.readable.describe import shares_of_cells
from starshade.release.readable.examples import example_classes
from starshade.release.show import sizes_shown
from starshade.release.table import Release
from starshade.release.verify.claims import PROXIMITY_MODELS
from starshade.utility.losses import DisclosureShares, class_sizes
from starshade.utility.rating_histogram import released_shares

_BARS = 8  # of class sizes, as it is two pages in all
_GRID = 5  # percent; numbers that the owner set are stated on this grid


@dataclass(frozen=True)
class PublicCheck:
    """What a public report says of a check: no figure, as it was measured on the ratings."""

    name: str
    threshold: str
    source: str
    status: Status

    @classmethod
    def of(cls, check: Check, usual: Threshold | None) -> PublicCheck:
        """Keep of a check what may be published; `usual`: the threshold that everybody knows."""
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
    """What a public report says of an accepted risk: the owner's words, a share on the grid."""

    risk: str
    up_to: str
    policy: str
    reason: str
    by: str
    until: str

    @classmethod
    def of(cls, accepted: Mapping[str, str]) -> Accepted:
        """Keep of a decision what may be published."""
        texts = {each.name: str(accepted[each.name]) for each in fields(cls)}
        if accepted["up_to"].endswith("%"):
            share = share_of(accepted["risk"], accepted["up_to"])
            texts["up_to"] = _of_owner(accepted["risk"], Threshold(share))
        return cls(**texts)


@dataclass(frozen=True)
class Judgement:
    """What a public report knows of an audit.

    `policy`: name and version. `answers`: of each other condition, whether it holds. `alone`:
    whether nothing fails that is of this release alone. `caveats`: names of what the audit did not
    do in full. `accepted`: risks that the owner accepted.
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
        """Keep of an audit, and of what was accepted, what may be published."""
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

    def answer(self, name: str) -> bool | None:
        """Return whether a condition holds; None: it was not asked about."""
        answers = [passed for condition, passed in self.answers if condition == name]
        return all(answers) if answers else None

    def status(self, name: str) -> Status:
        """Return how a check stands."""
        return next(each.status for each in self.checks if each.name == name)


def _caveats(result: AuditResult) -> Iterator[str]:
    if result.tracker is not None and not result.tracker.after.complete:
        yield "stopped"
    if any(each.after.targets < FEW for each in result.evidence):
        yield "few"


def _of_owner(name: str, limit: Threshold) -> str:
    """Write a number that the owner set: a class size as it is, for anybody can count it."""
    return limit.text(name) if name == "class-size" else f"{_on_grid(float(limit.share))}%"


def _on_grid(limit: float) -> int:
    """Round a limit up; what is a step but for the dust of floating point is one."""
    return _GRID * max(ceil(100 * limit / _GRID - 1e-9), int(limit > 0))


def public_edition(release: Release, folder: Path, judgement: Judgement) -> dict[str, Any]:
    """Return what everybody may read on a release that was read without its receipt."""
    if release.private is not None:
        raise InternalError("a public edition of a release with its private facts")
    return {
        "audience": "public",
        "verdict": _verdict(release, judgement),
        "checks": [_row(each) for each in judgement.checks],
        "accepted": [asdict(each) for each in judgement.accepted],
        "findings": _findings(release, judgement),
        "warnings": [*of_release(release), *(_CAVEATS[name] for name in judgement.caveats)],
        "claims": claim_rows(
            _claims(release, judgement), beside=bool(release.manifest.quasi_identifiers)
        ),
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
        "useful": _useful(release),
        "left_out": _left_out(release),
    }


def _useful(release: Release) -> str:
    """Say what its cells are good for, as far as its files show it."""
    shares = shares_of_cells(release)
    listed = (f"{_KINDS[n]} in {percent(share)}" for n, share in shares.items() if n in _KINDS)
    return f"Utility: its cells say {', '.join(listed)}."


def _left_out(release: Release) -> str:
    """Say which items are left out, as far as its files show it."""
    dropped = in_words(release.manifest.rare_items_dropped)
    return (
        f"Items: {release.classes.n_items:,} released; left out as too few rated them: {dropped}."
    )


def _proximate(release: Release) -> bool:
    claims = release.manifest.claims
    return records_differ(release) and any(claim.model in PROXIMITY_MODELS for claim in claims)


def _row(check: PublicCheck) -> dict[str, Any]:
    return {
        "name": check.name,
        "title": CHECKED[check.name].title,
        "threshold": check.threshold,
        "source": check.source,
        "status": check.status,
        "mark": MARKS[check.status],
    }


def _verdict(release: Release, judgement: Judgement) -> dict[str, Any]:
    publishable = judgement.publishable
    paragraph = [f"{MEANINGS[judgement.verdict]} (policy {judgement.policy})."]
    for status, what in (("fail", "Not within the threshold"), ("not measured", "Not measured")):
        names = [CHECKED[each.name].title for each in judgement.checks if each.status == status]
        paragraph += [f"{what}: {'; '.join(names)}."] if names else []
    paragraph += [row["text"] for row in _findings(release, judgement) if not row["passed"]]
    if judgement.alone:
        paragraph += hidden(release, proximate=_proximate(release))
    if judgement.status("re-identification") == "pass":
        paragraph.append(_attack(release, judgement))
    if publishable:
        shares = DisclosureShares().measure(release).figures
        paragraph += shown_of(shares, proximate=_proximate(release), fine=release.scale.fine)
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
        "Attacks were tried on it, with the knowledge of a few ratings of a person, right or "
        f"nearly so: none re-identifies a target{mean} more often than the threshold of {limit}."
    )


#: caveat → what it says
_CAVEATS = {
    "stopped": "The attack on a query interface was stopped after "
    f"{counted(MOST_QUERIES, 'query', 'queries')}, the most that an audit asks: not every query "
    "that could single out a person was tried.",
    "few": f"Some attacks were tried on fewer than {FEW} people: their intervals are wide.",
}
#: condition → what yes says, what no says
_SENTENCES = {
    "tracker": (
        "Behind a query interface COUNT queries single out no person.",
        "Behind a query interface COUNT queries single people out unless they are refused.",
    ),
    "audience": AUDIENCE,
    "identifying": (NO_NAME, "A personal attribute that it tells is as good as a name."),
    "rare-values": (
        NO_RARE_VALUE,
        "A personal attribute that it tells has values that fewer than k people have.",
    ),
    "profiles": ("", "All records have the same profile: the release says the same of everyone."),
    "settings": ("", "release.json says another k of its making than it claims."),
    "scale": ("", "release.json says another scale than the ratings have."),
}


def _findings(release: Release, judgement: Judgement) -> list[dict[str, Any]]:
    models = {
        title_of(claim): (
            f"The check of {claim.model}, which shares no code with the method, agrees.",
            f"The check of {claim.model} does not find what is claimed.",
        )
        for claim in models_of(release)
    }
    sentences = {
        "claims": (
            "Its claims were counted again on the files and hold.",
            "Not everything that it claims was found again on the files, or it claims nothing.",
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
        "meaning": f"How many records are equal{release.manifest.alike_by}, as shares of all. The "
        "more are equal, the less can one of them be told from the others.",
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
        "meaning": "How often each rating occurs among the cells that have one; a cell that leaves "
        "several open counts for each in equal parts.",
    }


#: what cells say, briefly
_KINDS = {
    "one_rating": "one rating",
    "several_ratings": "one of several ratings",
    "perhaps_rated": "ratings, or none",
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
        for each in private_figures(release.manifest)
    ]


def _open(release: Release, judgement: Judgement) -> Iterator[str]:
    manifest, k = release.manifest, release.manifest.claimed_k
    if _proximate(release):
        yield PROXIMITY_CAVEAT
    elif manifest.layout == "profile":
        yield "No privacy model bounds how often a class is found, nor what its profile says."
    if k and judgement.alone and not records_differ(release):
        beside = judgement.status("composition") != "not applicable"
        yield within(k, manifest.alike_by, alone=beside)
    else:
        yield "Other attacks than those tried may find more."
    yield (
        "A second release of the same people is another matter: two can be intersected, and the "
        "joint classes may be smaller than k."
    )
    yield (
        "How often attacks succeed, and what was lost, stands in the owner's edition alone: such "
        "figures are of the ratings themselves."
    )
