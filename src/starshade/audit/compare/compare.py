"""Methods side by side on any data: what each loses, gives away and takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from time import perf_counter
from typing import Any

import numpy as np

from starshade.arguments import typed
from starshade.attack.candidates.candidates import LabelAttack
from starshade.attack.knowledge import Knowledge
from starshade.attack.likelihood.likelihood import Likelihood
from starshade.attack.likelihood.result import LikelihoodResult
from starshade.attack.result import AttackResult
from starshade.attack.scoreboard_rh.scoreboard_rh import ScoreboardRH
from starshade.audit.attempts import (
    ORIGINAL,
    Attempt,
    attempt,
    compile_first,
    numeric_attribute,
    size_of,
    untouched,
)
from starshade.audit.checks.inference import most_gained, numbers_known
from starshade.audit.checks.singling_out import predicates_of
from starshade.audit.compare.frontier import ON_HELD_OUT, compared
from starshade.audit.compare.result import Comparison, Row, Value
from starshade.audit.compare.search import AuditSummary
from starshade.audit.compare.settings import CompareSettings
from starshade.audit.compare.ways import Way, ways_of
from starshade.audit.evidence import numbers_to_try
from starshade.audit.make import Anonymizer
from starshade.audit.measure import figures_of
from starshade.audit.original.table import knowable_of
from starshade.audit.shadows import measure_by_shadows
from starshade.audit.verdict import Audit
from starshade.errors import ConfigError, UnmetError, UserError
from starshade.plain import percent
from starshade.progress import announced, note, silence, task
from starshade.ratings.holdout import hold_out
from starshade.ratings.proximity.settings import NullRule
from starshade.ratings.select import ItemSelection
from starshade.ratings.table import Ratings
from starshade.release import ProfileKind
from starshade.release.folder.digest import digest_of
from starshade.release.folder.read import read_release
from starshade.release.table import Release
from starshade.rng import Rng, resolve_seed
from starshade.scratch import scratch_folder
from starshade.utility.held_out.recommender_error import RecommenderError
from starshade.utility.query_error import QueryError
from starshade.utility.query_error_result import KINDS
from starshade.utility.registry import PROBED
from starshade.utility.round import utility_round_of
from starshade.utility.what_remains import WhatRemains

#: measured with settings that are the same for all
_APART = ("query-error", "what-remains", *(entry.name for entry in PROBED))
_DRAWS = 20  # conditions for each set of items and each kind


@typed
@announced("comparing methods")
def compare(
    ratings: Ratings,
    methods: Sequence[str] | None = None,
    k: int | Sequence[int] = CompareSettings.k,
    *,
    items: ItemSelection | None = None,
    eps: float | None = None,
    l: float = CompareSettings.l,  # noqa: E741 - the name that it has everywhere
    sensitive: Sequence[str] = CompareSettings.sensitive,
    nulls: NullRule = CompareSettings.nulls,
    profile: ProfileKind | None = None,
    disclosure_weights: Sequence[float] = CompareSettings.disclosure_weights,
    slacks: Sequence[int] = CompareSettings.slacks,
    attribute: str | None = None,
    known: int = CompareSettings.known,
    targets: int = CompareSettings.targets,
    shadows: int = CompareSettings.shadows,
    policy: str | None = CompareSettings.policy,
    held_out: float = CompareSettings.held_out,
    rng: Rng = None,
) -> Comparison:
    """Make a release by every method at every k, and measure and attack each.

    Parameters
    ----------
    ratings : Ratings
    methods : sequence of str, optional
        As ``starshade list methods`` names them. None: ``predictive``, then all that form
        groups (`Grouping`).
    k : int or sequence of int
        Each at least 2.
    items : ItemSelection, optional
        Which items to release; None: all of them.
    eps : float, optional
        For the methods of (k, ε), if any is named.
    l, sensitive, nulls
        As those methods have them (`IntervalAnonymizer`).
    profile : str, optional
        For the methods whose groups become one profile, if any is named: what a cell is. None:
        "pooled".
    disclosure_weights : sequence of float
        For `KExchange`, if it is named: a row for each (`KExchange.disclosure_weight`).
    slacks : sequence of int
        For the methods whose releases can be continued: a row for each number of people beyond k.
    attribute : str, optional
        The numeric personal attribute that queries average. None: age, else the first numeric
        one, else there is no query error.
    known : int
        Cells that the adversary knows of each target, exactly. The usual 4 are fewer where nobody
        has so many.
    targets : int
        Users attacked at most, a seeded sample.
    shadows : int
        Shadow releases, of random halves of the people, that each release is compared with: for
        linkability, membership and inference. 0: these are not measured.
    policy : str, optional
        Each release is audited by it, too, with as many shadow releases as it asks for: "public",
        "partner", "controlled", or the path of a TOML file. None: nothing is decided.
    held_out : float
        Share of the ratings that are held out first, below 1: releases are made of the others,
        and recommenders are tested on these. 0: nothing is held out, nothing is trained.
    rng : int, Generator or None
        One seed for all methods.

    Returns
    -------
    Comparison
        A method that refuses these ratings at some k has a row with the reason; see below where
        all do.

    Raises
    ------
    ConfigError
        An unknown method, item, attribute or profile, a k below 2, an ε that is missing or out of
        range, what no method has a use for, more known cells than anybody has, a share that cannot
        be held out, or nothing to compare; settings of which no method can make anything, as a k
        above the number of people.

    Notes
    -----
    The loss is GenILoss (`GeneralizationLoss`) where cells were made wider, and `Distortion`
    where ratings were moved: the two are not to be compared. Averaged profiles have neither; what
    they lose is told by `RecommenderError` where ratings are held out. Three attacks are tried on
    the released cells, `ScoreboardRH`, `LabelAttack` and `Likelihood`, scored by who became which
    record; a row has the risk of the one that finds most records, and says which. Beside it stand
    how many conditions written from the release single somebody out (`PredicateAttack`), and how
    often the right class is found; with `shadows` also what an audit measures by releases of random
    halves of the people (`LinkabilityAttack`, `MembershipAttack`, `InferenceAttack`). Nothing is
    saved.

    Examples
    --------
    >>> import starshade as ss
    >>> table = ss.synthesize(n_users=40, n_items=8, n_ratings=120, rng=1)
    >>> comparison = ss.compare(table, ["k-likeness"], [2, 4], rng=1)
    >>> [(row.method, row.k, row.refused) for row in comparison.rows]
    [('k-likeness', 2, None), ('k-likeness', 4, None)]
    """
    started, seed = perf_counter(), resolve_seed(rng)
    near = (eps, l, sensitive, nulls)
    ways = (profile, disclosure_weights, slacks)
    ks = [k] if isinstance(k, int) else k
    settings = CompareSettings(
        methods, ks, *near, *ways, attribute, known, targets, shadows, policy, held_out
    )
    if items is not None and not isinstance(items, ItemSelection):
        raise ConfigError(
            f"items {items!r}: says no items", advice="E.g. top_items(10); None takes all."
        )
    audit = None if policy is None else Audit(policy=policy, targets=settings.targets)
    table = (ratings if items is None else items.apply(ratings)).drop_empty_users()
    if not table.n_ratings:
        raise ConfigError("no ratings to compare")
    probe = None
    if settings.held_out:
        train, probe = hold_out(table, settings.held_out, rng=seed)
        table = train.keep_users(np.flatnonzero(train.user_support))
        probe = probe.keep_users(np.flatnonzero(train.user_support))
    numeric = numeric_attribute(table, attribute)
    tried = ways_of(settings, exact=numeric is not None)
    most, usual = int(table.user_support.max()), (CompareSettings.known,)
    (number,) = numbers_to_try((settings.known,), most, usual)
    knowledge = Knowledge(known=number, dates=False)
    judge = _Judge(
        table, ratings, knowledge, settings.targets, numeric, settings.shadows, seed, probe, audit
    )
    kinds = {(way.name, bool(way.weight)): way.method for way in tried}  # a weight has own kernels
    compile_first(kinds.values(), table, seed)
    with task("comparing", len(tried) + 1) as step:
        release = untouched(table, "exact" if numeric else "none")
        original, before = judge.figures(release, k=1)
        step(1)
        rows = []
        wrong: list[UserError] = []
        for way in tried:
            rows.append(_row(way, judge, wrong))
            note(_line_of(rows[-1]))
            step(1)
    if len(wrong) == len(rows):
        reasons = dict.fromkeys(error.message for error in wrong)
        raise ConfigError("\n".join(reasons), advice=wrong[0].advice)
    return Comparison(
        data=size_of(table),
        original=original,
        rows=tuple(rows),
        known=judge.knowledge.known,
        targets=judge.targets,
        attribute=numeric,
        attack=before,
        seconds=perf_counter() - started,
        held_out=settings.held_out,
        policy=None if audit is None else audit.rules.title,
        shadows=settings.shadows,
        shadows_known=judge.shadows_known if settings.shadows else None,
        seed=seed,
        digest=digest_of(table),
    )


@dataclass(frozen=True, eq=False)
class _Judge:
    """The same measures and the same attacks for everybody."""

    ratings: Ratings
    whole: Ratings  # before items were chosen and ratings held out
    knowledge: Knowledge
    targets: int
    attribute: str | None
    shadows: int
    seed: int
    probe: Ratings | None
    audit: Audit | None  # by a policy

    def decide(self, release: Release) -> AuditSummary | None:
        """Decide on a release by the policy, on its files, which nobody else can read."""
        if self.audit is None:
            return None
        with silence(), scratch_folder() as place:
            folder, key_file = place / "release", place / "key.json"
            release.save(folder, private=key_file)
            linked = read_release(folder, private=key_file)
            result = self.audit.judge_release(self.ratings, linked, folder, seed=self.seed)
            return AuditSummary.of(result)

    def figures(
        self, release: Release, k: int, made: Attempt | None = None
    ) -> tuple[dict[str, Value], str]:
        """Measure and attack one release; name the attack that finds more."""
        values: dict[str, Value] = dict.fromkeys(figure.key for figure in compared())
        manifest = release.manifest
        values |= {
            "records": manifest.records,
            "items": manifest.items,
            "users_deleted": None if release.exact is None else release.exact.users_deleted,
        }
        with silence():
            measured: dict[str, Value] = {}
            measured |= figures_of(release, self.ratings, without=_APART)
            measured |= WhatRemains().measure(release, self.whole).figures
            if self.attribute is not None:
                measured |= self._query_errors(release, self.attribute)
            if self.probe is not None:
                measured |= self._recommender_errors(release, self.probe)
            attacked = self._attacks(None if made is None else release)
            predicates = predicates_of(release, self.ratings, self.seed)
        values |= {name: measured[name] for name in values if name in measured}
        values["smallest_class"] = measured["smallest_class"]
        if measured["classes"]:
            values["c_avg"] = manifest.records / (measured["classes"] * k)
        worst = max(attacked, key=lambda result: result.expected_top1.rate)
        values |= {
            "targets": worst.targets,
            "expected_top1": worst.expected_top1.rate,
            "expected_top1_low": worst.expected_top1.low,
            "expected_top1_high": worst.expected_top1.high,
            "singling_out": None if isinstance(predicates, str) else predicates.singling_out.rate,
            "class_linkage": max(
                (r.class_linkage.rate for r in attacked if isinstance(r, LikelihoodResult)),
                default=None,
            ),
            "class_contents_known": max(result.class_contents_known.rate for result in attacked),
        }
        if made is not None:
            if self.shadows:
                values |= self._by_shadows(release)
            values |= {"seconds": made.seconds, "peak_rss_mb": made.peak_rss_mb}
        return values, worst.attack

    def _attacks(self, release: Release | None) -> list[AttackResult]:
        """Attack a release; None: the ratings themselves."""
        data: Ratings | Release = self.ratings if release is None else release
        original = None if release is None else self.ratings
        return [
            attack.run(data, self.knowledge, original=original, targets=self.targets, rng=self.seed)
            for attack in (ScoreboardRH(), LabelAttack(), Likelihood())
        ]

    @cached_property
    def shadows_known(self) -> int:
        """Ratings known of each target of linkability and inference: 8, if half have so many."""
        return numbers_known(knowable_of(self.ratings), 8)[-1]

    def _by_shadows(self, release: Release) -> dict[str, Value]:
        """Measure linkability, membership and inference by shadow releases."""
        known = self.shadows_known
        with silence():
            found = measure_by_shadows(
                release,
                self.ratings,
                shadows=self.shadows,
                known=(known,),
                targets=self.targets,
                seed=self.seed,
            )
        linked, member = found.linkability[known], found.membership
        more = found.inference[known]
        rates = {
            "linkability": None if isinstance(linked, str) else linked.excess,
            "membership_auc": None if isinstance(member, str) else member.auc,
            "inference_gain": None if isinstance(more, str) else most_gained(more),
        }
        return {name: None if rate is None else rate.rate for name, rate in rates.items()}

    def held_out(self, release: Release, method: Anonymizer) -> dict[str, Value]:
        """Predict ratings held out of all that there are, from a release made of the rest."""
        items = self.whole.items.indices(self.ratings.items)
        measured = utility_round_of(
            self.whole,
            release,
            lambda rest: method.anonymize(rest.keep_items(items).drop_empty_users(), self.seed),
            seed=self.seed,
            remains={},
        )
        return {figure.key: getattr(measured, figure.key) for figure in ON_HELD_OUT}

    def _recommender_errors(self, release: Release, probe: Ratings) -> dict[str, Value]:
        measure = RecommenderError("regularized-svd", self.seed)  # one for all methods
        figures = measure.measure(release, original=self.ratings, probe=probe).figures
        ratios = [figures[f"rmse_ratio_{reading}"] for reading in ("release", "refit")]
        known = [ratio for ratio in ratios if ratio is not None]
        if release.manifest.method == ORIGINAL:  # what the others are ratios to; nothing to read
            return {"rmse_original": figures["rmse_original"], "rmse_ratio": 1.0}
        return figures | {"rmse_ratio": min(known, default=None)}

    def _query_errors(self, release: Release, attribute: str) -> dict[str, Value]:
        measure = QueryError(attribute=attribute, draws=_DRAWS, seed=self.seed)
        figures = measure.measure(release, self.ratings).figures
        errors = {name: figures[name] for name in (f"query_error_{kind}" for kind in KINDS)}
        known = [error for error in errors.values() if error is not None]
        return errors | {"query_error": fmean(known) if known else None}


def _row(way: Way, judge: _Judge, wrong: list[UserError]) -> Row:
    told = (way.name, way.k, way.eps)
    cells: dict[str, Any] = {
        "profile": way.profile,
        "disclosure_weight": way.weight,
        "slack": way.slack,
    }
    try:
        made = attempt(way.method, judge.ratings, judge.seed)
        figures, attack = judge.figures(made.release, way.k, made)
        figures |= judge.held_out(made.release, way.method)
        decision = judge.decide(made.release)
    except UserError as error:
        reason = error.message
        if not isinstance(error, UnmetError):
            wrong.append(error)
    except MemoryError:
        reason = "out of memory"
    else:
        return Row(*told, figures, attack=attack, decision=decision, **cells)
    nothing: dict[str, Value] = dict.fromkeys(figure.key for figure in compared())
    return Row(*told, nothing, reason, **cells)


def _line_of(row: Row) -> str:
    if row.refused is not None:
        return f"{row.name}: refused: {row.refused}"
    verdict = "" if row.decision is None else f"{row.decision.verdict}, "
    figures = row.figures
    named = f"{percent(figures['expected_top1'])} re-identified by {row.attack}"
    return f"{row.name}: {verdict}{named}, made in {figures['seconds']:.3g} s"
