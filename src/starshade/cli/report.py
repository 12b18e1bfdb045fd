"""``starshade report``, and the commands that repeat a release and its report."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import fields, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from starshade.audit.checks.policy import thresholds_of
from starshade.audit.settings import AuditSettings
from starshade.cli.options.declared import options_of
from starshade.cli.options.help import (
    BEFORE,
    CONTEXT,
    EARLIER,
    EARLIER_PRIVATE,
    JUDGED,
    OWNER,
    PRIVATE,
    PROBE,
    WRITTEN,
    grouped,
)
from starshade.cli.options.project import OfRatings, without_its_columns
from starshade.cli.options.shards import whole_store
from starshade.cli.options.shared import Reading, ensure_free, gathered, reading, said
from starshade.cli.options.spelling import words_of
from starshade.cli.running.errors import wrote
from starshade.cli.running.run import Run, running
from starshade.cli.show import words
from starshade.errors import ConfigError
from starshade.progress import note
from starshade.ratings.readers.addresses.address import hidden
from starshade.report.outline import DEFAULT, OUTLINES

if TYPE_CHECKING:
    from starshade.audit.dossier.dossier import Dossier
    from starshade.project.stated import Stated
    from starshade.ratings.places.place import Place, Where
    from starshade.release.table import Release


@click.command(
    cls=OfRatings,
    example="starshade report ratings.csv release/ --private key.json --out report.html",
)
@click.argument("ratings", metavar="RATINGS")
@click.argument("release", metavar="RELEASE")
@grouped(
    WRITTEN,
    click.option("--out", required=True, metavar="FILE", help="HTML file; must not exist"),
    click.option(
        "--public", is_flag=True, help="Write the public report, without data on single users"
    ),
    click.option(
        "--template",
        type=click.Choice(list(OUTLINES)),
        help="Headings of the internal report from page 2 on: ISO/IEC 27559 or EMA Policy 0070 "
        f"[default: {DEFAULT}]",
    ),
    click.option(
        "--pdf", metavar="FILE", help="Print the report as PDF too, by an installed Chromium"
    ),
    click.option(
        "--risk-list", metavar="FILE", help="Write the people at risk as CSV (private file)"
    ),
    click.option("--context", metavar="FILE", help=CONTEXT),
)
@grouped(
    OWNER,
    click.option("--private", metavar="FILE", help=PRIVATE),
)
@click.option("--probe", metavar="FILE", help=PROBE)
@partial(
    gathered,
    options=options_of(AuditSettings),
    name="limits",
    title=JUDGED,
)
@grouped(
    BEFORE,
    click.option("--earlier", metavar="RELEASE", multiple=True, help=EARLIER),
    click.option("--earlier-private", metavar="FILE", multiple=True, help=EARLIER_PRIVATE),
)
@reading(items=False, dates=True)
@running(seed=True)
@click.pass_context
def report(
    ctx: click.Context,
    ratings: str,
    release: str,
    out: str,
    public: bool,
    template: str | None,
    pdf: str | None,
    risk_list: str | None,
    context: str | None,
    private: str | None,
    probe: str | None,
    limits: dict[str, Any],
    earlier: tuple[str, ...],
    earlier_private: tuple[str, ...],
    reading: Reading,
    run: Run,
) -> None:
    """Write the report on a release, to read, print and sign.

    One HTML file. Page 1 of the internal report is for the decision: verdict, why the data need
    protection, utility, residual risk, sign-off. It contains paths and the seed: only you can read
    the file (mode 0600), as the list of people at risk. The public report has no data on single
    users.
    """
    # refused before what is slow is loaded
    thresholds_of(limits["threshold"], earlier=bool(earlier))
    if public and template is not None:
        raise ConfigError(
            f"--template {template}: the public report has one form",
            advice="Leave out --template, or --public.",
        )
    places = _places(out, pdf, risk_list)
    # that of a project says nothing of other ratings; the repeated command names what was read
    ctx.params |= {"context": without_its_columns({"context": context}).get("context")}
    stated = _stated(ctx.params["context"])
    from starshade.audit.dossier.dossier import gather
    from starshade.audit.measure import need_receipt
    from starshade.audit.verdict import Audit
    from starshade.project.accept import expired
    from starshade.release.folder.read import read_release, read_releases

    judge = Audit(**said(limits))
    released = read_release(release, private=private)  # refused before the long work
    read_releases(earlier, private=earlier_private)
    if probe is not None:
        need_receipt(released)
    table = reading.read(ratings)
    # who gave a rating that was held out is known by the ids alone
    held = None if probe is None else replace(reading, users=None).read(probe, dates=False)
    dossier = gather(
        table,
        released,
        Path(release),
        private=private,
        audit=judge,
        probe=held,
        earlier=earlier,
        earlier_private=earlier_private,
        accepted=stated.counting,
        context=stated.context,
        notices=expired(stated.accepted),
        store=whole_store(ratings, reading),
        seed=run.seed,
        command=repeated(ctx, released, reading, run.seed),
    )
    write(
        dossier,
        places["--out"],
        public=public,
        template=template or DEFAULT,
        at_risk=places.get("--risk-list"),
    )
    printed = "--pdf" in places and _print(places["--out"], places["--pdf"], public=public)
    content = dossier.public() if public else dossier.internal()
    for notice in content["notices"]:
        note(notice)
    run.emit(
        {
            "verdict": dossier.audit.verdict,
            "pass": dossier.passed,
            "headline": content["verdict"]["headline"],
            "audience": content["audience"],
            "out": out,
            "bytes": places["--out"].path.stat().st_size,
            "pdf": pdf if printed else None,
            "risk_list": risk_list,
            "report": figures_of(content),
            "seed": run.seed,
            "seconds": run.seconds,
        },
        lambda: words(_summary(content["verdict"]["headline"], out, pdf, printed, risk_list)),
    )


def _summary(headline: str, out: str, pdf: str | None, printed: bool, risk_list: str | None) -> str:
    text = f"{headline}. Report: {out}"
    text += f"; PDF: {pdf}" * printed
    return text + (f"; people at risk: {risk_list}" if risk_list is not None else "")


def figures_of(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of a report without the list of people at risk."""
    figures = dict(content)
    if figures.get("people"):
        figures["people"] = {key: v for key, v in figures["people"].items() if key != "rows"}
    return figures


