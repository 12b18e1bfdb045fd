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

    `again`: nothing was new since the run before, so nothing was done. `to`: where the release
    lies; of a dry run, where it would go. `facts`: what became of the people and of their ratings.
    `published`: it is out, also where it no longer passes. `checks`: as of the audit.
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
    checks: tuple[dict[str, Any], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return ``release, pass, verdict, checks, out, again, dry_run, reasons, facts``."""
        return {
            "release": self.name,
            "pass": self.passed,
            "verdict": self.headline,
            "checks": [dict(check) for check in self.checks],
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


def ran_of(last: Done) -> Ran:
    """Return what a run came to that ended as `last` says."""
    return Ran(
        last.name,
        last.passed,
        last.headline,
        last.folder,
        reasons=last.reasons,
        published=last.out,
        checks=last.checks,
    )


def again(keep: Keep, last: Done) -> Ran:
    """Return what the last run came to: nothing has changed since."""
    if last.passed:
        keep.clear()  # a kill may have left its receipt there
    return replace(ran_of(last), again=True)
