"""On the command line a setting is its option."""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from starshade.cli import Door
from starshade.cli.options.spelling import as_option
from starshade.errors import ConfigError
from starshade.naming import Value, aside, named, together


@pytest.mark.parametrize(
    ("setting", "value", "said"),
    [
        ("on_duplicate", None, "--on-duplicate"),
        ("items", "top:50", "--items top:50"),
        ("full", True, "--full"),
        ("dates", False, "--no-dates"),
        ("day_error", 14.0, "--day-error 14"),
        ("id_col", "#", "--id-col '#'"),
        ("null_values", ["98", "99"], "--null 98 --null 99"),
        ("attribute_cols", ["Sex", "a b"], "--attribute-cols 'Sex,a b'"),
        ("attribute_cols", ["NAME", "NAME"], "--attribute-cols NAME,NAME"),
        ("aux.item_col", None, "--aux-item-col"),
        ("aux.day_col", None, "--aux-date-col"),
        ("attribute_hierarchies", "zip=FILE", "--attribute zip=FILE"),
    ],
)
def test_a_setting_is_an_option(setting: str, value: Value, said: str) -> None:
    assert as_option(setting, value) == said


def test_a_command_speaks_of_options() -> None:
    @click.group(cls=Door)
    def main() -> None: ...

    @main.command()
    def do() -> None:
        raise ConfigError(
            f"{named('min_raters')} = 0: must be more",
            advice=f"Say {together(('user_col', 1), ('item_col', 2))}{aside('users', 'FILE')}.",
        )

    main.table = {"do": f"{__name__}:unused"}
    main.get_command = lambda context, name: do  # type: ignore[method-assign]
    result = CliRunner().invoke(main, ["do"])
    assert result.exit_code == 2
    assert result.stderr == (
        "Error: --min-raters = 0: must be more\nSay --user-col 1 --item-col 2 (--users FILE).\n"
    )
    assert named("min_raters") == "min_raters"
