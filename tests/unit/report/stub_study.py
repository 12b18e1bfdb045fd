"""A study of a paper that nobody wrote: all that the doors show, and nothing to compute."""

from __future__ import annotations

from typing import Any

import numpy as np

from starshade.audit.attempts import size_of
from starshade.audit.reproduction.claims import Claim, judge
from starshade.audit.reproduction.configurations import Choice
from starshade.audit.reproduction.estimates import Estimate, Untestable
from starshade.audit.reproduction.everything import Everything
from starshade.audit.reproduction.figures import Figure, Level, Mark, Point, Series, Skipped
from starshade.audit.reproduction.papers import Paper
from starshade.audit.reproduction.parts import Parts
from starshade.audit.reproduction.study import PaperStudy, known_data
from starshade.audit.reproduction.worked import Worked
from starshade.figure import Table
from starshade.progress import task
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.table import Ratings
from starshade.release.folder.digest import digest_of

WAYS = {"thinned": "with a third of the ratings", "whole": "with half stars made whole"}


def _exact(value: float, **ways: float) -> Any:
    return lambda bench, how: Estimate.exact(ways.get(how, value) + bench)


def _lacking(bench: Any, how: str) -> Estimate:
    raise Untestable("the data have no dates")


CLAIMS = (
    Claim(
        "xx-01",
        "§1.2",
        "a record is found by <b>eight</b> ratings",
        "share found",
        0.8,
        None,
        "the paper has 0.99; the rest is what a tenth of the users may cost",
        "as-read",
        _exact(0.9),
    ),
    Claim(
        "xx-02",
        "§2, Fig. 4",
        "sparse data lose less",
        "loss here / loss there",
        None,
        0.9,
        "a tenth is more than the runs differ",
        "as-read",
        _exact(1.5, thinned=1.5),
        ("thinned",),
    ),
    Claim(
        "xx-03",
        "Abstract, §5",
        "the error rises with k | steeply",
        "least step of the error",
        0.0,
        None,
        "a rise is no fall",
        "as-printed",
        _exact(-0.5, whole=0.25),
        ("thinned", "whole"),
    ),
    Claim(
        "xx-04",
        "§3",
        "it takes a minute",
        "nothing",
        None,
        1.0,
        "",
        "as-read",
        lost="stands in a figure that the text lost",
    ),
    Claim("xx-05", "§4", "days help", "gain", 0.0, None, "any gain is one", "as-read", _lacking),
    Claim(
        "xx-06",
        "§5",
        "a step is worth it",
        "gain",
        0.5,
        None,
        "half",
        "as-read",
        lambda bench, how: Estimate(0.6, 0.4, 0.8, 5, 120),
    ),
    Claim(
        "xx-07",
        "§5",
        "Netflix is sparse",
        "share",
        0.5,
        None,
        "half",
        "as-read",
        _exact(0.75),
        about="the Netflix Prize's ratings",
    ),
    Claim(
        "xx-08",
        "ours",
        "ours loses least",
        "ours / theirs",
        None,
        1.0,
        "no more",
        "ours",
        _exact(0.5),
        ours=True,
    ),
)
CHOICES = (
    Choice("t", "clusters", None, 4, 5, "§1", "3 cannot be split"),
    Choice("b", "biases", False, False, True, "§4.2", "none in the text", erratum="Eq. 6"),
)
WORKED = (
    Worked(
        "Table 4",
        "By hand",
        ("t", "loss"),
        (("t1", "3"), ("t2", "4")),
        (("t1", "3"), ("t2", "5")),
        "the paper counts t2 twice",
    ),
)


class StubPaper(Paper):
    """Their paper."""

    choices = CHOICES
    claims = CLAIMS
    ways = WAYS


PAPER = StubPaper("xx", "Nobody & Sons", "On Nothing (1999)", f"{__name__}:reproduce")


class StubStudy(PaperStudy):
    """Nobody's experiments."""

    key = "xx"
    authors = "Nobody & Sons"
    whose = "The experiments of Nobody and Sons"

    def __str__(self) -> str:
        return f"Nobody's experiments on what there is. {self.verdicts}"


def reproduce(
    ratings: Ratings | None = None,
    *,
    runs: int = 5,
    parts: Parts | None = None,
    rng: int = 0,
    seconds: float = 1.5,
    **others: Any,
) -> StubStudy:
    """Measure one number a run, each a part; `others` are settings of the paper it stands for."""
    ratings = (
        synthesize(n_users=30, n_items=20, n_ratings=90, rng=1) if ratings is None else ratings
    )
    kept = parts or Parts()
    found = []
    with task("runs", runs) as step:
        for run in range(runs):
            part = kept.of(f"run {run}", lambda run=run: {"y": np.array([measured(rng, run)])})
            found.append(float(part["y"][0]))
            step(1)
    mean = sum(found) / runs
    return StubStudy(
        data={**size_of(ratings), "synthetic": False},
        claims=judge(CLAIMS, mean / 1000, data=known_data(ratings), ways=WAYS),
        worked=WORKED,
        choices=CHOICES,
        grids=(Table("Work", ("way", "pairs", "pairs"), (("a|b", "1", "2"),)),),
        figures=figures(mean, seconds),
        skipped=(Skipped("7", "days", "the data have no dates"),),
        times={"whole": seconds, "steps": [{"run": 1, "seconds": seconds}]},
        runs=runs,
        seed=rng,
        digest=digest_of(ratings),
        version="1.2.3",
    )


def measured(seed: int, run: int) -> float:
    """Measure a run."""
    return (seed + run) % 7 / 7


def figures(mean: float, seconds: float) -> tuple[Figure, ...]:
    """Two figures, one of them of seconds."""
    names = ("target deviation", "similar-user deviation")
    lines = [
        Series(
            name,
            measure,
            (Point(2, mean, mean - 0.1, mean + 0.1), Point(4, mean + i / 9)),
            configuration=configuration,
        )
        for measure in names
        for i, (name, configuration) in enumerate(
            (
                ("the original", ""),
                ("padded", "as-printed"),
                ("padded", "as-read, but groups by exchange"),
            )
        )
    ]
    mark = Mark(4, 0.5, "1.0256 at k = 4", names[:1])
    time = Series.of("padded", "time", (2, 4), (seconds, 2 * seconds), configuration="ours")
    return (
        Figure(
            "4",
            "What is lost",
            "k",
            "error",
            "number",
            tuple(lines),
            (mark,),
            (Level(0.9, "before"),),
        ),
        Figure("16", "How long it takes", "k", "seconds", "seconds", (time,)),
    )


def everything(ratings: Ratings | None = None, **settings: Any) -> Everything:
    """Return the stub alone, as the studies of all papers."""
    found = reproduce(ratings, **settings)
    data = found.data | {"known": ""}
    left = (Skipped("Chang & Co.", "the whole study", "needs personal attributes"),)
    return Everything(data, (found,), left, found.runs, found.seed, found.digest, "1.2.3")
