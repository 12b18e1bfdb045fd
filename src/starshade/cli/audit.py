"""``starshade audit``."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from starshade.audit.checks.policy import DEFAULT, Threshold, share_of, thresholds_of
from starshade.audit.settings import AuditSettings
from starshade.cli.options.declared import options_of
from starshade.cli.options.help import (
    BEFORE,
    EARLIER,
    EARLIER_PRIVATE,
    JUDGED,
    OWNER,
    PRIVATE,
    WRITTEN,
    grouped,
)
from starshade.cli.options.project import OfRatings
from starshade.cli.options.shards import (
    in_one_table,
    is_shards,
    opened,
    over_shards,
    refuse_unseeded,
    whole_store,
    works_by_shard,
)
from starshade.cli.options.shared import Reading, gathered, given, option, reading, said
from starshade.cli.options.spelling import as_option, words_of
from starshade.cli.report import place_for, repeated, write
from starshade.cli.running.run import Run, running
from starshade.cli.show import columns, decided, figures, page, useful, words
from starshade.engine.settings import EngineSettings
from starshade.naming import Advice
from starshade.plain import percent
from starshade.ratings.readers.addresses.address import hidden
from starshade.setting import settings_of

if TYPE_CHECKING:
    from starshade.audit.evidence import Evidence
    from starshade.audit.result import AuditResult
    from starshade.release.table import Release


@click.command(
    cls=OfRatings,
    example="starshade audit ratings.csv release/ --private key.json",
)
@click.argument("ratings", metavar="RATINGS")
@click.argument("release", metavar="RELEASE")
@grouped(
    OWNER,
    click.option("--private", metavar="FILE", help=PRIVATE),
)
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
@click.option("--details", is_flag=True, help="Show all measurements behind the verdict")
@grouped(
    WRITTEN,
    click.option("--report", metavar="FILE", help="Internal report to write (HTML)"),
)
@over_shards
@reading(items=False, dates=True)
@running(seed=True)
@click.pass_context
def audit(
    context: click.Context,
    ratings: str,
    release: str,
    private: str | None,
    limits: dict[str, Any],
    earlier: tuple[str, ...],
    earlier_private: tuple[str, ...],
    details: bool,
    report: str | None,
    engine: dict[str, Any],
    reading: Reading,
    run: Run,
) -> None:
    """Audit a release: decide whether it may be published.

    Verify the claims of the release, attack the ratings and the release, measure utility, and
    compare the upper end of the 95 % interval of every risk with its threshold. Exit 0: PASS.
    Exit 1: FAIL. Exit 4: INCOMPLETE (no check fails, but at least one was not measured).
    """
    # refused before what is slow is loaded
    thresholds_of(limits["threshold"], earlier=bool(earlier))
    place = None if report is None else place_for(report, "--report")
    from starshade.audit.verdict import Audit, takes_one_table
    from starshade.release.folder.read import is_release, read_release, read_releases

    judge = Audit(**said(limits))
    for folder in (release, *earlier):
        if not is_release(folder):
            read_release(folder)  # says so, before the long work
    read_releases(earlier, private=earlier_private)
    released = read_release(release, private=private)
    otherwise = (
        takes_one_table(released, earlier)
        or "with --report" * bool(report)
        or _made_again(ratings, released, judge.shadows)
    )
    if report is None:
        refuse_unseeded(engine, run.given_seed)
    if works_by_shard(ratings, reading, otherwise=otherwise, resumes=report is None):
        with opened(ratings, engine) as (shards, working):
            result = judge.judge_shards(
                shards, released, Path(release), engine=working, seed=run.seed
            )
    elif place is None:
        table = reading.read(ratings)
        with in_one_table(release, engine) as working:
            result = judge.judge_release(
                table,
                released,
                Path(release),
                earlier=earlier,
                earlier_private=earlier_private,
                engine=working,
                seed=run.seed,
            )
    else:
        table = reading.read(ratings)
        from starshade.audit.dossier.dossier import gather

        dossier = gather(
            table,
            released,
            Path(release),
            private=private,
            audit=judge,
            earlier=earlier,
            earlier_private=earlier_private,
            store=whole_store(ratings, reading),
            seed=run.seed,
            command=repeated(context, released, reading, run.seed),
        )
        write(dossier, place, public=False)
        result = dossier.audit
    payload = {**result.to_dict(), "report": report, "seconds": run.seconds}
    run.conclude(result.headline)
    following = _following(result, context.params, reading)
    run.emit(payload, lambda: _summary(result, released, following, details=details))
    context.exit(result.exit_code)


def _made_again(ratings: str, release: Release, shadows: int | None) -> str:
    """Say why shadow releases need one table, where memory holds the store as one."""
    from starshade import budget
    from starshade.audit.shadows import made_again_whole
    from starshade.ratings.shards.shards import open_shards, table_bytes

    by_shard = given() & {setting.name for setting in settings_of(EngineSettings)}
    if shadows == 0 or by_shard or not is_shards(ratings):
        return ""
    shards = open_shards(ratings)
    fits = table_bytes(shards) <= budget.memory()
    return "with --shadows above 0" if fits and made_again_whole(release, shards) else ""


def _summary(result: AuditResult, release: Release, following: str, *, details: bool) -> Any:
    from starshade.audit.checks.advice import advice_on
    from starshade.audit.screen import first_screen

    advice = advice_on(result, release)
    screen = decided(result.verdict, first_screen(result, advice, following))
    return page(screen, *_details(result)) if details else screen


def _details(result: AuditResult) -> Iterator[Any]:
    """Yield everything that the verdict rests on."""
    from starshade.audit.checks.check import CHECK_HEAD, MARKS, check_rows
    from starshade.audit.measure import figures_found

    yield words(str(result) if result.passed else result.about)
    yield columns(CHECK_HEAD, check_rows(result.checks), title="Checks", align="left")
    yield figures([(each.title, each.text) for each in result.checks], title="Measurements")
    yield from useful(figures_found(result.utility))
    yield figures(
        [(MARKS["pass" if f.passed else "fail"], f.text) for f in result.findings],
        title="Other conditions",
    )
    if result.warnings:
        yield figures([("·", text) for text in result.warnings], title="Notes")
    yield _attacks(result)
    yield columns(result.recall.head, result.recall.rows, title=result.recall.title)
    yield _given(result)


def _following(result: AuditResult, typed: Mapping[str, Any], reading: Reading) -> str:
    """Return the command to type next, for a shell; `typed`: the arguments of this one."""
    ratings, release = hidden(typed["ratings"]), typed["release"]
    source, policy = [ratings, *reading.arguments()], str(result.config["policy"])
    judged = ["--policy", policy] * (policy != DEFAULT or not result.passed or "policy" in given())
    for name in result.policy.overridden:
        judged += ["--threshold", f"{name}={_stated(name, result.policy.thresholds[name])}"]
    made = [ratings, release, "--private", typed["private"] or "KEY-FILE", *source[1:], *judged]
    for name in ("earlier", "earlier_private"):
        made += words_of(option(name), typed[name])
    measuring = [each.advice for each in result.decisive if isinstance(each.advice, Advice)]
    if result.verdict == "INCOMPLETE" and measuring:
        setting, value = measuring[0].setting, measuring[0].value
        more = [] if value is None else as_option(setting, value).split()
        return _command("audit", *made, *more)
    if result.verdict != "FAIL":  # of another release the same could not be measured
        for name in ("targets", "shadows"):
            made += words_of(option(name), typed[name]) if name in given() else []
        return _command("report", *made, "--out", "report.html")
    # next to the project, never in the folder of a release, which may be published as a whole
    out = f"{Path(release).absolute().name}-{result.policy.name}"
    return _command("anonymize", *source, *judged, "--out", out, "--private", f"{out}.json")


def _command(*words: str) -> str:
    return shlex.join(["starshade", *words])


def _stated(name: str, threshold: Threshold) -> str:
    """Write a threshold as people state it, where that is exact."""
    text = threshold.text(name)
    return text if share_of(name, text) == threshold.share else str(threshold.share)


def _attacks(result: AuditResult) -> Any:
    """Show what was found before and after, a group of rows for what the adversary knows."""
    unknown = result.profile_disclosure is not None and not result.profile_disclosure.linked
    rows: list[tuple[str, ...]] = []
    for knows, tried in groupby(result.evidence, _knows):
        rows.append((f"{knows}:", "", "", ""))
        rows += [
            (
                f"  {e.after.attack}",
                str(e.before.expected_top1),
                "not known" if unknown else str(e.after.expected_top1),
                # an average agrees with no user's ratings, however well its class is known
                "–" if result.profile_disclosure else percent(e.after.class_contents_known.rate),
            )
            for e in tried
        ]
    before = "correct in the original" + ", same users" * result.same_people
    return columns(
        ("auxiliary knowledge", before, "correct in the release", "class contents known"),
        rows,
        title="Initial and residual risk by attack (intervals on the release are simultaneous)",
    )


def _given(result: AuditResult) -> Any:
    given = result.profile_disclosure
    if given is None:
        return None
    if not given.linked:
        unknown = "Disclosure by profiles: not measured without the key file (--private)."
        return words(f"{unknown} {given.attribute}")
    group, links, padding = given.group, given.links, given.padding
    rows: list[tuple[str, Any]] = [
        *((each.title, each.text) for each in given.attribute.found),
        ("class linkage, best guess", group and str(group.share)),
    ]
    if links is not None:
        rows += [
            ("filled cells rated by a given member of the class", percent(links.confidence)),
            ("filled cells rated by no member", percent(links.no_member)),
            ("filled cells rated by all members (certain)", percent(links.all_members)),
            (
                "filled cells rated by more than one (above 1/g, Thm 6.2)",
                percent(links.above_no_prior),
            ),
            ("cells above the bound of Thm 6.3, of those it bounds", percent(links.above_bound)),
            ("empty cells (certainly rated by no member)", percent(links.missing_share)),
        ]
    if padding is not None and padding.auc is not None:
        rows += [
            ("rated against padded cells (AUC; 50 % is guessing)", str(padding.auc)),
            ("the same within one item", str(padding.auc_within_items or "–")),
            ("baseline: popularity, without the release", percent(padding.popularity)),
        ]
    fakes = given.fake_edges
    if fakes is not None and fakes.auc is not None:
        rows += [
            ("fake edges detected with certainty", str(fakes.certain_share)),
            ("fake edges against real cells within one item (AUC)", str(fakes.auc_within_items)),
        ]
    return figures(rows, title="Disclosure by profiles (not bounded by any model)")


def _knows(tried: Evidence) -> str:
    knowledge, exact = tried.knowledge, "exactly"
    if knowledge.rating_error:
        wrong = f", {knowledge.wrong} wrong" if knowledge.wrong else ""
        exact = f"±{knowledge.rating_error:g}{wrong}"
    allowed = tried.after.config.get("tolerance")
    if allowed is not None and allowed > knowledge.rating_error:  # a mean is no user's rating
        exact += f" (tolerance ±{allowed:g})"
    return f"{knowledge.known} ratings, {exact}"