def _places(out: str, pdf: str | None, risk_list: str | None) -> dict[str, Place]:
    """Refuse places that are taken, or the same, before the long work."""
    places: dict[str, Place] = {"--out": place_for(out, "--out")}
    for option, where in (("--pdf", pdf), ("--risk-list", risk_list)):
        if where is None:
            continue
        place = ensure_free(where, option=option)
        taken = next((other for other, there in places.items() if there == place), None)
        if taken is not None:
            raise ConfigError(
                f"{option} {where}: is the file of {taken}", advice="Give each file its own name."
            )
        places[option] = place
    return places


def _print(report: Place, pdf: Place, *, public: bool) -> bool:
    """Print a report as PDF; False, with a note on how to do it, where there is no browser."""
    from starshade.report.pdf import find_browser, pdf_command, save_pdf

    browser = find_browser()
    if browser is None:
        note(
            "no PDF: neither Chromium nor Chrome is installed; with one of them: "
            f"{pdf_command(str(report), str(pdf))}"
        )
        return False
    save_pdf(report, pdf, browser, public=public)
    wrote(pdf)
    return True


def _stated(context: str | None) -> Stated:
    """Read a context file; without one nothing is stated."""
    from starshade.audit.dossier.context import Context
    from starshade.project.stated import Stated, read_stated

    return Stated(Context(), ()) if context is None else read_stated(context)


def can_report() -> bool:
    """Tell whether what reports need is installed; without what draws, pictures are sentences."""
    return find_spec("jinja2") is not None


def place_for(out: Where, option: str) -> Place:
    """Refuse a place that is taken, and a missing extra, before the long work."""
    if not can_report():
        raise ConfigError(
            f"{option} {out}: reports require an optional package that is not installed",
            advice="pip install 'starshade[report]'",
        )
    return ensure_free(out, option=option)


