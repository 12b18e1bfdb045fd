"""What to do about a check that is not within its threshold, or was not measured."""

from __future__ import annotations

from collections.abc import Sequence

from starshade.audit.checks.check import Check
from starshade.audit.checks.policy import KS, SUPPORTS
from starshade.naming import aside, named
from starshade.release.table import Release


def advice_on(checks: Sequence[Check], release: Release) -> list[str]:
    """Say what would change checks, a sentence for those that the same would change.

    Where nothing can, it says to accept the risk.

    Examples
    --------
    >>> from starshade.audit.checks.check import unmeasured
    >>> check = unmeasured("membership", "no key file", None, advice="Give the key file.")
    >>> advice_on([check], None)
    ['Membership, TPR at 1 % FPR: give the key file.']
    """
    titles: dict[str, list[str]] = {}
    for check in checks:
        action = _action(check, release)
        titles.setdefault(action[:1].lower() + action[1:], []).append(check.title)
    return [f"{'; '.join(named)}: {action}" for action, named in titles.items()]


def _action(check: Check, release: Release) -> str:
    if check.status == "not measured":
        return str(check.advice) or (
            "nothing measures it on these data; accept the risk (starshade accept), or leave it "
            "out of the policy."
        )
    if check.name == "composition":
        return "the text says how releases stand together."
    if check.advice:
        return str(check.advice)
    if check.status == "not shown" and check.targets is not None and check.targets == check.of:
        return f"more shadow releases narrow the interval; or {_less(release)}"
    if check.status == "not shown":
        return f"more targets{aside('targets')} narrow the interval; or {_less(release)}"
    return _less(release)


def larger_k(k: int) -> int | None:
    """Return the k to try next, at least twice as large, for risks fall slowly with k.

    None: there is none that a search would try.

    Examples
    --------
    >>> larger_k(5), larger_k(50)
    (11, None)
    """
    larger = next((each for each in KS if each >= 2 * k), KS[-1])
    return larger if larger > k else None


def _less(release: Release) -> str:
    """Say how to make a release that discloses less."""
    larger = larger_k(release.manifest.claimed_k or 1)
    support = str(SUPPORTS[-1])
    if release.manifest.method != "predictive":
        return f"make the release with {named('method', 'predictive')}."
    if larger is None:
        return f"leave out rare items: {named('item_support', support)}."
    return (
        f"make the release with {named('k', larger)}, or leave out rare items: "
        f"{named('item_support', support)}."
    )
