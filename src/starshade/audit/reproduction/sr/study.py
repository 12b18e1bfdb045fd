"""`reproduce_sr`: every figure, table and claim of SR."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from starshade._version import __version__
from starshade.arguments import typed
from starshade.audit.attempts import size_of
from starshade.audit.reproduction.claims import Judged, judge, told
from starshade.audit.reproduction.configurations import Choice
from starshade.audit.reproduction.figures import Figure, Skipped
from starshade.audit.reproduction.parts import Parts
from starshade.audit.reproduction.sr.attribute import default_attribute, labels_of
from starshade.audit.reproduction.sr.bench import Bench
from starshade.audit.reproduction.sr.charted import (
    accuracy_figure,
    jobs_of,
    loss_figures,
    time_figures,
    work_figures,
)
from starshade.audit.reproduction.sr.claims import CLAIMS, WAYS
from starshade.audit.reproduction.sr.configurations import CHOICES
from starshade.audit.reproduction.sr.grids import grids_of
from starshade.audit.reproduction.sr.measured import (
    AS_STRICT,
    KS,
    LOSS_K,
    PARTITIONS,
    PREDICTED_KS,
    Job,
    K,
    Timed,
    grid_of,
    run_jobs,
    skipped_of,
    workloads_of,
)
from starshade.audit.reproduction.sr.prediction import draw_trials
from starshade.audit.reproduction.sr.worked import worked_tables
from starshade.audit.reproduction.study import PaperStudy, known_data
from starshade.audit.reproduction.worked import Worked
from starshade.errors import ConfigError
from starshade.figure import Table
from starshade.naming import called
from starshade.progress import announced
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.table import Ratings
from starshade.release.folder.receipt import digest_of
from starshade.rng import Rng, generator, resolve_seed


class SpeedStudy(PaperStudy):
    """What SR and SQ say of themselves."""

    claims: tuple[Judged, ...]
    worked: tuple[Worked, ...]
    grids: tuple[Table, ...]

    def __str__(self) -> str:
        data, left = self.data, len(self.skipped)
        return (
            f"{self.whose} on {data['users']:,} users, {data['items']:,} items and "
            f"{data['ratings']:,} ratings. {told(self.claims)} Claims on speed rest on work, in "
            f"cells touched; seconds depend on the machine. Left out, with the reason: {left}."
        )


@dataclass(frozen=True)
class Study(SpeedStudy):
    """SR on other data.

    Attributes
    ----------
    data : dict
        Size and scale, and the parts of the data that were looked at.
    claims : tuple of Judged
        The paper's claims held against what was measured.
    figures : tuple of Figure
        In the paper's order.
    worked : tuple of Worked
        The tables and examples that the paper works by hand.
    choices : tuple of Choice
        Where the configurations differ.
    grids : tuple of Table
        What was tried of the paper's open questions.
    verdicts : list of dict
        What the check with the paper's default parameters says on each part of the data.
    losses, predictions : list of dict
        Behind Figs 7 and 8.
    skipped : tuple of Skipped
        What the data could not give, and why.
    times : dict
        Seconds of each check, and nothing else.
    timed, repeats : int
        Checks timed, and how often each.
    runs, trials : int
        Seeds, and trials of each prediction.
    seed : int
    digest : str
    version : str
    """

    key = "sr"
    authors = "Sun & Sun"
    whose = "The experiments of Sun and Sun"
    made_up = "made-up survey"

    data: dict[str, Any]
    claims: tuple[Judged, ...]
    figures: tuple[Figure, ...]
    worked: tuple[Worked, ...]
    choices: tuple[Choice, ...]
    grids: tuple[Table, ...]
    verdicts: list[dict[str, Any]]
    losses: list[dict[str, Any]]
    predictions: list[dict[str, Any]]
    skipped: tuple[Skipped, ...]
    times: dict[str, Any]
    timed: int
    repeats: int
    runs: int
    trials: int
    seed: int
    digest: str
    version: str = field(default=__version__)


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


RESPONDENTS = 1000  # of the survey that is made up where no data are given


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
    runs: int = 5,
    parts: Parts | None = None,
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
        What Fig 8 predicts. None: gender, else the first attribute with 2 to 25 classes; and the
        one that the original ratings tell best by AUC.
    trials : int
        Of each prediction, at least 1; at least one for each seed.
    repeats : int
        Runs of each timed check, at least 1; the median is reported.
    runs : int
        Seeds that intervals rest on, at least 1.
    parts : Parts, optional
        Where what was measured is kept.
    rng : int, Generator or None

    Returns
    -------
    Study
        Figs 3-8, the worked tables, and the paper's claims held against what was measured.

    Raises
    ------
    ConfigError
        A parameter out of range, an unknown item or attribute, fewer than two users or items.

    Notes
    -----
    ε, l and distances are the paper's on 1-5; on other scales one star is a quarter of the
    width, in whole steps.
    """
    for name, value in (("repeats", repeats), ("trials", trials), ("runs", runs)):
        if value < 1:
            raise ConfigError(f"{called(name)} {value}: at least 1")
    seed = resolve_seed(rng)
    bench, synthetic = bench_of(
        ratings, sensitive, top, attribute, trials=trials, runs=runs, parts=parts, seed=seed
    )
    timed, refused = run_jobs(jobs_of(bench.workloads, bench.grid), repeats=repeats, seed=seed)
    figures = (
        *work_figures(bench),
        *time_figures(bench.workloads, bench.grid, timed),
        *loss_figures(bench),
        *accuracy_figure(bench),
    )
    data = known_data(bench.ratings)
    return Study(
        data=data_of(bench, synthetic=synthetic),
        claims=judge(CLAIMS, bench, data=data, ways=WAYS),
        figures=tuple(sorted(figures, key=lambda figure: figure.place)),
        worked=worked_tables(),
        choices=CHOICES,
        grids=grids_of(bench),
        verdicts=first_verdicts(timed, K, bench.grid.star, 2 * bench.grid.star),
        losses=list(_losses(bench)),
        predictions=list(_predictions(bench)),
        skipped=(*skipped_of(refused), AS_STRICT, *_lost(bench)),
        times=times_of(timed),
        timed=len(timed),
        repeats=repeats,
        runs=runs,
        trials=trials,
        seed=seed,
        digest=digest_of(bench.ratings),
    )


