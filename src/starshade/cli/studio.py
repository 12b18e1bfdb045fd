"""``starshade studio``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from starshade.cli.options.help import Explained
from starshade.cli.options.spelling import Whole
from starshade.cli.running.run import Run, running
from starshade.cli.show import page, words
from starshade.errors import ConfigError

if TYPE_CHECKING:
    from starshade.server.serve import Opened


@click.command(cls=Explained, example="starshade studio ratings.csv")
@click.argument("ratings", metavar="[RATINGS]", required=False)
@click.option(
    "--work",
    default="starshade-studio",
    show_default=True,
    metavar="DIR",
    help="Folder for data, results and releases; created if missing",
)
@click.option(
    "--port",
    type=Whole(1, 65535),
    help="Port on this machine [default: 8321, or any free port]",
)
@click.option(
    "--plain-host",
    is_flag=True,
    help="Serve http://127.0.0.1 with a token in each address, for browsers without .localhost",
)
@click.option("--no-browser", is_flag=True, help="Do not open a browser")
@click.option(
    "--max-upload", metavar="SIZE", default="4G", show_default=True, help="Largest upload"
)
@running()
def studio(
    ratings: str | None,
    work: str,
    port: int | None,
    plain_host: bool,
    no_browser: bool,
    max_upload: str,
    run: Run,
) -> None:
    """Open the graphical interface in a browser.

    Read, attack, compare, release, report. Nothing leaves this machine: only a browser on it that
    has the address can open the studio. Ctrl-C ends the studio; finished work is kept in the work
    folder.
    """
    from starshade.budget import parse_bytes
    from starshade.server.serve import open_studio

    try:
        most = parse_bytes(max_upload)
    except ConfigError as error:
        message = f"--max-upload {max_upload}: not a file size"
        raise ConfigError(message, advice="Examples: 500M, 4G.") from error
    open_studio(
        work,
        ratings=ratings,
        port=port,
        plain_host=plain_host,
        browser=not no_browser,
        most_upload=most,
        tell=lambda opened: run.emit(vars(opened), lambda: _ready(opened, plain_host)),
    )


def _ready(opened: Opened, plain_host: bool) -> Any:
    from rich.text import Text

    otherwise = (
        "A browser keeps this address, token included, in its history."
        if plain_host
        else "If the browser cannot open this name, restart the studio with --plain-host."
    )
    return page(
        words("The studio is running at:"),
        Text(f"  {opened.address}", no_wrap=True, overflow="ignore"),  # to be copied whole
        words(
            "Only this machine can reach it, and only with this address: do not share it. "
            f"{otherwise} Results are kept in {opened.work}. Ctrl-C ends the studio."
        ),
    )
