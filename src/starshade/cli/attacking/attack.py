"""``starshade attack``."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from starshade.attack.registry import ENTRIES
from starshade.attack.settings import KnowledgeSettings, RiskSettings
from starshade.cli.attacking.public import attack_with, public
from starshade.cli.attacking.whole import as_one_table, with_method
from starshade.cli.options.declared import Choosing, declared_options, options_of
from starshade.cli.options.help import EARLIER_PRIVATE, OWNER, PRIVATE, grouped
from starshade.cli.options.shards import opened, over_shards, refuse_unseeded, works_by_shard
from starshade.cli.options.shared import (
    Command,
    Reading,
    configured,
    ensure_free,
    gathered,
    given,
    reading,
    refuse_beside,
    said,
)
from starshade.cli.options.spelling import Whole
from starshade.cli.running.run import Run, running
from starshade.cli.show import describe, describe_risk, page, words
from starshade.errors import ConfigError
from starshade.plain import counted
from starshade.progress import note, silence
from starshade.setting import setting_of, settings_of

if TYPE_CHECKING:
    from starshade.attack.knowledge import Knowledge
    from starshade.ratings.table import Ratings
    from starshade.ratings.vocabulary import Vocabulary
    from starshade.release.table import Release


_KNOWN = [setting.name for setting in settings_of(KnowledgeSettings)]


def attacking(command: Command) -> Command:
    """Give a command what can be set of an attack, as two dicts.

    ``known`` is what the adversary knows (see `knowledge_of`), ``settings`` are the attacks' own.
    """
    own = gathered(command, declared_options(ENTRIES, besides=_KNOWN), "settings")
    title = "Auxiliary knowledge"
    return gathered(own, options_of(KnowledgeSettings), "known", title=title)


def knowledge_of(known: Mapping[str, Any]) -> Knowledge:
    """Build the `Knowledge` that the options said."""
    from starshade.attack.knowledge import Knowledge

    return Knowledge(**said(known))


def rows_of(items: tuple[str, ...], among: Vocabulary, *, show_values: bool) -> tuple[int, ...]:
    """Return where items given by id are among those of the ratings."""
    places = [among.index(item) for item in items]
    if -1 in places:
        position = places.index(-1)
        named = f" ({items[position]!r})" if show_values else ""
        raise ConfigError(
            f"--sensitive: item {position + 1} is not in the ratings{named}",
            advice="Give item ids as in the ratings, not names.",
        )
    return tuple(places)


_DRAWS = replace(setting_of(RiskSettings, "draws"), name="risk_draws")
_LISTED = "High-risk users"
#: attacks that draw no knowledge
_COUNTING = ("fake-edges", "link-existence", "padding", "predicate", "tracker")


@click.command(
    cls=Choosing,
    chooser="--attack",
    usual="scoreboard-rh",
    room="attack",
    example="starshade attack ratings.csv --known 4\n"
    "starshade attack release/ --original ratings.csv --private key.json --known 4",
)
@click.argument("data", metavar="DATA")
@click.option(
    "--attack",
    "name",
    metavar="NAME",
    default="scoreboard-rh",
    show_default=True,
    help="Attack (starshade list attacks)",
)
@click.option("--targets", type=Whole(1), help="Number of users to attack [default: all]")
@grouped(
    OWNER,
    click.option(
        "--original", metavar="RATINGS", help="Original ratings; required to attack a release"
    ),
    click.option("--private", metavar="FILE", help=PRIVATE),
    click.option("--earlier-private", metavar="FILE", multiple=True, help=EARLIER_PRIVATE),
)
@attacking
@public
@grouped(
    _LISTED,
    click.option(
        "--risk-list",
        metavar="FILE",
        help="List high-risk users in this file; with --attack membership, each user's "
        "detection rate",
    ),
)
@partial(
    gathered,
    options=options_of(RiskSettings, "draws", name="risk_draws"),
    name="drawn",
    title=_LISTED,
)
@over_shards
@reading()
@running(seed=True)
def attack(
    data: str,
    original: str | None,
    private: str | None,
    earlier_private: tuple[str, ...],
    name: str,
    targets: int | None,
    risk_list: str | None,
    drawn: dict[str, int | None],
    engine: dict[str, Any],
    settings: dict[str, Any],
    public: dict[str, Any],
    reading: Reading,
    known: dict[str, Any],
    run: Run,
) -> None:
    """Attack ratings or a release with auxiliary knowledge.

    On a release, the auxiliary knowledge is drawn from the ratings of --original. With --private
    the answers are checked against the key file, otherwise against the records compatible with the
    truth. With --aux, auxiliary ratings are linked to DATA and the candidates of each user are
    listed; the truth is not needed.
    """
    if public["aux"] is not None:
        names = {*known, *settings, "original", "private", "name", "targets", "risk_list"}
        refuse_beside(
            "with --aux",
            names - {"phi", "rho0", "d0", "min_posterior", "dates"},
            "Omit them: auxiliary ratings replace drawn knowledge, and the truth is unknown.",
        )
        attack_with(public, data, settings, reading, run, dates=known["dates"] is not False)
        return
    refuse_beside("without --aux", set(public), "Add the auxiliary ratings: --aux FILE.")
    from starshade.release.table import Release

    if not settings.get("earlier"):
        refuse_beside(
            "without --earlier", {"earlier_private"}, "Add the releases: --earlier RELEASE."
        )
    sensitive = settings.pop("sensitive")
    settings["earlier"] = _earlier(settings.get("earlier") or (), earlier_private)
    chosen = _chosen(name, settings, sensitive)
    if name == "tracker":
        refuse_beside(
            "with the tracker attack",
            set(known),
            "It counts all users; --background is the adversary's knowledge of a target.",
        )
    knowledge = knowledge_of(known)
    risk = _risk(chosen, risk_list, drawn["risk_draws"])
    whole = as_one_table(data, chosen, original, private, risk_list)
    if works_by_shard(original or data, reading, otherwise=whole):
        asked = chosen, sensitive, knowledge, targets
        _attack_by_shard(data, original, private, *asked, engine, run)
        return
    started = time.perf_counter()
    table, truth = _read(data, original, private, reading, settings["earlier"], name)
    _say_what_is_known(name, table, truth.items)
    read_seconds = time.perf_counter() - started
    if sensitive:
        rows = rows_of(sensitive, truth.items, show_values=reading.show_values)
        chosen = replace(chosen, sensitive=rows)
    if isinstance(table, Release):
        chosen = with_method(chosen, table, truth)
    arguments = {"targets": targets, "rng": run.seed, "original": None if table is truth else truth}
    at_risk = None if risk is None else risk.run(table, knowledge, **arguments)
    result = chosen.run(table, knowledge, **arguments)
    by_score = _by_score(name, lambda attack: attack.run(table, knowledge, **arguments))
    payload = {**result.to_dict(), "read_seconds": read_seconds, "risk": None, **_keys(by_score)}
    _say_what_did_nothing(name, payload)
    parts = [describe(result), by_score and words(_beside(by_score))]
    if risk_list is not None:
        from starshade.attack.risk_result import save_risk_list

        payload["risk"] = None if at_risk is None else at_risk.to_dict()
        listed = save_risk_list(at_risk or result, truth, risk_list)
        parts.append(describe_risk(at_risk, risk_list, listed))
    run.emit(payload, lambda: page(*parts))


def _attack_by_shard(
    data: str,
    original: str | None,
    private: str | None,
    chosen: Any,
    sensitive: tuple[str, ...],
    knowledge: Knowledge,
    targets: int | None,
    engine: Mapping[str, Any],
    run: Run,
) -> None:
    from starshade.attack.sharded.attack import attack_shards
    from starshade.release.folder.read import read_release
    from starshade.release.match.match import LinkedShards

    refuse_unseeded(engine, run.given_seed)
    started = time.perf_counter()
    with opened(original or data, engine) as (shards, working):
        store: Any = shards
        if original is not None:
            store = LinkedShards(shards, read_release(data, private=private))
            _say_what_is_known(chosen.name, store.release, shards.items)
            chosen = with_method(chosen, store.release, shards)
        if sensitive:
            rows = rows_of(sensitive, shards.items, show_values=False)
            chosen = replace(chosen, sensitive=rows)
        read_seconds = time.perf_counter() - started
        asked: Any = {"targets": targets, "rng": run.seed, "engine": working}
        result = attack_shards(chosen, store, knowledge, **asked)
        by_score = _by_score(
            chosen.name, lambda attack: attack_shards(attack, store, knowledge, **asked)
        )
    payload = {**result.to_dict(), "read_seconds": read_seconds, "risk": None, **_keys(by_score)}
    _say_what_did_nothing(chosen.name, payload)
    run.emit(payload, lambda: page(describe(result), by_score and words(_beside(by_score))))


def _by_score(name: str, run: Callable[[Any], Any]) -> Any:
    """Return what NS's attack comes to with the same knowledge; None beside other attacks."""
    if name != "likelihood":
        return None
    from starshade.attack.scoreboard_rh.scoreboard_rh import ScoreboardRH

    with silence():  # who is attacked was shown
        return run(ScoreboardRH())


