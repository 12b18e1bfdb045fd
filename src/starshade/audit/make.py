"""Make a release, save it, and say in figures what was made."""

from __future__ import annotations

import sys
from dataclasses import dataclass, fields
from time import perf_counter
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np

from starshade.anonymize.again.keep import Kept
from starshade.anonymize.predictive.predictive import PredictiveAnonymizer
from starshade.anonymize.sharded.anonymize import anonymized_shards
from starshade.audit.measure import figures_found, figures_of
from starshade.audit.shares import SHARES, rated_in_words
from starshade.engine.job import Engine
from starshade.errors import ConfigError
from starshade.figure import Figure, Shown
from starshade.naming import called
from starshade.plain import counted, percent, plain
from starshade.ratings.places.atomic import recover, together, vacant
from starshade.ratings.places.done import Done, key_of
from starshade.ratings.places.place import Place, Where
from starshade.ratings.proximity.space import largest_distance, reaches_all
from starshade.ratings.shards.shards import Shards
from starshade.ratings.table import Ratings
from starshade.release import MEANS
from starshade.release.band import Exact
from starshade.release.folder.read import read_release
from starshade.release.manifest import Claim, Manifest
from starshade.release.profiles import Profiles
from starshade.release.table import Release
from starshade.rng import Rng, resolve_seed
from starshade.utility.registry import PROBED
from starshade.utility.what_remains import WhatRemains


class Anonymizer(Protocol):
    """A method: k-likeness or any other that ``starshade list methods`` names."""

    @property
    def k(self) -> int:
        """Least size of a group."""

    def anonymize(self, ratings: Ratings, rng: Rng = None) -> Release:
        """Make a release; not yet saved."""


@runtime_checkable
class KeepsGroups(Protocol):
    """A method whose releases may continue one another."""

    @property
    def slack(self) -> int:
        """How many people may leave a group before fewer than k are left."""

    def anonymize(
        self,
        ratings: Ratings,
        rng: Rng = None,
        *,
        after: Release | None = None,
        shortfall: Literal["invent", "withhold"] = "invent",
    ) -> Release:
        """Make a release in which who was together stays so; not yet saved."""

    def who_stays(
        self, ratings: Ratings, after: Release, shortfall: Literal["invent", "withhold"] = "invent"
    ) -> Kept:
        """Find who can be in it, beside whom, and refuse what cannot be continued."""


