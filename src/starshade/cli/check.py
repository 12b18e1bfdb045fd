"""``starshade check`` and ``starshade verify``."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from starshade.anonymize.registry import FOR_ITEMS
from starshade.cli.options.declared import Choosing, declared_options
from starshade.cli.options.help import Explained
from starshade.cli.options.shards import opened, over_shards, works_by_shard
from starshade.cli.options.shared import (
    Reading,
    gathered,
    given,
    models_to_check,
    reading,
    to_options,
)
from starshade.cli.options.spelling import as_option
from starshade.cli.running.run import Run, running
from starshade.cli.show import columns, command, describe, page, words
from starshade.cli.show import verdict as shown
from starshade.errors import ConfigError
from starshade.privacy.registry import ENTRIES
from starshade.ratings.readers.addresses.address import hidden

if TYPE_CHECKING:
    from rich.console import RenderableType

    from starshade.privacy.verdict import Verdict
    from starshade.ratings.table import Ratings
    from starshade.release.folder.verification import Verification
    from starshade.release.table import Release

_PROXIMITY = ("k-eps", "k-eps-l")
_BY_SIZE = ("k-anonymity", "k-m", "review-graph", *_PROXIMITY)
_OF_VALUES = ("alpha-k", "l-diversity", "t-closeness")
_K = 5  # what is usual, where a model does not name one


@click.command(
    cls=Choosing,
    chooser="--model",
    usual="k-anonymity",
    room="privacy",
    example="starshade check release/\nstarshade check ratings.csv --model k-anonymity --k 5",
)
@click.argument("data", metavar="DATA")
@click.option(
    "--model",
    metavar="NAME",
    help="Privacy model (starshade list models) [default: as claimed; k-anonymity on ratings]",
)
@partial(gathered, options=declared_options(ENTRIES), name="parameters")
@click.option(
    "--original",
    metavar="RATINGS",
    help="Original ratings of a release, for the models diversity and k-m",
)
@click.option(
    "--explain", is_flag=True, help="Show the smallest failing classes and a counterexample"
)
@click.option(
    "--graph", is_flag=True, help="Show the proximity graph of k-eps: components, degrees, cliques"
)
@over_shards
@reading(dates=True)
@running()
@click.pass_context
def check(
    context: click.Context,
    data: str,
    model: str | None,
    parameters: dict[str, Any],
    original: str | None,
    explain: bool,
    graph: bool,
    engine: dict[str, Any],
    reading: Reading,
    run: Run,
) -> None:
    """Check ratings or a release against a privacy model.

    For a release, all claimed models are checked unless --model names one.
    """
    from starshade.release.folder.read import is_release, read_release

    table: Ratings | Release | None
    if is_release(data):
        if original is None:
            reading.refuse_for_release(data)
        table = read_release(data)
        _refuse_nothing(data, table, model)
        models = models_to_check(table.manifest.claims, model, parameters)
        proximate = _proximity_model(models, graph)
        works_by_shard(data, reading)
        by_shard, source = False, None
    else:
        if original is not None:
            raise ConfigError(
                "--original: DATA is not a release",
                advice="Omit it: ratings need no original.",
            )
        # a wrong parameter is refused before the long work
        models = models_to_check((), model, parameters)
        proximate = _proximity_model(models, graph)
        by_shard = works_by_shard(data, reading, otherwise=_as_one_table(data, models[0], graph))
        table = None if by_shard else reading.read(data, dates=proximate is None)
        source = [hidden(data), *reading.arguments()]
        source += [] if reading.items is None else ["--items", reading.items]
    truth = _original(models, original, reading)
    if by_shard:
        verdicts = [_checked_by_shard(data, models[0], engine, dates=proximate is None)]
    else:
        verdicts = [
            model.check(table, original=truth) if _wants_original(model) else model.check(table)
            for model in models
        ]
    drawn = _graph_of(proximate, table) if graph else None
    payload = _payload(verdicts) | ({} if drawn is None else {"graph": drawn.to_dict()})
    run.emit(
        {**payload, "seconds": run.seconds},
        lambda: _summary(models, verdicts, table, explain, drawn, source),
    )
    context.exit(0 if all(verdict.passed for verdict in verdicts) else 1)


def _as_one_table(data: str, model: Any, graph: bool) -> str:
    """Say why a check takes all ratings as one table, where it does."""
    from starshade.privacy.sharded.check import takes_one_table
    from starshade.ratings.shards.manifest import is_sharded
    from starshade.ratings.shards.shards import open_shards

    if not is_sharded(Path(data)):
        return ""
    if graph:
        return "with --graph"
    setting = takes_one_table(model, open_shards(data).scale)
    if setting == "model":
        return f"with the model {_name_of(model)}"
    return f"with {as_option(setting, getattr(model, setting))}" if setting else ""


def _name_of(model: Any) -> str:
    return next(entry.name for entry in ENTRIES if entry.cls == type(model).__name__)


def _checked_by_shard(data: str, model: Any, engine: Mapping[str, Any], *, dates: bool) -> Verdict:
    from starshade.privacy.sharded.check import check_shards

    with opened(data, engine) as (shards, working):
        looked_at = shards if dates else shards.without_days()
        return check_shards(model, looked_at, engine=working)


def _refuse_nothing(data: str, release: Release, model: str | None) -> None:
    if model is None and not release.manifest.claims and "k" not in given():
        raise ConfigError(
            f"{data}: the release claims no privacy model; a model to check is required",
            advice=f"For k-anonymity: starshade check {shlex.quote(data)} --k {_K}; for another "
            "model add --model (`starshade list models`).",
        )


def _original(models: list[Any], original: str | None, reading: Reading) -> Ratings | None:
    if original is None:
        return None
    if not any(map(_wants_original, models)):
        raise ConfigError(
            "--original: no model checked here uses the original ratings",
            advice="Omit it, or choose --model diversity or k-m.",
        )
    return reading.read(original, dates=False)


def _wants_original(model: Any) -> bool:
    return hasattr(model, "b") or hasattr(model, "m")


def _payload(verdicts: list[Verdict]) -> dict[str, Any]:
    """Return the worst verdict, the last of those as bad, and all where there are several."""
    worst = max(reversed(verdicts), key=lambda v: (v.failing_records, not v.passed))
    if len(verdicts) == 1:
        return worst.to_dict()
    return worst.to_dict() | {"claims": [verdict.to_dict() for verdict in verdicts]}


def _proximity_model(models: list[Any], graph: bool) -> Any:
    proximate = [one for one in models if hasattr(one, "eps")]
    if graph and not proximate:
        raise ConfigError(
            "--graph: shows proximity between users, which no model checked here uses",
            advice="Omit it, or choose --model k-eps.",
        )
    return proximate[-1] if proximate else None


def _graph_of(model: Any, table: Any) -> Any:
    from starshade.privacy.proximity.graph_result import ProximityGraph

    graph = ProximityGraph(eps=model.eps, sensitive=model.sensitive, nulls=model.nulls)
    return graph.of(table).decomposed(model.k)


def _summary(
    models: list[Any],
    verdicts: list[Verdict],
    table: Any,
    explain: bool,
    graph: Any,
    ratings: list[str] | None,
) -> Any:
    parts: list[RenderableType | None] = [_told(each, explain) for each in verdicts]
    if graph is not None:
        parts.append(describe(graph))
    if ratings is None:
        parts.append(_again(models, verdicts))
    elif not verdicts[0].satisfied:
        parts.append(_next(verdicts[0], models[0], table, ratings))
    return page(*parts, *(_judged(each)[0] for each in verdicts))


def _told(each: Verdict, explain: bool) -> Any:
    return describe(each, tables=explain, text=_judged(each)[1])


def _judged(each: Verdict) -> tuple[RenderableType, RenderableType]:
    """Return the verdict alone, and with what it rests on."""
    before, outcome, rest = str(each).partition(each.outcome)
    good = None if getattr(each, "undecided", ()) else each.satisfied
    return shown(before + outcome, good), shown(before + outcome, good, rest)


def _again(models: list[Any], verdicts: list[Verdict]) -> RenderableType | None:
    if all(verdict.satisfied or getattr(verdict, "undecided", ()) for verdict in verdicts):
        return None
    smaller, spread = "", ""
    for model, verdict in zip(models, verdicts, strict=True):
        least, by_size = verdict.smallest_class, verdict.model in _BY_SIZE
        if by_size and not verdict.satisfied and 1 < least < model.k:
            smaller = f"The model holds for k up to {least:,}. "
        if verdict.model in _OF_VALUES and not verdict.satisfied:
            options = " ".join(to_options(_spread(verdict)))
            spread = (
                f" {options}" if options else "; a larger --k or --l gives more diverse classes"
            )
    return words(f"{smaller}For more, anonymize the ratings again (starshade anonymize{spread}).")


def _next(
    verdict: Verdict, model: Any, table: Ratings, ratings: list[str]
) -> RenderableType | None:
    after, method, names = "that satisfies the model", [], ["k"]
    if verdict.model in _PROXIMITY:
        method, names = ["--method", "interval"], ["k", "eps", "l", "nulls", "sensitive"]
    elif verdict.model == "diversity":
        method = ["--method", "predictive", "--profile", "simple", "--k", str(_K)]
        names = ["b", "l"]
    settings = {name: getattr(model, name) for name in names if hasattr(model, name)}
    if verdict.model in _OF_VALUES:
        spread, of = _spread(verdict), verdict.parameters
        method = ["--method", FOR_ITEMS.method]
        settings = {"k": of.get("k", _K), "attributes": "generalized"}
        settings |= _names(table, of["attribute"]) | spread
        if not spread:
            after = "of equal records, then check it"
    out = ["--out", "DIR", "--private", "FILE"]
    return page(
        words(f"Next, make a release {after}:"),
        command("starshade", "anonymize", *ratings, *method, *to_options(settings), *out),
    )


def _names(table: Ratings, sensitive: str) -> dict[str, Any]:
    """Return the settings by which the personal attributes are released as far as may be."""
    from starshade.anonymize.personal.settings import identifying
    from starshade.release.attributes import attribute_called

    names = [] if table.attributes is None else table.attributes.column_names
    sensitive = attribute_called(sensitive, names) or sensitive
    others = [name for name in names if name != sensitive]
    refused = {name for name, _ in identifying(table, others)}
    quasi = [name for name in others if name not in refused] if refused else []
    return {"sensitive-attribute": sensitive, "quasi": quasi, "rare-values": "blank"}


def _spread(verdict: Verdict) -> dict[str, Any]:
    """Return the settings with which a method promises this; none where no method does."""
    parameters = verdict.parameters
    if verdict.model == "alpha-k" or parameters.get("kind") == "entropy":
        return {}
    return {name: parameters[name] for name in ("l", "t") if name in parameters}


@click.command(cls=Explained, example="starshade verify release/")
@click.argument("release", metavar="RELEASE")
@running()
@click.pass_context
def verify(context: click.Context, release: str, run: Run) -> None:
    """Verify a release from its files, without the ratings.

    Compare files with their hashes and readable tables with the exact files; recompute every count
    and claim. Exit 1: a check fails. Exit 4: nothing fails, but something could not be verified.
    """
    from starshade.release.folder.verification import verify as verified

    verification = verified(release)
    run.conclude(str(verification))
    run.emit({**verification.to_dict(), "seconds": run.seconds}, lambda: _verified(verification))
    context.exit({"PASS": 0, "FAIL": 1, "INCOMPLETE": 4}[verification.status])


def _verified(verification: Verification) -> Any:
    from starshade.release.folder.verification import ADVICE, NEXT

    outcome = shown(str(verification), verification.holds)
    rows = [(check.status, check.name, check.detail) for check in verification.checks]
    return page(
        outcome,
        columns(("", "check", "details"), rows, align="left"),
        words(
            "Not verifiable without the ratings and the key file (starshade audit): "
            f"{'; '.join(verification.only_owner)}."
        ),
        words(f"SHA-256 of release.json:\n{verification.sha256}"),
        words(ADVICE),
        words(NEXT[verification.status]) if NEXT[verification.status] else None,
        outcome,
    )