def _keys(by_score: Any) -> dict[str, Any]:
    if by_score is None:
        return {}
    kept = ("success", "false_match", "expected_top1", "expected_top1_interval", "recall")
    return {"scoreboard_rh": {name: by_score.to_dict()[name] for name in kept}}


def _beside(by_score: Any) -> str:
    (recall,) = by_score.recall
    return (
        "scoreboard-rh (Narayanan & Shmatikov 2008) with the same knowledge: at eccentricity "
        f"{by_score.config['phi']:g} correct for {by_score.success}, wrong for "
        f"{by_score.false_match}; "
        f"recall {recall.recall_90} at 90 % precision, {recall.recall_99} at 99 %."
    )


def _chosen(name: str, settings: dict[str, Any], sensitive: tuple[str, ...]) -> Any:
    from starshade.attack.registry import ENTRIES
    from starshade.registry import find

    background = settings.get("background") or ()
    names = tuple(n.strip() for text in background for n in text.split(",") if n.strip())
    settings = {**settings, "background": names}
    entry = find(ENTRIES, name, "attack")
    if sensitive and name != "homogeneity":  # which has them once the ratings are read
        settings = {**settings, "sensitive": sensitive}
    return configured(entry, f"the attack {name}", settings)


def _earlier(folders: Sequence[str], receipts: Sequence[str]) -> tuple[Release, ...]:
    if not folders:
        return ()
    from starshade.release.folder.read import read_releases

    return read_releases(folders, private=receipts)


