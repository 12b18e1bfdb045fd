"""A reproduction as a folder: figures as data, specification and picture, and a page to read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TypeVar

from starshade.arguments import typed
from starshade.audit.reproduction.claims import Judged, told
from starshade.audit.reproduction.figures import Figure, Point, Skipped, Unit
from starshade.audit.reproduction.ns.study import Reproduction
from starshade.audit.reproduction.study import Check, PaperStudy, apart
from starshade.ratings.places.place import Where
from starshade.report.charts import chart
from starshade.report.folder import Drawn, Rows, save_folder, table_lines

_Study = TypeVar("_Study", bound=PaperStudy)


@typed
def save_reproduction(reproduction: Reproduction, folder: Where) -> tuple[str, ...]:
    """Write a reproduction: all of it or nothing.

    Parameters
    ----------
    reproduction : Reproduction
    folder : path
        Must not exist. Only its owner may look into it: single users are counted.

    Returns
    -------
    tuple of str
        Names of the files: ``ns.json``, ``README.md``, and per figure ``figure-04.vl.json``
        (Vega-Lite) and ``figure-04.svg``. Without the optional extra ``starshade[report]`` there
        are no pictures, and a note says so.

    Raises
    ------
    OutputError
        The folder exists or cannot be written; nothing is left behind.
    """
    page = (*_page(reproduction), *left_out(reproduction.skipped))
    return save_study(reproduction, folder, page, _rests_on)


def save_study(
    study: _Study,
    folder: Where,
    page: Iterable[str],
    rests_on: Callable[[_Study, Figure], str],
    tables: Mapping[str, Rows] = MappingProxyType({}),
) -> tuple[str, ...]:
    """Write what any reproduction has: its JSON, a chart per figure, a page to read.

    `rests_on`: what a figure rests on, beside the size of the data; `page` and `tables`: see
    `save_folder`. Returns the names of the files.
    """
    charts = [
        Drawn(
            figure.file_name,
            f"Fig. {figure.number}: {figure.title}",
            chart(figure, study.size + rests_on(study, figure)),
        )
        for figure in study.figures
    ]
    return save_folder(folder, study.key, study.to_dict(), charts, page=page, tables=tables)


def pages_end(study: PaperStudy, title: str) -> Iterator[str]:
    """Say what was left out, and write every figure as tables."""
    yield from left_out(study.skipped)
    yield f"\n## {title}\n"
    yield from figure_tables(study.figures)


def left_out(skipped: Sequence[Skipped]) -> Iterator[str]:
    """Say on a page what the data could not give."""
    if skipped:
        yield "\n## Left out\n"
        rows = ((entry.figure, entry.what, entry.reason) for entry in skipped)
        yield from table_lines(("figure", "what", "why"), rows)


def checked(checks: Sequence[Check]) -> Iterator[str]:
    """Set the paper's sentences, and whether they hold, under each other; then our own claims."""
    papers, ours = apart(checks)
    for title, own in (("the paper says", papers), ("we say of our own methods", ours)):
        if own:
            yield f"\n## What {title}, and whether it holds here\n"
            yield f"{sum(c.holds for c in own)} of {len(own)} hold.\n"
            yield from table_lines(
                ("figure", "says", "on", "here", "holds"),
                ([c.figure, c.says, c.where, c.ours, "yes" if c.holds else "no"] for c in own),
            )


def claimed(judged: Sequence[Judged]) -> Iterator[str]:
    """Set the claims, and whether they hold, under each other."""
    yield "\n## What the paper claims\n"
    yield f"{told(judged)}\n"
    yield from table_lines(
        ("", "where", "says", "counts as true", "here", "verdict", "why"),
        (
            [
                each.claim.number,
                each.claim.place,
                each.claim.says,
                each.claim.holds_if,
                each.ours,
                each.verdict,
                each.reason or each.cause,
            ]
            for each in judged
        ),
    )


