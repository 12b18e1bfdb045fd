"""``starshade reproduce``: the papers' tables and figures on any data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from starshade.audit.compare.settings import CompareSettings
from starshade.cli import LazyGroup
from starshade.cli.options.declared import options_of
from starshade.cli.options.shared import Reading, ensure_free, gathered, reading
from starshade.cli.options.spelling import Whole
from starshade.cli.running.run import Run, running
from starshade.cli.show import columns, figures, judged, page, words
from starshade.errors import ConfigError
from starshade.figure import number

if TYPE_CHECKING:
    from starshade.audit.reproduction.claims import Judged
    from starshade.audit.reproduction.ns.sentences import Statement
    from starshade.audit.reproduction.ns.study import Reproduction
    from starshade.audit.reproduction.pa.result import PredictiveStudy
    from starshade.audit.reproduction.sr.study import Study
    from starshade.audit.reproduction.study import PaperStudy


_STUDIES = {
    "ns": "starshade.cli.reproduce:reproduce_ns",
    "kl": "starshade.cli.reproduce:reproduce_kl",
    "pa": "starshade.cli.reproduce:reproduce_pa",
    "sr": "starshade.cli.reproduce:reproduce_sr",
}


@click.group(cls=LazyGroup, table=_STUDIES)
def reproduce() -> None:
    """Run a paper's study on your data: its figures and tables, ours beside the paper's."""


def at_least(least: int, name: str, default: int, text: str) -> Callable[..., Any]:
    """Give a command an option that is a number."""
    kind = Whole(least)
    return click.option(name, type=kind, default=default, show_default=True, help=text)


def out_option(files: str) -> Callable[..., Any]:
    """Give a command the option ``--out``."""
    return click.option("--out", metavar="DIR", help=f"Write {files} and a page to this folder.")


def begin(out: str | None, data: str | None, options: Any = None, made_up: str = "") -> None:
    """Refuse a folder that is taken, and options for reading where nothing is read."""
    if out is not None:
        ensure_free(out)
    if data is None and options:
        raise ConfigError(
            "options for reading ratings, and no --data",
            advice=f"Name the ratings with --data; without it {made_up} made up.",
        )


def finish(
    run: Run,
    study: PaperStudy,
    out: str | None,
    save: Callable[..., tuple[str, ...]],
    shown: Callable[[], list[Any]],
    place: Callable[[str], str] = "Fig. {}".format,
) -> None:
    """Write a study to its folder, and say what came of it.

    `shown`: what stands between its paragraph and what is left out; `place`: what to call a figure.
    """
    files = () if out is None else save(study, out)

    def summary() -> Any:
        left = [(f"{place(each.figure)}: {each.what}", each.reason) for each in study.skipped]
        return page(
            words(str(study)),
            *shown(),
            figures(left, "Left out") if left else None,
            words(f"{out}: {len(files)} files; begin with README.md") if out else None,
        )

    run.emit({**study.to_dict(), "seconds": run.seconds, "out": out}, summary)


@click.command(name="kl")
@click.option("--data", metavar="PATH", help="The ratings. [default: made-up ones]")
@out_option("JSON, CSV, Vega-Lite, SVG")
@click.option(
    "--attribute",
    metavar="NAME",
    help="Numeric personal attribute that queries average. [default: age, else the first]",
)
@at_least(2, "--most-k", 20, "Every k from 1, the original, up to this.")
@at_least(1, "--runs", 5, "Of everything, each with a seed of its own.")
@at_least(1, "--draws", 20, "Queries for each set of items and kind of condition, in each run.")
@reading()
@running(seed=True)
def reproduce_kl(
    data: str | None,
    out: str | None,
    attribute: str | None,
    most_k: int,
    runs: int,
    draws: int,
    reading: Reading,
    run: Run,
) -> None:
    """Riyana & Natwichai's experiments (2018, section 5) on DATA, or on made-up ratings.

    Figures 10 to 16: what generalization loses by each method and hierarchy, how wrong queries
    become, how long it takes. Each claim of the paper is held against what is found here. Without
    --items the ten most rated are looked at, as in the paper.
    """
    begin(out, data, reading.arguments(), "ratings are")
    from starshade.audit.reproduction.kl.study import reproduce_kl as study
    from starshade.report.studies import save_kl

    result = study(
        None if data is None else reading.read(data, dates=False, select=False),
        items=reading.selection(),
        ks=range(2, most_k + 1),
        runs=runs,
        draws=draws,
        attribute=attribute,
        rng=run.seed,
    )
    finish(run, result, out, save_kl, lambda: [_claimed(result.claims)])


def _claimed(claims: Sequence[Judged]) -> Any:
    return columns(
        ("claim", "where", "what is said", "here", "verdict"),
        [
            (each.claim.number, each.claim.place, each.claim.says, each.ours, each.verdict)
            for each in claims
        ],
        align="left",
    )


_EPS = 0.05  # of the theorems, shown to a person; --json has all


@click.command(name="ns")
@click.option("--data", metavar="PATH", required=True, help="The ratings to attack.")
@out_option("JSON, Vega-Lite, SVG")
@at_least(1, "--targets", 1000, "Users attacked in each setting, at most.")
@reading()
@running(seed=True)
def reproduce_ns(data: str, out: str | None, targets: int, reading: Reading, run: Run) -> None:
    """Narayanan & Shmatikov's case study (2008, section 5) on DATA.

    Every figure and table of the paper, and the bounds of its theorems; what the paper says of
    Netflix stands beside it. Figures 2 and 3 count single users: the folder is for the owner.
    """
    begin(out, data)
    from starshade.audit.reproduction.ns.study import reproduce_ns as study
    from starshade.report.reproduction import save_reproduction

    result = study(reading.read(data), targets=targets, rng=run.seed)
    finish(run, result, out, save_reproduction, lambda: _ns_shown(result), _place)


def _ns_shown(result: Reproduction) -> list[Any]:
    return [
        columns(
            ("where", "what", "the paper says of Netflix", "here"),
            [(s.figure, _what(s), s.says, s.ours_in_words) for s in result.statements],
            align="left",
        ),
        *(words(str(facts)) for facts in result.few_facts if facts.eps == _EPS),
    ]


def _what(statement: Statement) -> str:
    known = statement.knowledge
    return statement.what if known is None else f"{statement.what}: {known}"


def _place(figure: str) -> str:
    return f"Fig. {figure}" if figure.isdigit() else figure


_KS = (5, 50)
_NAMES = {"1": "target deviation", "3": "similar-user deviation"}


@click.command(name="pa")
@click.option("--data", metavar="PATH", help="The ratings. [default: made-up ones, like Netflix]")
@click.option("--n-users", type=Whole(4), help="Without --data: users. [default: 2,000]")
@click.option("--n-items", type=Whole(2), help="Without --data: items. [default: 2,000]")
@out_option("JSON, CSV, Vega-Lite, SVG")
@partial(gathered, options=options_of(CompareSettings, "ks", default=_KS), name="values")
@at_least(1, "--runs", 3, "Of everything, each with a seed of its own.")
@reading()
@running(seed=True)
def reproduce_pa(
    data: str | None,
    n_users: int | None,
    n_items: int | None,
    out: str | None,
    values: dict[str, Any],
    runs: int,
    reading: Reading,
    run: Run,
) -> None:
    """Repeat Chang, Thompson, Wang & Yao's experiments (section 7) on DATA, or on made-up ratings.

    Tables 1 to 3 and figures 3 to 5: how well ratings that were held out are predicted from
    releases, what padding does to the data, how users are grouped. The paper's numbers stand
    beside, and its sentences are held against what is found here.
    """
    begin(out, data, reading.items or reading.arguments(), "ratings are")
    if data is not None and (n_users or n_items):
        raise ConfigError(
            "--n-users and --n-items say how much to make up, and --data names ratings",
            advice="Leave out one or the other.",
        )
    from starshade.audit.reproduction.pa.reproduce import reproduce_pa as study
    from starshade.report.studies import save_pa

    result = study(
        None if data is None else reading.read(data, dates=False),
        n_users=n_users,
        n_items=n_items,
        ks=values["ks"] or _KS,
        runs=runs,
        rng=run.seed,
    )
    finish(run, result, out, save_pa, lambda: _pa_shown(result), str)


def _pa_shown(result: PredictiveStudy) -> list[Any]:
    return [
        columns(
            ("line", "k", "figure", "reading", "the paper", "here", "times the original"),
            [
                (
                    row.line,
                    number(row.k),
                    _NAMES[row.table],
                    row.reading,
                    *map(number, (row.paper, row.mean, row.ratio)),
                )
                for row in result.tables
            ],
            title="Tables 1 and 3: RMSE on what was held out",
        ),
        judged(result.checks),
    ]


@click.command(name="sr")
@click.option("--data", metavar="PATH", help="The ratings. [default: a made-up survey]")
@out_option("JSON, Vega-Lite, SVG")
@click.option(
    "--sensitive",
    metavar="ITEM",
    multiple=True,
    help="Id of a sensitive item; may be repeated. [default: the last of the most rated]",
)
@at_least(2, "--top", 20, "Most rated items that are looked at under three null rules.")
@click.option(
    "--attribute",
    metavar="NAME",
    help="Personal attribute to predict. [default: gender, else the first that can be]",
)
@at_least(1, "--trials", 50, "Trials of each prediction.")
@at_least(1, "--repeats", 3, "Runs of each timed check; the median counts.")
@reading()
@running(seed=True)
def reproduce_sr(
    data: str | None,
    out: str | None,
    sensitive: tuple[str, ...],
    top: int,
    attribute: str | None,
    trials: int,
    repeats: int,
    reading: Reading,
    run: Run,
) -> None:
    """Sun & Sun's experiments (2013, section 7) on DATA, or on a made-up survey.

    Figures 3 to 8: how long checks of (k, eps, l)-anonymity take, what the interval anonymizer
    costs, and what ratings tell of a person before and after. Each sentence of the paper about a
    curve is held against the curve found here.
    """
    begin(out, data, reading.items or reading.arguments(), "a survey is")
    from starshade.audit.reproduction.sr.study import reproduce_sr as study
    from starshade.report.studies import save_sr

    result = study(
        None if data is None else reading.read(data, dates=False),
        sensitive=sensitive,
        top=top,
        attribute=attribute,
        trials=trials,
        repeats=repeats,
        rng=run.seed,
    )
    finish(run, result, out, save_sr, lambda: _sr_shown(result))


def _sr_shown(result: Study) -> list[Any]:
    counts = ("satisfied", "failing_records", "records", "smallest_group")
    return [
        judged(result.checks),
        columns(
            ("checked", "nulls", "satisfied", "failing records", "of", "smallest ball"),
            [(v["data"], v["nulls"], *(number(v[key]) for key in counts)) for v in result.verdicts],
            title="The check with the paper's default parameters",
        ),
    ]
