"""`reproduce_sr`: every figure of SR §7."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from starshade._version import __version__
from starshade.arguments import typed
from starshade.audit.attempts import size_of
from starshade.audit.reproduction.figures import Figure, Skipped
from starshade.audit.reproduction.sr.attribute import default_attribute, labels_of
from starshade.audit.reproduction.sr.charted import (
    accuracy_figure,
    jobs_of,
    loss_figures,
    time_figures,
)
from starshade.audit.reproduction.sr.checks import check_figures
from starshade.audit.reproduction.sr.measured import (
    AS_STRICT,
    KS,
    LOSS_K,
    Grid,
    Job,
    K,
    Timed,
    Workload,
    grid_of,
    measure_losses,
    predict_all,
    run_jobs,
    skipped_of,
    workloads_of,
)
from starshade.audit.reproduction.study import Check, PaperStudy
from starshade.errors import ConfigError
from starshade.naming import called
from starshade.progress import announced
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.table import Ratings
from starshade.release.folder.receipt import digest_of
from starshade.rng import Rng, generator, resolve_seed


@dataclass(frozen=True)
class Study(PaperStudy):
    """SR §7 on other data.

    Attributes
    ----------
    data : dict
        Size and scale, and the parts of the data that were looked at.
    figures : tuple of Figure
        In the paper's order.
    verdicts : list of dict
        What the check with the paper's default parameters says on each part of the data.
    losses : list of dict
        Behind Fig 7, with totals.
    predictions : list of dict
        Behind Fig 8, with paired differences.
    checks : tuple of Check
        The paper's sentences about its curves, held against ours.
    skipped : tuple of Skipped
        What the data could not give, and why.
    timed, repeats : int
        Checks timed, and how often each.
    trials : int
        Of each prediction.
    seconds : float
    seed : int
    digest : str
    version : str
    """

    key = "sr"
    authors = "Sun & Sun"
    whose = "The experiments of Sun and Sun"
    made_up = "made-up survey"

    data: dict[str, Any]
    figures: tuple[Figure, ...]
    verdicts: list[dict[str, Any]]
    losses: list[dict[str, Any]]
    predictions: list[dict[str, Any]]
    checks: tuple[Check, ...]
    skipped: tuple[Skipped, ...]
    timed: int
    repeats: int
    trials: int
    seconds: float
    seed: int
    digest: str
    version: str = field(default=__version__)

    def __str__(self) -> str:
        times = f"Times are medians of {self.repeats} runs and depend on the machine."
        return self._said(self.checks, times)


def first_verdicts(timed: dict[Job, Timed], k: int, eps: float, l: float) -> list[dict[str, Any]]:  # noqa: E741
    """Tell what the check says on each part of the data; every search says the same."""
    return [
        {
            "data": job.workload.name,
            "nulls": job.nulls,
            "k": k,
            "eps": eps,
            "l": l,
            "satisfied": run.satisfied,
            "records": run.records,
            "failing_records": run.failing_records,
            "smallest_group": run.smallest_group,
        }
        for job, run in timed.items()
        if (job.k, job.eps, job.l, job.share, job.search) == (k, eps, l, 100, "tree")
    ]


_RESPONDENTS = 1000  # of the survey that is made up where no data are given
_PREDICTED_KS = (5, 20)  # Fig 8; the paper names no k


@typed
@announced("study: Sun & Sun")
def reproduce_sr(
    ratings: Ratings | None = None,
    *,
    sensitive: Sequence[str] = (),
    top: int = 20,
    attribute: str | None = None,
    trials: int = 50,
    repeats: int = 3,
    rng: Rng = None,
) -> Study:
    """Run Sun and Sun's experiments on any ratings.

    Parameters
    ----------
    ratings : Ratings, optional
        None: a made-up survey of 1,000 respondents and 20 questions.
    sensitive : sequence of str
        Ids of sensitive items. Empty: the last of the `top` most rated ones (the paper names
        none); of the made-up survey, its sensitive questions.
    top : int
        The most rated items, looked at under three null rules beside all items, at least 2.
    attribute : str, optional
        What Fig 8 predicts. None: gender, else the first attribute with 2 to 25 classes.
    trials : int
        Of each prediction, at least 1.
    repeats : int
        Runs of each timed check, at least 1; the median is reported.
    rng : int, Generator or None

    Returns
    -------
    Study
        Figs 3-8, and the paper's sentences about its curves held against ours.

    Raises
    ------
    ConfigError
        A parameter out of range, an unknown item or attribute, fewer than two users or items.

    Notes
    -----
    ε, l and distances are the paper's on 1-5; on other scales one star is a quarter of the
    width, in whole steps.
    """
    if repeats < 1 or trials < 1:
        raise ConfigError(
            f"{called('repeats')} {repeats}, {called('trials')} {trials}: at least 1 of each"
        )
    seed, started = resolve_seed(rng), perf_counter()
    synthetic = ratings is None
    if ratings is None:
        ratings = synthesize("survey", n_users=_RESPONDENTS, rng=generator(seed, "made-up survey"))
        if not len(sensitive):
            sensitive = [key for key in ratings.items if key.startswith("s")]
    if attribute is not None:
        labels_of(ratings, attribute)  # refused before the long work
    workloads, grid = workloads_of(ratings, top, sensitive), grid_of(ratings.scale)
    two = 2 * grid.star
    timed, refused = run_jobs(jobs_of(workloads, grid), repeats=repeats, seed=seed)
    settings = (*((LOSS_K, eps) for eps in grid.eps), *((k, two) for k in KS))
    losses, lossless = measure_losses(workloads[0], tuple(dict.fromkeys(settings)), seed)
    predicted, unpredicted = predict_all(
        workloads[0],
        attribute or default_attribute(workloads[0].ratings),
        _PREDICTED_KS,
        two,
        trials=trials,
        seed=seed,
    )
    figures = (
        *sorted(time_figures(workloads, grid, timed), key=lambda figure: figure.place),
        *loss_figures(losses, LOSS_K, two),
        *accuracy_figure(predicted, two),
    )
    return Study(
        data=_data(ratings, workloads, grid, synthetic=synthetic),
        figures=figures,
        verdicts=first_verdicts(timed, K, grid.star, two),
        losses=losses,
        predictions=[entry.to_dict() for entry in predicted],
        checks=check_figures(figures, predicted),
        skipped=(*skipped_of(refused), AS_STRICT, *lossless, *unpredicted),
        timed=len(timed),
        repeats=repeats,
        trials=trials,
        seconds=perf_counter() - started,
        seed=seed,
        digest=digest_of(ratings),
    )


def _data(
    ratings: Ratings, workloads: tuple[Workload, ...], grid: Grid, *, synthetic: bool
) -> dict[str, Any]:
    return {
        **size_of(ratings),
        "synthetic": synthetic,
        "one_star": grid.star,
        "parts": [
            {
                "name": workload.name,
                **{name: size_of(workload.ratings)[name] for name in ("users", "items", "ratings")},
                "sensitive_items": len(workload.sensitive),
                "nulls": list(workload.rules),
            }
            for workload in workloads
        ],
    }