@dataclass(frozen=True)
class Made(Shown):
    """A release that was saved, and its figures."""

    release: Release
    # ``method, k, records, items, groups, classes, smallest_group, dm, c_avg, gen_iloss,
    # distortion, invented_cells, rare_items_dropped, users_dropped, users_deleted,
    # users_rating_disclosed, users_rating_exists, records_alone_with_sensitive, seconds,
    # peak_rss_mb, out``; None where a figure does not apply; ``median_group`` and
    # ``largest_group``, of the sets of equal records as `smallest_group`; ``single_rater_cells``;
    # ``fake_edges``, released cells invented for (b, l)-diversity, None where it was not requested
    figures: dict[str, Any]
    claims: tuple[Claim, ...] = ()  # what the release promises, with what was counted on its files

    def to_dict(self) -> dict[str, Any]:
        """Return the figures."""
        return dict(self.figures)

    @property
    def found(self) -> tuple[Figure, ...]:
        """The figures that apply, as they are declared."""
        return figures_found(self.figures)

    def _headline(self) -> str:
        return f"{self.figures['method']}: {self.figures['out']}"

    def __str__(self) -> str:
        f = self.figures
        return (
            f"{f['out']}: {self._people()} on "
            f"{counted(f['items'], 'item')}, {self._hidden()} "
            f"{self._left_out()}Hiding among "
            f"{f['k']} is not hiding what you rated: {self._disclosed()}{self._attributes()}"
        )

    def _attributes(self) -> str:
        manifest = self.release.manifest
        names = ", ".join(manifest.attribute_columns)
        if manifest.attributes == "exact":
            return (
                f" Not for publication: for a query service only, as personal attributes ({names}) "
                "are in it exactly as they were; you alone may read the folder."
            )
        parts = []
        if manifest.quasi_identifiers:
            parts.append(
                f"{', '.join(manifest.quasi_identifiers)} as quasi-identifiers (equal within a "
                "group)"
            )
        for name in manifest.sensitive_attributes:
            text = f"{name} as a sensitive attribute (as it was)"
            parts.append(", ".join([text, *map(_spread, self._about(name))]))
        return f" Released besides: {'; '.join(parts)}." if parts else ""

    def _about(self, name: str) -> list[Claim]:
        return [claim for claim in self.claims if claim.parameters.get("attribute") == name]

    def _hidden(self) -> str:
        f = self.figures
        if self.release.manifest.layout != "record":
            return (
                f"in {f['groups']:,} group{'s' * (f['groups'] != 1)} of at least {f['k']} whose "
                f"members look the same{self.release.manifest.alike_by}; "
                f"the smallest set of such records has {f['smallest_group']:,}."
            )
        if f["distortion"] is None or self.release.manifest.invented_cells is None:
            changed = "No rating was changed."
        else:
            changed = f"To reach that, ratings were moved by {f['distortion']:,.10g} in all."
        if self._equal:
            differ = f"The smallest set of equal records has {f['smallest_group']:,}."
        else:
            differ = (
                f"Such records are near, not equal ({f['classes']:,} different ones): who knows a "
                "person's exact ratings may find their record."
            )
        distance = self._proximity()
        return f"each a record of its own, one of at least {f['k']}{distance}. {differ} {changed}"

    @property
    def _equal(self) -> bool:
        """Whether at least k records are equal wherever one is."""
        return bool(self.figures["smallest_group"] >= self.figures["k"])

    def _proximity(self) -> str:
        parameters: dict[str, Any] = {}
        for claim in self.release.manifest.claims:
            parameters |= claim.parameters
        if "eps" not in parameters:
            return ""
        text = f" whose ratings differ from theirs by no more than {parameters['eps']:g}"
        if self.release.manifest.sensitive_items:
            text += " on every item that is not sensitive"
        if "l" in parameters:
            text += (
                "; among these the ratings of each sensitive item spread by a standard deviation "
                f"of at least {parameters['l']:g}, unless nobody rated it"
            )
        return text

    def _disclosed(self) -> str:
        f = self.figures
        layout = self.release.manifest.layout
        if layout == "profile":
            return self._averaged()
        if layout == "record":
            what = "set of equal records" if self._equal else "record"
            return f"whoever finds a {what} reads its ratings" + (
                ", sensitive ones included." if self.release.manifest.sensitive_items else "."
            )
        return rated_in_words(f)

    def _averaged(self) -> str:
        manifest, f = self.release.manifest, self.figures
        if manifest.profile not in MEANS:
            return (
                "a profile says what the model predicts for a group. No rating is in it as it "
                "was, but all of them taught the model."
            )
        single = percent(f["single_rater_cells"])
        if manifest.profile == "padded":
            return (
                "a profile is the mean of its members' ratings and, where they gave none, of "
                f"predictions. {percent(f['invented_cells'])} of the cells are predictions alone; "
                f"{single} rest on the rating of one member."
            )
        sentences = [
            "a profile has the mean rating of those of its members who rated an item; "
            f"{single} of its cells show the rating of one member."
        ]
        if f["fake_edges"] is not None:
            sentences.append(self._fakes())
        if not f["fake_edges"] and manifest.config.get("min_raters", 1) == 1:
            sentences.append("An item that is not in a profile was rated by none of its members.")
        return " ".join(sentences)

    def _fakes(self) -> str:
        f, config = self.figures, self.release.manifest.config
        if f["fake_edges"]:
            many = (
                f"{counted(f['fake_edges'], 'cell')}, {percent(f['invented_cells'])} of all, were"
            )
            were = many if f["fake_edges"] > 1 else "1 cell was"
            return f"Fake edges: {were} invented, to hide who rated what."
        what = "every item that somebody rated was"
        if config["b"] > 1:
            what = f"all sets of up to {config['b']} items that somebody rated together were"
        profiles = f"{config['l']} profile{'s' * (config['l'] != 1)}"
        return f"Fake edges: none (0), {what} in {profiles} already."

    def _people(self) -> str:
        nobodys = self.figures["invented_records"]
        if not nobodys:
            return counted(self.figures["records"], "user")
        people = counted(self.figures["records"] - nobodys, "user")
        return f"{people} and {counted(nobodys, 'record')} that are nobody's"

    def _left_out(self) -> str:
        f, parts = self.figures, []
        if f["users_dropped"]:
            parts.append(f"{counted(f['users_dropped'], 'user')} without a rating on these items")
        if f["rare_items_dropped"]:
            # the others may have rated them
            whose = "of those who stay" if f["method"] == "suppress" else "users"
            rare = counted(f["rare_items_dropped"], "item")
            parts.append(f"{rare} that fewer than {f['k']} {whose} rated")
        if f["users_deleted"]:
            parts.append(f"{counted(f['users_deleted'], 'user')} who could not be hidden so")
        left = f"Left out: {', '.join(parts)}. " if parts else ""
        nobodys = f["invented_records"]
        if nobodys is None:
            return left
        share = percent(nobodys / max(f["records"], 1))
        places = f"; records of nobody fill groups up to {f['k']} ({share})"
        return f"{left}Who hid together goes on doing so{places if nobodys else ''}. "