def bench_of(
    ratings: Ratings | None,
    sensitive: Sequence[str],
    top: int,
    attribute: str | None,
    *,
    trials: int,
    runs: int,
    parts: Parts | None,
    seed: int,
) -> tuple[Bench, bool]:
    """Make a bench; returned with whether its ratings are made up."""
    synthetic = ratings is None
    if ratings is None:
        ratings = synthesize("survey", n_users=RESPONDENTS, rng=generator(seed, "made-up survey"))
        if not len(sensitive):
            sensitive = [key for key in ratings.items if key.startswith("s")]
    if attribute is not None:
        labels_of(ratings, attribute)  # refused before the long work
    workloads = workloads_of(ratings, top, sensitive)
    chosen = [] if trials < 1 else _attributes(workloads[0].ratings, attribute, seed)
    seeds = tuple(seed + run for run in range(runs))
    grid = grid_of(ratings.scale)
    return (
        Bench(ratings, workloads, grid, seeds, trials, tuple(chosen), parts or Parts()),
        synthetic,
    )


_TRIED = 10  # trials that choose an attribute


def _attributes(ratings: Ratings, attribute: str | None, seed: int) -> list[str]:
    """Return the attribute that is asked for; else gender, and that with the highest AUC."""
    if attribute is not None:
        return [attribute]
    first = default_attribute(ratings)
    if first is None or ratings.attributes is None:
        return []
    areas = {}
    for name in ratings.attributes.column_names:
        if name != first:
            try:
                drawn = draw_trials(ratings, name, trials=_TRIED, rng=seed)
            except ConfigError:
                continue
            areas[str(name)] = float(drawn.original[:, 2].mean())
    return [first, *([max(areas, key=lambda name: areas[name])] if areas else [])]


