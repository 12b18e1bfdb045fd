"""``starshade attack --aux``: public ratings of some people, and whose records these are."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from starshade.attack.settings import AuxiliaryAttackSettings
from starshade.cli.options.declared import options_of
from starshade.cli.options.shared import Command, Reading, gathered, refuse_beside, said
from starshade.cli.running.run import Run

if TYPE_CHECKING:
    from starshade.ratings.auxiliary.auxiliary import Auxiliary
    from starshade.ratings.table import Ratings
    from starshade.release.table import Release


_PUBLIC = [
    click.option("--aux", metavar="FILE", help="Public ratings of some people: who are they?"),
    click.option("--aux-items", metavar="FILE", help="Their item → item of DATA, a pair per line."),
    click.option("--aux-map-from", metavar="NAME", help="Column of their items in --aux-items."),
    click.option("--aux-map-to", metavar="NAME", help="Column of items of DATA in it."),
    click.option("--aux-by-name", is_flag=True, help="Match items by name instead of by id."),
    click.option("--aux-scale", metavar="MIN:MAX", help="Their scale, mapped onto that of DATA."),
    click.option("--aux-name-col", metavar="NAME", help="Their column of people's names."),
    click.option("--aux-one-person", is_flag=True, help="They are all one person's."),
    click.option("--aux-item-col", metavar="NAME", help="Their column of items."),
    click.option("--aux-rating-col", metavar="NAME", help="Their column of ratings."),
    click.option("--aux-date-col", metavar="NAME", help="Their column of dates."),
    *options_of(AuxiliaryAttackSettings, "candidates", "one_to_one", "weights"),
]


def public(command: Command) -> Command:
    """Give a command the options of public ratings and pass it ``public``, a dict."""
    return gathered(command, _PUBLIC, "public", title="Public ratings of somebody")


def attack_with(
    public: dict[str, Any],
    data: str,
    settings: dict[str, Any],
    reading: Reading,
    run: Run,
    *,
    dates: bool,
) -> None:
    """Look for people's records by their public ratings."""
    from starshade.attack.auxiliary.auxiliary import AuxiliaryAttack
    from starshade.cli.show import describe_people

    listed = public["candidates"] is not None
    own = {name: settings[name] for name in ("phi", "rho0", "d0", "min_posterior")}
    own |= {name: public[name] for name in ("candidates", "one_to_one", "weights")}
    if not public["one_to_one"]:
        refuse_beside(
            "without --one-to-one", {"weights", "min_posterior"}, "They are settings of it."
        )
    chosen = AuxiliaryAttack(**said(own))
    auxiliary = _read(public, reading, dates)
    mapping = _mapping(public, reading)
    table = _attacked(data, reading)
    result = chosen.run(
        table,
        auxiliary,
        mapping,
        by_name=public["aux_by_name"],
        aux_scale=public["aux_scale"],
        show_values=reading.show_values,
    )
    run.emit(
        {**result.to_dict(), "seconds": run.seconds},
        lambda: describe_people(result, candidates=listed),
    )


def _read(public: dict[str, Any], reading: Reading, dates: bool) -> Auxiliary:
    from starshade.ratings.auxiliary.auxiliary import read_auxiliary

    return read_auxiliary(
        public["aux"],
        name_col=public["aux_name_col"],
        item_col=public["aux_item_col"],
        rating_col=public["aux_rating_col"],
        day_col=public["aux_date_col"],
        one_person=public["aux_one_person"],
        dates=dates,
        null_values=reading.null_values,
        on_duplicate=reading.on_duplicate,
        show_values=reading.show_values,
    )


def _mapping(public: dict[str, Any], reading: Reading) -> dict[str, str] | None:
    from starshade.ratings.auxiliary.item_mapping import read_item_mapping

    if public["aux_items"] is None:
        refuse_beside(
            "without --aux-items", {"aux_map_from", "aux_map_to"}, "Give the mapping's file, too."
        )
        return None
    return read_item_mapping(
        public["aux_items"],
        aux_col=public["aux_map_from"],
        data_col=public["aux_map_to"],
        show_values=reading.show_values,
    )


def _attacked(data: str, reading: Reading) -> Ratings | Release:
    from starshade.release.folder.read import is_release, read_release

    if not is_release(data):
        return reading.read(data)
    # these three are about the public ratings too
    others = replace(reading, null_values=(), on_duplicate="error", show_values=False)
    others.refuse_for_release(data)
    return read_release(data)
