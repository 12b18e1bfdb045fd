"""Advice on a check that is not within its threshold, or was not measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from starshade.audit.checks.check import Check
from starshade.audit.checks.policy import SUPPORTS, larger_k
from starshade.naming import aside, named
from starshade.release import MEANS
from starshade.release.table import Release
from starshade.setting import count_of


class Audited(Protocol):
    """The parts of an `AuditResult` that advice needs."""

    @property
    def decisive(self) -> Sequence[Check]:
        """The checks that fail or were not measured."""

    @property
    def everyone_tried(self) -> bool:
        """Whether every person was a target."""


def advice_on(audit: Audited, release: Release) -> list[str]:
    """Return the actions that would change checks, one sentence per action.

    Where there is none, it says to accept the risk.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from starshade.audit.checks.check import unmeasured
    >>> check = unmeasured("membership", "no key file", None, advice="Give the key file.")
    >>> advice_on(SimpleNamespace(decisive=[check], everyone_tried=False), None)
    ['Membership, TPR at 1 % FPR: give the key file.']
    """
    titles: dict[str, list[str]] = {}
    for check in audit.decisive:
        action = _action(check, release, everyone=audit.everyone_tried)
        titles.setdefault(action[:1].lower() + action[1:], []).append(check.title)
    return [f"{'; '.join(named)}: {action}" for action, named in titles.items()]


def _action(check: Check, release: Release, *, everyone: bool) -> str:
    if check.status == "not measured":
        why = check.undecided or check.text.removeprefix("Not measured. ")
        return str(check.advice) or (
            f"{why.rstrip('.')}. Accept the risk (starshade accept), or use a policy of your own "
            "without this check."
        )
    if check.name == "composition":
        return "see the text of this check."
    if check.advice:
        return str(check.advice)
    wide = check.status == "not demonstrated"
    if wide and check.name == "singling-out":  # its interval is of releases
        return f"more shadow releases{aside('shadows')} narrow the interval; or {_less(release)}"
    if wide and not everyone:
        return f"more targets{aside('targets')} narrow the interval; or {_less(release)}"
    return _less(release)


def _less(release: Release) -> str:
    """Return how to make a release that discloses less."""
    if release.manifest.method != "predictive":
        return f"make the release with {named('method', 'predictive')}."
    if release.manifest.profile in MEANS:  # of ratings, at any k
        return f"make the release with {named('profile', 'pooled')}."
    larger = larger_k(release.manifest.claimed_k or 1)
    fewer = _larger_support(release)
    ways = [f"make the release with {named('k', larger)}"] * (larger is not None)
    ways += [f"leave out rare items: {named('item_support', fewer)}"] * bool(fewer)
    if not ways:
        return "a search tries no larger k or item support; accept the risk (starshade accept)."
    return f"{', or '.join(ways)}{', or both' * (len(ways) > 1)}."


def _larger_support(release: Release) -> str:
    """Return the next item support that a search would try; empty: there is none."""
    used, people = release.manifest.config.get("item_support"), release.n_records
    least = count_of(used, people)
    return next((each for each in SUPPORTS if each and count_of(each, people) > least), "")