def times_of(timed: dict[Job, Timed]) -> dict[str, Any]:
    """Return the seconds of every check."""
    return {
        f"{job.workload.name}, {job.nulls}, {job.search}, k = {job.k}, ε = {job.eps:g}, "
        f"l = {job.l:g}, {job.share} %": list(run.seconds)
        for job, run in timed.items()
    }


def _rules(bench: Bench) -> list[Any]:
    return [nulls for nulls in bench.top.rules if nulls != "zero"]


def _settings(bench: Bench) -> list[tuple[Any, Any, int, float]]:
    at = [*((LOSS_K, eps) for eps in bench.grid.eps), *((k, 2 * bench.grid.star) for k in KS)]
    return [
        (nulls, partition, k, eps)
        for nulls in _rules(bench)
        for partition in PARTITIONS
        for k, eps in dict.fromkeys(at)
    ]


def _losses(bench: Bench) -> Iterator[dict[str, Any]]:
    for nulls, partition, k, eps in _settings(bench):
        part = bench.release(nulls, partition, k, eps, bench.seeds[0])
        if "refused" not in part:
            setting = {"data": bench.top.name, "nulls": nulls, "partition": partition}
            lost = part["distortion"]
            cost = {"distortion": float(lost.sum()), "distortion_per_record": float(lost.mean())}
            yield {**setting, "k": k, "eps": eps, **cost}


def _predictions(bench: Bench) -> Iterator[dict[str, Any]]:
    names = ("accuracy", "balanced_accuracy", "auc")
    for attribute in bench.attributes:
        for nulls in _rules(bench):
            for partition in PARTITIONS:
                for k in PREDICTED_KS:
                    found = [
                        bench.predicted(attribute, nulls, partition, k, s) for s in bench.seeds
                    ]
                    if any("refused" in each for each in found):
                        continue
                    row: dict[str, Any] = {"attribute": attribute, "nulls": nulls}
                    row |= {"partition": partition, "k": k}
                    for place, name in enumerate(names):
                        for when in ("before", "after"):
                            own = [each[when][:, place].mean() for each in found]
                            row[f"{name}_{when}"] = float(sum(own) / len(own))
                    row["majority"] = float(
                        sum(each["majority"].mean() for each in found) / len(found)
                    )
                    row["released"] = float(sum(each["released"][0] for each in found) / len(found))
                    yield row


def _lost(bench: Bench) -> Iterator[Skipped]:
    for nulls, partition, k, eps in _settings(bench):
        part = bench.release(nulls, partition, k, eps, bench.seeds[0])
        if "refused" in part:
            what = f"{bench.top.name}, {nulls}, {partition}, k = {k}, ε = {eps:g}"
            yield Skipped("7", what, str(part["refused"]))
    if not bench.attributes:
        reason = "the data have no attribute with 2 to 25 classes"
        yield Skipped("8", "prediction", reason)
    for attribute in bench.attributes:
        parts = (
            bench.predicted(attribute, nulls, partition, k, bench.seeds[0])
            for nulls in _rules(bench)
            for partition in PARTITIONS
            for k in PREDICTED_KS
        )
        reasons = Counter(str(part["refused"]) for part in parts if "refused" in part)
        for reason, settings in reasons.items():
            yield Skipped("8", f"prediction of {attribute}: {settings} settings", reason)


def data_of(bench: Bench, *, synthetic: bool) -> dict[str, Any]:
    """Return what the data are, and their parts."""
    return {
        **size_of(bench.ratings),
        "synthetic": synthetic,
        "one_star": bench.grid.star,
        "attributes": list(bench.attributes),
        "parts": [
            {
                "name": workload.name,
                **{name: size_of(workload.ratings)[name] for name in ("users", "items", "ratings")},
                "sensitive_items": len(workload.sensitive),
                "nulls": list(workload.rules),
            }
            for workload in bench.workloads
        ],
    }
