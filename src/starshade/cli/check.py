"""``starshade check``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from starshade.cli.options import Reading, reading
from starshade.cli.run import Run, running
from starshade.cli.show import command, figures, page, words
from starshade.errors import ConfigError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from starshade.privacy.verdict import Verdict
    from starshade.release.table import Release

__all__ = ["check"]


@click.command()
@click.argument("data", metavar="DATA")
@click.option("--model", default="k-anonymity", show_default=True, help="See `list models`.")
@click.option("--k", type=int, help="Least number of equal records. [default: as claimed]")
@click.option("--explain", is_flag=True, help="Show the smallest failing groups, if any.")
@reading()
@click.option("--no-dates", is_flag=True, help="Do not read the dates of ratings.")
@running()
@click.pass_context
def check(
    context: click.Context,
    data: str,
    model: str,
    k: int | None,
    explain: bool,
    no_dates: bool,
    reading: Reading,
    run: Run,
) -> None:
    """Check DATA (ratings, or a release) against a privacy model.

    Exit 0: it holds. Exit 1: it does not.
    """
    from starshade.privacy.registry import ENTRIES
    from starshade.registry import find
    from starshade.release.read import is_release, read_release

    kind = find(ENTRIES, model, "model").load()
    if is_release(data):
        reading.refuse_for_release(data)
        release = read_release(data)
        k = _claimed_k(release, model) if k is None else k
        verdict, source = kind(k).check(release), None
    else:
        if k is None:
            raise ConfigError(f"{model} on ratings: --k is missing", advice="For example --k 5.")
        asked = kind(k)  # a wrong k is told before the long work
        verdict = asked.check(reading.read(data, dates=not no_dates))
        source = [data, *reading.arguments()]
        source += [] if reading.items is None else ["--items", reading.items]
    run.emit(
        {**verdict.to_dict(), "seconds": run.seconds},
        lambda: _summary(verdict, explain, _next(verdict, k, source)),
    )
    context.exit(0 if verdict.satisfied else 1)


def _claimed_k(release: Release, model: str) -> int:
    claimed = [c.parameters.get("k") for c in release.manifest.claims if c.model == model]
    if not claimed or claimed[0] is None:
        raise ConfigError(f"the release claims no {model}: --k is missing")
    return int(claimed[0])


def _summary(verdict: Verdict, explain: bool, after: RenderableType | None) -> Any:
    groups = None
    if explain and verdict.worst:
        groups = figures(
            [("·", text) for text in verdict.explain()], title="Smallest failing groups"
        )
    return page(words(str(verdict)), groups, after)


def _next(verdict: Verdict, k: int, ratings: list[str] | None) -> RenderableType | None:
    """Say what can be done when it does not hold."""
    if verdict.satisfied:
        return None
    if ratings is not None:
        return page(
            words("Next, to make a release of these ratings in which it holds:"),
            command("starshade", "anonymize", *ratings, "--k", str(k), "--out", "DIR"),
        )
    least = verdict.smallest_group
    smaller = f"It holds for k up to {least:,}. " if least > 1 else ""
    return words(
        f"{smaller}For k = {k:,} the release must be made again from the ratings "
        "(starshade anonymize)."
    )
