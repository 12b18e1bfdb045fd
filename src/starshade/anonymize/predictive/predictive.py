"""Predictive anonymization (PA §4-6, Alg. 1; definitions, "predictive")."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass, fields
from typing import ClassVar

import numpy as np

from starshade.anonymize.again.keep import (
    Kept,
    Shortfall,
    keep,
    refuse_leavers,
    refuse_other_settings,
)
from starshade.anonymize.order import by_content, check_copy
from starshade.anonymize.predictive.homogenize import check_profile_memory
from starshade.anonymize.predictive.making import (
    OWN,
    claims_of,
    groups_among,
    groups_of,
    padded_by,
    profiles_of,
    refuse_one_group,
    refuse_one_profile,
    resolved,
    step_of,
)
from starshade.anonymize.prepare import check_items, prepare
from starshade.anonymize.settings import PredictiveAnonymizerSettings
from starshade.arguments import typed
from starshade.engine.job import Engine
from starshade.errors import ConfigError, UnmetError
from starshade.kernels.arrays import Ints
from starshade.naming import aside, called, named
from starshade.progress import announced, task
from starshade.ratings.shards.kept import AnyShards
from starshade.ratings.table import Ratings
from starshade.recommend.factors import Factors
from starshade.recommend.padded import Padded
from starshade.recommend.registry import ENTRIES, Recommender
from starshade.recommend.regularized_svd import check_factors
from starshade.registry import find
from starshade.release import MEANS
from starshade.release.profile_release import profile_release
from starshade.release.table import Release
from starshade.rng import Rng, resolve_seed
from starshade.setting import check, settings_of


@dataclass(frozen=True)
class PredictiveAnonymizer(PredictiveAnonymizerSettings):
    """Predict unrated cells, group similar users, release one profile for each group.

    A recommender is fitted to the ratings, so that everybody has a full row: ratings where they
    rated, predictions elsewhere. Users are put into groups of at least k, and all members of a
    group are released as the same profile. The padded table is never written out.

    Parameters
    ----------
    k : int
        Least size of a group, from 2 to the number of records.
    profile : {"padded", "simple", "model", "pooled"}
        What a profile says of an item: the mean of the members' padded rows (the paper's main
        one), the mean rating of the members who rated it and null where nobody did (its other
        one), the mean of the members' predictions (ours: no rating is in it but through the
        model), or the prediction for the group as if it were one user who gave all its members'
        ratings (ours as well, and closest to what members think).
    dissimilarity : str
        How unlike two padded rows are: ``euclidean``, ``weighted-sq`` (the paper's), ``weighted``,
        ``closeness-0.5`` or ``closeness-1.0``. All but the first need every cell of the padded
        rows, in blocks.
    clip : {"mean", "cells"}
        Whether the released mean is clipped to the scale, or every prediction before that (the
        paper's literal reading; it takes every cell of the padded rows too).
    grouping : {"exchange", "t-means"}, optional
        Groups whose members are exchanged until that hardly lessens the squared distance of the
        members' predictions from their mean (ours), or the paper's bounded t-means in bins.
        None: exchange, where it can be: with ``euclidean`` and ``clip="mean"``.
    weights : {"support", "uniform"}, optional
        Whether every item counts alike in distances, or as often as it was rated; under
        "support" and "exchange" a user of n ratings counts n^¾ times as well, in the distances
        that are summed up and in the mean that they are taken from. What users will be compared
        with is their ratings, so errors count where ratings are. That weighted mean forms groups
        and is not released: in "padded" and "model" all members of a group count alike.
        None: support for exchange, uniform for t-means.
    factors : int, optional
        Of the recommender; None: its own default. More predict single users better, but a group
        of k shares fewer: on MovieLens 100K what is released with 3 predicts as well as with 8,
        within a thousandth (`benchmarks/prediction_quality.py`). Not more than users or items
        are released; of the default, as many as there are.
    regularization : float, optional
    sweeps : int, optional
    biases : bool, optional
        Settings of the recommender (`starshade.recommend.regularized_svd.RegularizedSVD`); None:
        its own. ``biases=False`` is the paper's.
    recommender : str
        Its name in `starshade.recommend.registry`; its fit must be of factors.
    b, l : int
        With profile "simple": every set of at most b items that somebody rated together is shown
        by at least l different profiles; where it is not, groups get *fake edges* (PA §5.1): cells
        that nobody rated. l = 0 asks for nothing.
    fake_edges : {"drawn", "mean"}
        Fake edges are drawn as real cells come about (ours), or are the members' mean padded values
        in as few cells as possible (the paper's), most of which the release gives away
        (`starshade.attack.fake_edges`).
    min_raters : int
        With profile "simple": an item that fewer of the group's members rated is null, groups of
        the same profile being one.
    step : float, optional
        Of released levels; it divides the scale's width. None: so fine that there are up to a
        hundred, every rating of the scale among them
        (`starshade.release.profiles.default_step`).
    items : ItemSelection, optional
        Which items to release (`top_items`, `listed_items`); None: all of them.
    rare_items : {"drop", "keep"}
        Whether items rated by fewer than k users are left out.
    item_support : int or str, optional
        Whether more items are left out: those that fewer people rated than this number, or than a
        percentage such as "10%" of the people with a rating in the table read, whatever the choice
        of items. Rounded up: 10% of 943 people are 95. None: no more than `rare_items` asks for.
    slack : int
        Groups are made of k + slack, so that as many may leave before the next release.

    Raises
    ------
    ConfigError
        A parameter is out of its range, or of no use beside another.

    Examples
    --------
    >>> from starshade.ratings.synth.synth import synthesize
    >>> ratings = synthesize(n_users=40, n_items=12, n_ratings=250, rng=0)
    >>> release = PredictiveAnonymizer(k=5, profile="model", factors=2).anonymize(ratings, rng=0)
    >>> release.manifest.layout, bool(release.classes.sizes.min() >= 5)
    ('profile', True)
    """

    name: ClassVar[str] = "predictive"
    #: why an audit of what it makes cannot pass without the receipt
    needs_receipt: ClassVar[str] = "ratings are averaged"

    def __post_init__(self) -> None:
        check(self)
        check_items(self.items)
        self._check_together()
        self.padding()

    def _check_together(self) -> None:
        """Refuse what would do nothing beside another setting."""
        useless = [
            (named(setting.name), f"the {' '.join(setting.beside)}")
            for setting in settings_of(PredictiveAnonymizerSettings)
            if setting.beside and not setting.applies(self)
            if getattr(self, setting.name) != setting.default
        ]
        if self.grouping == "exchange" and self.dissimilarity != "euclidean":
            useless.append((f"dissimilarity {self.dissimilarity}", "the grouping t-means"))
        if self.clip == "cells" and self.grouping == "exchange":
            useless.append(("clip cells", "the grouping t-means"))
        useless += [
            (named(name), "an l above 0")
            for name in ("b", "fake_edges")
            if self.l == 0 and getattr(self, name) != getattr(PredictiveAnonymizer, name)
        ]
        if self.profile == "pooled":
            self._check_pooled()
        for what, beside in useless:
            raise ConfigError(f"{what}: applies only to {beside}", advice="Remove one of them.")

    def _check_pooled(self) -> None:
        """Refuse what needs another profile, which is not the default."""
        for setting, fits in (("clip", "mean"), ("recommender", "regularized-svd")):
            if (value := getattr(self, setting)) != fits:
                raise ConfigError(
                    f"{named(setting, value)}: the profile pooled needs {named(setting, fits)}",
                    advice=f"Remove it, or choose another profile: {named('profile', 'model')}.",
                )

    def padding(self) -> Recommender:
        """Return the recommender that fills cells, to be fitted to other ratings."""
        cls = find(ENTRIES, self.recommender, "recommender").load()
        has = {field.name for field in fields(cls)}
        settings = {name: getattr(self, name) for name in OWN if getattr(self, name) is not None}
        for name in settings.keys() - has:
            if settings.pop(name) != getattr(PredictiveAnonymizer, name):  # not only by default
                setting = named(name, False) if name == "biases" else named(name)
                raise ConfigError(
                    f"{setting}: the recommender {self.recommender} has no such setting",
                    advice="Remove it, or use regularized-svd.",
                )
        made: Recommender = cls(**settings)
        return made

    @typed
    @announced("anonymizing by predictive")
    def anonymize(
        self,
        ratings: Ratings,
        rng: Rng = None,
        *,
        after: Release | None = None,
        shortfall: Shortfall = "dummies",
    ) -> Release:
        """Make a release in which every record equals at least k-1 others.

        Parameters
        ----------
        ratings : Ratings
        rng : int, Generator or None
            The same seed gives the same release, at any number of threads.
        after : Release, optional
            The last release of the same people, with its receipt; `shortfall` : {"dummies",
            "withhold"}: as in `starshade.anonymize.grouping.Grouping.anonymize`.

        Returns
        -------
        Release
            Of layout "profile"; not yet saved, and therefore not yet verified.

        Raises
        ------
        ConfigError
            k or min_raters above the number of records, unknown items, a step that does not fit
            the scale, more factors than users or items, b above what anybody rated, more memory
            needed than may be used, or an earlier release that these ratings cannot continue.
        UnmetError
            No item is rated by k users, the people form one group, all profiles are equal, there
            are fewer than l different ones, no cell of any would be filled, or too many people
            left since `after`.
        """
        seed = resolve_seed(rng)
        kept = None
        if after is None:
            ready = prepare(
                ratings, self.k, self.items, self.rare_items, self.slack, self.item_support
            )
            table = ready.ratings
            refuse_one_group(self, table.n_users)
        else:
            kept = self.who_stays(ratings, after, shortfall)
            table = kept.ratings
        if self.min_raters > table.n_users:
            raise ConfigError(
                f"{named('min_raters')} = {self.min_raters}: there are {table.n_users:,} users",
                advice="Choose at most k; 2 hides values that rest on a single rating.",
                setting="min_raters",
            )
        step = step_of(self, table.scale)
        if self.factors not in (None, PredictiveAnonymizer.factors):
            check_factors(int(self.factors), table)
        check_profile_memory(table, table.n_users // self.k)
        check_copy(table)
        records = by_content(table, seed)
        padded = self._padded(records.ratings, seed)
        chain = None
        if kept is None:
            groups = self._groups(padded, seed)
        else:
            new = np.flatnonzero(kept.group[records.users] < 0)
            fresh = np.empty(table.n_users, dtype=np.int64)
            fresh[records.users[new]] = groups_among(self, padded, new, seed)
            groups, chain = kept.with_newcomers(fresh[kept.newcomers])
            groups = groups[records.users]
        with task("making profiles"):
            groups, levels = profiles_of(self, padded, groups, step, seed)
        if not levels.any():
            raise UnmetError(
                f"{named('min_raters')} = {self.min_raters}: no item has that many raters within "
                "a group, so all cells would be empty",
                advice=f"Choose fewer raters, or larger groups{aside('k')}.",
            )
        release = profile_release(
            table,
            levels,
            records.by_user(groups),
            ready.provenance(self, seed, claims_of(self), **resolved(self, step))
            if kept is None
            else kept.provenance(self, seed, claims_of(self), shortfall, **resolved(self, step)),
            step=step,
            profile=self.profile,
            chain=chain,
        )
        refuse_one_profile(len(release.classes.sizes))
        return release

    def anonymize_shards(
        self, shards: AnyShards, rng: Rng = None, engine: Engine | None = None
    ) -> AbstractContextManager[Release]:
        """Make a release of a partitioned store, to be saved while it is open.

        See `starshade.anonymize.sharded.anonymize.anonymized_shards`.
        """
        from starshade.anonymize.sharded.anonymize import anonymized_shards

        return anonymized_shards(self, shards, rng, engine)

    def who_stays(self, ratings: Ratings, after: Release, shortfall: Shortfall = "dummies") -> Kept:
        """Return which users of a release stay in the next one, and in which groups.

        Nothing is made. Arguments as in `anonymize`.
        """
        refuse_other_settings(after.manifest, "none", "profile")
        kept = keep(ratings, after, self.k, shortfall, self.items, self.slack)
        if self.profile in MEANS:
            refuse_leavers(kept)
        return kept

    def _padded(self, table: Ratings, seed: int) -> Padded:
        return padded_by(self, table, self._fitted(table, seed))

    def _groups(self, padded: Padded, seed: int) -> Ints:
        return groups_of(self, padded, seed)

    def _fitted(self, table: Ratings, seed: int) -> Factors:
        fitted = self.padding().fit(table, rng=seed)
        if not isinstance(fitted, Factors):
            raise ConfigError(
                f"{called('recommender')} {self.recommender}: not a factor model, and the full "
                "table of its predictions is too large",
                advice="Use regularized-svd.",
            )
        return fitted
