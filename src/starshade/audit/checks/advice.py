"""What to do about a check that is not within its threshold, or was not measured."""

from __future__ import annotations

from starshade.audit.checks.check import Check
from starshade.audit.checks.policy import KS, SUPPORTS, Policy
from starshade.naming import aside, named
from starshade.release.table import Release


def advice_on(check: Check, release: Release, policy: Policy) -> str:
    """Say in a sentence what would change a check; where nothing can, to accept the risk.

    Examples
    --------
    >>> from starshade.audit.checks.check import unmeasured
    >>> from starshade.audit.checks.policy import read_policy
    >>> check = unmeasured("membership", "no key file", None, advice="Give the key file.")
    >>> advice_on(check, None, read_policy("partner"))  # doctest: +SKIP
    'Membership, TPR at 1 % FPR: Give the key file.'
    """
    return f"{check.title}: {_action(check, release, policy)}"


def _action(check: Check, release: Release, policy: Policy) -> str:
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


def _less(release: Release) -> str:
    """Say how to make a release that discloses less."""
    k = release.manifest.claimed_k or 1
    larger = next((each for each in KS if each > k), None)
    support = str(SUPPORTS[-1])
    if release.manifest.method != "predictive":
        return f"make the release with {named('method', 'predictive')}."
    if larger is None:
        return f"leave out rare items: {named('item_support', support)}."
    return (
        f"make the release with {named('k', larger)}, or leave out rare items: "
        f"{named('item_support', support)}."
    )
