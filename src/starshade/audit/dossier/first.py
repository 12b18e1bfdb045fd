"""Page 1 of the internal report: why the data need protection, utility and residual risk."""

from __future__ import annotations

from typing import Any

from starshade.attack.shadows.resampled import FEWEST
from starshade.audit.checks.check import MARKS, Check
from starshade.audit.checks.policy import CHECKED
from starshade.audit.findings import proximate
from starshade.audit.result import AuditResult
from starshade.plain import counted, percent
from starshade.release.table import Release
from starshade.utility.round import UtilityRound, error_text

#: follows the title of the class size where records are near each other, not equal
NEAR = ", near records"
_DOTS = 100


def first_page(result: AuditResult, release: Release) -> dict[str, Any]:
    """Return the content of page 1, apart from verdict, accepted risks and context.

    ``protection``: ``{known, before, after, tested}``, shares in [0, 1] or None, by the strongest
    attack with the policy's number of known ratings. ``risks``: a row for each check that applies
    and has a threshold, ``bar`` and ``limit`` as shares of the axis, None where there are none.
    ``near``: whether the records of a class are near each other, not equal.
    ``decision``: the checks that are not PASS, in a sentence. ``utility``: its two main figures.
    """
    near = proximate(release)
    return {
        "protection": _protection(result),
        "risks": [_row(each, near=near) for each in _worst(result)],
        "near": near,
        "decision": _decision(result),
        "utility": _utility(result.utility_round),
    }


def notices_of(result: AuditResult, release: Release) -> list[str]:
    """Return what limits the internal report, for its first line."""
    without = "No private key file was given: risks that need it and the utility are not measured."
    measured = any(each.rate is not None and each.size is None for each in result.checks)
    return [without] * (release.private is None) + limits_of(release, measured=measured)


def limits_of(release: Release, *, measured: bool) -> list[str]:
    """Return what limits either report; `measured`: whether an attack measured any risk."""
    few = f"The release has {counted(release.n_records, 'record')}: too few for reliable figures."
    nothing = "No risk was measured by an attack."
    return [few] * (release.n_records < FEWEST) + [nothing] * (not measured)


def dots(share: float | None) -> int | None:
    """Return how many of 100 dots stand for a share; only nothing has none, only all have 100.

    Examples
    --------
    >>> dots(0.002), dots(0.0), dots(0.188), dots(0.998), dots(1.0)
    (1, 0, 19, 99, 100)
    """
    if share is None:
        return None
    return min(max(round(_DOTS * share), int(share > 0)), _DOTS - int(share < 1))


def _protection(result: AuditResult) -> dict[str, Any]:
    checks = [each for each in result.checks if each.name == "re-identification"]
    worst = max(checks, key=lambda each: -1 if each.rate is None else each.rate.rate)
    before = None if worst.before is None else worst.before.rate
    after = None if worst.rate is None else worst.rate.rate
    return {
        "known": worst.known,
        "before": before,
        "after": after,
        "dots_before": dots(before),
        "dots_after": dots(after),
        "tested": worst.people_text,
    }


def _utility(found: UtilityRound) -> str:
    if found.recoverable_within_step is None:
        return "Not measured: the private key file is missing."
    text = (
        f"{percent(found.recoverable_within_step)} of ratings are recoverable within ±1 step "
        f"(item means: {percent(found.item_means_within_step)})."
    )
    if found.held_out_read is None:
        return f"{text} Held-out RMSE not measured."
    read, means = map(error_text, (found.held_out_read, found.held_out_user_item_means))
    useful = "Useful" if found.useful else "Not useful"
    return f"{text} {useful}: held-out RMSE {read} (user + item means {means})."


def _worst(result: AuditResult) -> list[Check]:
    """Return a check of each name: that decides, else of the highest value, and has a threshold.

    Membership with all ratings known is there without a threshold too.
    """
    found: dict[str, Check] = {}
    for each in result.checks:
        if each.inapplicable or (each.threshold is None and each.name != "membership-all"):
            continue
        other = found.get(each.name)
        if other is None or _gravity(each) > _gravity(other):
            found[each.name] = each
    return list(found.values())


def _gravity(check: Check) -> tuple[bool, bool, float]:
    high = -1.0 if check.rate is None else check.rate.high
    return check.fails, check.status == "not measured", high


def _row(check: Check, *, near: bool) -> dict[str, Any]:
    counted_exactly = check.size is not None
    high = None if check.rate is None or counted_exactly else max(0.0, check.rate.high)
    limit = check.threshold
    return {
        "title": check.title + NEAR * (near and check.name == "class-size"),
        "name": check.name,
        "value": "–" if check.rate is None and not counted_exactly else check.value_text,
        "bar": None if high is None or check.rate is None else max(0.0, check.rate.rate),
        "end": high,
        "limit": None if limit is None or counted_exactly else float(limit.share),
        "threshold": check.threshold_text,
        "status": check.status,
        "mark": MARKS[check.status],
    }


def _decision(result: AuditResult) -> str:
    fails = [each.name for each in result.checks if each.fails]
    open_ = [each.name for each in result.checks if each.status == "not measured"]
    parts = [
        f"{what}: {', '.join(_short(name) for name in dict.fromkeys(names))}."
        for what, names in (("Not within the threshold", fails), ("Not measured", open_))
        if names
    ]
    parts += [each.text for each in result.findings if not each.passed]
    parts = parts or ["Every check with a threshold is within it."]
    known = result.check("membership-all")
    if known.threshold is None and known.rate is not None:
        parts.append(f"Without a threshold: {_short(known.name)} ({percent(known.rate.rate)}).")
    return " ".join(parts)


def _short(name: str) -> str:
    """Return the title of a check without its figure and its limits."""
    title = CHECKED[name].title.partition(" (")[0]
    return title if name == "membership-all" else title.partition(",")[0]
