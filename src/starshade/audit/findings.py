"""The questions that a release must answer before it may leave (DESIGN §4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from starshade.audit.evidence import Evidence
from starshade.audit.result import Finding
from starshade.errors import ConfigError
from starshade.privacy.k_anonymity import KAnonymity
from starshade.release.table import Release

__all__ = [
    "claimed_k",
    "judge_attack",
    "judge_audience",
    "judge_claims",
    "judge_disclosed",
    "judge_k",
]

_SLACK = 1e-9  # credits are sums of 1/t


def claimed_k(claims: Sequence[dict[str, Any]]) -> int | None:
    """Return the largest k that is claimed, None without any."""
    asked = [int(c["parameters"]["k"]) for c in claims if "k" in c["parameters"]]
    return max(asked, default=None)


def judge_claims(claims: Sequence[dict[str, Any]]) -> Finding:
    """Ask whether every claim was found again on the files, and whether there is one."""
    if not claims:
        return Finding("claims", False, "The release claims no privacy model at all.")
    broken = [c["model"] for c in claims if not c["holds"]]
    if broken:
        return Finding("claims", False, f"Its claim of {', '.join(broken)} does not hold.")
    told = ", ".join(f"{c['model']} ({_told(c['parameters'])})" for c in claims)
    return Finding("claims", True, f"Its claim was counted again on the files and holds: {told}.")


def _told(parameters: dict[str, Any]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in parameters.items())


def judge_k(release: Release, k: int) -> Finding:
    """Ask the check, which shares no code with method and verifier, whether it agrees."""
    if k > release.n_records:
        text = f"It claims k = {k} and has {release.n_records:,} records."
        return Finding("k-anonymity", False, text)
    try:
        verdict = KAnonymity(k).check(release)
    except ConfigError as error:
        return Finding("k-anonymity", False, f"The check refuses it: {error.message}.")
    return Finding(
        "k-anonymity",
        verdict.satisfied,
        f"The smallest set of equal records has {verdict.smallest_group:,}; {k} are claimed.",
    )


def judge_attack(evidence: Sequence[Evidence], limit: float | None, grouped: bool) -> Finding:
    """Ask whether any attack, with any knowledge tried, finds more records than allowed.

    Parameters
    ----------
    evidence : sequence of Evidence
    limit : float or None
        None: the release claims no k, and no limit was given.
    grouped : bool
        Records of a class are equal. Then a target is credited 1/t with t tied records, a whole
        number of classes, so 1/k holds for each target and the mean needs no interval to be
        judged by; the interval is stated for the comparison with the ratings.
    """
    worst = max(evidence, key=lambda e: e.after.expected_top1.rate)
    found = (
        f"By {worst.after.attack}, who knows {worst.knowledge.known} cells of a person points at "
        f"the right record in {worst.after.expected_top1} of {worst.after.targets:,} cases, the "
        "most that any attack and knowledge tried came to"
    )
    if limit is None:
        return Finding("attack", False, f"{found}; without a claim of k there is no limit.")
    passed = worst.after.expected_top1.rate <= limit + _SLACK
    sort = "each target" if grouped and passed else "the mean over targets"
    return Finding("attack", passed, f"{found}; the limit is {limit:.2%}, for {sort}.")


def judge_audience(release: Release) -> Finding:
    """Ask whether it was made to be published."""
    if release.manifest.audience == "publish":
        return Finding("audience", True, "It was made to be published.")
    return Finding(
        "audience",
        False,
        "It holds exact personal attributes and may only stand behind a query service.",
    )


def judge_disclosed(share: float, limit: float | None) -> Finding | None:
    """Ask whether few enough users have a rating disclosed; None without a limit."""
    if limit is None:
        return None
    text = f"A rating is disclosed of {share:.2%} of the users; the limit is {limit:.2%}."
    return Finding("disclosed", share <= limit + _SLACK, text)
