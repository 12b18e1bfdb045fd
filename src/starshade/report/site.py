"""The studies of all papers as a site: a page each, and a summary."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any, get_args

from starshade.arguments import typed
from starshade.audit.reproduction.claims import Judged, Verdict
from starshade.audit.reproduction.configurations import explained
from starshade.audit.reproduction.everything import Everything
from starshade.audit.reproduction.figures import Figure
from starshade.audit.reproduction.papers import PAPERS
from starshade.audit.reproduction.study import PaperStudy
from starshade.audit.reproduction.worked import Worked
from starshade.progress import announced, task
from starshade.ratings.places.atomic import atomic_folder
from starshade.ratings.places.place import Where
from starshade.report.folder import csv_text
from starshade.report.page import POLICY, environment
from starshade.report.panels import pictures, pictures_css
from starshade.report.reproduction import panel_tables, subtitle, time_rows

_PAPER = "site_paper.html.j2"


@typed
@announced("writing the site")
def save_site(everything: Everything, folder: Where) -> tuple[str, ...]:
    """Write the studies of all papers as a site: all of it or nothing.

    Pages contain their style and pictures, run no scripts and load nothing. They follow the
    reader's light or dark preference and print in black on white.

    Parameters
    ----------
    everything : Everything
    folder : path
        Must not exist. Private to its owner: values may count single users.

    Returns
    -------
    tuple of str
        Names of the files: ``index.html``, a page for each paper, ``times.html`` with all times,
        and ``claims.csv``, to compare with other data. The same request writes all files except
        ``times.html`` identically to the byte.

    Raises
    ------
    ConfigError
        The optional extra ``starshade[report]`` is not installed.
    OutputError
        The folder exists or cannot be written; nothing is left behind.
    """
    write = partial(_write, everything)
    with atomic_folder(folder) as place:
        write(place / "index.html", "site_first.html.j2", here="index")
        with task("drawing the figures", len(everything.studies)) as step:
            for study in everything.studies:
                write(place / f"{study.key}.html", _PAPER, **_of(study))
                step(1)
        times = [_timed(study) for study in everything.studies]
        write(place / "times.html", "site_times.html.j2", here="times", times=times)
        (place / "claims.csv").write_text(csv_text(everything.claims), encoding="utf-8", newline="")
        return tuple(sorted(path.name for path in place.iterdir()))


def save_page(so_far: Everything, folder: Path) -> Path:
    """Write the page of the latest study, to read while the others run."""
    study = so_far.studies[-1]
    place, draft = folder / f"{study.key}.html", folder / f"{study.key}.draft.html"
    _write(so_far, draft, _PAPER, alone=True, **_of(study))
    return draft.replace(place)


def _write(found: Everything, place: Path, template: str, **content: Any) -> None:
    shared = {"found": found, "style": pictures_css(), "policy": POLICY, "alone": False}
    html = environment().get_template(template).render(shared | content)
    place.write_text(html, encoding="utf-8")


def _of(study: PaperStudy) -> dict[str, Any]:
    of: dict[str, list[Judged]] = {v: [] for v in (*get_args(Verdict), "ours")}
    for each in study.claims:
        of["ours" if each.claim.ours else each.verdict].append(each)
    return {
        "here": study.key,
        "study": study,
        "paper": PAPERS[study.key],
        "choices": explained(study.choices) if study.choices else None,
        "errata": [choice.erratum for choice in study.choices if choice.erratum],
        "by_verdict": {verdict: own for verdict, own in of.items() if own},
        "figures": [_drawn(study, figure) for figure in study.steady],
        "worked": [_cells(table) for table in study.worked],
    }


def _drawn(study: PaperStudy, figure: Figure) -> dict[str, Any]:
    return {
        "number": figure.number,
        "title": figure.title,
        "rests_on": subtitle(study, figure),
        "pictures": pictures(figure),
        "tables": list(panel_tables(figure)),
    }


def _cells(table: Worked) -> dict[str, Any]:
    rows = zip(table.paper, table.ours, strict=True)
    return {"table": table, "rows": [list(zip(*row, strict=True)) for row in rows]}


def _timed(study: PaperStudy) -> dict[str, Any]:
    return {
        "study": study,
        "figures": [_drawn(study, figure) for figure in study.clocked],
        "rows": time_rows(study.times),
    }
