"""`reproduce_sr`: every figure, table and claim of SR."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from starshade.arguments import typed
from starshade.audit.attempts import size_of
from starshade.audit.reproduction.claims import Claim, judge
from starshade.audit.reproduction.figures import Figure, Skipped
from starshade.audit.reproduction.parts import Parts
from starshade.audit.reproduction.sr.attribute import default_attribute, labels_of
from starshade.audit.reproduction.sr.bench import Bench
from starshade.audit.reproduction.sr.charted import (
    accuracy_figure,
    jobs_of,
    loss_figures,
    released_rules,
    time_figures,
    work_figures,
)
from starshade.audit.reproduction.sr.claims import CLAIMS, WAYS
from starshade.audit.reproduction.sr.configurations import CHOICES
from starshade.audit.reproduction.sr.grids import courses, predictions, savings, verdicts
from starshade.audit.reproduction.sr.measured import (
    AS_STRICT,
    KS,
    LOSS_K,
    PREDICTED_KS,
    Job,
    Timed,
    grid_of,
    run_jobs,
    skipped_of,
    workloads_of,
)
from starshade.audit.reproduction.sr.prediction import draw_trials
from starshade.audit.reproduction.sr.worked import worked_tables
from starshade.audit.reproduction.study import PaperStudy, known_data, refuse_few
from starshade.errors import ConfigError
from starshade.figure import Table
from starshade.naming import called
from starshade.plain import counted
from starshade.progress import announced
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.table import Ratings
from starshade.release.folder.digest import digest_of
from starshade.rng import Rng, generator, resolve_seed


@dataclass(frozen=True, kw_only=True)
class CheckStudy(PaperStudy):
    """The results that SR and SQ share.

    Attributes
    ----------
    repeats : int
        Runs of each timed check, and seeds.
    """

    made_up = "made-up survey"

    repeats: int

    def __str__(self) -> str:
        left = len(self.skipped)
        return (
            f"{self.whose} on {self.size}. {self.verdicts} Claims on speed are judged by work "
            f"(cells touched); seconds depend on the machine. Left out, with reasons: {left}."
        )

    def rests_on(self, figure: Figure) -> str:
        """Return the amount of data behind a figure; the paper's pictures are lost."""
        if figure.unit == "seconds":
            return f"medians of {counted(self.repeats, 'run')}, from the fastest to the slowest"
        return super().rests_on(figure)

    @classmethod
    def of(
        cls, bench: Bench, claims: Sequence[Claim], numbers: Mapping[str, str], repeats: int,
        further: Iterable[Figure] = (), grids: Iterable[Table] = (),
        skipped: Iterable[Skipped] = (), **own: Any,
    ) -> Self:  # fmt: skip
        """Time checks, judge claims, and collect the results that both studies share.

        `numbers`: SR's figures of checks that it has, and their numbers in it.
        """
        of = "".join(numbers)
        jobs = jobs_of(bench.workloads, bench.grid, of)
        timed, refused = run_jobs(jobs, repeats=repeats, seed=bench.seeds[0])
        work, unfit = work_figures(bench, of)
        checks = [
            replace(each, number=numbers[each.number[0]] + each.number[1:])
            for each in (*work, *time_figures(bench, timed, of))
        ]
        place = f"{min(numbers.values())}-{max(numbers.values())}"
        left = [replace(each, figure=place) for each in (*skipped_of(refused), *unfit)]
        return cls(
            data=_data_of(bench),
            claims=judge(claims, bench, data=known_data(bench.ratings), ways=WAYS),
            figures=tuple(sorted((*checks, *further), key=lambda figure: figure.place)),
            grids=(verdicts(bench, timed), *grids, savings(bench), courses(bench)),
            skipped=(*left, *skipped),
            times=_times_of(timed),
            repeats=repeats,
            runs=len(bench.seeds),
            seed=bench.seeds[0],
            digest=digest_of(bench.ratings),
            **own,
        )


