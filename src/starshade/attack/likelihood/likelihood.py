"""The likelihood attack (Fellegi & Sunter 1969; definitions, "likelihood")."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from time import perf_counter
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from starshade.arguments import older_names
from starshade.attack.knowledge import Knowledge, Known
from starshade.attack.likelihood.informed import Model, spread_of
from starshade.attack.likelihood.plain import weigh_plainly
from starshade.attack.likelihood.pools import pool_sizes, pools_of, posteriors_of
from starshade.attack.likelihood.result import LikelihoodOutcomes, LikelihoodResult, silence_of
from starshade.attack.likelihood.sought import Sought
from starshade.attack.recall import recall_in_pools
from starshade.attack.settings import LikelihoodSettings
from starshade.attack.targets import Attack, Drawn, Request, draw
from starshade.attack.view import View, averaged, moved
from starshade.kernels.arrays import Array
from starshade.kernels.attack.posterior import Pools
from starshade.kernels.attack.summary import mass_unit
from starshade.ratings.table import Ratings
from starshade.release.cells import cells_of
from starshade.release.table import Release
from starshade.stats import bootstrap, share


@older_names
@dataclass(frozen=True)
class Likelihood(LikelihoodSettings, Attack[LikelihoodResult]):
    """Name the record with the highest likelihood given the known ratings.

    The adversary computes the likelihood of the known facts for every record, and from it a
    posterior. The informed adversary knows the error model: how facts are drawn, how many are
    wrong, and the errors of ratings and days. On ratings, no attack with the same knowledge
    re-identifies more. The plain adversary knows none of this and uses fixed weights.

    Parameters
    ----------
    adversary : {"informed", "plain"}
    min_posterior : float
        Posterior, in (0, 1], needed to name a record. Of two equally likely records neither is
        named.
    absent : bool
        Also attack with each target's record removed. The adversary then considers absence, a
        priori as likely as any single record.

    Raises
    ------
    ConfigError
        A value outside its range.

    Notes
    -----
    Fellegi & Sunter, JASA 64(328), 1969; on ratings Torres & Olivares, Data 9(6):75, 2024. Facts
    are a set: their order is not used. The law of facts is that of `Knowledge`. On a release it
    is an attack under a stated model: members of a class are independent and each value of a cell
    is equally likely; of averaged profiles ratings lie normally around the cell.

    On ratings, for a target who is uniform among the eligible and on average over draws, no rule
    re-identifies more (`expected_top1`), and none leaves less remaining entropy. Nothing is claimed
    about single people, other priors, `min_posterior` or absence.

    Examples
    --------
    Four people, each with an item that nobody else rated.

    >>> from starshade.attack.knowledge import Knowledge
    >>> from starshade.ratings.table import Ratings
    >>> table = Ratings.from_arrays(list("abcd"), list("wxyz"), [1, 2, 3, 4], scale="1:5:1")
    >>> Likelihood().run(table, Knowledge(known=1), rng=0).expected_top1.rate
    1.0
    """

    name: ClassVar[str] = "likelihood"

    @classmethod
    def audited(cls, knowledge: Knowledge, data: Ratings | Release, release: Release) -> Likelihood:
        """Return it as an audit runs it, for any knowledge and release."""
        return cls()

    def _run(
        self, data: Ratings | Release, knowledge: Knowledge, request: Request
    ) -> LikelihoodResult:
        drawn = draw(data, knowledge, request, absent=self.absent)
        view, known = drawn.view, drawn.known
        since = perf_counter()
        informed = _informed(data, drawn)
        outcomes, touched = self.judge(informed, known, pools_of(view, known.users, drawn.seed))
        ceiling = None
        if view.credit == "linked" and not view.ungeneralized:
            ceiling = ceiling_of(view, drawn.knowledge, known)
        config = asdict(self) | {"spread": informed.spread}
        facts = drawn.facts(outcomes, config, touched, since)
        return self.result(outcomes, drawn.seed, facts, ceiling)

    def result(
        self,
        outcomes: LikelihoodOutcomes,
        seed: int,
        facts: dict[str, Any],
        ceiling: NDArray[np.float64] | None = None,
    ) -> LikelihoodResult:
        """Summarize the outcomes; `facts`: fields that all attacks share."""
        absent, pools = outcomes.matched_absent, outcomes.pool_posterior.shape[1]
        return LikelihoodResult(
            attack=self.name,
            success=share(outcomes.success),
            false_match_absent=None if absent is None else share(absent),
            no_answer=float(1 - (outcomes.success | outcomes.false_match).mean()),
            class_linkage=bootstrap(outcomes.class_linkage, seed=seed),
            upper_bound=None if ceiling is None else bootstrap(ceiling, seed=seed),
            no_possible_record=int(outcomes.impossible.sum()),
            abstention=silence_of(outcomes.posterior, outcomes.expected_top1),
            recall=recall_in_pools(
                outcomes.pool_posterior,
                outcomes.pool_credit,
                (*pool_sizes(facts["records"]), facts["records"])[-pools:],
                most=facts["most"],
                seed=seed,
            ),
            **facts,
        )

    def each_draw(
        self, data: Ratings | Release, knowledge: Knowledge, request: Request, draws: int
    ) -> NDArray[np.float64]:
        """Attack the same people with several draws of knowledge; return class linkage.

        Returns credits of shape (draws, people), each in [0, 1].
        """
        drawn = draw(data, knowledge, request, absent=False)
        informed, users = _informed(data, drawn), drawn.known.users
        knowledge, original = drawn.knowledge, drawn.view.original
        tries = (knowledge.draw(original, users, drawn.seed + i) for i in range(draws))
        return np.stack([self.judge(informed, known)[0].class_linkage for known in tries])

    def judge(
        self, informed: Model, known: Known, pools: Pools | None = None
    ) -> tuple[LikelihoodOutcomes, int]:
        """Attack with given knowledge; returns the outcomes and the number of cells read.

        `pools`: candidate pools in which each target is attacked as well.
        """
        view = informed.view

        def weigh(goal: Sought) -> Array:
            if self.adversary == "plain":
                return weigh_plainly(view, known, goal, informed.counted)
            return informed.weigh(known, goal)

        found = weigh(Sought(view, strangers=self.absent, pools=pools))
        records, alike = view.cells.n_records, None
        if view.credit == "linked":
            alike = view.copies[view.row_of_user[known.users]]
        touched, without = int(found["touched"].sum()), None
        if self.absent:
            without = weigh(Sought(view, absent=True, strangers=True))
            touched += int(without["touched"].sum())
        pooled = None if pools is None else pools.found
        who, sure = known.users, self.min_posterior
        return outcomes_of(who, found, without, sure, records, alike, pooled), touched


def _informed(data: Ratings | Release, drawn: Drawn) -> Model:
    spread = spread_of(drawn.view) if averaged(data) or moved(data) else None
    return Model(drawn.view, drawn.knowledge, spread, averaged(data))


def outcomes_of(
    users: NDArray[np.int64],
    found: Array,
    without: Array | None,
    sure: float,
    records: int,
    copies: NDArray[np.int64] | None,
    pooled: Array | None = None,
) -> LikelihoodOutcomes:
    """Return the outcome of every target.

    `found` (targets,): see `starshade.kernels.attack.posterior.FOUND`. `without`: the same when the
    target's record was taken out; None: not asked. `records`: how many there are. `copies`
    (targets,): how many equal the target's own, where that is known. `pooled`: what was found in
    pools of candidates.
    """
    unit, prior = mass_unit(records), np.log2(records)
    some, right = found["tied"] > 0, found["right"] > -np.inf
    mass = np.where(some, found["mass"], 1) / unit
    best = np.where(some, 1 / (mass + found["stranger"]), 0.0)
    bits = np.where(right, np.log2(mass) - np.where(right, found["right"], 0.0), prior)
    alike = np.where(right, np.log2(np.maximum(found["right_mass"], 1) / unit), 0.0)
    if copies is not None:
        alike = np.where(right, found["right"] + np.log2(copies), 0.0)
    named = _named(found, sure, records)
    in_pools, credit = posteriors_of(pooled, found, records)
    of_class = np.where(some, found["class_mass"] / (mass + found["stranger"]), 0.0)
    return LikelihoodOutcomes(
        users=users,
        posterior=np.where(found["tied"] == 1, best, 0.0),
        success=named & found["right_tied"],
        false_match=named & ~found["right_tied"],
        disclosed=(found["classes"] == 1) & _reaches(of_class, sure) & found["true_class"],
        expected_top1=np.where(found["right_tied"], 1 / np.maximum(found["tied"], 1), 0.0),
        class_linkage=np.where(found["right_class"], 1 / np.maximum(found["classes"], 1), 0.0),
        impossible=~some,
        entropy_bits=np.maximum(bits, 0.0),
        entropy_bits_profile=np.where(right, np.maximum(np.log2(mass) - alike, 0.0), prior),
        pool_posterior=in_pools,
        pool_credit=credit,
        matched_absent=None if without is None else _named(without, sure, records),
    )


def _named(found: Array, sure: float, records: int) -> NDArray[np.bool_]:
    """Mark targets with a single likeliest record of a sufficient posterior."""
    mass = found["mass"] / mass_unit(records) + found["stranger"]
    alone: NDArray[np.bool_] = found["tied"] == 1
    return alone & _reaches(1 / np.where(mass > 0, mass, np.inf), sure)


def _reaches(posterior: NDArray[np.float64], sure: float) -> NDArray[np.bool_]:
    return np.asarray(posterior >= sure - 1e-9)


def ceiling_of(view: View, knowledge: Knowledge, known: Known) -> NDArray[np.float64]:
    """Return the upper bound of class linkage per target, shape (targets,).

    It is the class linkage of an adversary with the original rows, who knows which record became
    which row of the release and chooses the class whose records together are likeliest. Facts about
    items that were not released are left out.
    """
    rows = view.row_of_user
    class_of = np.where(rows < 0, -1, view.cells.first_equal[rows])
    original = of_original(view)
    found = Model(original, knowledge).weigh(known, Sought(original, class_of))
    return np.where(found["right_class"], 1 / np.maximum(found["classes"], 1), 0.0)


def of_original(view: View) -> View:
    """Return the view with the original rows of the released items."""
    truth = view.truth()
    first = np.arange(truth.n_users)
    return replace(
        view,
        cells=replace(cells_of(truth), days=None),
        postings=truth.by_item,
        first=first,
        row_of_user=first,
        ungeneralized=True,
    )
