"""``starshade anonymize``."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import click

from starshade.anonymize.registry import DEFAULT, ENTRIES, FOR_ITEMS, usual_method
from starshade.audit.checks.policy import KS, SUPPORTS
from starshade.audit.settings import AuditSettings
from starshade.cli.options.declared import Choosing, declared_options, options_of
from starshade.cli.options.help import BEFORE, WRITTEN, Named, grouped
from starshade.cli.options.shards import (
    in_one_table,
    opened,
    over_shards,
    refuse_unseeded,
    works_by_shard,
)
from starshade.cli.options.shared import (
    Reading,
    configured,
    ensure_free,
    gathered,
    given,
    option,
    reading,
    refuse_beside,
    said,
)
from starshade.cli.options.spelling import words_of
from starshade.cli.running.errors import wrote
from starshade.cli.running.run import Run, running
from starshade.cli.show import columns, command, examples, page, useful, words
from starshade.errors import ConfigError
from starshade.ratings.readers.addresses.address import hidden
from starshade.registry import find

if TYPE_CHECKING:
    from starshade.audit.compare.search import PolicySearch
    from starshade.audit.made import Made
    from starshade.ratings.places.place import Place
    from starshade.release.table import Release

#: settings of an audit that a search for a policy takes
_OF_POLICY = ("threshold", "targets", "shadows")
#: what a search varies
_VARIED = {"k", "item_support"}


@click.command(
    cls=Choosing,
    chooser="--method",
    usual=DEFAULT.method,
    room="anonymize",
    example="starshade anonymize ratings.csv --k 5 --out release/ --private key.json",
)
@click.argument("ratings", metavar="RATINGS")
@click.option(
    "--method",
    metavar="NAME",
    help="Anonymization method (starshade list methods) "
    f"[default: {DEFAULT}; {FOR_ITEMS.where}: {FOR_ITEMS}]",
)
@partial(gathered, options=declared_options(ENTRIES, besides=("items",)), name="settings")
@partial(
    gathered,
    options=[
        *options_of(
            AuditSettings,
            "policy",
            default=None,
            help="Search k and item support for the first release that passes this policy: "
            "public, partner, controlled, or a TOML file",
        ),
        *options_of(AuditSettings, *_OF_POLICY),
    ],
    name="deciding",
    title="Policy search",
)
@grouped(
    WRITTEN,
    click.option("--out", required=True, metavar="DIR", help="Release folder; must not exist"),
    click.option("--private", metavar="FILE", help="Private key file to write; keep it secret"),
    click.option(
        "--no-key-file",
        cls=Named,
        is_flag=True,
        formerly="--no-receipt",
        help="Write no private key file; an audit of this release may then be unable to pass",
    ),
)
@grouped(
    BEFORE,
    click.option(
        "--after",
        metavar="RELEASE",
        help="Previous release of the same people; classes are kept stable so that intersecting "
        "the releases stays ≥ k",
    ),
    click.option("--after-private", metavar="FILE", help="Private key file of that release"),
    click.option(
        "--shortfall",
        cls=Named,
        older={"invent": "dummies"},
        type=click.Choice(["dummies", "withhold"]),
        default="dummies",
        show_default=True,
        help="With --after, for classes that shrink below k: pad with dummy records, or leave the "
        "users out (always below k/2)",
    ),
)
@over_shards
@reading(dates=True)
@running(seed=True)
@click.pass_context
def anonymize(
    context: click.Context,
    ratings: str,
    method: str | None,
    settings: dict[str, Any],
    deciding: dict[str, Any],
    out: str,
    private: str | None,
    no_key_file: bool,
    after: str | None,
    after_private: str | None,
    shortfall: Literal["dummies", "withhold"],
    engine: dict[str, Any],
    reading: Reading,
    run: Run,
) -> None:
    """Anonymize ratings into classes of at least k users.

    With --policy, k and item support are searched: the first release that passes the policy is
    written. Exit 1 if none passes.
    """
    policy = deciding["policy"]
    resumed = engine["resume"] and policy is None
    place = ensure_free(out, resumed=resumed)
    if private is not None:
        refuse_beside("with --private", {"no_key_file"}, "Give one of the two.")
    receipt = None if private is None else _receipt(private, place, resumed=resumed)
    from starshade.audit.make import make_release, make_release_of_shards

    also: dict[str, Any] = {"items": reading.selection()}
    if policy is not None:
        _refuse_with_policy(deciding)
        settings = {name: value for name, value in settings.items() if name not in _VARIED}
        also["k"] = KS[0]
    else:
        names = set(_OF_POLICY)
        refuse_beside("without --policy", names, "Add --policy NAME.")
    last = _last(after, after_private, private)
    chosen, why = _chosen(method, last, settings, reading, also)
    if private is None and not no_key_file:
        _refuse_without_receipt(chosen)
    search: PolicySearch | None = None
    otherwise = _takes_one_table(chosen, after, policy)
    if works_by_shard(ratings, reading, otherwise=otherwise, resumes=policy is not None):
        refuse_unseeded(engine, run.given_seed)
        with opened(ratings, engine) as (shards, at_work):
            made = make_release_of_shards(
                shards, chosen, out=place, private=receipt, rng=run.seed, engine=at_work
            )
    elif policy is not None:
        refuse_unseeded(engine, run.given_seed)
        from starshade.audit.compare.search import search_policy

        if getattr(chosen, "attributes", "none") == "exact":
            raise ConfigError(
                "--attributes exact with --policy: a release for queries passes no policy",
                advice="Use --attributes none or generalized, or omit --policy.",
            )
        table = reading.read(ratings, select=False)
        with in_one_table(out, engine) as at_work:
            search = search_policy(
                table, partial(replace, chosen), **said(deciding), rng=run.seed, engine=at_work
            )
            if search.anonymizer is not None:  # finished tries are kept until it is written
                made = make_release(
                    table, search.anonymizer, out=place, private=receipt, rng=run.seed
                )
        run.conclude(str(search))
        if search.anonymizer is None:
            figures = {**search.to_dict(), "out": None, "seconds": run.seconds}
            run.emit(figures, lambda: page(*_stated(why), *_searched(search)))
            context.exit(1)
    else:
        made = make_release(
            reading.read(ratings, select=False),
            chosen,
            out=place,
            private=receipt,
            rng=run.seed,
            after=last,
            shortfall=shortfall,
        )
    wrote(place)
    audit = ["starshade", "audit", hidden(ratings), out, *reading.arguments()]
    audit += [] if private is None else ["--private", private]
    if after is not None:
        audit += ["--earlier", after, "--earlier-private", str(after_private)]
    if search is not None:  # which audited it twice
        audit[1] = "report"
        audit += [*words_of("--policy", policy), *words_of("--threshold", deciding["threshold"])]
        audit += ["--out", "report.html"]
    figures = {**made.to_dict(), **(search.to_dict() if search else {}), "seconds": run.seconds}
    summary = partial(_summary, made, private, audit)
    run.emit(figures, lambda: page(*_stated(why), *_searched(search), summary()))


def _stated(why: str) -> list[Any]:
    return [words(why)] if why else []


def _chosen(
    method: str | None,
    last: Release | None,
    settings: dict[str, Any],
    reading: Reading,
    also: dict[str, Any],
) -> tuple[Any, str]:
    """Return the method with its settings and, where none was named, why it is this one."""
    continued = None if last is None else last.manifest.method
    if (name := method or continued) is not None:
        why = "" if method else f"Method: {name} (as in the previous release)."
        return configured(find(ENTRIES, name, "method"), f"the method {name}", settings, also), why
    usual = usual_method(reading.items)
    entry = find(ENTRIES, usual.method, "method")
    for name in sorted(given() & settings.keys() - entry.names):
        others = [f"--method {each.name}" for each in ENTRIES if name in each.names]
        raise ConfigError(
            f"{option(name)}: {usual.method}, the default {usual.where}, has no such setting",
            advice=f"Methods with this setting: {' or '.join(others)}.",
        )
    chosen = configured(entry, f"the method {entry.name}", settings, {**also, **usual.settings})
    used = replace(usual, settings={name: getattr(chosen, name) for name in usual.settings})
    otherwise = "" if usual == DEFAULT else f" ({DEFAULT.where}: {DEFAULT})"
    return chosen, f"Method: {used}, the default {usual.where}{otherwise}."


def _refuse_with_policy(deciding: dict[str, Any]) -> None:
    """Refuse what a search for a policy varies, what it does not take, and a wrong policy."""
    refuse_beside(
        "with --policy, which searches these values",
        _VARIED,
        f"Omit it: k = {', '.join(map(str, KS))} are tried, then the same with --item-support "
        f"{' and '.join(filter(None, SUPPORTS))}.",
    )
    refuse_beside(
        "with --policy: a release that continues another one keeps its k and its items",
        {"after", "after_private", "shortfall"},
        "Omit --policy and audit the release: starshade audit --earlier RELEASE.",
    )
    from starshade.audit.compare.search import steps_of
    from starshade.audit.verdict import Audit

    tuple(steps_of(Audit(**said(deciding)).rules))


def _searched(search: PolicySearch | None) -> list[Any]:
    """Show what was tried."""
    if search is None:
        return []
    tables = [columns(each.head, each.rows, title=each.title) for each in search.tables]
    return [words(str(search)), *tables]


def _receipt(private: str, release: Place, *, resumed: bool) -> Place:
    from starshade.release.folder.receipt import refuse_inside

    place = ensure_free(private, option="--private", resumed=resumed)
    refuse_inside(place, release)
    return place


def _takes_one_table(method: Any, after: str | None, policy: str | None) -> str:
    """Say why a store of shards is taken as one table; empty: it is not."""
    from starshade.anonymize.sharded.anonymize import takes_one_table

    if after is not None or policy is not None:
        return "with --after" if policy is None else "with --policy"
    setting = takes_one_table(method)
    if setting == "method":
        return f"with the method {method.name}"
    return f"with --{setting.replace('_', '-')}" if setting else ""


def _last(after: str | None, receipt: str | None, private: str | None) -> Release | None:
    """Read the release that is to be continued."""
    if after is None:
        refuse_beside(
            "without --after",
            {"after_private", "shortfall"},
            "Add the previous release: --after RELEASE.",
        )
        return None
    if receipt is None:
        raise ConfigError(
            "--after without --after-private: the classes of the previous release are known from "
            "its private key file alone",
            advice="Give the key file that was written with it: --after-private FILE.",
        )
    if private is None:
        raise ConfigError(
            "--after without --private: without a private key file no later release can continue "
            "this one",
            advice="Add --private FILE and keep it.",
        )
    from starshade.release.folder.read import read_release

    return read_release(after, private=receipt)


def _refuse_without_receipt(method: Any) -> None:
    """Refuse to make what no audit can pass; a release for queries is not for publication."""
    why = getattr(method, "needs_receipt", None)
    if why is not None and getattr(method, "attributes", "none") != "exact":
        raise ConfigError(
            f"--method {method.name} without --private: {why}. No audit can pass without the "
            "private key file, which cannot be written later",
            advice="Add --private FILE and keep it; or --no-key-file if the release is never "
            "audited.",
        )


def _summary(made: Made, private: str | None, audit: list[str]) -> Any:
    from starshade.audit.findings import needs_receipt
    from starshade.release.readable.examples import example_classes

    receipt = (
        f"The private key file {private} links users to records: keep it, and keep it secret."
        if private
        else "No private key file was written (--private FILE): records cannot be linked to users."
    )
    following, shown = "Next, audit the release:", command(*audit)
    if audit[1] == "report":
        following = "Next, write the internal report:"
    needed = None if private else needs_receipt(made.release)
    if made.release.manifest.audience == "query":
        following, shown = "Next, query the release:", _query(made)
    elif needed is not None:
        audit = []
        receipt = (
            "No private key file was written, and none can be written later. Without it an audit "
            f"of this release cannot pass: {needed[0]}. Before publication, repeat with --private "
            "FILE."
        )
    return page(
        words(str(made)),
        *useful(made.found),
        examples(example_classes(made.release)),
        words(receipt),
        *([words(following), shown] if audit else ()),
    )


def _query(made: Made) -> Any:
    """Show a query that a release for queries answers: how many rated its first item."""
    item = str(made.release.classes.items[0]).replace('"', '""')
    sql = f'SELECT COUNT(*) WHERE "{item}" >= {made.release.manifest.scale.minimum:g}'
    return command("starshade", "query", str(made.figures["out"]), sql)
