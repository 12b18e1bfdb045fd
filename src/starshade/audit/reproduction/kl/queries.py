"""How wrong answers become: AVG of an attribute under conditions on ratings (KL Figs 13-15)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from starshade.audit.reproduction.figures import Skipped
from starshade.audit.reproduction.kl.plan import Line
from starshade.audit.reproduction.shared import Row, attempts
from starshade.progress import silence, task
from starshade.ratings.table import Ratings
from starshade.utility.query_error.query_error import QueryError

__all__ = ["query_all"]


def query_all(
    ratings: Ratings,
    lines: Sequence[Line],
    ks: Sequence[int],
    seeds: Sequence[int],
    *,
    attribute: str,
    draws: int,
) -> tuple[list[Row], list[Skipped]]:
    """Ask the same queries of a release of every line at every k, once for each seed.

    The attribute is averaged; lines that are not `queried` are passed over; `draws`: conditions for
    each set of items and kind, at most. What a method refuses is skipped, with its words. A row
    per line, k, kind and size of condition (of a range its width), and run; errors are means in per
    cent, |x - x0|/x (KL Eq. 7; x is the release's) and over the truth x0.
    """
    methods = {(line.name, k): line.at(k, "exact") for k in ks for line in lines if line.queried}
    rows: dict[tuple[str, int, str, int], list[Row]] = defaultdict(list)
    refused: dict[tuple[str, int], str] = {}
    with task("asking queries", len(seeds) * len(methods)) as step:
        for seed in seeds:
            measure = QueryError(attribute=attribute, draws=draws, seed=seed)
            for (name, k), made in attempts(methods.items(), ratings, seed, refused, step):
                with silence():
                    steps = measure.measure(made.release, ratings).steps
                for one in steps:
                    if one.error is not None:
                        own = rows[name, k, one.kind, one.size]
                        own.append(
                            {
                                "line": name,
                                "k": k,
                                "kind": one.kind,
                                "size": one.size,
                                "run": len(own) + 1,
                                "error": one.error,
                                "error_of_truth": one.error_of_truth or 0.0,
                                "conditions": one.conditions,
                            }
                        )
    skipped = [
        Skipped("13-15", f"{name}, k = {k}", reason) for (name, k), reason in refused.items()
    ]
    if not rows and not skipped:
        skipped = [Skipped("13-15", "queries", "no condition has an answer on these ratings")]
    return [row for own in rows.values() for row in own], skipped
