"""``starshade reproduce``: the papers' tables and figures on any data."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from starshade.audit.compare.settings import CompareSettings
from starshade.cli import LazyGroup
from starshade.cli.options.declared import options_of
from starshade.cli.options.help import WRITTEN, Explained, grouped
from starshade.cli.options.shared import Reading, ensure_free, gathered, reading
from starshade.cli.options.spelling import Whole
from starshade.cli.running.run import Run, running
from starshade.cli.running.studies import RESUME, RUNS, Asked, at_least, study
from starshade.cli.show import columns, figures, page, words
from starshade.errors import ConfigError
from starshade.progress import note

if TYPE_CHECKING:
    from starshade.audit.reproduction.everything import Everything

_STUDIES = {
    "ns": "starshade.cli.reproduce:reproduce_ns",
    "kl": "starshade.cli.reproduce:reproduce_kl",
    "pa": "starshade.cli.reproduce:reproduce_pa",
    "sr": "starshade.cli.reproduce:reproduce_sr",
    "sq": "starshade.cli.reproduce:reproduce_sq",
    "all": "starshade.cli.reproduce:reproduce_all",
    "compare": "starshade.cli.reproduce:reproduce_compare",
}


@click.group(
    cls=LazyGroup, table=_STUDIES, example="starshade reproduce kl --data ratings.csv --most-k 5"
)
def reproduce() -> None:
    """Repeat a paper's experiments on your data.

    Its figures and tables next to the paper's numbers, and a verdict on each claim.
    """


@study(
    "kl",
    "Ratings [default: made-up ratings]",
    "--data ratings.csv --most-k 5",
    click.option(
        "--attribute",
        metavar="NAME",
        help="Numeric personal attribute that queries average [default: age, else the first]",
    ),
    at_least(2, "--most-k", 20, "Largest k; 1 is the original"),
    at_least(1, "--draws", 20, "Queries per item set and kind of condition, in each run"),
)
def reproduce_kl(asked: Asked, attribute: str | None, most_k: int, draws: int) -> None:
    """Riyana & Natwichai 2018: utility loss of generalization.

    The experiments of section 5 on DATA, or on made-up ratings. Figures 10 to 16: utility loss
    by method and hierarchy, query errors, and time. Every claim of the paper gets a verdict.
    Without --items, the ten most rated items are used, as in the paper.
    """
    asked.answer(
        asked.ratings("ratings are", dates=False, select=False),
        items=asked.reading.selection(),
        k=range(2, most_k + 1),
        draws=draws,
        attribute=attribute,
    )


@study(
    "ns",
    "Ratings to attack",
    "--data ratings.csv --targets 50",
    at_least(1, "--targets", 300, "Maximum number of targets per run and setting"),
)
def reproduce_ns(asked: Asked, targets: int) -> None:
    """Narayanan & Shmatikov 2008: re-identification by a few ratings.

    The case study of section 5 on DATA: every figure and table of the paper, the bounds of its
    theorems, and a verdict on every claim. Figures 2 and 3 count single users: keep the folder
    private.
    """
    if asked.data is None:
        raise ConfigError("--data is missing", advice="Give the ratings to attack with --data.")
    asked.answer(asked.ratings(""), targets=targets)


_KS = (5, 10, 50)


@study(
    "pa",
    "Ratings [default: made-up ratings like Netflix's]",
    "--data ratings.csv --k 5",
    click.option("--n-users", type=Whole(4), help="Made-up users, without --data [default: 2,000]"),
    click.option("--n-items", type=Whole(2), help="Made-up items, without --data [default: 2,000]"),
    partial(gathered, options=options_of(CompareSettings, "k", default=_KS), name="values"),
)
def reproduce_pa(
    asked: Asked, n_users: int | None, n_items: int | None, values: dict[str, Any]
) -> None:
    """Predictive Anonymization (Chang, Thompson, Wang & Yao 2009).

    The experiments of section 7 on DATA, or on made-up ratings. Tables 1 to 3 and figures 3 to 5:
    prediction of held-out ratings from releases, effects of padding, grouping of users; as
    printed, as read, by our method, and with one change at a time. Every claim of the paper gets
    a verdict.
    """
    if asked.data is not None and (n_users or n_items):
        raise ConfigError(
            "--n-users and --n-items size made-up ratings; they do not go with --data",
            advice="Leave out either.",
        )
    asked.answer(
        asked.ratings("ratings are", dates=False),
        n_users=n_users,
        n_items=n_items,
        k=values["k"] or _KS,
    )


_SENSITIVE = click.option(
    "--sensitive",
    metavar="ITEM",
    multiple=True,
    help="Id of a sensitive item; repeatable [default: the last of the most rated]",
)
_TOP = at_least(2, "--top", 20, "Number of most rated items tested under three null rules")
_REPEATS = at_least(1, "--repeats", 3, "Runs of each timed check; the median counts")


@study(
    "sr",
    "Ratings [default: a made-up survey]",
    "--runs 1 --trials 10",
    _SENSITIVE,
    _TOP,
    click.option(
        "--attribute",
        metavar="NAME",
        help="Personal attribute to predict [default: gender, else the first predictable one]",
    ),
    at_least(1, "--trials", 50, "Trials of each prediction"),
    _REPEATS,
)
def reproduce_sr(asked: Asked, **settings: Any) -> None:
    """Sun & Sun 2013: (k, eps, l)-anonymity of surveys.

    The experiments of section 7 on DATA, or on a made-up survey. Figures 3 to 8: the work of
    checking (k, eps, l)-anonymity, the utility loss of the interval anonymizer, and the prediction
    of personal attributes before and after. Every claim of the paper gets a verdict.
    """
    asked.answer(asked.ratings("a survey is", dates=False), **settings)


@study("sq", "Ratings [default: a made-up survey]", "--repeats 1", _SENSITIVE, _TOP, _REPEATS)
def reproduce_sq(asked: Asked, **settings: Any) -> None:
    """Sun, Wang & Li: fast checks of (k, eps, l)-anonymity.

    The experiments on DATA, or on a made-up survey. Figures 1 and 2: the work of checking
    (k, eps, l)-anonymity by slicing and by comparing every pair. Every claim of the paper gets a
    verdict.
    """
    asked.answer(asked.ratings("a survey is", dates=False), **settings)


@click.command(
    name="all",
    cls=Explained,
    example="starshade reproduce all --data ratings.csv --runs 1 --out site/",
)
@click.option("--data", metavar="PATH", help="Ratings [default: made-up ratings]")
@RUNS
@grouped(
    WRITTEN,
    click.option("--out", metavar="DIR", required=True, help="Folder for the site"),
    RESUME,
)
@reading()
@running(seed=True)
def reproduce_all(
    data: str | None, out: str, runs: int, resume: bool, reading: Reading, run: Run
) -> None:
    """Repeat the experiments of all papers and write a site.

    On DATA, or on made-up ratings. A page for each paper with its figures, claims and verdicts,
    and a summary (start with index.html). Some values count single users: keep the folder private.
    """
    from starshade.cli.report import place_for

    place_for(out, "--out")  # without the extra there are no pages
    asked = Asked("all", data, out, runs, resume, reading, run)
    asked.begin()
    from starshade.audit.reproduction.everything import reproduce_all as everything
    from starshade.report.site import save_page, save_site

    ratings = asked.ratings("ratings are")
    with asked.parts(ratings, {}) as parts:

        def done(so_far: Everything) -> None:
            assert parts.folder is not None
            note(f"{so_far.studies[-1].authors}: {save_page(so_far, parts.folder)}")

        found = everything(ratings, runs=runs, parts=parts, done=done, rng=run.seed)
        files = save_site(found, out)
    run.emit(
        {**found.to_dict(), "seconds": run.seconds, "out": out},
        lambda: _summed_up(found, f"{out}: {len(files)} files; start with index.html"),
    )


def _summed_up(found: Everything, end: str) -> Any:
    table = found.table
    left = [(each.figure, each.reason) for each in found.skipped]
    return page(
        *map(words, found.summary),
        columns(table.head, table.rows, title=table.title),
        figures(left, "Left out") if left else None,
        words(end),
    )


@click.command(
    name="compare", cls=Explained, example="starshade reproduce compare site/ --out compared/"
)
@click.argument("folders", metavar="FOLDER...", nargs=-1, required=True)
@click.option("--out", metavar="DIR", help="Folder for all claims and verdicts")
@running()
def reproduce_compare(folders: tuple[str, ...], out: str | None, run: Run) -> None:
    """Compare the claims' verdicts across data sets.

    One paper, or all. Each FOLDER was written by `starshade reproduce NAME --out` or
    `starshade reproduce all --out`.
    """
    place = None if out is None else ensure_free(out)
    from starshade.audit.reproduction.across import claims_across
    from starshade.report.reproduction import save_across

    found = claims_across(folders)
    files = () if place is None else save_across(found, place)
    run.emit(
        {**found.to_dict(), "seconds": run.seconds, "out": out},
        lambda: page(
            *(
                columns(t.head, t.rows, title=t.title, align="left")
                for t in (found.counts, found.table(unlike=True))
                if t.rows
            ),
            words(f"{out}: {len(files)} files; start with README.md") if out else None,
        ),
    )