@dataclass(frozen=True, kw_only=True)
class Study(CheckStudy):
    """SR on other data; `trials`: of each prediction."""

    key = "sr"
    authors = "Sun & Sun"
    whose = "The experiments of Sun and Sun"

    trials: int

    def rests_on(self, figure: Figure) -> str:
        """Return the amount of data behind a figure."""
        if figure.number == "8":
            each = max(1, self.trials // self.runs)
            return (
                f"means of {counted(each, 'trial')} in each of {counted(self.runs, 'run')}, with "
                "95 % intervals over trials; the paper's figure is lost, and its text says 75 %"
            )
        return super().rests_on(figure)


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
        Number of most rated items tested under three null rules in addition to all, at least 2.
    attribute : str, optional
        The attribute of Fig 8. None: gender, else the first with 2 to 25 classes; and the one that
        the original ratings predict best by AUC.
    trials : int
        Of each prediction, at least 1; at least one for each seed.
    repeats : int
        Runs of each timed check, at least 1; the median is reported.
    runs : int
        Seeds that intervals rest on, at least 1.
    parts : Parts, optional
        Storage of finished parts.
    rng : int, Generator or None

    Returns
    -------
    Study
        Figs 3-8, the worked examples, and verdicts on the paper's claims.

    Raises
    ------
    ConfigError
        A parameter out of range, an unknown item or attribute, fewer than two users or items.

    Notes
    -----
    ε, l and distances are the paper's on 1-5; on other scales one star is a quarter of the
    width, in whole steps.
    """
    if trials < 1:
        raise ConfigError(f"{called('trials')} {trials}: at least 1")
    bench = bench_of(
        ratings, sensitive, top, attribute, trials=trials, repeats=repeats, runs=runs, parts=parts,
        seed=resolve_seed(rng),
    )  # fmt: skip
    return Study.of(
        bench,
        CLAIMS,
        dict(zip("3456", "3456", strict=True)),
        repeats,
        (*loss_figures(bench), *accuracy_figure(bench)),
        predictions(bench),
        (AS_STRICT, *_lost(bench)),
        worked=worked_tables(),
        choices=CHOICES,
        trials=trials,
    )


def bench_of(
    ratings: Ratings | None,
    sensitive: Sequence[str],
    top: int,
    attribute: str | None = None,
    *,
    trials: int,
    repeats: int,
    runs: int,
    parts: Parts | None,
    seed: int,
) -> Bench:
    """Make a bench; without trials nothing is predicted."""
    for name, value in (("repeats", repeats), ("runs", runs)):
        if value < 1:
            raise ConfigError(f"{called(name)} {value}: at least 1")
    synthetic = ratings is None
    if ratings is None:
        ratings = synthesize("survey", n_users=RESPONDENTS, rng=generator(seed, "made-up survey"))
        if not len(sensitive):
            sensitive = [key for key in ratings.items if key.startswith("s")]
    refuse_few(ratings)
    if attribute is not None:
        labels_of(ratings, attribute)  # refused before the long work
    workloads = workloads_of(ratings, top, sensitive)
    chosen = tuple(_attributes(workloads[0].ratings, attribute, seed)) if trials else ()
    seeds = tuple(seed + run for run in range(runs))
    grid = grid_of(ratings.scale)
    return Bench(ratings, workloads, grid, seeds, trials, chosen, parts or Parts(), synthetic)


_TRIED = 10  # trials that choose an attribute


def _attributes(ratings: Ratings, attribute: str | None, seed: int) -> list[str]:
    """Return the given attribute; else gender, and the one with the highest AUC."""
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


def _times_of(timed: dict[Job, Timed]) -> dict[str, Any]:
    return {
        f"{job.workload.name}, {job.nulls}, {job.search}, k = {job.k}, ε = {job.eps:g}, "
        f"l = {job.l:g}, {job.share} %": list(run.seconds)
        for job, run in timed.items()
    }


def _lost(bench: Bench) -> Iterator[Skipped]:
    """Return the refused releases and predictions, equal refusals once."""
    two, seed = 2 * bench.grid.star, bench.seeds[0]
    at = dict.fromkeys([*((LOSS_K, eps) for eps in bench.grid.eps), *((k, two) for k in KS)])
    asked = [
        *((("7", "releases"), bench.release(*rule, k, eps, seed))
          for rule in released_rules(bench) for k, eps in at),
        *((("8", "predictions"), bench.predicted(*rule, k, seed))
          for rule in released_rules(bench) for k in PREDICTED_KS if bench.attributes),
    ]  # fmt: skip
    refused = Counter((*what, str(part["refused"])) for what, part in asked if "refused" in part)
    for (figure, what, reason), settings in refused.items():
        yield Skipped(figure, f"{what} in {counted(settings, 'setting')}", reason)
    if not bench.attributes:
        yield Skipped("8", "prediction", "the data have no attribute with 2 to 25 classes")


def _data_of(bench: Bench) -> dict[str, Any]:
    return {
        **size_of(bench.ratings),
        "synthetic": bench.synthetic,
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