def make_release(
    ratings: Ratings,
    method: Anonymizer,
    *,
    out: Where,
    private: Where | None = None,
    rng: Rng = None,
    after: Release | None = None,
    shortfall: Literal["invent", "withhold"] = "invent",
) -> Made:
    """Anonymize, measure and save.

    `out`: the release folder; must not exist; `private`: where the owner's receipt goes. Of a
    release by a method that says why in `needs_receipt` no audit can pass without it. `after`,
    `shortfall`: the release that this one continues, with its receipt, by a method that keeps
    groups (`starshade.anonymize.again`).
    """
    started = perf_counter()
    place = Place.of(out)
    _refuse_empty(ratings, method)
    if after is None:
        release = method.anonymize(ratings, rng=rng)
    elif isinstance(method, KeepsGroups):
        release = method.anonymize(ratings, rng=rng, after=after, shortfall=shortfall)
    else:
        raise ConfigError(
            f"{called('after')}: this method keeps no groups, so it continues no release",
            advice="Methods that make classes or profiles do, each its own releases.",
        )
    return _saved(release, ratings, method, place, private, started)


def make_release_of_shards(
    shards: Shards,
    method: PredictiveAnonymizer,
    *,
    out: Where,
    private: Where | None = None,
    rng: Rng = None,
    engine: Engine | None = None,
) -> Made:
    """Anonymize a store of shards, measure and save; as `make_release`, but shard by shard."""
    started = perf_counter()
    place, receipt = Place.of(out), None if private is None else Place.of(private)
    seed = resolve_seed(rng)
    asked = {
        "method": plain({each.name: getattr(method, each.name) for each in fields(method)}),
        "shards": list(shards.keys),
        "seed": seed,
        "places": [each and str(each.path) for each in (place, receipt)],
    }
    done = Done(None if engine is None else engine.folder, key_of(asked))
    places = [each for each in (place, receipt) if each is not None]
    for each in places:
        recover(each)
    if (told := done.found()) is not None:  # it was killed with all in place
        release = read_release(place.path, private=None if receipt is None else receipt.path)
        return Made(release, told, release.manifest.claims)
    for each in places:
        vacant(each)
    with anonymized_shards(method, shards, seed, engine) as release:
        return _saved(release, None, method, place, receipt, started, done)


