"""Riyana & Natwichai's study as a folder: figures, tables, the paper's sentences checked."""

from __future__ import annotations

from collections.abc import Iterator

from starshade.audit.reproduction.figures import Figure
from starshade.audit.reproduction.kl.result import GeneralizationStudy
from starshade.ratings.places.place import Where
from starshade.report.reproduction import checked, figure_tables, left_out, save_study

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
    return save_study(
        folder,
        study.to_dict(),
        study.figures,
        subtitle=lambda figure: _subtitle(study, figure),
        page=_page(study),
        tables=tables,
    )


def _subtitle(study: GeneralizationStudy, figure: Figure) -> str:
    middle = "medians" if figure.unit == "seconds" else "means"
    text = f"{_size(study)}; {middle} of {study.runs} runs, from the least to the greatest"
    return text if figure.unit == "seconds" or _is_query(figure) else f"{text}; k = 1: the original"


def _is_query(figure: Figure) -> bool:
    return figure.number in ("13", "14", "15")


def _size(study: GeneralizationStudy) -> str:
    data = study.data
    made = "made-up ratings, " if data["synthetic"] else ""
    return f"{made}{data['users']:,} users, {data['items']:,} items, {data['ratings']:,} ratings"


def _page(study: GeneralizationStudy) -> Iterator[str]:
    yield "# Riyana & Natwichai, §5, on these ratings\n"
    yield (
        f"{_size(study)} ({study.data['users_left_out']:,} users rated none of the items), scale "
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
    yield from left_out(study.skipped)
    yield "\n## Tables\n"
    yield from figure_tables(study.figures)
