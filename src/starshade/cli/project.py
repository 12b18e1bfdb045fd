"""``starshade init``, ``run``, ``check-config``, ``accept``: a project file and its pipeline."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from starshade.audit.checks.policy import DEFAULT, POLICIES, read_policy
from starshade.cli.options.help import Explained
from starshade.cli.options.shared import Reading, ensure_free, reading
from starshade.cli.options.spelling import Whole, as_option
from starshade.cli.report import made_by
from starshade.cli.running.errors import wrote
from starshade.cli.running.run import Run, running, tell_project
from starshade.cli.show import command, decided, page, words
from starshade.errors import ConfigError, InputError
from starshade.naming import Value, speak
from starshade.plain import counted, visible
from starshade.progress import note
from starshade.ratings.readers.addresses.address import SECRETS_LIE, has_secret, hidden
from starshade.ratings.settings import OnDuplicate, ReadingSettings
from starshade.setting import settings_of

if TYPE_CHECKING:
    from starshade.project.file import Project
    from starshade.project.ran import Ran
    from starshade.ratings.table import Ratings
    from starshade.release.table import Release


_SHOWN = 100  # problems listed


@click.command("init", cls=Explained, example="starshade init ratings.csv --yes")
@click.argument("ratings", metavar="RATINGS")
@click.option("--yes", is_flag=True, help="Ask no questions; take what is recognised")
@reading(items=False, dates=True)
@running()
def init(ratings: str, yes: bool, reading: Reading, run: Run) -> None:
    """Write `starshade.toml`, the project file of a pipeline.

    It holds what was recognised in RATINGS, and defaults. On a terminal, `init` asks for the
    choices; `starshade run` runs the pipeline.
    """
    from starshade.project.file import NAME
    from starshade.project.write import project_text, suggested
    from starshade.ratings.places.atomic import atomic_file

    if has_secret(ratings):
        raise ConfigError(
            f"{hidden(ratings)}: {NAME} would contain the password",
            advice=SECRETS_LIE,
        )
    asks = not yes and sys.stdin.isatty() and sys.stderr.isatty()
    if not (yes or asks):
        raise ConfigError(
            "no terminal for questions",
            advice="Add --yes: take what is recognised, then review the file.",
        )
    if os.path.lexists(NAME):
        raise ConfigError(
            f"{NAME}: already exists",
            advice="Edit it (`starshade check-config` lists errors) or delete it first.",
        )
    place = ensure_free(NAME, option="")
    given, reading = reading, _looked(ratings, reading, run, asks=asks)
    try:
        table, reading = _read(ratings, reading, run, asks=asks)
    except InputError as error:
        if reading.users == given.users or asks:
            raise
        # the file of attributes was a guess
        people, reading = reading.users, replace(reading, users=None)
        table, reading = _read(ratings, reading, run, asks=asks)
        note(f"{people} does not match these ratings and is ignored: {error.message}")
    release, audit = suggested(table), dict[str, Any]()
    if asks:
        release, audit = _asked(table, release, run), _policy_asked()
    said = {
        setting.name: value
        for setting in settings_of(ReadingSettings)
        if (value := getattr(reading, setting.name)) != setting.default
    }
    from rich.text import Text

    text = project_text(table, ratings, said, release, audit)
    if asks:
        click.echo(f"\n{visible(text)}", err=True)
        click.confirm(f"Write this as {NAME}", default=True, abort=True, err=True)
    with atomic_file(place, 0o666) as path:
        path.write_text(text, encoding="utf-8")
    wrote(place)
    run.emit(
        {"file": NAME, "text": text, "seconds": run.seconds},
        lambda: page(
            Text(text.rstrip()),
            words(f"{NAME} is written; edit it as needed. Next, show what would be done:"),
            command("starshade", "run", "--dry-run"),
        ),
    )


def _looked(ratings: str, reading: Reading, run: Run, *, asks: bool) -> Reading:
    """Show the role of each column, and settle where the personal attributes are."""
    from starshade.project.look import look

    looked = look(ratings, reading)
    people = reading.users or looked.people
    if asks:
        run.terminal.close()  # no bar while somebody is to answer
        for role, column, why in looked.columns:
            click.echo(visible(f"{role}: {column} ({why})"), err=True)
        if reading.users is None:
            said = click.prompt(
                "File of personal attributes, one row per person, or none",
                default=people or "none",
                err=True,
            )
            people = "" if said == "none" else said
    elif people and reading.users is None:
        note(f"{people} has the column of users: its attributes are read but not released")
    return replace(reading, users=people or None)


def _read(ratings: str, reading: Reading, run: Run, *, asks: bool) -> tuple[Ratings, Reading]:
    """Read; decide here which of duplicate ratings counts, with a note."""
    try:
        return reading.read(ratings), reading
    except InputError as error:
        if error.setting != "on_duplicate":
            raise
        click.echo(visible(error.message), err=True)
    choices = tuple(each for each in get_args(OnDuplicate) if each != "error")
    chosen: Any = "last"
    if asks:
        run.terminal.close()  # no bar while somebody is to answer
        chosen = click.prompt(
            "Rating that counts", type=click.Choice(choices), default="last", err=True
        )
    else:
        others = ", ".join(f'"{each}"' for each in choices if each != chosen)
        note(f"the latest date counts, then the last row; other values of on-duplicate: {others}")
    resolved = replace(reading, on_duplicate=chosen)
    return resolved.read(ratings), resolved


def _asked(table: Ratings, usual: dict[str, Any], run: Run) -> dict[str, Any]:
    """Show what was read, and ask for k and the items."""
    from starshade.project.write import suggested

    people = counted(table.n_users, "person", "people")
    run.terminal.close()
    click.echo(
        f"{people}, {counted(table.n_items, 'item')}, {counted(table.n_ratings, 'rating')}, "
        f"scale {table.scale}; method {usual['method']}.",
        err=True,
    )
    k = click.prompt("Minimum class size (k)", type=Whole(2), default=usual["k"], err=True)
    offered = usual.get("items", "all").removeprefix("top:")
    items = click.prompt("Number of most rated items, or all", default=offered, err=True)
    if items == "all":
        usual.pop("items", None)
    elif items != offered:
        usual = suggested(table, f"top:{items}" if items.isdigit() else items)
        click.echo(f"Method for selected items: {usual['method']}.", err=True)
    return usual | {"k": k}


def _policy_asked() -> dict[str, Any]:
    """Ask for the policy."""
    for name, meaning in POLICIES.items():
        click.echo(f"{name}: {meaning}", err=True)
    policy = click.prompt(
        "Policy a release must pass", default=DEFAULT, value_proc=_as_policy, err=True
    )
    return {"policy": policy}


def _as_policy(text: str) -> str:
    """Read a policy; a wrong one is asked for again."""
    try:
        read_policy(text)
    except ConfigError as error:
        raise click.BadParameter(visible(error.message)) from None
    return text


@click.command("run", cls=Explained, example="starshade run --dry-run\nstarshade run")
@click.option("--dry-run", is_flag=True, help="Read the data and show what would be done")
@running(seed=True)
@click.pass_context
def run_project(context: click.Context, dry_run: bool, run: Run) -> None:
    """Run the pipeline; publish if the audit passes.

    Read, anonymize, audit, report, as in `starshade.toml`. The release continues published ones
    and is audited with them. It is published if the verdict is PASS or an accepted risk
    (`starshade accept`) covers every other check. A second run without changes does nothing; an
    interrupted run is resumed. Exit 0: published. Exit 1: FAIL. Exit 4: INCOMPLETE.
    """
    from starshade.project.file import NAME, read_project
    from starshade.project.run import run as do

    project = read_project()
    if project is None:
        raise ConfigError(
            f"{NAME}: not in this folder", advice="`starshade init RATINGS` writes one."
        )
    said = {"data": project.data, "release": project.release, "audit": project.audit}
    tell_project([name for name, values in said.items() if values])
    with speak(partial(_as_key, project.method), between=", "):
        ran = do(
            project, Path(), seed=lambda: run.seed, remake=partial(_remade, project), dry=dry_run
        )
        run.conclude(ran.headline)
        run.emit({**ran.to_dict(), "seconds": run.seconds}, lambda: _summary(ran))
    context.exit(ran.exit_code)


def _remade(
    project: Project, release: Release, name: str, after: tuple[str, str] | None
) -> str | None:
    """Return the command that repeats a release of a project, next to its file."""
    data = dict(project.data)
    ratings = str(data.pop("ratings"))
    return made_by(release, ratings, name, Reading(**data), *([after] if after else []))


def _as_key(method: str, setting: str, value: Value = None) -> str:
    """Write a setting as the project file has it; what it does not have is an option."""
    from starshade.project.file import key_of, sections
    from starshade.project.write import toml

    key = key_of(setting)
    if not any(key in keys for keys in sections(method).values()):
        return as_option(setting, value)
    return key if value is None else f"{key} = {toml(value)}"


def _summary(ran: Ran) -> Any:
    if ran.audit is not None:
        from starshade.audit.screen import first_screen

        screen = decided(ran.verdict, first_screen(ran.audit, ran.advice))
        return page(screen, words(ran.whereabouts))
    reasons = (words(f"· {reason}") for reason in ran.reasons)
    return page(words(str(ran)), *reasons, *(words(f"→ {each}") for each in ran.advice))


@click.command("check-config", cls=Explained, example="starshade check-config")
@running()
@click.pass_context
def check_config(context: click.Context, run: Run) -> None:
    """Check `starshade.toml`; list errors by line.

    Also list an open question, which stops `starshade run`. Exit 2: errors.
    """
    from starshade.project.file import NAME, problems_of, read_project

    problems, question = problems_of(), ""
    if not problems and (project := read_project()) is not None:
        from starshade.project.work import question_of

        question = question_of(project)
    fine = f"{NAME}: no errors."
    if question:
        fine += f" An open question stops `starshade run`: {question}"
        fine += "; if these are ratings: null-values = []."
    found = [{"line": p.line, "problem": p.text, "advice": p.advice} for p in problems]
    run.emit(
        {
            "file": NAME,
            "problems": found,
            "questions": [question] if question else [],
            "seconds": run.seconds,
        },
        lambda: (
            page(
                *(
                    words(f"{each}\n  {each.advice}" if each.advice else str(each))
                    for each in problems[:_SHOWN]
                ),
                *[words(f"… and {len(problems) - _SHOWN:,} more")] * (len(problems) > _SHOWN),
            )
            if problems
            else words(fine)
        ),
    )
    context.exit(2 if problems else 0)


@click.command(
    "accept",
    cls=Explained,
    example='starshade accept membership --up-to 12% --reason "Contract of May 2026" '
    '--by "Jane Doe, DPO" --until 2027-06-30',
)
@click.argument("risk", metavar="CHECK")
@click.option(
    "--up-to",
    required=True,
    metavar="VALUE",
    help="Largest accepted upper bound, such as 12%, or 'not measured'",
)
@click.option("--reason", required=True, metavar="TEXT", help="Reason for the decision")
@click.option(
    "--by", required=True, metavar="TEXT", help="Name and office of the person who decides"
)
@click.option("--until", required=True, metavar="DATE", help="Last valid day, such as 2027-06-30")
@running()
def accept(risk: str, up_to: str, reason: str, by: str, until: str, run: Run) -> None:
    """Accept a risk: record the decision on one check.

    `starshade run` then publishes a release that does not pass if every failing or unmeasured check
    is accepted. No figure, verdict or exit code of `audit` changes; both reports print the
    decision. Names of checks: starshade list policies.
    """
    from starshade.project.accept import NOT_MEASURED
    from starshade.project.file import NAME
    from starshade.project.write import add_acceptance

    values = {"risk": risk, "up-to": up_to, "reason": reason, "by": by, "until": until}
    acceptance = add_acceptance(Path(), values)
    of = "not measured" if up_to == NOT_MEASURED else f"up to {acceptance.up_to_text}"
    run.emit(
        {"file": NAME, "accepted": acceptance.to_dict(), "seconds": run.seconds},
        lambda: page(
            words(
                f"{NAME}: {risk} accepted, {of}, for the policy {acceptance.policy}, until "
                f"{acceptance.until.isoformat()}. Next:"
            ),
            command("starshade", "run"),
        ),
    )
