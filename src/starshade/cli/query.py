"""``starshade query``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from starshade.cli.running.run import Run, running
from starshade.cli.show import columns, number, page, words
from starshade.errors import ConfigError

if TYPE_CHECKING:
    from starshade.query.result import QueryResult

__all__ = ["query"]


@click.command()
@click.argument("release", metavar="RELEASE")
@click.argument("sql", metavar="SQL")
@click.option(
    "--mode",
    type=click.Choice(["strict", "paper"]),
    default="strict",
    show_default=True,
    help="strict: for strangers. paper: all aggregates, for trusted analysts.",
)
@click.option(
    "--bounds",
    metavar="NAME=LOW:HIGH",
    multiple=True,
    help="Least and greatest value an attribute can have, e.g. Age=0:120; repeatable.",
)
@running()
@click.pass_context
def query(
    context: click.Context, release: str, sql: str, mode: Any, bounds: tuple[str, ...], run: Run
) -> None:
    """Answer one aggregate query over RELEASE.

    Conditions are on what was rated, answers come from personal attributes:

    starshade query out/ 'SELECT AVG(Age) WHERE "Joy Ride" >= 4' --bounds Age=0:120
    """
    from starshade.query.query import Query
    from starshade.release.folder.read import read_release

    asked = Query(sql, mode, _bounds(bounds))  # a wrong query is told before the work
    found = asked.run(read_release(release))
    run.emit({**found.to_dict(), "seconds": run.seconds}, lambda: _summary(found))
    context.exit(1 if found.refused else 0)


def _bounds(texts: tuple[str, ...]) -> dict[str, tuple[float, float]]:
    found: dict[str, tuple[float, float]] = {}
    for text in texts:
        name, ends = _bound(text)
        if name in found:
            raise ConfigError(
                f"--bounds {text}: bounds of this name are declared twice",
                advice="Give them once.",
            )
        found[name] = ends
    return found


def _bound(text: str) -> tuple[str, tuple[float, float]]:
    name, _, ends = text.rpartition("=")
    try:
        low, high = (float(end) for end in ends.split(":"))
    except ValueError:
        name, low, high = "", 0.0, 0.0
    if not name:
        raise ConfigError(
            f"--bounds {text}: expected NAME=LOW:HIGH", advice="Example: --bounds Age=0:120."
        )
    return name, (low, high)


def _summary(found: QueryResult) -> Any:
    if found.groups:
        first = "null, then each rating"
        rows = [
            ("null" if entry.group is None else f"{entry.group:g}", *_cells(each))
            for entry in found.groups
            for each in entry.results
        ]
        reason = words(found.reason) if found.reason else None
    elif len(found.results) > 1:
        first = ""
        rows = [("", *_cells(each)) for each in found.results]
        reason = words(found.reason) if found.reason else None
    else:
        return words(str(found))
    head = (first, "", "expected", "low", "high", "records")
    return page(columns(head, rows), reason)


def _cells(entry: QueryResult) -> tuple[str, ...]:
    if entry.refused:
        return (entry.aggregate, "refused", "", "", "")
    return (entry.aggregate, *map(_value, (entry.value, entry.low, entry.high, entry.records)))


def _value(value: Any) -> str:
    return value if isinstance(value, str) else number(value)