def _saved(
    release: Release,
    ratings: Ratings | None,
    method: Anonymizer,
    place: Place,
    private: Where | None,
    started: float,
    done: Done | None = None,
) -> Made:
    """`ratings`: None: the release has them itself, in shards."""
    others = {"query-error", *(entry.name for entry in PROBED)}  # not among the figures
    if ratings is None:
        others.add("generalization-loss")  # does not apply to profiles
    measured = figures_of(release, ratings, without=others)
    manifest, exact = release.manifest, release.exact or Exact()
    with together() as parts:
        release.save(place, private=private)
        figures = {
            "method": manifest.method,
            "k": int(method.k),
            "records": manifest.records,
            "items": manifest.items,
            **{figure.key: measured[figure.key] for figure in WhatRemains.FIGURES},
            "groups": exact.groups,
            "classes": manifest.classes,
            "smallest_group": measured["smallest_class"],
            "median_group": float(np.median(release.classes.sizes)),
            "largest_group": int(release.classes.sizes.max()),
            **{name: measured.get(name) for name in ("dm", "c_avg", "gen_iloss")},
            "distortion": measured.get("distortion"),
            "invented_cells": exact.invented_cells,
            "single_rater_cells": exact.single_rater_cells,
            "fake_edges": _fake_edges(release, exact.invented_cells),
            "rare_items_dropped": exact.rare_items_dropped,
            "users_dropped": exact.users_without_rating,
            "users_deleted": exact.users_deleted,
            "invented_records": exact.invented_records,
            **{name: getattr(manifest, name) for name in SHARES},
            "seconds": perf_counter() - started,
            "peak_rss_mb": _peak_rss_mb(),
            "out": str(place),
        }
        if done is not None:
            done.leave(parts, figures)
    written = Manifest.from_json((place.path / "release.json").read_bytes(), str(place))
    return Made(release, figures, written.claims)


def _refuse_empty(ratings: Ratings, method: Anonymizer) -> None:
    """Refuse a request that holds whatever was rated: no audit would pass such a claim."""
    config: dict[str, Any] = {
        name: getattr(method, name, None) for name in ("eps", "nulls", "l", "t")
    }
    eps, nulls = config["eps"], config["nulls"]
    if eps is not None and reaches_all(ratings.scale, eps, nulls):
        most = largest_distance(ratings.scale, nulls)
        raise ConfigError(
            f"{called('eps')} = {eps:g}: on the scale {ratings.scale} with nulls {nulls} "
            "nothing lies further "
            "apart, so everybody would count as near everybody, and the release would promise "
            "nothing",
            advice=f"Choose an eps below {most:g}.",
        )
    if eps is None and config["l"] == 1:
        raise ConfigError(
            f"{called('l')} = 1: every class has one value, and every set one profile; it "
            "promises nothing",
            advice="Choose l = 2 or more, or leave it out.",
        )
    if config["t"] is not None and config["t"] >= 1:
        raise ConfigError(
            f"{called('t')} = 1: no two distributions lie further apart; it promises nothing",
            advice="Choose a t below 1, or leave it out.",
        )


def _spread(claim: Claim) -> str:
    verified = claim.verified
    if claim.model == "l-diversity":
        return f"{counted(int(verified['smallest_l']), 'different value')} or more in every class"
    return f"in no class distributed more than {verified['largest_t']:.4g} away from everybody's"


def _fake_edges(release: Release, invented: float | None) -> int | None:
    if invented is None or not isinstance(release.classes, Profiles):
        return None
    if not any(claim.model == "diversity" for claim in release.manifest.claims):
        return None
    return round(invented * int(release.classes.n_rated().sum()))


def _peak_rss_mb() -> float:
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # bytes on macOS, kibibytes elsewhere
    return peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6
