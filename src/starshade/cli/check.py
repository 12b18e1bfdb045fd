"""``starshade check``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from starshade.cli.model_options import asked_model, claim_of, modelling, to_options
from starshade.cli.options import Reading, reading
from starshade.cli.run import Run, running
from starshade.cli.show import command, figures, page, words
from starshade.errors import ConfigError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from starshade.privacy.verdict import Verdict
    from starshade.ratings.table import Ratings
    from starshade.release.table import Release

__all__ = ["check"]

_PROXIMITY = ("k-eps", "k-eps-l")


@click.command()
@click.argument("data", metavar="DATA")
@click.option("--model", help="See `list models`. [default: as claimed; k-anonymity on ratings]")
@modelling
@click.option("--explain", is_flag=True, help="Show the smallest failing groups and a witness.")
@click.option(
    "--graph", is_flag=True, help="k-eps: components, degrees, and a proof by cliques of k."
)
@reading()
@click.option("--no-dates", is_flag=True, help="Do not read the dates of ratings.")
@running()
@click.pass_context
def check(
    context: click.Context,
    data: str,
    model: str | None,
    parameters: dict[str, Any],
    explain: bool,
    graph: bool,
    no_dates: bool,
    reading: Reading,
    run: Run,
) -> None:
    """Check DATA (ratings, or a release) against a privacy model."""
    from starshade.privacy.registry import ENTRIES
    from starshade.registry import find
    from starshade.release.read import is_release, read_release

    table: Ratings | Release
    if is_release(data):
        reading.refuse_for_release(data)
        table = read_release(data)
        claim = claim_of(table.manifest.claims, model)
        name = model or (claim.model if claim else "k-anonymity")
        asked = asked_model(find(ENTRIES, name, "model").load(), name, parameters, claim)
        source = None
        _ensure_graph(graph, name)
    else:
        name = model or "k-anonymity"
        # a wrong parameter is told before the long work
        asked = asked_model(find(ENTRIES, name, "model").load(), name, parameters, None)
        _ensure_graph(graph, name)
        table = reading.read(data, dates=not no_dates and name == "k-anonymity")
        source = [data, *reading.arguments()]
        source += [] if reading.items is None else ["--items", reading.items]
    verdict = asked.check(table)
    drawn = _graph_of(asked, table) if graph else None
    told = verdict.to_dict() | ({} if drawn is None else {"graph": drawn.to_dict()})
    run.emit(
        {**told, "seconds": run.seconds},
        lambda: _summary(verdict, explain, drawn, _next(verdict, asked, source)),
    )
    context.exit(0 if verdict.satisfied else 1)


def _ensure_graph(graph: bool, model: str) -> None:
    if graph and model not in _PROXIMITY:
        raise ConfigError(
            f"--graph: shows who is proximate to whom, which the model {model} does not ask",
            advice="Leave it out, or choose --model k-eps.",
        )


def _graph_of(asked: Any, table: Ratings | Release) -> Any:
    from starshade.privacy.proximity_graph import ProximityGraph

    graph = ProximityGraph(eps=asked.eps, sensitive=asked.sensitive, nulls=asked.nulls)
    return graph.of(table).decomposed(asked.k)


def _summary(verdict: Verdict, explain: bool, graph: Any, after: RenderableType | None) -> Any:
    groups = None
    told = verdict.explain() if explain else ()
    if told:
        groups = figures([("·", text) for text in told], title="Where it fails")
    drawn = None if graph is None else words(str(graph))
    return page(words(str(verdict)), groups, drawn, after)


def _next(verdict: Verdict, asked: Any, ratings: list[str] | None) -> RenderableType | None:
    """Say what can be done when it does not hold."""
    if verdict.satisfied:
        return None
    if ratings is None:
        least = verdict.smallest_group
        smaller = f"It holds for k up to {least:,}. " if 1 < least < asked.k else ""
        return words(
            f"{smaller}For more the release must be made again from the ratings "
            "(starshade anonymize)."
        )
    names = ["k", "eps", "l", "nulls", "sensitive"] if verdict.model in _PROXIMITY else ["k"]
    options = to_options({name: getattr(asked, name) for name in names if hasattr(asked, name)})
    method = ["--method", "interval"] if verdict.model in _PROXIMITY else []
    return page(
        words("Next, to make a release of these ratings in which it holds:"),
        command("starshade", "anonymize", *ratings, *method, *options, "--out", "DIR"),
    )
