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
    """Run a paper's study on your data, beside the paper's.

    Its figures and tables, and each of its claims with a verdict.
    """


@study(
    "kl",
    "The ratings. [default: made-up ones]",
    "--data ratings.csv --most-k 5",
    click.option(
        "--attribute",
        metavar="NAME",
        help="Numeric personal attribute that queries average. [default: age, else the first]",
    ),
    at_least(2, "--most-k", 20, "Every k from 1, the original, up to this."),
    at_least(1, "--draws", 20, "Queries for each set of items and kind of condition, in each run."),
)
def reproduce_kl(asked: Asked, attribute: str | None, most_k: int, draws: int) -> None:
    """Riyana & Natwichai 2018: what generalization loses.

    Their experiments (section 5) on DATA, or on made-up ratings. Figures 10 to 16: what
    generalization loses by each method and hierarchy, how wrong queries become, how long it takes.
    Each claim of the paper is held against what is found here. Without --items the ten most rated
    are looked at, as in the paper.
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
    "The ratings to attack.",
    "--data ratings.csv --targets 50",
    at_least(1, "--targets", 300, "Users attacked in each run of a setting, at most."),
)
def reproduce_ns(asked: Asked, targets: int) -> None:
    """Narayanan & Shmatikov 2008: who is found by a few ratings.

    Their case study (section 5) on DATA. Every figure and table of the paper, the bounds of its
    theorems, and each of its claims with a verdict. Figures 2 and 3 count single users: the folder
    is for the owner.
    """
    if asked.data is None:
        raise ConfigError("--data is missing", advice="Name the ratings to attack with --data.")
    asked.answer(asked.ratings(""), targets=targets)


_KS = (5, 10, 50)


@study(
    "pa",
    "The ratings. [default: made-up ones, like Netflix]",
    "--data ratings.csv --k 5",
    click.option("--n-users", type=Whole(4), help="Without --data: users. [default: 2,000]"),
    click.option("--n-items", type=Whole(2), help="Without --data: items. [default: 2,000]"),
    partial(gathered, options=options_of(CompareSettings, "k", default=_KS), name="values"),
)
def reproduce_pa(
    asked: Asked, n_users: int | None, n_items: int | None, values: dict[str, Any]
) -> None:
    """Repeat Chang et al.: releases that recommenders train on.

    Chang, Thompson, Wang & Yao's experiments (section 7) on DATA, or on made-up ratings. Tables 1
    to 3 and figures 3 to 5: how well ratings that were held out are predicted from releases, what
    padding does to the data, how users are grouped; to the letter, as we read it, by our method,
    and with one change at a time. Each claim of the paper has a verdict.
    """
    if asked.data is not None and (n_users or n_items):
        raise ConfigError(
            "--n-users and --n-items say how much to make up, and --data names ratings",
            advice="Leave out one or the other.",
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
    help="Id of a sensitive item; may be repeated. [default: the last of the most rated]",
)
_TOP = at_least(2, "--top", 20, "Most rated items that are looked at under three null rules.")
_REPEATS = at_least(1, "--repeats", 3, "Runs of each timed check; the median counts.")


@study(
    "sr",
    "The ratings. [default: a made-up survey]",
    "--runs 1 --trials 10",
    _SENSITIVE,
    _TOP,
    click.option(
        "--attribute",
        metavar="NAME",
        help="Personal attribute to predict. [default: gender, else the first that can be]",
    ),
    at_least(1, "--trials", 50, "Trials of each prediction."),
    _REPEATS,
)
def reproduce_sr(asked: Asked, **settings: Any) -> None:
    """Sun & Sun 2013: surveys in which ratings are near others'.

    Their experiments (section 7) on DATA, or on a made-up survey. Figures 3 to 8: the work of
    checking (k, eps, l)-anonymity, what the interval anonymizer costs, and what ratings tell of a
    person before and after. Each claim of the paper is held against what is found here.
    """
    asked.answer(asked.ratings("a survey is", dates=False), **settings)


@study("sq", "The ratings. [default: a made-up survey]", "--repeats 1", _SENSITIVE, _TOP, _REPEATS)
def reproduce_sq(asked: Asked, **settings: Any) -> None:
    """Run Sun, Wang & Li: how fast (k, eps, l) can be checked.

    Their experiments on DATA, or on a made-up survey. Figures 1 and 2: the work of checking (k,
    eps, l)-anonymity by slicing and by comparing every pair. Each claim of the paper is held
    against what is found here.
    """
    asked.answer(asked.ratings("a survey is", dates=False), **settings)


@click.command(
    name="all",
    cls=Explained,
    example="starshade reproduce all --data ratings.csv --runs 1 --out site/",
)
@click.option("--data", metavar="PATH", help="The ratings. [default: made-up ones]")
@RUNS
@grouped(
    WRITTEN,
    click.option("--out", metavar="DIR", required=True, help="Write the site to this folder."),
    RESUME,
)
@reading()
@running(seed=True)
def reproduce_all(
    data: str | None, out: str, runs: int, resume: bool, reading: Reading, run: Run
) -> None:
    """Run the studies of all papers, and write a site.

    On DATA, or on made-up ratings. A page for each paper, with its figures, its claims and whether
    they hold; a first page that sums up. Begin with index.html. Single users are counted in it: the
    folder is for the owner.
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
        lambda: _summed_up(found, f"{out}: {len(files)} files; begin with index.html"),
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
    name="compare", cls=Explained, example="starshade reproduce compare site/ --out beside/"
)
@click.argument("folders", metavar="FOLDER...", nargs=-1, required=True)
@click.option("--out", metavar="DIR", help="Write what was found of every claim to this folder.")
@running()
def reproduce_compare(folders: tuple[str, ...], out: str | None, run: Run) -> None:
    """Set the claims of several runs beside each other.

    One paper, or all, on several data sets. Each FOLDER was written by `starshade reproduce NAME
    --out` or `reproduce all --out`.
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
            words(f"{out}: {len(files)} files; begin with README.md") if out else None,
        ),
    )
