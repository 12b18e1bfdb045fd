"""``starshade data``: describe, convert, split and synthesize ratings."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from os.path import abspath, exists
from typing import TYPE_CHECKING, Any

import click

from starshade.cli import LazyGroup
from starshade.cli.options.declared import options_of
from starshade.cli.options.help import WRITTEN, Explained, grouped
from starshade.cli.options.shards import opened, over_shards, working_beside, works_by_shard
from starshade.cli.options.shared import (
    Reading,
    ensure_free,
    gathered,
    is_release,
    reading,
    refuse_beside,
)
from starshade.cli.options.spelling import Whole
from starshade.cli.running.errors import wrote
from starshade.cli.running.run import Run, running
from starshade.cli.show import describe as shown
from starshade.cli.show import figures, page, words
from starshade.engine.settings import EngineSettings
from starshade.errors import ConfigError, InputError, OutputError, ReleaseError
from starshade.plain import counted, percent
from starshade.ratings.shape import bars_of
from starshade.ratings.shards.settings import ShardSettings
from starshade.ratings.synth.preset import LIKES
from starshade.setting import settings_of

if TYPE_CHECKING:
    from starshade.ratings.describe import Description
    from starshade.ratings.places.place import Place
    from starshade.ratings.synth.synth import Like

_BARS = 30  # shown at most
_OF_ENGINES = {setting.name for setting in settings_of(EngineSettings)}


@click.group(
    cls=LazyGroup,
    table={
        "describe": "starshade.cli.data:describe",
        "convert": "starshade.cli.data:convert",
        "split": "starshade.cli.data:split",
        "synth": "starshade.cli.data:synth",
    },
    example="starshade data describe ratings.csv",
)
def data() -> None:
    """Describe, convert, split or synthesize ratings."""


_written = grouped(
    WRITTEN,
    click.option("--out", required=True, metavar="PATH", help="File or store to write"),
    click.option(
        "--to",
        "kind",
        metavar="NAME",
        help="Format: store, csv, tsv, parquet, recbole, wide, movielens-… "
        "[default: by file extension, without one a store]",
    ),
)


def _format_of(out: str, kind: str | None) -> str:
    from starshade.ratings.write import WRITTEN, format_of

    kind = format_of(out) if kind is None else kind
    if kind not in WRITTEN:
        raise ConfigError(
            f"--to {kind}: not a format to write", advice=f"Allowed: {', '.join(WRITTEN)}."
        )
    return kind


@click.command(cls=Explained, example="starshade data convert ratings.csv --out store/")
@click.argument("ratings", metavar="RATINGS")
@_written
@partial(
    gathered,
    options=[*options_of(ShardSettings), *options_of(EngineSettings)],
    name="sharding",
    title=WRITTEN,
)
@reading(dates=True)
@running()
def convert(
    ratings: str,
    out: str,
    kind: str | None,
    sharding: dict[str, Any],
    reading: Reading,
    run: Run,
) -> None:
    """Convert ratings or a release to another format.

    A store opens at once, whatever its size. --shards writes a partitioned store, which need not
    fit into memory: --memory bounds the work, and temporary disk space of the size of the rows is
    needed next to it. --append adds RATINGS to a partitioned store. With --engine spark, executors
    read one Parquet file each and write the partitions.

    A release becomes a table (.csv, .parquet) with the possible values of each cell, or RecBole's
    .inter with the expected rating and weight of each class and item. There all possible values of
    a cell, including no rating, are equally likely.
    """
    place = ensure_free(out, resumed=sharding["resume"])
    if is_release(ratings):
        reading.refuse_for_release(ratings)
        refuse_beside("to a release", {"shards", "append", *_OF_ENGINES}, "Omit it.")
        _convert_release(ratings, place, kind, run)
        return
    if sharding["shards"] is not None or sharding["append"] is not None:
        _convert_to_shards(ratings, place, kind, sharding, reading, run)
        return
    refuse_beside("without --shards", _OF_ENGINES, "Omit it: one table is read and written.")
    from starshade.ratings.write import write_ratings

    kind = _format_of(out, kind)  # before the long work
    table = reading.read(ratings)
    written = write_ratings(table, place, kind)
    wrote(place)
    run.emit(
        {
            "out": out,
            "to": written,
            "users": table.n_users,
            "items": table.n_items,
            "ratings": table.n_ratings,
            "seconds": run.seconds,
        },
        lambda: words(
            f"{out}: {counted(table.n_ratings, 'rating')} of {counted(table.n_users, 'user')} on "
            f"{counted(table.n_items, 'item')}, written as {written}"
            + (" (a folder that opens at once)." if written == "store" else ".")
        ),
    )


def _convert_to_shards(
    source: str,
    place: Place,
    kind: str | None,
    sharding: dict[str, Any],
    reading: Reading,
    run: Run,
) -> None:
    from starshade.ratings.shards.convert import convert_to_shards

    if _format_of(str(place), kind) != "store":
        raise ConfigError(
            "--shards: only a store has partitions, and --out or --to has another format",
            advice="Omit --shards, or write a store: --to store.",
        )
    if reading.items is not None:
        raise ConfigError(
            "--items: a partitioned store has all items",
            advice="Omit it, or write the selected items without --shards.",
        )
    if sharding["append"] is not None and not exists(sharding["append"]):
        raise InputError(f"{sharding['append']}: no such store", advice="Check the path.")
    with working_beside(place, sharding) as engine:
        if engine is not None and "://" not in source:
            source = abspath(source)  # executors have other working folders
        written = convert_to_shards(
            source,
            place,
            sharding["shards"] or "auto",
            append=sharding["append"],
            resume=sharding["resume"],
            engine=engine,
            **reading.settings(),
        )
    wrote(place)
    run.emit(
        {"out": str(place), "to": "store", **asdict(written), "seconds": run.seconds},
        lambda: words(
            f"{place}: {counted(written.ratings, 'rating')} of {counted(written.users, 'user')} on "
            f"{counted(written.items, 'item')}, written as a store of "
            f"{counted(written.shards, 'partition')}."
        ),
    )


def _convert_release(source: str, place: Place, kind: str | None, run: Run) -> None:
    from starshade.release.folder.read import read_release
    from starshade.release.readable.write import format_of, write_readable

    kind = format_of(place, kind)  # before the long work
    release = read_release(source)
    rows, altered = write_readable(release, place, kind)
    wrote(place)
    manifest = release.manifest
    of_whom = "records" if manifest.layout == "record" else "classes"
    said = [f"{place}: {counted(rows, 'row')} of {of_whom} and items, written as {kind}."]
    if manifest.layout == "generalized":
        said.append("Cells that are not listed are certainly unrated.")
    if kind == "recbole" and manifest.layout != "record":
        said.append(
            "Users are classes, weights are expected ratings. All possible values of a cell, "
            "including no rating, are equally likely."
        )
    if altered:
        said.append(
            f"{counted(altered, 'text')} escaped with an apostrophe: a spreadsheet would run them "
            "as formulas, or they begin with an apostrophe."
        )
    if manifest.audience == "query":
        said.append("Not for publication, like the release; only you can read it (mode 0600).")
    if release.attributes is not None:
        said.append("Personal attributes are not included: see records.csv of the release.")
    run.emit(
        {
            "out": str(place),
            "to": kind,
            "rows": rows,
            "escaped_texts": altered,
            "audience": manifest.audience,
            "seconds": run.seconds,
        },
        lambda: words(" ".join(said)),
    )


@click.command(cls=Explained, example="starshade data describe ratings.csv --users people.csv")
@click.argument("ratings", metavar="RATINGS")
@over_shards
@reading(dates=True)
@running()
def describe(ratings: str, engine: dict[str, Any], reading: Reading, run: Run) -> None:
    """Describe ratings or a release.

    Ratings: size, scale, long tail. A release: method, promises and contents of its cells.
    """
    if is_release(ratings):
        reading.refuse_for_release(ratings)
        _describe_release(ratings, run)
        return
    from starshade.ratings.describe import describe as describe_table
    from starshade.ratings.describe import describe_shards

    if works_by_shard(ratings, reading):
        with opened(ratings, engine) as (shards, working):
            description = describe_shards(shards, working)
    else:
        description = describe_table(reading.read(ratings))
    run.emit({**description.to_dict(), "seconds": run.seconds}, lambda: _summary(description))


def _describe_release(source: str, run: Run) -> None:
    from starshade.release.folder.read import read_release
    from starshade.release.folder.verification import verify
    from starshade.release.readable.describe import describe_release

    found = describe_release(read_release(source))
    verified = verify(source)  # its claims are shown
    if verified.status == "FAIL":
        raise ReleaseError(
            f"{source}: the release does not verify: {verified}",
            advice="`starshade verify` shows each check.",
        )
    run.emit({**found.to_dict(), "seconds": run.seconds}, lambda: shown(found))


def _summary(description: Description) -> Any:
    bars = list(bars_of(description.to_dict()))
    most = max((share for *_, share in bars), default=0) or 1
    rows = [(name, f"{'█' * round(24 * share / most)} {percent(share)}") for name, _, share in bars]
    drawn = figures(rows, title="Distribution of ratings") if len(rows) <= _BARS else None
    return page(shown(description), drawn)


_PLACE = "a store, or by extension .csv, .parquet, .inter"


@click.command(
    cls=Explained,
    example="starshade data split ratings.csv --out train.csv --probe probe.csv",
)
@click.argument("ratings", metavar="RATINGS")
@grouped(
    WRITTEN,
    click.option("--out", required=True, metavar="PATH", help=f"Training ratings: {_PLACE}"),
    click.option("--probe", required=True, metavar="PATH", help="Held-out ratings; same formats"),
)
@click.option("--share", type=float, default=0.1, show_default=True, help="Share to hold out")
@reading()
@running(seed=True)
def split(ratings: str, out: str, probe: str, share: float, reading: Reading, run: Run) -> None:
    """Split ratings into a training set and held-out ratings."""
    places = ensure_free(out), ensure_free(probe, option="--probe")
    if places[0] == places[1]:
        raise OutputError(f"--probe {probe}: same path as --out", advice="Choose another path.")
    from starshade.ratings.holdout import check_share, hold_out
    from starshade.ratings.places.atomic import together
    from starshade.ratings.write import format_of, write_ratings

    kinds = format_of(out), format_of(probe)  # before the long work
    check_share(share)
    parts = hold_out(reading.read(ratings), share, rng=run.seed)
    with together():
        for part, place, kind in zip(parts, places, kinds, strict=True):
            write_ratings(part, place, kind)
    for place in places:
        wrote(place)
    train, held = parts
    run.emit(
        {
            "out": out,
            "probe": probe,
            "users": train.n_users,
            "items": train.n_items,
            "ratings": train.n_ratings,
            "probe_ratings": held.n_ratings,
            "seed": run.seed,
            "seconds": run.seconds,
        },
        lambda: words(
            f"{out}: {counted(train.n_ratings, 'rating')}; {probe}: {held.n_ratings:,} held out "
            f"(seed {run.seed})."
        ),
    )


@click.command(
    cls=Explained,
    example="starshade data synth --like movielens-100k --n-users 200 --n-items 100 "
    "--n-ratings 4000 --out made-up.csv",
)
@click.option(
    "--like",
    type=click.Choice(LIKES),
    default="movielens-100k",
    show_default=True,
    help=f"Data to resemble: {', '.join(LIKES[:-1])} or {LIKES[-1]}",
)
@click.option(
    "--n-users", type=Whole(1), help="Number of users [default: as in the resembled data]"
)
@click.option("--n-items", type=Whole(1), help="Number of items [default: likewise]")
@click.option(
    "--n-ratings", type=Whole(1), help="Number of ratings, except for surveys [default: likewise]"
)
@_written
@running(seed=True)
def synth(
    like: Like,
    n_users: int | None,
    n_items: int | None,
    n_ratings: int | None,
    out: str,
    kind: str | None,
    run: Run,
) -> None:
    """Synthesize ratings that resemble real data.

    With long tails, tastes, dates and attributes. Surveys have correlated answers from 1 to 6, some
    missing; s01, s02 … are sensitive.
    """
    place = ensure_free(out)
    from starshade.ratings.synth.synth import synthesize
    from starshade.ratings.write import write_ratings

    kind = _format_of(out, kind)  # before the long work
    table = synthesize(like, n_users=n_users, n_items=n_items, n_ratings=n_ratings, rng=run.seed)
    written = write_ratings(table, place, kind)
    wrote(place)
    run.emit(
        {
            "out": out,
            "to": written,
            "like": like,
            "users": table.n_users,
            "items": table.n_items,
            "ratings": table.n_ratings,
            "seed": run.seed,
            "seconds": run.seconds,
        },
        lambda: words(
            f"{out}: {counted(table.n_ratings, 'synthetic rating')} of "
            f"{counted(table.n_users, 'user')} on "
            f"{counted(table.n_items, 'item')}, similar to {like} (seed {run.seed})."
        ),
    )
