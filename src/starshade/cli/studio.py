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
    help="Where data, results and releases are kept; made if it does not exist.",
)
@click.option(
    "--port",
    type=Whole(1, 65535),
    help="Port on this machine. [default: 8321, or any that is free]",
)
@click.option(
    "--plain-host",
    is_flag=True,
    help="Serve http://127.0.0.1 with a token in each address; for browsers that do not open names "
    "in .localhost.",
)
@click.option("--no-browser", is_flag=True, help="Do not open the page in a browser.")
@click.option(
    "--max-upload", metavar="SIZE", default="4G", show_default=True, help="Largest upload taken."
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
    """Do the whole job on a local page, in a browser.

    Read, attack, compare, release, report. Nothing leaves this machine: only a browser on it that
    was given the address can see the page. Ctrl-C ends it; what was finished is kept in the work
    folder.
    """
    from starshade.budget import parse_bytes
    from starshade.server.serve import open_studio

    try:
        most = parse_bytes(max_upload)
    except ConfigError as error:
        message = f"--max-upload {max_upload}: no size of a file"
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
        else "If the browser does not open this name, end the studio; start it with --plain-host."
    )
    return page(
        words("The studio is open. Its address:"),
        Text(f"  {opened.address}", no_wrap=True, overflow="ignore"),  # to be copied whole
        words(
            "Only this machine can reach it, and only with that address: do not pass it on. "
            f"{otherwise} Results are kept in {opened.work}. Ctrl-C ends the studio."
        ),
    )
