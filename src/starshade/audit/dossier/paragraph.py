"""The verdict in one plain paragraph, for somebody who must sign it."""

from __future__ import annotations

from collections.abc import Iterator

from starshade.audit.dossier.attacks import tried_on
from starshade.audit.dossier.bounds import at_most, bound_of, least_tried, limit_met, limit_of
from starshade.audit.evidence import Evidence, best_of
from starshade.audit.few import fewer, in_words
from starshade.audit.findings import records_differ, understated
from starshade.audit.giveaway import GivesAway
from starshade.audit.result import AuditResult, Finding, alone_with_sensitive
from starshade.plain import counted, percent
from starshade.release.table import Release
from starshade.release.verify.claims import NEAR_MODELS

__all__ = ["paragraph_of"]


def paragraph_of(result: AuditResult, release: Release, people: int, k: int = 1) -> str:
    """Say whether a release may leave, what was tried, what holds, and what it still tells.

    Without names of attacks and intervals, which stand elsewhere in a report.

    Parameters
    ----------
    result : AuditResult
    release : Release
    people : int
        Whom the release is of.
    k : int
        The fewest people that a figure may rest on.
    """
    near = records_differ(release) and any(c["model"] in NEAR_MODELS for c in result.claims)
    return " ".join(
        [
            *_head(result, release),
            *_hidden(result, near=near),
            *_found(result, release, near=near, people=people, k=k),
            *_tells(result, near=near, k=k),
        ]
    )


def _head(result: AuditResult, release: Release) -> Iterator[str]:
    if result.passed:
        yield "This release may leave the house."
        return
    if result.passed_alone:
        yield "By itself this release may leave the house, but not beside what is out already."
    else:
        yield "This release should not leave the house."
    for finding in result.findings:
        if not finding.passed:
            yield _reason(finding, result, release)


def _reason(finding: Finding, result: AuditResult, release: Release) -> str:
    """Say why not; of the attacks in a few words, as what they found follows."""
    if finding.name != "attack":
        return finding.text
    why = understated(release)
    if why is not None:
        return (
            f"How well it hides people is not known: {why[0]}, and without the receipt nobody can "
            f"tell {why[1]}."
        )
    limit = limit_of(result, differ=records_differ(release))
    if limit is None:
        return "It does not say among how many people everybody hides."
    return f"The right record is found more often than the limit of {percent(limit)} allows."


def _hidden(result: AuditResult, *, near: bool) -> Iterator[str]:
    if result.passed_alone and result.k:
        like = "has near it" if near else "looks like"
        yield (
            f"Each of its {counted(result.records, 'record')} {like} at least "
            f"{counted(result.k - 1, 'other')}{result.alike_by}; "
            "that was counted again on its files."
        )


def _found(
    result: AuditResult, release: Release, *, near: bool, people: int, k: int
) -> Iterator[str]:
    if not result.evidence:
        yield "What attacks come to is not told here, as it would speak of people left out, too."
        return
    enough = [each for each in result.evidence if k == 1 or each.after.targets >= k]
    worst, given = best_of(enough or result.evidence), result.gives_away
    before, after = _rates(worst, result, release, people, k)
    known = counted(worst.knowledge.known, "rating")
    where = "of the same people and items" if result.same_people else "of these items as they are"
    who = f"Somebody who knows {known} of a person and must point at one record"
    text = (
        f"{who} is right in {before} of the cases in the ratings {where}"
        if before
        else f"How often {who[0].lower()}{who[1:]} is right in the ratings {where} is withheld, "
        "as it would speak of too few people"
    )
    if not enough:
        yield f"How often anybody is found is withheld: {fewer(k)} people were tried."
    elif given is not None and not given.linked:
        yield f"{text}; how often in this release is not known without the receipt."
    elif understated(release) is not None:
        yield f"{text}."
    elif before and after:
        yield f"{text}, and in {after} in this release."
    elif after:
        yield f"{text}; in this release it is {after} of the cases."
    elif before:
        yield f"{text}; how often in this release is withheld, as it would speak of too few people."
    else:
        yield f"{text}, and so would how often in this release."
    tried = tried_on(worst, people, k)
    if tried and enough:
        yield f"{tried[0].upper()}{tried[1:]}."
    if near:
        yield (
            "That others are near a record does not keep somebody who knows exact ratings from "
            "telling it apart."
        )
    elif result.k and result.passed_alone:
        alone = " alone" if result.beside else ""
        yield (
            "Other attacks may find a person's group more often; but nobody who has this release"
            f"{alone} can point at the right record more often than 1 in {result.k}"
            f"{result.alike_by}."
        )
    else:
        yield "Other attacks may find more."


def _rates(
    tried: Evidence, result: AuditResult, release: Release, people: int, k: int
) -> tuple[str, str]:
    """Write how often the right record is named before and after; empty where it is withheld."""
    least, met = least_tried(tried, people, k), limit_met(result, release)
    before, after = (
        (side.expected_top1.rate, side.targets) for side in (tried.before, tried.after)
    )
    bound = at_most(bound_of(*after, k, least), after[0], least or after[1], k, met)
    return _share(before[0], bound_of(*before, k, least)), _share(after[0], bound)


def _share(share: float, bound: str) -> str:
    """Write a share or its bound; empty where it has none."""
    return "" if bound.startswith("withheld") else bound or percent(share)


def _tells(result: AuditResult, *, near: bool, k: int) -> Iterator[str]:
    shown, exists = (result.disclosure[f"users_rating_{what}"] for what in ("disclosed", "exists"))
    if near:
        yield "Whoever finds a record reads its ratings."
    elif result.gives_away is not None:
        yield from _given_away(result.gives_away, k)
    elif shown is None or exists is None:
        yield "Whoever finds a person's group reads its profile."
    else:
        yield from _shown(shown, exists, result.records, k)
        share = result.disclosure.get("records_alone_with_sensitive")
        if share is not None:
            yield alone_with_sensitive(in_words(share, result.records, k))


def _shown(shown: float, exists: float, records: int, k: int) -> Iterator[str]:
    """Say of how many people something is shown; as far as it speaks of enough of them."""
    text = "To hide among others is not to hide what one rated"
    rating, rated = (_share(each, bound_of(each, records, k)) for each in (shown, exists))
    one = "are in a class of equal records that shows one of their ratings"
    some = "in one that shows that they rated something"
    if rating and rated:
        yield f"{text}: {rating} of the people {one}, {rated} {some}."
    elif rating or rated:
        what = one if rating else f"are {some.replace('one', 'a class of equal records', 1)}"
        yield f"{text}: {rating or rated} of the people {what}."
    else:
        yield f"{text}; of how many something is shown is withheld, as it would speak of too few."


def _given_away(given: GivesAway, k: int) -> Iterator[str]:
    """Say how often a group is found, and how well what is real in its profile is told."""
    text = "Whoever finds a person's group reads its profile"
    if given.group is None:
        yield f"{text}; how often it is found is not known."
        return
    known = counted(given.group.knowledge.known, "rating")
    rate, targets = given.group.share.rate, given.group.targets
    share = _share(rate, bound_of(rate, targets, k))
    yield (
        f"{text}: who knows {known} of a person and must name one group names the right one in "
        f"{share} of the cases."
        if share
        else f"{text}; how often it is found is withheld, as it would speak of too few people."
    )
    padding = given.padding
    if padding is not None and padding.auc is not None and given.cells_told(k):
        yield (
            "Of two cells, one that rests on a real rating and one that does not, the release "
            f"tells which is which in {percent(padding.auc.rate)} of the cases (50% is not at all)."
        )
    yield "No model limits such figures."
