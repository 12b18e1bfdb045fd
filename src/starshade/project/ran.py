"""What a run came to, and what its owner is told."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from starshade.audit.dossier.remains import remains_section
from starshade.audit.result import AuditResult
from starshade.figure import Shown
from starshade.plain import counted
from starshade.project.file import FOLDER, NAME
from starshade.project.write import left_out
from starshade.ratings.table import Ratings
from starshade.release.table import Release


@dataclass(frozen=True)
class Ran(Shown):
    """What a run came to.

    `again`: nothing was new since the run before, so nothing was done. `to`: where the release
    lies; of a dry run, where it would go. `facts`: what became of the people and of their ratings.
    `published`: it is out, also where it no longer passes.
    """

    name: str
    passed: bool | None
    headline: str
    to: str
    again: bool = False
    dry: bool = False
    plan: str = ""
    reasons: tuple[str, ...] = ()
    facts: str = ""
    audit: AuditResult | None = None
    published: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return ``release, pass, verdict, out, again, dry_run, reasons, facts``."""
        return {
            "release": self.name,
            "pass": self.passed,
            "verdict": self.headline,
            "out": self.to,
            "again": self.again,
            "dry_run": self.dry,
            "reasons": list(self.reasons),
            "facts": self.facts,
        }

    def __str__(self) -> str:
        """Say it in a paragraph, the reasons of a no left out."""
        return f"{self.plan} Nothing was made." if self.dry else " ".join(self._told())

    def _told(self) -> Iterator[str]:
        yield f"{self.headline}."
        if self.again:
            yield "Nothing is new since the last run:"
        lies = "is published as" if self.published else "is not published, and stays at"
        yield f"{self.name} {lies} {self.to}."
        if self.published and not self.passed:
            yield "It is out, and would not be published as [audit] is now."
        if self.audit is None:
            return
        receipt = f", its receipt {FOLDER}/receipts/{self.name}.json" if self.published else ""
        yield f"A report on it is {FOLDER}/reports/{self.name}.html{receipt}."
        if self.passed and not self.audit.answered:
            yield _open(self.audit)
        yield self.facts
        if self.passed:
            yield self.audit.about


def _open(audit: AuditResult) -> str:
    """Say what nobody judged, and where to have it judged."""
    measured = (each for question in audit.questions for each in question.measured)
    unset = [each.name for each in measured if each.limit is None]
    lacking = f"No limit is set on {', '.join(unset)}" if unset else "Not everything was measured"
    return (
        f'{lacking}: under [audit] in {NAME} limit sets one, and judge = "all" publishes only what '
        "is answered in full."
    )


def facts_of(ratings: Ratings, release: Release, audit: AuditResult) -> str:
    """Say who is left out, which records are nobody's, and what remains of the ratings."""
    return " ".join(_facts(ratings, release, audit))


def _facts(ratings: Ratings, release: Release, audit: AuditResult) -> Iterator[str]:
    exact = release.exact
    assert exact is not None
    if exact.users_without_rating:
        yield left_out(exact.users_without_rating, ratings.n_users)
    if exact.users_deleted:
        many = counted(exact.users_deleted, "person", "people")
        yield f"{many} could not be hidden so, and are left out too."
    if exact.invented_records:
        yield (
            f"{exact.invented_records:,} of its {counted(release.n_records, 'record')} are "
            "nobody's: they fill up groups in which too few people are left."
        )
    remains = remains_section(audit.utility)
    if remains is not None:
        yield remains["text"]
