"""Riyana & Natwichai's study as a folder: figures, tables, the paper's sentences checked."""

from __future__ import annotations

from collections.abc import Iterator

from starshade.audit.reproduction.figures import Figure
from starshade.audit.reproduction.kl.result import GeneralizationStudy
from starshade.ratings.places.place import Where
from starshade.report.reproduction import checked, pages_end, save_study

__all__ = ["save_kl"]


def save_kl(study: GeneralizationStudy, folder: Where) -> tuple[str, ...]:
    """Write a study: all of it or nothing.

    Parameters
    ----------
    study : GeneralizationStudy
    folder : path
        Must not exist.

    Returns
    -------
    tuple of str
        Names of the files: ``kl.json``, ``losses.csv`` and ``queries.csv`` with a row per line, k
        and run, ``README.md`` with a table per figure, and per figure ``figure-10.vl.json``
        (Vega-Lite) and ``figure-10.svg``. Without the optional extra ``starshade[report]`` there
        are no pictures, and a note says so.

    Raises
    ------
    OutputError
        The folder exists or cannot be written; nothing is left behind.
    """
    tables = {"losses": study.losses} | ({"queries": study.queries} if study.queries else {})
    return save_study(study, folder, _page(study), _rests_on, tables)


def _rests_on(study: GeneralizationStudy, figure: Figure) -> str:
    middle = "medians" if figure.unit == "seconds" else "means"
    first = "; k = 1: the original" * (figure.number in ("10", "11", "12"))
    return f"; {middle} of {study.runs} runs, from the least to the greatest{first}"


def _page(study: GeneralizationStudy) -> Iterator[str]:
    yield "# Riyana & Natwichai, §5, on these ratings\n"
    yield (
        f"{study.size} ({study.data['users_left_out']:,} users rated none of the items), scale "
        f"{study.data['scale']}; seed {study.seed}, starshade {study.version}. The paper's figures "
        "are pictures and their numbers not to be had; its sentences about the curves are held "
        f"against ours. Everything is run {study.runs} times with seeds of its own: a point is the "
        "mean of the runs, a time their median on the machine at hand, another one gives others.\n"
    )
    yield (
        "Two points differ plainly when their runs do not overlap; times when they are a tenth "
        "apart, too. A curve rises (falls) when its end lies plainly above (below) its beginning "
        "and no pair of points plainly goes the other way.\n"
    )
    yield from checked(study.checks)
    yield from pages_end(study, "Tables")
