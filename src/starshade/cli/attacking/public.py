"""``starshade attack --aux``: link auxiliary ratings to records."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from starshade.attack.settings import AuxiliaryAttackSettings
from starshade.cli.options.declared import options_of
from starshade.cli.options.help import Named
from starshade.cli.options.shared import Command, Reading, gathered, refuse_beside, said
from starshade.cli.running.run import Run

if TYPE_CHECKING:
    from starshade.ratings.auxiliary.auxiliary import Auxiliary
    from starshade.ratings.table import Ratings
    from starshade.release.table import Release


_PUBLIC = [
    click.option("--aux", metavar="FILE", help="Auxiliary ratings to link against DATA"),
    click.option(
        "--aux-items", metavar="FILE", help="Mapping of auxiliary items to items of DATA, by line"
    ),
    click.option("--aux-map-from", metavar="NAME", help="Column of auxiliary items in --aux-items"),
    click.option("--aux-map-to", metavar="NAME", help="Column of items of DATA in --aux-items"),
    click.option("--aux-by-name", is_flag=True, help="Match items by name instead of by id"),
    click.option("--aux-scale", metavar="MIN:MAX", help="Auxiliary scale, mapped onto DATA's"),
    click.option("--aux-name-col", metavar="NAME", help="Column of user names"),
    click.option(
        "--aux-one-user",
        cls=Named,
        is_flag=True,
        formerly="--aux-one-person",
        help="Treat all auxiliary rows as one user",
    ),
    click.option("--aux-item-col", metavar="NAME", help="Column of items"),
    click.option("--aux-rating-col", metavar="NAME", help="Column of ratings"),
    click.option("--aux-date-col", metavar="NAME", help="Column of dates"),
    *options_of(AuxiliaryAttackSettings, "candidates", "one_to_one", "weights"),
]


def public(command: Command) -> Command:
    """Give a command the options of auxiliary ratings and pass it ``public``, a dict."""
    return gathered(command, _PUBLIC, "public", title="Auxiliary ratings")


def attack_with(
    public: dict[str, Any],
    data: str,
    settings: dict[str, Any],
    reading: Reading,
    run: Run,
    *,
    dates: bool,
) -> None:
    """Link users of auxiliary ratings to records."""
    from starshade.attack.auxiliary.auxiliary import AuxiliaryAttack
    from starshade.cli.show import describe_people

    listed = public["candidates"] is not None
    own = {name: settings[name] for name in ("phi", "rho0", "d0", "min_posterior")}
    own |= {name: public[name] for name in ("candidates", "one_to_one", "weights")}
    if not public["one_to_one"]:
        refuse_beside(
            "without --one-to-one", {"weights", "min_posterior"}, "Add --one-to-one or omit them."
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
        one_person=public["aux_one_user"],
        dates=dates,
        null_values=reading.null_values,
        on_duplicate=reading.on_duplicate,
        show_values=reading.show_values,
    )


def _mapping(public: dict[str, Any], reading: Reading) -> dict[str, str] | None:
    from starshade.ratings.auxiliary.item_mapping import read_item_mapping

    if public["aux_items"] is None:
        refuse_beside(
            "without --aux-items", {"aux_map_from", "aux_map_to"}, "Add --aux-items FILE."
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