def _read(
    data: str,
    original: str | None,
    private: str | None,
    reading: Reading,
    earlier: Sequence[Release],
    name: str,
) -> tuple[Ratings | Release, Ratings]:
    from starshade.release.folder.read import is_release

    if is_release(data):
        if original is None:
            raise _without_original(data, name)
        return _release(data, original, private, reading, earlier)
    if Path(data).exists() and (original is not None or private is not None):
        raise ConfigError(
            f"{data}: --original and --private apply to releases, and these are ratings",
            advice="Omit both, or give a release folder.",
        )
    table = reading.read(data)
    return table, table


def _risk(chosen: Any, path: str | None, draws: int | None) -> Any:
    """Return the search for those at risk; None without --risk-list."""
    if path is None:
        refuse_beside("without --risk-list", {"risk_draws"}, "Add --risk-list FILE.")
        return None
    from starshade.attack.risk import Risk
    from starshade.attack.scoreboard_rh.scoreboard_rh import ScoreboardRH

    found = chosen.name == "membership"
    if not (isinstance(chosen, ScoreboardRH) or found):
        raise ConfigError(
            f"--risk-list: requires scoreboard-rh or membership, and the attack is {chosen.name}",
            advice="Omit --attack, or use --attack membership.",
        )
    if not path or path.endswith(os.sep):
        raise ConfigError(f"--risk-list {path!r}: not a file name", advice="Give a file to write.")
    ensure_free(path, option="--risk-list")
    if found:
        refuse_beside("with --attack membership", {"risk_draws"}, "Omit it: nothing is drawn.")
        return None
    return Risk(_DRAWS.checked(_DRAWS.default if draws is None else draws), attack=chosen)


def _without_original(data: str, name: str) -> ConfigError:
    what, instead = "Auxiliary knowledge is drawn from", " Or link auxiliary ratings: --aux FILE."
    if name in _COUNTING:
        what, instead = f"The results of {name} are counted in", ""
    return ConfigError(
        f"{data}: is a release; --original is missing",
        advice=f"{what} the original ratings: add --original RATINGS and the options for reading "
        f"them.{instead}",
    )


def _release(
    data: str,
    original: str,
    private: str | None,
    reading: Reading,
    earlier: Sequence[Release],
) -> tuple[Release, Ratings]:
    from starshade.release.folder.read import read_release
    from starshade.release.match.match import Match

    release = read_release(data, private=private)
    whole = reading.read(original, select=False)
    items = reading.selection()
    if items is None:
        return release, whole
    truth = items.apply(whole, show_values=reading.show_values)
    Match(release, whole).refuse_other_ratings(truth)  # the receipt knows all released items alone
    for each in earlier:
        with suppress(
            ConfigError
        ):  # what does not belong is refused by the attack, which knows why
            Match(each, whole).refuse_other_ratings(truth)
    return release, truth


def _say_what_is_known(name: str, table: Ratings | Release, items: Vocabulary) -> None:
    """Say what may be known beyond what the promise of a release counts as known."""
    from starshade.release.table import Release

    if not isinstance(table, Release) or name in _COUNTING:
        return
    hidden = int((items.indices(table.manifest.sensitive_items) >= 0).sum())
    if hidden:
        note(
            f"knowledge includes the release's {counted(hidden, 'sensitive item')}, which its "
            "promise does not count as known; to exclude them, give --items FILE with the other "
            "items and --private FILE (without it answers are checked by whole records)"
        )


def _say_what_did_nothing(name: str, payload: dict[str, Any]) -> None:
    used = payload["knowledge"]
    names = given()
    if used is None:
        useless = names & {"known", "wrong", "wrong_kind", "rating_error", "day_error"}
        if useless:
            note(f"{name}: options on knowledge of single users have no effect")
        return
    if "day_error" in names and not used["dates"]:
        note("--day-error has no effect: no days are known, or the attacked data have none")
    if "rating_error" in names and not used["ratings"]:
        note("--rating-error has no effect: no ratings are known")
