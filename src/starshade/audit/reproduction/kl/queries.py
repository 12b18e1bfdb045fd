"""How wrong answers become: AVG of an attribute under conditions on ratings (KL Figs 13-15)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from starshade.audit.attempts import attempt
from starshade.audit.reproduction.figures import Skipped
from starshade.audit.reproduction.kl.plan import Line
from starshade.errors import UnmetError, UserError
from starshade.progress import silence, task
from starshade.ratings.table import Ratings
from starshade.utility.query_error.query_error import QueryError
from starshade.utility.query_error.result import Step

__all__ = ["Answered", "query_all"]


@dataclass(frozen=True)
class Answered:
    """One line at one k, one kind of condition of one size, run by run."""

    line: str
    k: int
    kind: str
    size: int  # items in the condition; of a range its width
    # |x - x0|/x in per cent, the mean over the conditions (KL Eq. 7); x is the release's.
    errors: tuple[float, ...]
    errors_of_truth: tuple[float, ...]  # the same over x0
    conditions: tuple[int, ...]  # how many were compared


def query_all(
    ratings: Ratings,
    lines: Sequence[Line],
    ks: Sequence[int],
    seeds: Sequence[int],
    *,
    attribute: str,
    draws: int,
) -> tuple[list[Answered], list[Skipped]]:
    """Ask the same queries of a release of every line at every k, once for each seed.

    The attribute is averaged; lines that are not `queried` are passed over; `draws`: conditions for
    each set of items and kind, at most. What a method refuses is skipped, with its words.
    """
    ways = [(line, k) for k in ks for line in lines if line.queried]
    steps_of: dict[tuple[str, int, str, int], list[Step]] = {}
    refused: dict[tuple[str, int], str] = {}
    with task("asking queries", len(seeds) * len(ways)) as step:
        for seed in seeds:
            measure = QueryError(attribute=attribute, draws=draws, seed=seed)
            for line, k in ways:
                try:
                    release = attempt(line.at(k, "exact"), ratings, seed).release
                except (UserError, UnmetError) as error:
                    refused[line.name, k] = error.message
                else:
                    with silence():
                        steps = measure.measure(release, ratings).steps
                    for one in steps:
                        if one.error is not None:
                            steps_of.setdefault((line.name, k, one.kind, one.size), []).append(one)
                step(1)
    skipped = [
        Skipped("13-15", f"{name}, k = {k}", reason) for (name, k), reason in refused.items()
    ]
    if not steps_of and not skipped:
        skipped = [Skipped("13-15", "queries", "no condition has an answer on these ratings")]
    return [_together(key, steps) for key, steps in steps_of.items()], skipped


def _together(key: tuple[str, int, str, int], steps: list[Step]) -> Answered:
    line, k, kind, size = key
    return Answered(
        line,
        k,
        kind,
        size,
        tuple(step.error for step in steps if step.error is not None),
        tuple(step.error_of_truth or 0.0 for step in steps),
        tuple(step.conditions for step in steps),
    )