def write(
    dossier: Dossier,
    place: Place,
    *,
    public: bool,
    template: str = DEFAULT,
    at_risk: Place | None = None,
) -> None:
    """Write the internal or the public report, and the list of people at risk with it."""
    from starshade.chart import drawable
    from starshade.ratings.places.atomic import together
    from starshade.report.page import save_report
    from starshade.report.people import save_people

    if not drawable():
        note("no charts in the report; to draw them: pip install 'starshade[report]'")
    with together():
        if at_risk is not None:
            save_people(dossier, at_risk)
        save_report(dossier, place, public=public, template=template)
    for written in (at_risk, place):
        if written is not None:
            wrote(written)


#: options that change nothing in what is found, and the seed, which comes last
_ELSEWHERE = {"as_json", "json_schema", "threads", "memory", "quiet", "log_file", "seed"}
_ELSEWHERE |= {"pdf", "risk_list"}
_WRITTEN = {"out", "report"}  # a repeated report goes next to the release
_UNSAID: tuple[Any, ...] = (None, "none", [], {}, "")


def repeated(context: click.Context, release: Release, reading: Reading, seed: int) -> str:
    """Return what to type to do it all again, a command a line: the release, then the report.

    Every option that was given to the command of the `context` is in it.
    """
    given = context.params
    ratings, folder = given["ratings"], given["release"]
    words = ["starshade", str(context.info_name), hidden(ratings), folder, *reading.arguments()]
    for option in context.command.params:
        name = str(option.name)
        if name in _ELSEWHERE or hasattr(reading, name) or not isinstance(option, click.Option):
            continue
        value = given.get(name)
        if option.is_flag:
            words += [option.opts[0]] if value else []
        elif name in _WRITTEN:
            words += _spelled(option, f"{folder.rstrip('/')}-report.html")
        elif value != option.default:
            words += _spelled(option, value)
    words += ["--seed", str(seed)]
    made = made_by(release, ratings, folder, reading)
    return "\n".join([*([made] if made else []), shlex.join(words)])


def made_by(
    release: Release,
    ratings: str,
    out: str,
    reading: Reading,
    after: tuple[str, str] = ("RELEASE-BEFORE", "ITS-KEY-FILE"),
) -> str | None:
    """Return the command that repeats a release byte for byte; None without its key file.

    Files whose content the key file holds are named in capitals. `after`: the release that it
    continues, and its key file. The release is at `out`; the repeated one goes next to it.
    """
    if release.private is None:
        return None
    from starshade.anonymize.registry import ENTRIES
    from starshade.cli.anonymize import anonymize
    from starshade.registry import find

    method, config = release.manifest.method, release.private.config
    cls = find(ENTRIES, method, "method").load()
    own = {field.name for field in fields(cls)}
    words = ["starshade", "anonymize", hidden(ratings), "--method", method]
    for option in anonymize.params:
        if isinstance(option, click.Option) and option.name in own - {"items"}:
            words += _spelled(option, config.get(option.name))
    if release.private.chain is not None and release.private.chain.after is not None:
        words += ["--after", after[0], "--after-private", after[1]]
        shortfall = str(config.get("shortfall", "dummies"))
        words += ["--shortfall", shortfall.replace("invent", "dummies")]
    elif config.get("items", "all") != "all":
        words += ["--items", config["items"] if not config.get("item_keys") else "ITEMS-FILE"]
    words += [*reading.arguments(), "--seed", str(release.private.seed)]
    again = f"{out.rstrip('/')}-again"
    words += ["--out", again, "--private", f"{again}.json"]
    return shlex.join(words)


def _spelled(option: click.Option, value: Any) -> list[str]:
    flag = option.opts[0]
    if option.is_flag:  # --no-biases: the setting is on
        return [] if value is not False else [flag]
    if any(value is unsaid or value == unsaid for unsaid in _UNSAID):
        return []
    if isinstance(value, dict):
        return [word for name in value for word in (flag, f"{name}=FILE")]
    values = value if isinstance(value, (list, tuple)) else [value]
    return words_of(flag, [*map(_text, values)])


def _text(value: Any) -> str:
    text = f"{value:.12g}" if isinstance(value, float) else str(value)
    return "FILE" if "\n" in text else text
