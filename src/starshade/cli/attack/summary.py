"""What ``starshade attack`` prints for a person: a paragraph, then the figures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from starshade.cli.show import columns, figures, page, words
from starshade.plain import counted, percent

if TYPE_CHECKING:
    from starshade.attack.auxiliary.result import AuxiliaryResult
    from starshade.attack.candidates.homogeneity_result import HomogeneityResult
    from starshade.attack.candidates.result import CandidateResult
    from starshade.attack.link.result import LinkResult
    from starshade.attack.padding.result import OfRank, PaddingResult
    from starshade.attack.result import AttackResult
    from starshade.attack.risk.result import RiskResult
    from starshade.attack.tracker.result import TrackerResult
    from starshade.figure import Rate

__all__ = ["describe", "describe_people", "describe_risk"]

_NAMES = 50  # shown at most; --json has all
_FEW = 5  # names whose candidates are shown in any case
_LISTED = 100  # candidates shown at most


def describe(result: AttackResult | LinkResult | PaddingResult | TrackerResult) -> Any:
    """Show what an attack found."""
    from starshade.attack.candidates.homogeneity_result import HomogeneityResult
    from starshade.attack.candidates.result import CandidateResult
    from starshade.attack.link.result import LinkResult
    from starshade.attack.padding.result import PaddingResult
    from starshade.attack.tracker.result import TrackerResult

    if isinstance(result, PaddingResult):
        return page(words(str(result)), figures(_of_padding(result)), _of_ranks(result))
    if isinstance(result, TrackerResult):
        return page(words(str(result)), figures(_of_counts(result)), _of_backgrounds(result))
    if isinstance(result, LinkResult):
        theory = None if result.nothing_to_infer else _confidence(result)
        return page(words(str(result)), figures(_of_links(result)), theory)
    rows = _of_candidates(result) if isinstance(result, CandidateResult) else _of_scores(result)
    shared = _of_shared(result) if isinstance(result, HomogeneityResult) else ()
    return page(
        words(str(result)),
        figures([*_of_targets(result), *rows, *shared, *_of_all(result)]),
    )


def _of_targets(result: AttackResult) -> Iterator[tuple[str, Any]]:
    yield "records", result.records
    yield "targets", result.targets
    yield "users of whom too little can be known", result.ineligible or None


def _of_scores(result: AttackResult) -> Iterator[tuple[str, Any]]:
    absent, curve = result.false_match_absent, result.tradeoff
    yield "matched and right (success)", str(result.success)
    yield "best guess right (expected_top1)", str(result.expected_top1)
    yield "profile found (disclosed)", str(result.disclosed)
    yield "matched and wrong (false_match)", str(result.false_match)
    yield "matched though absent (false_match_absent)", None if absent is None else str(absent)
    if curve is not None and curve.equal_error_phi is not None:
        yield "φ at which both errors are equal", f"{curve.equal_error_phi:.2f}"
        yield "that error", percent(curve.equal_error_rate)


def _of_candidates(result: CandidateResult) -> Iterator[tuple[str, Any]]:
    absent, fitting = result.false_match_absent, result.candidates
    yield "records that fit, mean and median", f"{fitting.mean:,.2f}, {fitting.median:,.0f}"
    yield "exactly one fits", str(result.single)
    yield f"fewer than {result.k} fit", str(result.fewer_than_k)
    yield "a pick is right (success)", str(result.success)
    yield "at most possible", percent(result.bound)
    yield "all that fit are one profile (disclosed)", str(result.disclosed)
    yield "some fit, but not the target (false_match)", str(result.false_match)
    yield "some fit though absent (false_match_absent)", None if absent is None else str(absent)


def _of_shared(result: HomogeneityResult) -> Iterator[tuple[str, Any]]:
    cells = result.cells_disclosed
    yield "all that fit have the same ratings", str(result.profile_disclosed)
    yield "further cells of one single rating in all, mean", f"{cells.single_mean:,.2f}"
    if cells.single_true != 1:  # as it must be, where the target is among those that fit
        yield "of them true of the target", percent(cells.single_true)
    yield "of the further ratings, learnt exactly", _fine(cells.learnt)
    yield "further cells alike in all, but wider, mean", f"{cells.mean - cells.single_mean:,.2f}"


def _fine(share: float | None) -> str:
    """Write a share that may be small."""
    return "–" if share is None else f"{share:.2%}"


def _of_all(result: AttackResult) -> Iterator[tuple[str, Any]]:
    bits = result.entropy_bits
    yield "no answer", percent(result.no_answer)
    yield "bits still missing, mean and median", f"{bits.mean:.2f}, {bits.median:.2f}"
    yield "answers were credited as", result.credit


def _of_links(result: LinkResult) -> Iterator[tuple[str, Any]]:
    yield "records", result.records
    yield "groups", result.groups
    yield "ratings shown", result.edges
    if result.nothing_to_infer:
        return
    yield "who rated, of those shown to have", percent(result.confidence)
    yield "certain: everybody in the group did", percent(result.everybody)
    yield "invented: nobody did", percent(result.nobody)
    yield "where none is shown, there was none", percent(result.missing_true)


def _of_padding(result: PaddingResult) -> Iterator[tuple[str, Any]]:
    yield "records", result.records
    yield "groups, looked at", f"{result.groups:,}, {result.groups_tried:,}"
    yield "cells that show a rating", percent(result.shown)
    yield "cells that somebody of the group rated", percent(result.rated)
    if result.auc is not None:
        yield "a rated cell ranked above an unrated one (AUC)", str(result.auc)
        yield "the same on one item", _rate(result.auc_within_items)
        yield "the same, for a single member of the group", _rate(result.auc_member)
        yield "by how popular items are, without the release", percent(result.popularity)
        yield "rated, of those ranked highest", percent(result.top["precision"])


def _rate(rate: Rate | None) -> str:
    return "–" if rate is None else str(rate)


def _of_ranks(result: PaddingResult) -> Any:
    if result.auc is None:
        return None

    def row(what: str, of: OfRank) -> tuple[str, str, str]:
        return what, percent(of.auc), percent(of.auc_within_items)

    rows = [row(f"rank {of.rank}", of) for of in result.by_rank]
    return columns(
        ("had the adversary ranked by", "AUC", "AUC on one item"),
        [*rows, row("the released levels", result.by_level)],
        title="Other ways to look",
    )


def _of_counts(result: TrackerResult) -> Iterator[tuple[str, Any]]:
    yield "records", result.records
    yield "people attacked", result.targets
    yield "users without a record", result.ineligible or None
    yield "COUNT queries", result.queries
    yield "that rest on no record", result.empty
    yield f"refused, as they rest on fewer than {result.floor:,}", result.refused or None
    yield "fewest records that an answer rests on", result.fewest
    yield "singled out (at risk)", str(result.at_risk)
    for n, people in enumerate(result.by_length, 1):
        yield f"by {n} condition{'s' * (n != 1)}", people or None
    yield "answers were credited as", result.credit


def _of_backgrounds(result: TrackerResult) -> Any:
    if not result.backgrounds[-1].attributes:
        return None
    return columns(
        ("known of the target", "one fits, and it is theirs (breached)", "one fits: mistaken",
         "further queries each"),
        [
            (
                " + ".join(known.attributes),
                str(known.breached),
                str(known.mistaken),
                f"{known.queries:,.1f}",
            )
            for known in result.backgrounds
        ],
        title="Whose record it is",
    )  # fmt: skip


def _confidence(result: LinkResult) -> Any:
    rows = [
        ("without a prior (Thm 6.2)", 1.0, result.no_prior, result.above_no_prior),
        ("with the prior, exact", 1.0, result.exact, result.above_exact),
        ("with the prior, bound (Thm 6.3)", result.bounded, result.bound, result.above_bound),
    ]
    return columns(
        ("what theory says", "covers", "mean", "above it, of those"),
        [(what, *map(percent, shares)) for what, *shares in rows],
        title="Confidence that somebody of a group rated an item, over the ratings shown",
    )


def describe_risk(result: RiskResult, path: str, listed: int) -> Any:
    """Show how few facts identify how many users, and where the list is."""
    told = result.to_dict()["steps"]
    rows = [
        (
            f"{step['known']}",
            f"{step['identified']:,}",
            percent(step["at_most"]["rate"]),
            f"{step['tried']:,}",
        )
        for step in told
    ]
    head = ("known cells", "identified first by so many", "by so many or fewer", "tried")
    return page(
        words(str(result)),
        columns(head, rows, title="How few known cells are enough"),
        words(
            f"{path}: {counted(listed, 'user')}, those found by fewest facts "
            "first. It names people: keep "
            "it, and the ratings, at home. Without those whom you hold back the others stand in a "
            "smaller crowd, and may stand out in it: attack what is left again."
        ),
    )


def describe_people(result: AuxiliaryResult, *, candidates: bool) -> Any:
    """Show the answer for each name; also the candidates of few names, or where asked for."""
    shown = result.per_name[:_NAMES]
    more = len(result.per_name) - len(shown)
    listed: list[tuple[str, str, str, str]] = []
    if candidates or len(result.per_name) <= _FEW:
        listed = [row for answer in shown for row in answer.candidate_rows()]
    left = [f"{more:,} more names, with their candidates"] if more else []
    left += [f"{len(listed) - _LISTED:,} more candidates"] if len(listed) > _LISTED else []
    return page(
        words(str(result)),
        columns(result.head, [answer.row() for answer in shown], align="left"),
        columns(result.candidate_head, listed[:_LISTED], title="Candidates", align="left")
        if listed
        else None,
        words(f"… and {' and '.join(left)}: --json has all") if left else None,
    )
