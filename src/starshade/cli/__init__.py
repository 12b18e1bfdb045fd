"""The command line: parse, call, print. One file per command, no logic.

A command's file is imported when the command is named, and imports the rooms it needs when it
runs, so that ``starshade --help`` is there at once.
"""

from __future__ import annotations

import click

from starshade._version import __version__
from starshade.cli.group import Door

__all__ = ["main"]


@click.group(
    cls=Door,
    table={
        "demo": "starshade.cli.demo:demo",
        "data": "starshade.cli.data:data",
        "attack": "starshade.cli.attack.attack:attack",
        "check": "starshade.cli.check:check",
        "anonymize": "starshade.cli.anonymize:anonymize",
        "measure": "starshade.cli.measure:measure",
        "audit": "starshade.cli.audit:audit",
        "report": "starshade.cli.report:report",
        "compare": "starshade.cli.compare:compare",
        "query": "starshade.cli.query:query",
        "studio": "starshade.cli.studio:studio",
        "reproduce": "starshade.cli.reproduce:reproduce",
        "list": "starshade.cli.listing:listing",
        "doctor": "starshade.cli.doctor:doctor",
    },
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, "--version", prog_name="starshade")
def main() -> None:
    """Publish rating data without exposing the people in it.

    Attack the data, check it against privacy models, anonymize it, measure what it is still good
    for, and judge whether a release may be published. New here? Try `starshade demo`.

    Exit codes: 0 done (or it holds), 1 the data do not meet a valid request, 2 the request is
    wrong, 130 interrupted.
    """
