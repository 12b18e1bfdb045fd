"""The report on a release: one HTML file to read, print and sign, in two editions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from starshade.errors import ConfigError
from starshade.plain import counted, percent
from starshade.progress import announced
from starshade.query.statement import shown
from starshade.ratings.places.atomic import atomic_file
from starshade.ratings.places.place import Place, Where
from starshade.report.dossier_charts import palette_css, pictures
from starshade.report.phrases import count, ends, figure, lines, sentence, size

if TYPE_CHECKING:
    from jinja2 import Environment

    from starshade.audit.dossier.dossier import Dossier

__all__ = ["POLICY", "render_report", "save_report"]

#: what the page lets a browser load and run (CSP): its own style, nothing else
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


@announced("writing the report")
def render_report(dossier: Dossier, *, public: bool) -> str:
    """Write the report as HTML.

    One page without scripts, that loads nothing from anywhere: style and pictures are in it. It
    follows the reader's preference of light or dark, and prints in black on white.

    `public`: the edition for everybody, with nothing about a single user; else the internal one,
    which names the users at risk, the seed and the command that makes the release again.
    """
    content = dossier.public() if public else dossier.internal()
    page = _environment().get_template("report.html.j2")
    return page.render(
        content,
        edition="public" if public else "internal",
        pictures=pictures(content),
        palette=palette_css(),
        policy=POLICY,
    )


def save_report(dossier: Dossier, out: Where, *, public: bool) -> Path:
    """Write the report to a file: all of it or nothing.

    Parameters
    ----------
    dossier : Dossier
    out : path
        Must not exist, nor lie inside a release. The internal edition is readable by its owner
        only.
    public : bool
        See `render_report`.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    ConfigError
        The optional extra is not installed.
    OutputError
        The file exists or cannot be written; nothing is left behind.
    """
    place = Place.of(out)
    with atomic_file(place, 0o666 if public else 0o600) as file:
        file.write_text(render_report(dossier, public=public), encoding="utf-8")
    return place.path


def _environment() -> Environment:
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError as error:
        raise ConfigError(
            "reports need an optional package that is not installed",
            advice="pip install 'starshade[report]'",
        ) from error
    environment = Environment(
        loader=PackageLoader("starshade.report"),
        autoescape=True,  # titles, names of items and paths come from strangers
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_visible,
    )
    for phrase in (count, counted, ends, figure, lines, percent, sentence, size):
        environment.filters[phrase.__name__] = phrase
    return environment


def _visible(value: object) -> object:
    """Escape what cannot be seen in a text: it could turn the line round, or hide a name."""
    return shown(value) if type(value) is str else value  # markup is of our own
