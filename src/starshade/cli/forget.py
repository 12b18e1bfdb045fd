"""``starshade forget``."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from starshade.cli.options.help import Explained
from starshade.cli.running.run import Run, running
from starshade.cli.show import columns, page, words
from starshade.errors import ConfigError
from starshade.files.side import USER_LIST, read_side, read_stream
from starshade.plain import counted

if TYPE_CHECKING:
    from starshade.release.folder.forget import Forgotten

_SHOWN = 10  # lines listed


@click.command(cls=Explained, example="starshade forget ids.txt receipt.json --dry-run")
@click.argument("users", metavar="USERS")
@click.argument("receipts", metavar="[RECEIPT...]", nargs=-1)
@click.option(
    "--release",
    "releases",
    metavar="DIR",
    multiple=True,
    help="A release of one of the receipts, to be told what of these people is published in it.",
)
@click.option("--dry-run", is_flag=True, help="Only tell which receipts hold them.")
@running()
def forget(
    users: str,
    receipts: tuple[str, ...],
    releases: tuple[str, ...],
    dry_run: bool,
    run: Run,
) -> None:
    """Take people out of receipts, as they asked for it.

    Their ids stand in USERS, one a line, which is a file, or - for standard input: an id on a
    command line stays in its history. The next release that continues one of these treats them as
    having left. Without a RECEIPT, in the folder of a `starshade.toml`, those that `starshade run`
    keeps are taken. Exit 0 also where no receipt holds any of them, as when it is done twice: which
    lines those are is said.
    """
    from starshade.release.folder.forget import forget as take_out

    ids = _lines(users)
    with _of_project(receipts) as places:
        found = take_out(list(ids.values()), places, releases=releases, dry_run=dry_run)
    lines = [list(ids)[place - 1] for place in found.unknown]
    reports = _reports_naming(ids.values())
    told = found.to_dict() | {"unknown": lines, "reports": reports}
    run.emit({**told, "seconds": run.seconds}, lambda: _summary(found, lines, reports, dry_run))


@contextmanager
def _of_project(given: tuple[str, ...]) -> Iterator[list[str]]:
    """Return the receipts given, or those that the runs of a project keep, none running."""
    from starshade.project.file import FOLDER
    from starshade.project.state import kept

    if given:
        yield list(given)
        return
    if not Path(FOLDER).is_dir():
        raise ConfigError(
            "no RECEIPT is named, and here is no folder of a project that keeps them",
            advice="Name the receipts of all releases that still are continued or audited.",
        )
    with kept(Path()) as keep:
        yield [str(path) for path in keep.all_receipts()]


def _reports_naming(ids: Collection[str]) -> list[str]:
    """Return the reports that the runs of a project keep and that name any of these people."""
    from starshade.project.file import FOLDER
    from starshade.report.named import names_any

    reports = sorted(Path(FOLDER).glob("reports/*.html"))
    return [str(report) for report in reports if names_any(report, set(ids))]


def _lines(users: str) -> dict[int, str]:
    """Return the ids by their lines; blank lines are none, all else on a line is the id."""
    if users == "-":
        raw = read_stream(sys.stdin.buffer, USER_LIST, "standard input")
    else:
        raw = read_side(users, USER_LIST)
    try:
        content = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{users}: not UTF-8 (byte {error.start})") from None
    lines = content.replace("\r\n", "\n").split("\n")
    return {number: line for number, line in enumerate(lines, 1) if line.strip()}


def _summary(found: Forgotten, unknown: list[int], reports: list[str], dry_run: bool) -> Any:
    holding = [held for held in found.key_files if held.records or held.left_before]
    done = "would be" if dry_run else "was" if len(holding) == 1 else "were"
    people = counted(found.people, "person", "people")
    said = (
        f"{people} to be forgotten: {len(holding)} of {counted(len(found.key_files), 'receipt')} "
        f"held any of them, and {done} rewritten without."
        if holding
        else "No receipt holds any of these people; nothing was written."
    )
    listed = ", ".join(map(str, unknown[:_SHOWN])) + (", …" if len(unknown) > _SHOWN else "")
    several = "s" * (len(unknown) > 1)
    lost = f" In no receipt: the id{several} of line{several} {listed}." if unknown else ""
    rows = [
        (
            held.key_file,
            f"{held.records:,}",
            f"{held.left_before:,}",
            ", ".join(held.folders) or "-",
        )
        for held in found.key_files
    ]
    return page(
        words(said + lost),
        columns(("receipt", "records", "had left", "release"), rows, names=True),
        words(
            "What is published cannot be called back: their records stay in the releases, as "
            "nobody's. Take their ratings out of the data too, or the next release has them as "
            "newcomers; and remember backups, and copies of the receipts."
        )
        if holding
        else None,
        words(_about(reports)) if holding or reports else None,
        words(
            f"Runs that were killed, or still go on, keep {', '.join(found.leftovers)}: these may "
            "hold any of them. Delete what no run is at work on; in and beside stores elsewhere "
            "look for names that begin with .runs-, .rows-, .journal- or .tmp-."
        )
        if found.leftovers
        else None,
    )


def _about(reports: list[str]) -> str:
    """Say what becomes of reports, which are not rewritten."""
    if not reports:
        return (
            "Reports for you alone (report.html) name people at risk: delete those that name "
            "these, or make them again (starshade report)."
        )
    return (
        f"Still named in {', '.join(reports)}: delete what is named here, or make it again "
        "(starshade report). Other reports for you alone (report.html) may name them too."
    )
