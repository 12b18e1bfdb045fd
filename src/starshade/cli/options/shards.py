"""Commands that work on a store of shards, shard by shard."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from glob import has_magic
from os.path import exists
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starshade.audit.settings import WITHOUT_RECEIPT
from starshade.cli.options.declared import options_of
from starshade.cli.options.help import STORES
from starshade.cli.options.shared import Reading, gathered, given, refuse_beside
from starshade.engine.settings import EngineSettings
from starshade.errors import ConfigError
from starshade.setting import settings_of

if TYPE_CHECKING:
    from starshade.engine.job import Engine
    from starshade.ratings.places.place import Place
    from starshade.ratings.shards.shards import Shards

#: gives a command the options of work over shards, and passes it ``engine``
over_shards = partial(gathered, options=options_of(EngineSettings), name="engine", title=STORES)


def is_shards(source: str) -> bool:
    """Tell whether a path is a folder that says that it is a store of shards."""
    return (Path(source) / "shards.json").is_file()


def whole_store(source: str, reading: Reading) -> Shards | None:
    """Open a store of shards of which all is taken as it is; None: it is none, or not all is."""
    from starshade.ratings.shards.shards import open_shards

    chosen = given() & {setting.name for setting in settings_of(Reading)}
    return None if chosen or reading != Reading() or not is_shards(source) else open_shards(source)


def works_by_shard(
    source: str, reading: Reading, *, otherwise: str = "", resumes: bool = False
) -> bool:
    """Tell whether to work shard by shard: on a store of shards, of which all is taken as it is.

    `otherwise`: why a store of shards is taken as one table all the same, where it is. `resumes`:
    whether a run on one table can be gone on with.
    """
    if not otherwise and whole_store(source, reading) is not None:
        return True
    is_there = is_shards(source)
    names = {setting.name for setting in settings_of(EngineSettings)}
    if resumes:
        names.discard("resume")
    why = otherwise or "with options that select what is read"
    if not is_there:
        why = "without a partitioned store"
    advice = "Omit it: the ratings are processed as one table."
    if not (is_there or "://" in source or has_magic(source) or exists(source)):
        why, advice = f"on {source}, which does not exist", "Check the path."
    if why == WITHOUT_RECEIPT:
        advice = "Add the private key file: --private FILE."
    refuse_beside(why, names, advice)
    return False


def refuse_unseeded(settings: Mapping[str, Any], seed: int | None) -> None:
    """Refuse to go on with a run without its seed."""
    if settings["resume"] and seed is None:
        raise ConfigError(
            "--resume: requires the seed of the interrupted run",
            advice="Add --seed N; the interrupted run was given the seed or printed it.",
        )


@contextmanager
def opened(source: str, settings: Mapping[str, Any]) -> Iterator[tuple[Shards, Engine]]:
    """Open a store of shards, and whoever works on it."""
    from starshade.engine.journal import journal_in
    from starshade.engine.local import Local
    from starshade.ratings.shards.shards import open_shards

    resume = bool(settings["resume"])
    if settings["engine"] == "spark":
        import starshade.spark
        from starshade.engine.session import session_at

        with (
            session_at(settings["master"]) as session,
            starshade.spark.open(session, source, resume=resume) as there,
        ):
            yield there
        return
    _refuse_master(settings)
    shards = open_shards(source)
    with journal_in(shards.path, resume=resume) as journal:
        yield shards, Local(journal)


@contextmanager
def in_one_table(release: str, settings: Mapping[str, Any]) -> Iterator[Engine]:
    """Work on one table; what is finished beside a release is kept in this user's own folder."""
    from starshade.engine.journal import journal_in
    from starshade.engine.local import Local
    from starshade.engine.seal import state_folder

    folder = state_folder()
    if folder is None:
        yield Local()
        return
    place = folder / f"run-{hashlib.sha256(os.fsencode(os.path.realpath(release))).hexdigest()}"
    place.mkdir(mode=0o700, exist_ok=True)
    try:
        with journal_in(place, resume=bool(settings["resume"])) as journal:
            yield Local(journal)
    finally:
        with suppress(OSError):  # what is finished is there
            place.rmdir()


@contextmanager
def working_beside(place: Place, settings: Mapping[str, Any]) -> Iterator[Engine | None]:
    """Let an engine work on what is written to a place; None: this process does it."""
    if settings["engine"] == "spark":
        from starshade.engine.session import session_at
        from starshade.spark.store import beside

        with (
            session_at(settings["master"]) as session,
            beside(session, place) as engine,
        ):
            yield engine
        return
    _refuse_master(settings)
    yield None


def _refuse_master(settings: Mapping[str, Any]) -> None:
    if settings["master"] is not None:
        refuse_beside("without --engine spark", {"master"}, "Add --engine spark or omit --master.")
