"""The report on a release, internal or public: one HTML file to read, print and sign."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from starshade.arguments import typed
from starshade.audit.checks.policy import CHECKED
from starshade.errors import ConfigError
from starshade.figure import Figure, Unit
from starshade.plain import counted, percent
from starshade.progress import announced
from starshade.query.statement import shown
from starshade.ratings.places.atomic import atomic_file
from starshade.ratings.places.place import Place, Where
from starshade.release.figures import LEFT_OUT
from starshade.report.dossier_charts import pictures
from starshade.report.outline import DEFAULT, OUTLINES
from starshade.report.picture import palette_css
from starshade.report.terms import Terms

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

    from starshade.audit.dossier.dossier import Dossier


#: what the page lets a browser load and run (CSP): its own style, nothing else
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


#: losses that papers report
_LITERATURE = ("gen_iloss", "dm", "c_avg")


@announced("writing the report")
def render_report(dossier: Dossier, *, public: bool, template: str = DEFAULT) -> str:
    """Write the report as HTML.

    One page without scripts that loads nothing: style and pictures are in it. It follows the
    reader's preference of light or dark, and prints in black on white.

    `public`: the public report, with nothing about a single user; else the internal one, with
    every figure, the seed and the command that reproduces the release. Neither names a user.
    `template`: the headings of the internal report from page 2 on.
    """
    content = dossier.public() if public else dossier.internal()
    page = environment().get_template("public.html.j2" if public else "report.html.j2")
    return page.render(
        content,
        pictures=pictures(content),
        outline=OUTLINES[template],
        palette=palette_css(),
        policy=POLICY,
        left_out=LEFT_OUT,
        literature=_LITERATURE,
        titles={name: each.title for name, each in CHECKED.items()},
    )


@typed
def save_report(dossier: Dossier, out: Where, *, public: bool, template: str = DEFAULT) -> Path:
    """Write the report to a file: all of it or nothing.

    Parameters
    ----------
    dossier : Dossier
    out : path
        Must not exist, nor be inside a release. Only its owner can read the internal report.
    public : bool
        See `render_report`.
    template : {"iso27559", "ema"}
        Headings of the internal report from page 2 on.

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
        file.write_text(render_report(dossier, public=public, template=template), encoding="utf-8")
    return place.path


def environment() -> Environment:
    """Return what renders the templates; ConfigError where the optional extra is missing."""
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError as error:
        raise ConfigError(
            "reports need an optional package that is not installed",
            advice="pip install 'starshade[report]'",
        ) from error
    environment = Environment(
        loader=PackageLoader("starshade.report"),
        autoescape=True,  # titles, names of items and paths are untrusted
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_visible,
    )
    environment.globals["terms"] = Terms()
    for phrase in (count, counted, ends, figure, lines, percent, sentence, size):
        environment.filters[phrase.__name__] = phrase
    return environment


def _visible(value: object) -> object:
    """Escape what cannot be seen in a text: it could turn the line round, or hide a name."""
    return shown(value) if type(value) is str else value  # markup is of our own


_NONE = "–"


def ends(rate: Mapping[str, float]) -> str:
    """Write the interval of a rate.

    Examples
    --------
    >>> ends({"rate": 0.149, "low": 0.1401, "high": 0.158})
    '14.0 to 15.8%'
    """
    return f"{rate['low']:.1%}".removesuffix("%") + f" to {rate['high']:.1%}"


def count(number: float | str | None) -> str:
    """Write a number of things; text stands as it is.

    Examples
    --------
    >>> count(100000), count(None), count("fewer than 5")
    ('100,000', '–', 'fewer than 5')
    """
    if isinstance(number, str):
        return number
    return _NONE if number is None or math.isnan(number) else f"{number:,.0f}"


def size(n_bytes: int) -> str:
    """Write the size of a file.

    Examples
    --------
    >>> size(812), size(1_234_567)
    ('812 bytes', '1.2 MB')
    """
    for unit, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if n_bytes >= unit:
            return f"{n_bytes / unit:,.1f} {name}"
    return f"{n_bytes} bytes"


def figure(value: float | str | None, unit: Unit) -> str:
    """Write a value in its unit, as `Figure` does.

    Examples
    --------
    >>> figure(0.333, "share"), figure(1.0021621, "ratio"), figure("fewer than 5", "count")
    ('33.3%', '1.002', 'fewer than 5')
    """
    return Figure("", "", unit).of(value).text


def lines(text: str) -> Markup:
    r"""Write a text of several lines; what cannot be seen in one is escaped.

    Examples
    --------
    >>> print(lines("one <b>\ntwo\x1b"))
    one &lt;b&gt;
    two\x1b
    """
    from markupsafe import Markup, escape

    return Markup("\n").join(escape(shown(line)) for line in text.split("\n"))


def sentence(text: str) -> str:
    """Begin a text with a capital letter.

    Examples
    --------
    >>> sentence("its cells are means")
    'Its cells are means'
    """
    return text[:1].upper() + text[1:]
