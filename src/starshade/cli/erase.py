"""``starshade erase``."""

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


@click.command(cls=Explained, example="starshade erase ids.txt key.json --dry-run")
@click.argument("users", metavar="USERS")
@click.argument("receipts", metavar="[KEY-FILE...]", nargs=-1)
@click.option(
    "--release",
    "releases",
    metavar="DIR",
    multiple=True,
    help="Release of one of the key files, to list with its records of these users; repeatable",
)
@click.option("--dry-run", is_flag=True, help="List the key files that hold these users; no change")
@running()
def erase(
    users: str,
    receipts: tuple[str, ...],
    releases: tuple[str, ...],
    dry_run: bool,
    run: Run,
) -> None:
    """Erase users from private key files.

    USERS has one id per line; - reads standard input, since ids on a command line stay in its
    history. The next release that continues one of these treats the users as having left.

    Without a KEY-FILE, in the folder of a `starshade.toml`, the key files that `starshade run`
    keeps are taken. Published records do not change. Exit 0 even if no key file holds any of the
    users; the lines of unknown ids are listed.
    """
    from starshade.release.folder.forget import forget as take_out

    ids = _lines(users)
    with _of_project(receipts) as places:
        found = take_out(list(ids.values()), places, releases=releases, dry_run=dry_run)
    lines = [list(ids)[place - 1] for place in found.unknown]
    reports = _reports_naming(ids.values())
    payload = found.to_dict() | {"unknown": lines, "reports": reports}
    run.emit({**payload, "seconds": run.seconds}, lambda: _summary(found, lines, reports, dry_run))


@contextmanager
def _of_project(given: tuple[str, ...]) -> Iterator[list[str]]:
    """Return the key files given, or those that the runs of a project keep, none running."""
    from starshade.project.file import FOLDER
    from starshade.project.state import kept

    if given:
        yield list(given)
        return
    if not Path(FOLDER).is_dir():
        raise ConfigError(
            "no KEY-FILE given, and this folder has no project that keeps any",
            advice="Name the key files of all releases that are still continued or audited.",
        )
    with kept(Path()) as keep:
        yield [str(path) for path in keep.all_receipts()]


def _reports_naming(ids: Collection[str]) -> list[str]:
    """Return the reports and lists that a project's runs keep and that name any of these people.

    Reports of earlier versions have the list of people at risk in them.
    """
    from starshade.project.file import FOLDER
    from starshade.report.named import names_any
    from starshade.report.people import lists_any

    users = set(ids)
    named = [path for path in Path(FOLDER).glob("reports/*.html") if names_any(path, users)]
    named += [path for path in Path(FOLDER).glob("reports/*.csv") if lists_any(path, users)]
    return [str(path) for path in sorted(named)]


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
    text = (
        f"{counted(found.people, 'user')} to erase: {len(holding)} of "
        f"{counted(len(found.key_files), 'key file')} {done} rewritten without them."
        if holding
        else "No key file holds any of these users; nothing was written."
    )
    listed = ", ".join(map(str, unknown[:_SHOWN])) + (", …" if len(unknown) > _SHOWN else "")
    several = "s" * (len(unknown) > 1)
    if unknown:
        text += f" In no key file: the id{several} of line{several} {listed}."
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
        words(text),
        columns(("key file", "records", "left before", "release"), rows, names=True),
        words(
            "Published records cannot be recalled; without a key file entry no user belongs to "
            "them. Delete the ratings of these users from the data too, or the next release treats "
            "them as new users. Remember backups and copies of the key files."
        )
        if holding
        else None,
        words(_about(reports)) if holding or reports else None,
        words(
            f"Interrupted or running commands keep {', '.join(found.leftovers)}, which may hold "
            "these users. Delete what no running command uses. In other stores look for names "
            "that begin with .runs-, .rows-, .journal- or .tmp-, inside and next to them."
        )
        if found.leftovers
        else None,
    )


def _about(reports: list[str]) -> str:
    """Say which reports name them; reports are not rewritten."""
    if not reports:
        return (
            "Lists of people at risk (starshade report --risk-list) and internal reports of "
            "earlier versions (report.html) name users: delete those that name these users, or "
            "write them again."
        )
    return (
        f"Still named in {', '.join(reports)}: delete these reports or write them again "
        "(starshade report). Other lists of people at risk, and internal reports of earlier "
        "versions (report.html), may name these users too."
    )
