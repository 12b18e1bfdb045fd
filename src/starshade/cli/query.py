"""``starshade query``."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from starshade.cli.options.declared import options_of
from starshade.cli.options.help import Explained
from starshade.cli.options.shared import gathered, said
from starshade.cli.running.run import Run, running
from starshade.cli.show import columns, page, words
from starshade.errors import ConfigError
from starshade.query.settings import QuerySettings

if TYPE_CHECKING:
    from starshade.query.result import QueryResult


@click.command(
    cls=Explained,
    example="starshade anonymize ratings.csv --k 5 --method k-exchange --items top:10 --out ten/ "
    "--private ten.json\n"
    """starshade query ten/ 'SELECT COUNT(*) WHERE "1" >= 4'""",
)
@click.argument("release", metavar="RELEASE")
@click.argument("sql", metavar="SQL")
@partial(gathered, options=options_of(QuerySettings, "mode", "bounds"), name="settings")
@running()
@click.pass_context
def query(
    context: click.Context, release: str, sql: str, settings: dict[str, Any], run: Run
) -> None:
    """Answer an aggregate query on a release.

    Conditions are on items; averages and sums are over personal attributes, with bounds such as
    --bounds Age=0:120.
    """
    from starshade.query.query import Query
    from starshade.release.folder.read import read_release

    changed = said(settings)
    if "bounds" in changed:
        changed["bounds"] = {name: _ends(name, text) for name, text in changed["bounds"].items()}
    question = Query(sql, **changed)  # a wrong query is refused before the work
    result = question.run(read_release(release))
    run.emit({**result.to_dict(), "seconds": run.seconds}, lambda: _summary(result))
    context.exit(1 if result.refused else 0)


def _ends(name: str, text: str) -> tuple[float, float]:
    try:
        low, high = (float(end) for end in text.split(":"))
    except ValueError:
        raise ConfigError(
            f"--bounds {name}={text}: expected NAME=LOW:HIGH", advice="Example: --bounds Age=0:120."
        ) from None
    return low, high


def _summary(result: QueryResult) -> Any:
    answers = [columns(each.head, each.rows) for each in result.tables]
    text = (result.reason or "") if answers else str(result)
    return page(*answers, words(text) if text else None)
