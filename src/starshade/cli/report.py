"""``starshade report``."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import click

from starshade.audit.settings import AuditSettings
from starshade.cli.again import repeated
from starshade.cli.options.declared import options_of
from starshade.cli.options.settings import gathered, said
from starshade.cli.options.shared import Reading, reading
from starshade.cli.reporting import place_for, write
from starshade.cli.running.run import Run, running
from starshade.cli.show import words

__all__ = ["report"]


@click.command()
@click.argument("ratings", metavar="RATINGS")
@click.argument("release", metavar="RELEASE")
@click.option("--out", required=True, metavar="FILE", help="The HTML file; must not exist.")
@click.option(
    "--public", is_flag=True, help="The edition for everybody: nothing about a single user."
)
@click.option("--private", metavar="FILE", help="The owner's receipt: who is which record.")
@click.option(
    "--probe", metavar="FILE", help="Ratings held out of RATINGS before: what recommenders lose."
)
@partial(gathered, options=options_of(AuditSettings), name="limits")
@click.option(
    "--earlier",
    metavar="RELEASE",
    multiple=True,
    help="A release published before; if it tells of the same people, the audit fails. Repeatable.",
)
@reading(items=False, dates=True)
@running(seed=True)
@click.pass_context
def report(
    context: click.Context,
    ratings: str,
    release: str,
    out: str,
    public: bool,
    private: str | None,
    probe: str | None,
    limits: dict[str, Any],
    earlier: tuple[str, ...],
    reading: Reading,
    run: Run,
) -> None:
    """Write a report on RELEASE, made of RATINGS: one HTML file to read, print and sign.

    It says whether the release may be published and why, what was attacked, what was lost and
    what to do. The internal edition names the users at risk and is readable by you alone; the
    public one holds nothing about a single user.
    """
    place = place_for(out, "--out")
    from starshade.audit.dossier.dossier import gather
    from starshade.audit.measure import need_receipt
    from starshade.audit.verdict import Audit
    from starshade.release.folder.read import read_release

    judge = Audit(**said(limits))
    released = read_release(release, private=private)  # refused before the long work
    for folder in earlier:
        read_release(folder)
    if probe is not None:
        need_receipt(released)
    table = reading.read(ratings)
    # who gave a rating that was held out is known by the ids alone
    held = None if probe is None else replace(reading, users=None).read(probe, dates=False)
    dossier = gather(
        table,
        released,
        Path(release),
        private=private,
        audit=judge,
        probe=held,
        earlier=earlier,
        seed=run.seed,
        command=repeated(context, released, reading, run.seed),
    )
    write(dossier, place, public=public)
    content = dossier.public() if public else dossier.internal()
    run.emit(
        {
            "pass": dossier.passed,
            "headline": content["verdict"]["headline"],
            "edition": content["edition"],
            "out": out,
            "bytes": place.path.stat().st_size,
            "seed": run.seed,
            "seconds": run.seconds,
        },
        lambda: words(f"{content['verdict']['headline']}. The report is in {out}."),
    )