def figure_tables(figures: Sequence[Figure]) -> Iterator[str]:
    """Write every figure as tables: one per panel, a row per x, a column per line."""
    for figure in figures:
        yield f"\n### Fig. {figure.number}: {figure.title} ({figure.y_title})\n"
        for measure in dict.fromkeys(series.measure for series in figure.series):
            yield f"\n{measure}\n"
            lines = [series for series in figure.series if series.measure == measure]
            at = [{point.x: point for point in series.points} for series in lines]
            xs = sorted({x for points in at for x in points})
            yield from table_lines(
                (figure.x_title, *(series.name for series in lines)),
                ([f"{x:g}", *(_cell(points.get(x), figure.unit) for points in at)] for x in xs),
            )


def _cell(point: Point | None, unit: Unit) -> str:
    if point is None:
        return "–"
    if unit == "share":
        return f"{point.y:.1%} [{point.low:.1%}, {point.high:.1%}]"
    return f"{point.y:.4g}"


def _rests_on(reproduction: Reproduction, figure: Figure) -> str:
    rests_on = [p.targets for s in figure.series for p in s.points if p.targets is not None]
    if not rests_on:  # a count of all
        return ""
    least, most = min(rests_on), max(rests_on)
    targets = f"{least:,}" if least == most else f"{least:,} to {most:,}"
    return f"; {targets} targets per point, 95 % intervals"


def _page(reproduction: Reproduction) -> Iterator[str]:
    yield "# Narayanan & Shmatikov, §5, on these ratings\n"
    yield (
        f"{reproduction.size}, scale {reproduction.data['scale']}; seed {reproduction.seed}, "
        f"starshade {reproduction.version}. The paper's numbers are Netflix's (480,189 users) and "
        "come from its text; its figures are pictures. Ours carry 95 % intervals. Internal: Figs 2 "
        "and 3 count single users.\n"
    )
    yield "## The paper's text, ours beside it\n"
    yield from table_lines(
        ("where", "what", "the paper", "ours", "the adversary knows"),
        (
            (each.figure, each.what, each.says, each.ours_in_words, each.knowledge or "")
            for each in reproduction.statements
        ),
    )
    yield from _theory(reproduction)
    yield from _checked(reproduction)


def _theory(reproduction: Reproduction) -> Iterator[str]:
    yield "\n## What the theorems ask for\n"
    yield "| theorem | δ | facts here | facts on Netflix |"
    yield "|---|---|---|---|"
    for row in reproduction.theorems:
        what = f"lineup of {row['lineup']}" if "lineup" in row else f"ε = {row['eps']}"
        facts = f"{row['facts']} | {row['facts_netflix']}"
        yield f"| {row['theorem']} ({what}) | {row['delta']} | {facts} |"
    yield "\nWith the sparsity of these data (Theorems 2 and 3 as printed, then what is proven):\n"
    yield "| counting | ε | neighbour above | facts | lineup of ten | covered above | proven |"
    yield "|---|---|---|---|---|---|---|"
    for needed in reproduction.few_facts:
        printed = f"{needed.threshold:.3f} | {_facts(needed.facts)} | {_facts(needed.lineup_facts)}"
        proven = f"{needed.covered_threshold:.3f} | {_facts(needed.proven_facts)}"
        yield f"| {needed.strictness} | {needed.eps:g} | {printed} | {proven} |"
    yield (
        "\nAt most a share ε of the records has a neighbour, or is covered by another record, "
        "above these figures. The theorems' proof overlooks that a long record may cover a short "
        "one without being like it. Proven is: at most a share 2ε of the users have so many "
        "ratings and are not singled out by so many facts.\n"
    )


def _facts(facts: int | None) -> str:
    return "none suffice" if facts is None else f"{facts:,}"


def _checked(reproduction: Reproduction) -> Iterator[str]:
    checks = reproduction.checks
    held = sum(check.holds for check in checks)
    plain = sum(check.strictly for check in checks)
    yield "\n## Does success rise with what is known, and fall with error?\n"
    yield (
        f"{len(checks)} comparisons: {plain} without a step the wrong way, {held} without one that "
        "the intervals could not explain.\n"
    )
    for check in checks:
        if not check.strictly:
            mark = "within the intervals" if check.holds else "**beyond the intervals**"
            yield f"- Fig. {check.figure}, {check.what}: {'; '.join(check.broken)} ({mark})"
