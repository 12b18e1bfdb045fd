"""What a run came to, and what its owner is told."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from starshade.figure import Shown
from starshade.project.file import FOLDER, NAME
from starshade.project.state import Done, Keep

if TYPE_CHECKING:  # loading it takes longer than a run without changes
    from starshade.audit.result import AuditResult


@dataclass(frozen=True)
class Ran(Shown):
    """What a run came to.

    `unchanged`: nothing has changed since the last run, so nothing was done. `to`: where the
    release lies; of a dry run, where it would go. `notes`: who is left out, and how many records
    are dummy records. `published`: it is out, also where it no longer passes. `published_by`:
    "policy" or "acceptance"; empty: it may not be published. `checks`: as of the audit.
    `advice`: what would lead to publication.
    """

    name: str
    passed: bool | None
    headline: str
    to: str
    unchanged: bool = False
    dry: bool = False
    plan: str = ""
    reasons: tuple[str, ...] = ()
    advice: tuple[str, ...] = ()
    notes: str = ""
    audit: AuditResult | None = None
    published: bool = False
    checks: tuple[dict[str, Any], ...] = ()
    verdict: str = ""
    policy: str = ""
    published_by: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return what the run came to as plain values."""
        return {
            "release": self.name,
            "verdict": self.verdict or None,
            "pass": self.passed,
            "headline": self.headline,
            "policy": self.policy,
            "published_by": self.published_by or None,
            "checks": [dict(check) for check in self.checks],
            "out": self.to,
            "unchanged": self.unchanged,
            "dry_run": self.dry,
            "reasons": list(self.reasons),
            "advice": list(self.advice),
            "notes": self.notes,
        }

    @property
    def exit_code(self) -> int:
        """0 where the release may be published, or nothing was to be done; else by verdict."""
        if self.passed is None or self.published_by:
            return 0
        return 4 if self.verdict == "INCOMPLETE" else 1

    def __str__(self) -> str:
        """Say it in a paragraph, the reasons left out."""
        if self.dry:
            return f"{self.plan} Nothing was written."
        return f"{self.headline} (policy {self.policy}). {self.whereabouts}"

    @property
    def whereabouts(self) -> str:
        """Say where the release and its reports are, and what became of the people."""
        return " ".join(self._whereabouts())

    def _whereabouts(self) -> Iterator[str]:
        if self.unchanged:
            yield "Nothing has changed since the last run:"
        lies = "is published as" if self.published else "is not published; it stays at"
        by = f", by {_BY[self.published_by]}" if self.published_by and self.published else ""
        yield f"{self.name} {lies} {self.to}{by}."
        if self.published and not self.published_by:
            yield "It is published already, but the current [audit] settings would not allow it."
        if self.audit is None:
            return
        reports = f"{FOLDER}/reports/{self.name}"
        files = [
            f"Internal report: {reports}.html",
            f"people at risk: {reports}-at-risk.csv",
        ]
        if self.published_by:
            files.append(f"public report: {reports}-public.html")
        if self.published:
            files.append(f"private key file: {FOLDER}/receipts/{self.name}.json")
        yield f"{', '.join(files)}."
        if self.notes:
            yield self.notes


_BY = {"policy": "the policy", "acceptance": f"accepted risks ([[accept]] in {NAME})"}


def ran_of(last: Done) -> Ran:
    """Return what a run came to that ended as `last` says."""
    return Ran(
        last.name,
        last.passed,
        last.headline,
        last.folder,
        reasons=last.reasons,
        advice=last.advice,
        published=last.out,
        checks=last.checks,
        verdict=last.verdict,
        policy=last.policy,
        published_by=last.published_by,
    )


def again(keep: Keep, last: Done) -> Ran:
    """Return what the last run came to: nothing has changed since."""
    if last.out:
        keep.clear()  # a kill may have left its receipt there
    return replace(ran_of(last), unchanged=True)
