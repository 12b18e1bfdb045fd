"""What ``starshade attack`` prints for a person: a paragraph, then the figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starshade.cli.show import columns, figures, page, words
from starshade.plain import counted

if TYPE_CHECKING:
    from starshade.attack.auxiliary.result import AuxiliaryResult
    from starshade.attack.link.result import LinkResult
    from starshade.attack.padding.result import PaddingResult
    from starshade.attack.result import AttackResult
    from starshade.attack.risk.result import RiskResult
    from starshade.attack.tracker.result import TrackerResult

__all__ = ["describe", "describe_people", "describe_risk"]

_NAMES = 50  # shown at most; --json has all
_FEW = 5  # names whose candidates are shown in any case
_LISTED = 100  # candidates shown at most


def describe(result: AttackResult | LinkResult | PaddingResult | TrackerResult) -> Any:
    """Show what an attack found."""
    return page(words(str(result)), figures(result.found), *_tables(result))


def _tables(result: Any) -> list[Any]:
    return [columns(each.head, each.rows, title=each.title) for each in result.tables]


def describe_risk(result: RiskResult, path: str, listed: int) -> Any:
    """Show how few facts identify how many users, and where the list is."""
    return page(
        words(str(result)),
        *_tables(result),
        words(
            f"{path}: {counted(listed, 'user')}, those found by fewest facts "
            "first. It names people: keep "
            "it, and the ratings, private. Without those whom you hold back the others stand in a "
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
